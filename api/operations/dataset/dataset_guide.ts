// GET /v1/{ds}/llms.txt: the guide of a dataset for agents, with the text of its publisher.

import { filterGrammar, respelledFilters } from '../../../data/input/filters.ts';
import type { Release } from '../../../data/releases/release.ts';
import { datasetUrl } from '../../../packs/define/links.ts';
import type { Attribute, Pack } from '../../../packs/define/model.ts';
import { type Context, filterUses, operation } from '../../contract/operation.ts';
import { callsTable, stepsText } from '../../render/call-table.ts';
import { cell } from '../../render/cells.ts';
import { publicPoint } from '../../render/data-files.ts';
import { blocks, escapeText, Markup, table } from '../../render/markdown.ts';
import { type About, aboutDataset, releaseOf, releaseValidators } from '../common/about.ts';
import { inputOf, NO_PARAMETERS } from '../common/inputs.ts';

type Guide = { text: string } & About;

/** Filters of datasets with geography. */
const PLACES: readonly [string, string][] = [
  [
    '`near=lat,lng,km`',
    'it is within km kilometres of the point; `sort=distance` lists the nearest first, each with `distance_km`',
  ],
  ['`bbox=west,south,east,north`', 'it is in the box of degrees; west > east crosses the antimeridian'],
];

/** Each kind of filter in words; `a` represents a field. */
function grammar(pack: Pack): string {
  const placed = pack.attributes.some(({ type }) => type === 'geo');
  const filters: [string, string][] = [
    ['`a=x,y`', 'a is x or y; a comma inside a value is written `\\,`'],
    ['`not_a=x,y`', 'a is neither; records without a match too'],
    ['`like_a=x`', 'a contains x'],
    ['`min_a=1`', 'a is at least 1; of a price range the upper end counts'],
    ['`max_a=9`', 'a is at most 9; of a price range the lower end counts'],
    ['`has_a=true`', 'a is known; `false`: unknown'],
    ['`q=words`', 'each word is the start of a word of the record; `sort=relevance` lists the best matches first'],
    ...(placed ? PLACES : []),
    [
      '`ids=a,b` `updated_since=time` `min_quality=0.8`',
      'the id or slug is a or b; the record changed since the time; its quality is at least 0.8',
    ],
    [
      '`provenance_status=held,contested`',
      'a newer value of some field waits for confirmation, or another source says otherwise († in Markdown)',
    ],
  ];
  const rows = filters.map((cells) => cells.map((text) => new Markup(text)));
  const { prominence } = pack.serving;
  const sortHint = prominence === null ? '' : `\`-${prominence}\` lists the best known first, `;
  return blocks(
    table(['filter', 'matches records where'], rows),
    `Records must match all filters. Letter case and accents never matter; an unknown name is an error that suggests the nearest. \`sort=-a\` is descending, \`sort=a\` ascending, \`-quality\` the default; \`relevance\` needs \`q\`: exact names first, then names that begin so; ${sortHint}records without the field are last. \`limit\` 1 to 100 (20); \`cursor\`: next_cursor of the previous page; \`total=true\` counts.`,
  ).trim();
}

/** Fields whose filter by value has another name in some operations; empty without one. */
function respelled({ pack }: Release, { operations }: Context): string {
  const fields = respelledFilters(pack, filterUses(operations));
  return [...fields]
    .map(
      ([name, names]) =>
        `\`${name}\` is a parameter of ${names.join(', ')}; the filter by the field is \`is_${name}\` there.`,
    )
    .join(' ');
}

/** Every field with its meaning, its visibility, and its filters by their exact names. */
function fields({ pack, manifest }: Release, { operations }: Context): string {
  const uses = filterUses(operations);
  const filters = Map.groupBy(filterGrammar(pack, manifest, uses), ({ attribute }) => attribute);
  return table(
    ['field', 'type', 'access', 'filters', 'for example', 'meaning'],
    pack.attributes.map((each) => {
      const own = filters.get(each.name) ?? [];
      return [
        each.name,
        each.unit === null ? each.type : `${each.type}, ${each.unit}`,
        each.public ? 'public' : 'paid',
        new Markup(own.map(({ name }) => `\`${name}\``).join(' ')),
        values(each, own.find(({ values }) => values)?.values),
        each.description,
      ];
    }),
  );
}

function values(attribute: Attribute, examples: readonly string[] | undefined): string {
  if (examples && examples.length > 0) return examples.slice(0, 8).join(', ') + (examples.length > 8 ? ', …' : '');
  const { example } = attribute;
  return String(cell(typeof example === 'object' && 'min' in example ? example.min : example));
}

/** The guide as Markdown, also written by the nightly build. */
function guideText(release: Release, ctx: Context): string {
  const { pack, manifest } = release;
  const { base_url } = ctx;
  const tools = ctx.operations
    .filter(({ tool, answerable }) => tool !== false && answerable?.(pack) !== false)
    .map(({ name }) => `\`${name}\``);
  const about = aboutDataset(pack, base_url);
  const map = publicPoint(pack) === undefined ? '' : `, [on the map](${base_url}/files/${pack.id}/public.geojson)`;
  return blocks(
    `# ${escapeText(pack.title)}: guide for agents`,
    `> ${escapeText(pack.description)}`,
    `Dataset \`${pack.id}\` at ${base_url}: ${manifest.records} records, release ${manifest.release} of ${manifest.created_at.slice(0, 10)}, last collected ${manifest.last_collection.slice(0, 10)}. Rules, keys and errors: ${base_url}/llms.txt`,
    pack.guide.trim(),
    '## The cheapest call for each question',
    stepsText(),
    callsTable(ctx.operations, pack),
    '## Filters and order',
    grammar(pack),
    '## Fields',
    `A value that is missing is not known. A price is a number or a range \`{min, max, currency}\`. Values with their counts, free: \`/v1/${pack.id}/facets.md?by=${pack.group_by}\``,
    fields(release, ctx),
    respelled(release, ctx),
    '## Tools',
    `MCP tools and A2A skills take the same parameters, plus \`dataset\`, \`entity_id\` (the slug) and \`format: "md"\` for Markdown: ${tools.join(', ')}.`,
    '## Links',
    [
      `- [Schema with every filter](${base_url}/v1/${pack.id}/schema)`,
      `- [Example response (fictional values)](${base_url}/v1/${pack.id}/samples)`,
      `- [Public values of all records](${base_url}/v1/${pack.id}/llms-full.txt)`,
      `- [The same as a table, with sources](${base_url}/files/${pack.id}/public.parquet), [as a database](${base_url}/files/${pack.id}/public.duckdb), [with every earlier value](${base_url}/files/${pack.id}/history.parquet)${map}, free; [all files with sizes and SHA-256](${base_url}/files/${pack.id}/)`,
      `- [The register](${base_url}/llms.txt)`,
      `- [Page for people](${datasetUrl(base_url, pack.id)})`,
    ].join('\n'),
    `License: ${escapeText(about.license)}. Cite: ${about.attribution}`,
  );
}

export const dataset_guide = operation<object, Guide>({
  name: 'dataset_guide',
  title: 'Guide of a dataset',
  description: 'What the data means, every filter and field with type, unit and example, prices, and the best calls.',
  route: { method: 'GET', path: '/v1/:ds/llms.txt' },
  group: 'dataset',
  repeats: true,
  access: 'free',
  formats: ['text', 'markdown'],
  resource: 'service://{dataset}/llms.txt',
  long: {
    part: 'text',
    more: 'dataset_schema lists the fields and filters; a larger max_tokens shows the whole guide.',
  },
  ...inputOf(NO_PARAMETERS),
  validators: async (raw, ctx) => {
    const { version, last_modified } = await releaseValidators(raw, ctx);
    return { version: `${version} ${ctx.eur_usd}`, last_modified };
  },
  run: async (_input, ctx) => {
    const release = releaseOf(ctx);
    const body = { text: guideText(release, ctx), ...aboutDataset(release.pack, ctx.base_url) };
    return { body };
  },
  markdown: ({ text }) => text,
  prerender: (pack) =>
    pack === null ? [] : [{ file: `v1/${pack.id}/llms.txt`, input: { ds: pack.id }, format: 'text' }],
});
