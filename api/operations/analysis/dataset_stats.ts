// GET /v1/{ds}/stats: median, quartiles, mean of a numeric attribute, over all matching records or in groups.
import { z } from 'zod';
import { type StatsInput, statsParameters } from '../../../data/input/analysis-parameters.ts';
import { listedFilter } from '../../../data/queries/gone.ts';
import { type AttributeStats, getStats, type StatsReport, type StatsRow } from '../../../data/queries/stats.ts';
import { NUMERIC } from '../../../packs/define/schema.ts';
import { type Context, operation } from '../../contract/operation.ts';
import { cell, columnTitle, figureCells } from '../../render/cells.ts';
import { blocks, escapeText, table } from '../../render/markdown.ts';
import { type About, releaseOf } from '../common/about.ts';
import { cachedResult } from '../common/cached-result.ts';
import { inputOf, openNames } from '../common/inputs.ts';
import { ABOUT_OUTPUT, count, FIGURES_OUTPUT, GONE_OUTPUT, VALUE } from '../common/outputs.ts';

type Stats = StatsReport & About;

const FIGURES = ['count', 'sum', 'min', 'p10', 'q1', 'median', 'q3', 'p90', 'max', 'mean'] as const;

const NAMED_RECORD = z.object({ id: z.string(), slug: z.string(), name: z.string() });

/** One row of the answer; `group` is null for all records. */
const ROW = {
  ...{ group: VALUE.nullable(), ...FIGURES_OUTPUT },
  ...z.object({ sum: z.number(), p10: z.number(), q1: z.number(), q3: z.number(), p90: z.number() }).partial().shape,
  min_record: NAMED_RECORD.describe('A record with the minimum').optional(),
  max_record: NAMED_RECORD.describe('A record with the maximum').optional(),
  histogram: z
    .array(z.object({ from: z.number(), to: z.number(), count: count('Values from `from` to below `to`') }))
    .describe('With buckets: equal parts from min to max; the last contains max')
    .optional(),
};

const STATS = {
  attribute: z.string(),
  unit: z.string().nullable(),
  rows: z.array(z.object({ ...ROW, groups: z.array(z.object(ROW)).optional().describe('By the second attribute') })),
};

const figures = (row: StatsRow) => [...figureCells(FIGURES, row), row.min_record?.slug, row.max_record?.slug];

/** The tables of one attribute: its figures, and the histograms of its rows. */
function statsBlocks({ attribute, rows }: AttributeStats, keys: readonly string[], ctx: Context): string[] {
  const definition = releaseOf(ctx).pack.attributes.find(({ name }) => name === attribute);
  const named = rows.flatMap((row) => {
    const group = cell(row.group ?? undefined, true);
    const inner = (row.groups ?? []).map((row) => ({ row, cells: [group, cell(row.group ?? undefined, true)] }));
    return [{ row, cells: [group, '(all)'].slice(0, keys.length) }, ...inner];
  });
  const lower = definition?.type === 'price' ? ' Of a price range the lower end counts.' : '';
  const buckets = named.flatMap(({ row, cells }) =>
    (row.histogram ?? []).map(({ from, to, count }) => [...cells, from, to, count]),
  );
  return [
    `${escapeText(definition ? columnTitle(definition) : attribute)}${keys.length > 0 ? ` by ${escapeText(keys.join(', then '))}` : ''}`,
    rows.length > 0
      ? table(
          [...keys, ...FIGURES, 'min record', 'max record'],
          named.map(({ row, cells }) => [...cells, ...figures(row)]),
        )
      : 'No record that matches has a value and a group.',
    ...(buckets.length > 0 ? [table([...keys, 'from', 'to', 'count'], buckets)] : []),
    `count: values, one a record. Quantiles interpolate linearly.${lower}`,
  ];
}

function markdown({ attributes, group_by, hint, attribution, license, ...stats }: Stats, ctx: Context): string {
  const keys = group_by === null ? [] : group_by.split(',');
  return blocks(
    // Without `attributes` the answer has the members of one.
    ...(attributes ?? [stats as AttributeStats]).flatMap((part) => statsBlocks(part, keys, ctx)),
    hint !== undefined && escapeText(hint),
    `${escapeText(attribution)} License: ${escapeText(license)}`,
  );
}

/**
 * Statistics of an attribute, whole or by group.
 *
 * @example
 * ```
 * GET /v1/:ds/stats?attribute=elevation_ft&group_by=country
 * ```
 */
export const dataset_stats = operation<StatsInput, Stats>({
  name: 'dataset_stats',
  title: 'Statistics of an attribute',
  description:
    'Count, sum, minimum, quantiles, maximum and mean of numeric attributes of all records that match, or by one or two attributes; with buckets a histogram.',
  rest: { method: 'GET', path: '/v1/:ds/stats' },
  charge: {
    access: 'paid',
    price: { of: 'stats', times: ({ attributes }) => attributes.length, unit: 'attribute' },
    names: ({ names }) => names,
  },
  tool: { long: { more: 'limit returns fewer rows; or group by an attribute with fewer values, or filter.' } },
  docs: {
    group: 'analysis',
    tasks: [
      {
        want: 'median, quartiles, mean, minimum and maximum of a number over the records that match; with buckets={n} a histogram',
        query: 'attribute={field}&{filters}',
      },
      { want: 'the same figures for each group of records', query: 'attribute={field}&group_by={group}&{filters}' },
      {
        want: 'the groups with the highest median (or sum, mean, max), without rare ones',
        query: 'attribute={field}&group_by={group}&order=-median&having_min_count={n}&limit={n}&{filters}',
      },
    ],
    example: (pack) => {
      const [attribute] = openNames(pack, NUMERIC);
      return attribute === undefined ? null : { attribute, ...listedFilter(pack) };
    },
  },
  repeats: true,
  formats: ['json', 'markdown'],
  ...inputOf(statsParameters),
  output: () =>
    z.object({
      ...z.object(STATS).partial().shape,
      attributes: z.array(z.object(STATS)).optional().describe('With several attributes, in place of the others'),
      group_by: z.string().nullable().describe('As requested'),
      hint: GONE_OUTPUT,
      ...ABOUT_OUTPUT,
    }),
  run: async (input, ctx) => {
    const answer = await getStats(releaseOf(ctx), input, ctx);
    const result = cachedResult(answer, ctx);
    const rows = answer.rows ?? answer.attributes!.flatMap((stats) => stats.rows);
    result.empty = rows.every(({ count }) => count === 0);
    return result;
  },
  markdown,
});
