// GET /v1/{ds}/examples: real records, complete and free: the best known of each group, else those of the
// best quality (pack: group_by, serving).

import { z } from 'zod';
import { single } from '../../../data/input/filters.ts';
import { type Parameter, parameters } from '../../../data/input/parameters.ts';
import { parseInteger } from '../../../data/input/parse-values.ts';
import { optionalText } from '../../../data/input/rows.ts';
import type { PublicRecord } from '../../../data/model/record.ts';
import { presentRecord } from '../../../data/queries/present.ts';
import type { Release } from '../../../data/releases/release.ts';
import { derive, derived } from '../../../packs/define/derive.ts';
import type { Value } from '../../../packs/define/model.ts';
import { fold } from '../../../packs/define/text.ts';
import { operation } from '../../contract/operation.ts';
import { blocks, escapeText } from '../../render/markdown.ts';
import { recordsMarkdown } from '../../render/record-template.ts';
import { type About, aboutDataset, releaseOf, releaseValidators } from '../common/about.ts';
import { WITHOUT_SOURCES } from '../common/brief.ts';
import { inputOf } from '../common/inputs.ts';
import { ABOUT_OUTPUT, datasetFiles, RECORD_OUTPUT } from '../common/outputs.ts';

type Examples = { group_by: string; items: PublicRecord[]; further_groups?: Value[] } & About;

/** Most groups that are read, the largest first: enough for every country of the world. */
const GROUPS = 500;
/**
 * Approximate number of records without a group parameter: with a group for each country, all of them
 * exceeded a megabyte.
 */
const SHOWN = 60;

/** Records in an answer to a tool without a limit parameter: complete ones take some 2,000 tokens each. */
const SHOWN_BY_NAME = 3;

/**
 * Ordinals of the examples of a group: the best known if the pack has a measure of that, else those of the
 * best quality.
 */
async function bestOfGroup({ engine, pack }: Release, value: Value): Promise<number[]> {
  const folded = typeof value === 'string' ? fold(value) : (value as number | boolean);
  const { ordinals } = await engine.search({
    where: [{ kind: 'any', attribute: pack.group_by, values: [folded] }],
    sort: { key: pack.serving.prominence ?? 'quality', descending: true },
    after: null,
    limit: pack.serving.showcase.per_group,
    total: false,
  });
  return ordinals;
}

interface Showcase {
  /** Groups in the answer, by their folded value. */
  groups: Map<string, { value: Value; ordinals: number[] }>;
  /** Groups whose records are shown only on request. */
  further: Value[];
}

async function showcase(release: Release): Promise<Showcase> {
  const { engine, pack } = release;
  const { values } = await engine.facets({ where: [], by: pack.group_by, limit: GROUPS, floor: 0 });
  const groups: Showcase['groups'] = new Map();
  const groupCount = Math.ceil(SHOWN / pack.serving.showcase.per_group);
  // One query after the other, to leave the engine's queue to callers.
  for (const { value } of values.slice(0, groupCount))
    groups.set(fold(String(value)), { value, ordinals: await bestOfGroup(release, value) });
  return { groups, further: values.slice(groupCount).map(({ value }) => value) };
}

/** The showcase of a release, which is the same for all callers until the next release. */
const showcaseOf = (release: Release): Promise<Showcase> => derive(release, 'showcase', () => showcase(release));

/**
 * Ordinals to show, best first within the order of the groups; with a group parameter, those of that group.
 */
async function chooseOrdinals(
  release: Release,
  group: string | null,
  limit: number | undefined,
): Promise<{ ordinals: number[]; further: Value[] }> {
  if (group !== null) {
    const showcase = await derived<Promise<Showcase>>(release, 'showcase');
    return {
      ordinals: (showcase?.groups.get(fold(group))?.ordinals ?? (await bestOfGroup(release, group))).slice(0, limit),
      further: [],
    };
  }
  const { groups, further } = await showcaseOf(release);
  const ordinals = [...new Set([...groups.values()].flatMap((group) => group.ordinals))].slice(0, limit);
  const shownOrdinals = new Set(ordinals);
  const left = [...groups.values()].filter((group) => !group.ordinals.some((ordinal) => shownOrdinals.has(ordinal)));
  return { ordinals, further: [...left.map(({ value }) => value), ...further] };
}

const LIMIT: Parameter<number | null> = {
  schema: (_pack, as) =>
    z
      .number()
      .int()
      .min(1)
      .max(SHOWN)
      .describe('Records to answer')
      .meta(as === 'tool' ? { default: SHOWN_BY_NAME } : {})
      .optional(),
  parse: (values, { name }) => parseInteger(name, single(name, values), 1, SHOWN),
  fallback: null,
};

const examplesParameters = parameters({
  group: optionalText('Only this group, such as a provider or country'),
  limit: LIMIT,
});

export const dataset_examples = operation<{ group: string | null; limit: number | null }, Examples>({
  name: 'dataset_examples',
  title: 'Real example records',
  description:
    'Real records with every value and its provenance, free: the best known of each of the largest groups, or the best. group selects one group.',
  rest: {
    method: 'GET',
    path: '/v1/:ds/examples',
    validators: releaseValidators,
    prerender: datasetFiles('examples'),
  },
  charge: { access: 'free' },
  tool: {
    long: {
      part: 'items',
      brief: [WITHOUT_SOURCES],
      further: ['further_groups'],
      more: 'group selects one group; entity_search with fields returns more records.',
    },
  },
  docs: { group: 'dataset', tasks: [{ want: 'a few complete records', query: 'group={value}' }] },
  repeats: true,
  formats: ['json', 'markdown'],
  ...inputOf(examplesParameters),
  output: () =>
    z.object({
      group_by: z.string(),
      items: z.array(RECORD_OUTPUT),
      further_groups: z
        .array(z.union([z.string(), z.number(), z.boolean()]))
        .optional()
        .describe('Groups left out here; name one with group'),
      ...ABOUT_OUTPUT,
    }),
  run: async ({ group, limit }, ctx) => {
    const release = releaseOf(ctx);
    const { pack, engine } = release;
    const most = limit ?? (ctx.by_name ? SHOWN_BY_NAME : undefined);
    const { ordinals, further } = await chooseOrdinals(release, group, most);
    const bodies = await engine.bodies(ordinals, { signal: ctx.signal });
    const all = { now: ctx.now, base_url: ctx.base_url, visibility: 'full' } as const;
    const items = bodies.map(({ body }) => presentRecord(body, pack, all));
    const left = further.length === 0 ? {} : { further_groups: further };
    return { body: { group_by: pack.group_by, items, ...left, ...aboutDataset(pack, ctx.base_url) } };
  },
  markdown: ({ items, group_by, further_groups: further, attribution, license }, ctx) => {
    const { pack } = releaseOf(ctx);
    return blocks(
      `# Examples of ${escapeText(pack.title)}: ${pack.serving.prominence ? 'the best known' : 'the best'} records by ${escapeText(group_by)}`,
      ...recordsMarkdown(items, pack),
      further &&
        `Left out, and shown with \`group=\`: ${further.map((value) => escapeText(String(value))).join(', ')}.`,
      `${escapeText(attribution)} License: ${escapeText(license)}`,
    );
  },
});
