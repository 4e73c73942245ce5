// GET /v1/{ds}/llms.txt: the guide of a dataset for agents, with the text of its publisher.

import { filterGrammar, respelledFilters } from '../../../data/input/filters.ts';
import { counted } from '../../../data/input/selection.ts';
import { listedFilter } from '../../../data/queries/gone.ts';
import type { Release } from '../../../data/releases/release.ts';
import { datasetUrl } from '../../../packs/define/links.ts';
import type { Attribute, Pack } from '../../../packs/define/model.ts';
import { type Context, filterUses, isTool, operation } from '../../contract/operation.ts';
import { callsTable, stepsText } from '../../render/call-table.ts';
import { cell } from '../../render/cells.ts';
import { publicPoint } from '../../render/data-files.ts';
import { blocks, escapeText, Markup, table } from '../../render/markdown.ts';
import { sqlTableLines } from '../../render/sql-guide.ts';
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
  const hasGeo = pack.attributes.some(({ type }) => type === 'geo');
  const filters: [string, string][] = [
    ['`a=x,y`', 'a is x or y; a comma inside a value is written `\\,`'],
    ['`not_a=x,y`', 'a is neither; records without a match too'],
    ['`like_a=x`', 'a contains x'],
    ['`min_a=1`', 'a is at least 1; of a price range the upper end counts'],
    ['`max_a=9`', 'a is at most 9; of a price range the lower end counts'],
    ['`has_a=true`', 'a is known; `false`: unknown'],
    ['`q=words`', 'each word (with `match=any` one) begins a word of the record; `sort=relevance`: best matches first'],
    [
      '`filter=expression`',
      "this CQL2 is true: OR, NOT, fields compared, such as `a > 2 * b OR c IN ('x', 'y')`; texts exactly as written, `CASEI(c) LIKE 'x%'` without letter case",
    ],
    ...(hasGeo ? PLACES : []),
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
  const listed = Object.entries(listedFilter(pack)).map(
    (filter) =>
      `Records that no source lists any more have \`${pack.gone!.attribute}=${pack.gone!.value}\` and count everywhere; \`${filter.join('=')}\` leaves them out. `,
  );
  const open = pack.attributes.filter((attribute) => attribute.public && counted(attribute));
  const by = open.find(({ name }) => name === pack.group_by) ?? open[0];
  const groups =
    by === undefined
      ? ''
      : `\`group_by=${by.name}&sort=-${prominence ?? 'quality'}\` lists the first record of each ${by.name}, with \`group_limit=3\` the first three; \`limit\` then counts groups. `;
  const sortHint = prominence === null ? '' : `\`-${prominence}\` lists the best known first, `;
  return blocks(
    table(['filter', 'matches records where'], rows),
    `${listed.join('')}Records must match all filters. Letter case and accents matter only in \`filter\`; an unknown name is an error that suggests the nearest. \`sort=-a\` is descending, \`sort=a\` ascending, \`-quality\` the default; \`relevance\` needs \`q\`: exact names first, then names that begin so; ${sortHint}records without the field are last. ${groups}\`limit\` 1 to 100 (20); \`cursor\`: next_cursor of the previous page; \`total=true\` counts.`,
  ).trim();
}

/** Fields whose filter by value has another name in some operations; empty without one. */
function respelled({ pack }: Release, { register: { operations } }: Context): string {
  const fields = respelledFilters(pack, filterUses(operations));
  return [...fields]
    .map(
      ([name, names]) =>
        `\`${name}\` is a parameter of ${names.join(', ')}; the filter by the field is \`is_${name}\` there.`,
    )
    .join(' ');
}

/** Every field with its meaning, its visibility, and the prefixes of its filters; `=` is the filter by value. */
function fields({ pack, manifest }: Release, { register: { operations } }: Context): string {
  const uses = filterUses(operations);
  const filters = Map.groupBy(filterGrammar(pack, manifest, uses), ({ attribute }) => attribute);
  return table(
    ['field', 'type', 'access', 'filters', 'for example', 'meaning'],
    pack.attributes.map((attribute) => {
      const attributeFilters = filters.get(attribute.name) ?? [];
      return [
        attribute.name,
        attribute.unit === null ? attribute.type : `${attribute.type}, ${attribute.unit}`,
        attribute.public ? 'public' : 'paid',
        new Markup(attributeFilters.map(({ name }) => name.slice(0, -attribute.name.length) || '=').join(' ')),
        values(attribute, attributeFilters.find(({ values }) => values)?.values),
        attribute.description,
      ];
    }),
  );
}

/** Values of a text; the type and unit of other fields show what their values are. */
function values({ type, example }: Attribute, examples: readonly string[] | undefined): string {
  if (examples && examples.length > 0) return examples.slice(0, 8).join(', ') + (examples.length > 8 ? ', …' : '');
  return SELF_EVIDENT.includes(type) ? '' : String(cell(example));
}

/** Types whose fields have no example in the guide. */
const SELF_EVIDENT: readonly Attribute['type'][] = [
  'number',
  'integer',
  'price',
  'boolean',
  'date',
  'datetime',
  'text',
];

/** The guide as Markdown, also written by the nightly build. */
export async function datasetGuide(release: Release, ctx: Context): Promise<string> {
  const { pack, manifest } = release;
  const { base_url } = ctx;
  const further = ctx.register.operations
    .filter((listed) => isTool(listed) && !listed.docs.tasks && listed.docs.answerable?.(pack) !== false)
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
    callsTable(ctx.register.operations, pack),
    '## Filters and order',
    grammar(pack),
    '## Fields',
    `The filters of a field are the prefixes of its name; \`=\` is the name alone. A value that is missing is not known. A price is a number or a range \`{min, max, currency}\`. Values with their counts, free: \`/v1/${pack.id}/facets.md?by=${pack.group_by}\``,
    fields(release, ctx),
    respelled(release, ctx),
    '## SQL',
    `\`POST /v1/${pack.id}/sql\` or \`/v1/sql\` with \`{"sql": "SELECT …"}\`, tool \`sql_query\`: free, in the SQL of DuckDB.`,
    await sqlTableLines(release),
    '## Tools',
    `MCP tools and A2A skills take the same parameters, plus \`dataset\`, \`entity_id\` (the slug) and \`format\` (md, json). Tools without a row above: ${further.join(', ')}.`,
    '## Links',
    [
      `- [Schema with every filter](${base_url}/v1/${pack.id}/schema)`,
      `- [Example response (fictional values)](${base_url}/v1/${pack.id}/samples)`,
      `- [Public values of all records](${base_url}/v1/${pack.id}/llms-full.txt)`,
      `- [The same as a database](${base_url}/files/${pack.id}/public.duckdb)${map}; [all free files](${base_url}/files/${pack.id}/)`,
      `- [The register](${base_url}/llms.txt)`,
      `- [Page for people](${datasetUrl(base_url, pack.id)})`,
    ].join('\n'),
    `License: ${escapeText(about.license)}. Cite: ${about.attribution}`,
  );
}

/**
 * The guide of a dataset for agents.
 *
 * @example
 * ```
 * GET /v1/:ds/llms.txt
 * ```
 */
export const dataset_guide = operation<object, Guide>({
  name: 'dataset_guide',
  title: 'Guide of a dataset',
  description: 'What the data means, every filter and field with type, unit and example, prices, and the best calls.',
  rest: {
    method: 'GET',
    path: '/v1/:ds/llms.txt',
    validators: async (raw, ctx) => {
      const { version, last_modified } = await releaseValidators(raw, ctx);
      return { version: `${version} ${ctx.register.eur_usd}`, last_modified };
    },
    prerender: (pack) =>
      pack === null ? [] : [{ file: `v1/${pack.id}/llms.txt`, input: { ds: pack.id }, format: 'text' }],
  },
  charge: { access: 'free' },
  tool: {
    core: true,
    resource: 'service://{dataset}/llms.txt',
    long: {
      part: 'text',
      more: 'dataset_schema lists the fields and filters; a larger max_tokens shows the whole guide.',
    },
  },
  docs: { group: 'dataset' },
  repeats: true,
  formats: ['text', 'markdown'],
  ...inputOf(NO_PARAMETERS),
  run: async (_input, ctx) => {
    const release = releaseOf(ctx);
    const body = { text: await datasetGuide(release, ctx), ...aboutDataset(release.pack, ctx.base_url) };
    return { body };
  },
  markdown: ({ text }) => text,
});
