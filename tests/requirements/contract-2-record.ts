// Requirements of contract section 2: the record.
import { done, section } from './model.ts';

export const record = section('contract 2', {
  'shape.attribution-license': done('every JSON object under /v1 has attribution and license, but for the linkset'),
  'shape.times': done('times are ISO 8601 UTC with Z'),
  'shape.money': done('money is EUR with at most six decimals, micro-euros inside'),
  'record.members': done('a record has exactly the members of the contract'),
  'record.id': done('id is r- and 16 hex digits of SHA-256 of dataset and identity key'),
  'record.slug-pattern': done('id and slug match ^[a-z0-9-]+$'),
  'record.slug-fixed': done('slug is fixed when first seen and never reused'),
  'record.slug-not-id': done('a slug never equals the id of another record'),
  'record.url': done('url is {base}/datasets/{ds}/{slug}'),
  'record.url-md': done('{url}.md is the free static Markdown of public fields'),
  'record.entity-md': done('/v1/{ds}/entities/{id}.md is the paid get'),
  'record.attribution-url': done('attribution ends with url'),
  'record.same-keys': done('attributes, provenance and freshness have the same keys; fields trims all three'),
  'record.dotted-keys': done('a nested attribute is addressed and keyed by its dotted name'),
  'record.price-range': done('a price range is {min, max, currency}'),
  'record.plain-price': done('a plain price is a number, its currency and unit stand in the schema'),
  'record.scores': done('quality_score and completeness are 0 to 1'),
  'record.source-kind': done('source.kind is collector or owner'),
  'record.updated-at': done('updated_at is when the newest value change became visible'),
  'record.updated-at-used': done('Last-Modified, updated_since and sort=updated use updated_at'),
  'record.preview-flag': done('preview: true marks a public-fields preview'),
  'record.sample': done('sample: true marks a fictional sample'),
});
