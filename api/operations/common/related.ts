// Related data of a record page: names of similar records, and the timelines of its public numbers.

import { changelogParameters } from '../../../data/input/history-parameters.ts';
import type { PublicRecord, StoredRecord } from '../../../data/model/record.ts';
import type { QueryOptions, Visibility } from '../../../data/plan/plan.ts';
import { getChangelog } from '../../../data/queries/changelog.ts';
import type { Release } from '../../../data/releases/release.ts';
import { NUMERIC } from '../../../packs/define/schema.ts';
import type { RelatedData } from '../../pages/record-html.ts';
import type { Timeline } from '../../pages/sparkline.ts';
import { printValue } from '../../render/print.ts';

/** Most similar records and timelines on a page. */
const SIMILAR = 6;
const TIMELINES = 4;
/** Most changes of a record that are read, of the last year. */
const CHANGES = 200;

/** A page without related data. */
export const NO_RELATED: RelatedData = { similar: [], timelines: [] };

/**
 * Queries the release. Returns public attributes only, and only the names of other records, for every caller:
 * further data is sold by other operations. Timelines are limited to attributes in `record`.
 */
export async function loadRelated(
  release: Release,
  record: Pick<PublicRecord, 'id' | 'provenance'>,
  ordinal: number,
  now: Date,
  options: QueryOptions,
): Promise<RelatedData> {
  const { engine, pack } = release;
  // The page is public, so paid texts must not influence the similar records.
  const { similar_by } = pack.serving;
  const scope: Visibility = pack.attributes.some((each) => !each.public && similar_by.includes(each.name))
    ? 'public'
    : 'full';
  const plan = {
    subject: ordinal,
    where: [],
    differBy: null,
    scope,
    minScore: pack.serving.similar_min_score,
    limit: SIMILAR,
  };
  const [hits, changes] = await Promise.all([
    engine.similar(plan, options),
    getChangelog(
      release,
      changelogParameters.parse({ days: '365', limit: String(CHANGES), entity: record.id }, pack),
      now,
      options,
    ),
  ]);
  const bodies = await engine.bodies(
    hits.map((each) => each.ordinal),
    options,
  );
  const groupIsPublic = pack.attributes.some((attribute) => attribute.public && attribute.name === pack.group_by);
  const similar = bodies.map(({ body }) => {
    const { id, slug, name, attributes } = JSON.parse(body) as StoredRecord;
    const group = groupIsPublic ? attributes[pack.group_by] : undefined;
    return { id, slug, name, group: group === undefined ? '' : printValue(group) };
  });
  const numbers = pack.attributes.filter((attribute) => attribute.public && NUMERIC.includes(attribute.type));
  const timelines = numbers.flatMap(({ name }): Timeline[] => {
    const attributeChanges = changes.items.filter(({ attribute }) => attribute === name).reverse();
    const points = attributeChanges.flatMap(({ new_value, observed_at }) =>
      typeof new_value === 'number' ? [{ at: observed_at, value: new_value }] : [],
    );
    const [first] = attributeChanges;
    // A number that existed before the first change begins with its old value.
    if (first && typeof first.old_value === 'number')
      points.unshift({
        at: new Date(Math.max(0, now.getTime() - 365 * 86_400_000)).toISOString(),
        value: first.old_value,
      });
    const until = record.provenance[name]?.observed_at;
    // A change of the source alone is not shown.
    const changed = points.some(({ value }) => value !== points[0]?.value);
    return !changed || until === undefined ? [] : [{ attribute: name, points, until }];
  });
  return { similar, timelines: timelines.slice(0, TIMELINES) };
}
