// GET /v1/{ds}/llms.txt: the guide of a dataset for agents, around what its publisher wrote.
import { z } from 'zod';
import { filterGrammar } from '../../data/filters.ts';
import { onlyParameters } from '../../data/parse.ts';
import type { Release } from '../../data/release.ts';
import { datasetUrl } from '../../packs/links.ts';
import type { Attribute, Pack } from '../../packs/model.ts';
import { cell } from '../formats/cells.ts';
import { blocks, escapeText, Markup, table } from '../formats/markdown.ts';
import { type Context, type Operation, operation } from '../operation.ts';
import { type About, aboutDataset, releaseOf, releaseVersion } from './about.ts';
import { addressOf, pricesOf } from './datasets_list.ts';

type Guide = { text: string } & About;

const RULES = [
  'Name only the filters listed here: an unknown one is refused with the nearest known name, never ignored.',
  'Ask for the `fields` you need, and prefer Markdown (`.md` after the path): far fewer tokens than JSON, same price.',
  'A missing value is absent. A price is a number or a range `{min, max, currency}`.',
  'Every value has its provenance: `source_url`, `observed_at`, `confidence`. Check the source before a costly decision.',
  'Cite with the `attribution` of the record; it ends with its public page.',
  'Send the `ETag` back as `If-None-Match`: an unchanged record is a 304 and free.',
];

/** How an agent best goes about it (specification section 1, "Recommended call order"). */
function workflow({ pack }: Release, ctx: Context): string {
  const base = `${ctx.base_url}/v1/${pack.id}`;
  return [
    `1. Freshness: GET ${base}/status`,
    `2. Valid filter values with counts: GET ${base}/facets?by=${pack.group_by}`,
    `3. Search narrowly: GET ${base}/entities.md?q=…&fields=…`,
    `4. Full records: GET ${base}/entities/batch?ids=…, or one: GET ${base}/entities/{id or slug}`,
    `5. Figures instead of records: GET ${base}/stats.md?attribute=…&group_by=…; over time: GET ${base}/timeseries.md?attribute=…&days=…; side by side: GET ${base}/compare.md?ids=…`,
    `6. See the shape for nothing: GET ${base}/samples (fictional), ${base}/examples (real, complete)`,
  ].join('\n');
}

function operations({ pack }: Release, ctx: Context): string {
  const own = ctx.operations.filter(({ route }) => route.path.includes(':ds'));
  const price = ({ access, previews, price: of }: Operation) => {
    if (!of) return access === 'free' ? 'free' : access;
    const each = `${pack.prices[of.of] / 1e6} EUR${of.times ? ' for each id' : ''}`;
    return previews ? `${each}; public fields free, 20 records a day` : each;
  };
  return table(
    ['operation', 'GET', 'price', 'what for'],
    own.map((each) => [each.name, addressOf(each, '', pack.id), price(each), each.description]),
  );
}

function fields({ pack }: Release): string {
  return table(
    ['field', 'type', 'unit', 'access', 'example', 'meaning'],
    pack.attributes.map((each) => [
      each.name,
      each.type,
      each.unit,
      each.public ? 'public' : 'paid',
      cell(each.example),
      each.description,
    ]),
  );
}

/** Filter names by attribute, with what they take and a few values that exist. */
function filters({ pack, manifest }: Release): string {
  const grammar = filterGrammar(pack, manifest);
  const rows = pack.attributes.flatMap((attribute) => {
    const own = grammar.filter((filter) => filter.attribute === attribute.name);
    if (own.length === 0) return [];
    const names = new Markup(own.map(({ name }) => `\`${name}\``).join(' '));
    return [[names, attribute.type, values(attribute, own.find(({ values }) => values)?.values)]];
  });
  return table(['parameters', 'type', 'values, for example'], rows);
}

function values(attribute: Attribute, known: readonly string[] | undefined): string {
  if (known && known.length > 0) return known.slice(0, 8).join(', ') + (known.length > 8 ? ', …' : '');
  const { example } = attribute;
  return String(cell(typeof example === 'object' && 'min' in example ? example.min : example));
}

/** The grammar of a search in three lines. */
function grammar(pack: Pack): string {
  const near = pack.attributes.some(({ type }) => type === 'geo') ? ' · `near=lat,lng,km`' : '';
  return [
    '`a=x,y` any of · `not_a=x,y` none of (keeps records without it) · `like_a=` contains · `min_a=`, `max_a=` bounds, of a range its near end · `has_a=true|false`.',
    `\`q\` words, each a prefix${near} · \`sort=quality|updated|<attribute>\`, \`-\` in front for descending, \`-quality\` by default · \`limit\` 1 to 100 (20) · \`cursor\` from \`next_cursor\` · \`fields=a,b\` · \`total=true\` · \`ids=\` ids or slugs · \`updated_since=\` ISO time · \`min_quality=\` 0 to 1.`,
    'Letter case and accents never matter.',
  ].join('\n');
}

/** The guide as Markdown; also what the nightly build writes. */
function guideText(release: Release, ctx: Context): string {
  const { pack, manifest } = release;
  const tools = ctx.operations.filter(({ tool }) => tool !== false).map(({ name }) => name);
  const prices = Object.entries(pricesOf(release, ctx)).map(
    ([name, { eur, usd }]) => `${name} ${eur} EUR (${usd} USD)`,
  );
  return blocks(
    `# ${escapeText(pack.title)}: guide for agents`,
    `> ${escapeText(pack.description)}`,
    `Dataset \`${pack.id}\`: ${manifest.records} records, release ${manifest.release} of ${manifest.created_at.slice(0, 10)}, last collected ${manifest.last_collection.slice(0, 10)}.`,
    pack.guide.trim(),
    '## Order of calls',
    workflow(release, ctx),
    '## Rules',
    RULES.map((rule) => `- ${rule}`).join('\n'),
    '## Search',
    grammar(pack),
    '## Filters',
    filters(release),
    '## Fields',
    fields(release),
    '## Operations and prices',
    operations(release, ctx),
    `Prices a call: ${prices.join(', ')}. Without a key, search shows public fields, 20 records a day; the rest answers 402 with the ways to pay.`,
    '## Tools',
    `Names, the same for every channel: ${tools.map((name) => `\`${name}\``).join(', ')}.`,
    '## Links',
    [
      `- [Schema with every filter](${ctx.base_url}/v1/${pack.id}/schema)`,
      `- [Public values of all records](${ctx.base_url}/v1/${pack.id}/llms-full.txt)`,
      `- [The register](${ctx.base_url}/llms.txt)`,
      `- [Page for people](${datasetUrl(ctx.base_url, pack.id)})`,
    ].join('\n'),
    `License: ${escapeText(aboutDataset(pack, ctx.base_url).license)}. Cite: ${aboutDataset(pack, ctx.base_url).attribution}`,
  );
}

export const dataset_guide = operation<null, Guide>({
  name: 'dataset_guide',
  title: 'Guide of a dataset',
  description: 'What the data means, every filter and field with type, unit and example, prices, and how best to ask.',
  route: { method: 'GET', path: '/v1/:ds/llms.txt' },
  group: 'dataset',
  access: 'free',
  formats: ['text', 'markdown'],
  resource: 'service://{dataset}/llms.txt',
  long: { part: 'text', more: 'The whole guide is at the dataset’s llms.txt.' },
  input: () => z.object({}),
  parse: (raw) => {
    onlyParameters(raw, [], ['ds']);
    return null;
  },
  version: async (raw, ctx) => `${await releaseVersion(raw, ctx)} ${ctx.eur_usd}`,
  run: async (_input, ctx) => {
    const release = releaseOf(ctx);
    const body = { text: guideText(release, ctx), ...aboutDataset(release.pack, ctx.base_url) };
    return { body, last_modified: release.manifest.created_at };
  },
  markdown: ({ text }) => text,
  prerender: (pack) =>
    pack === null ? [] : [{ file: `v1/${pack.id}/llms.txt`, input: { ds: pack.id }, format: 'text' }],
});
