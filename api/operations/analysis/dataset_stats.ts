// GET /v1/{ds}/stats: median, quartiles, mean of a numeric attribute, over all matching records or in groups.
import { z } from 'zod';
import { type StatsInput, statsParameters } from '../../../data/input/analysis-parameters.ts';
import { isPublicQuestion } from '../../../data/input/selection.ts';
import { getStats, type StatsReport, type StatsRow } from '../../../data/queries/stats.ts';
import { NUMERIC } from '../../../packs/define/schema.ts';
import { type Context, operation } from '../../contract/operation.ts';
import { cell, columnTitle, figureCells } from '../../render/cells.ts';
import { blocks, escapeText, table } from '../../render/markdown.ts';
import { type About, releaseOf } from '../common/about.ts';
import { cachedResult } from '../common/cached-result.ts';
import { inputOf, openNames } from '../common/inputs.ts';
import { ABOUT_OUTPUT, FIGURES_OUTPUT, VALUE } from '../common/outputs.ts';

type Stats = StatsReport & About;

const FIGURES = ['count', 'min', 'q1', 'median', 'q3', 'max', 'mean'] as const;

/** One row of the answer; `group` is null for all records. */
const ROW = { group: VALUE.nullable(), ...FIGURES_OUTPUT, q1: z.number().optional(), q3: z.number().optional() };

const figures = (row: StatsRow) => figureCells(FIGURES, row);

function markdown({ attribute, group_by, rows, attribution, license }: Stats, ctx: Context): string {
  const definition = releaseOf(ctx).pack.attributes.find(({ name }) => name === attribute);
  const keys = group_by === null ? [] : group_by.split(',');
  const lines = rows.flatMap((row) => {
    if (keys.length === 0) return [figures(row)];
    const group = cell(row.group ?? undefined, true);
    if (row.groups === undefined) return [[group, ...figures(row)]];
    const inner = row.groups.map((each) => [group, cell(each.group ?? undefined, true), ...figures(each)]);
    return [[group, '(all)', ...figures(row)], ...inner];
  });
  const lower = definition?.type === 'price' ? ' Of a price range the lower end counts.' : '';
  return blocks(
    `${escapeText(definition ? columnTitle(definition) : attribute)}${keys.length > 0 ? ` by ${escapeText(keys.join(', then '))}` : ''}`,
    rows.length > 0 ? table([...keys, ...FIGURES], lines) : 'No record that matches has a value and a group.',
    `count: values, one a record. Quartiles interpolate linearly.${lower}`,
    `${escapeText(attribution)} License: ${escapeText(license)}`,
  );
}

export const dataset_stats = operation<StatsInput, Stats>({
  name: 'dataset_stats',
  title: 'Statistics of an attribute',
  description:
    'Count, minimum, quartiles, median, maximum and mean of a numeric attribute of all records that match, or by one or two attributes.',
  route: { method: 'GET', path: '/v1/:ds/stats' },
  group: 'analysis',
  repeats: true,
  access: 'paid',
  price: { of: 'stats' },
  formats: ['json', 'markdown'],
  long: { more: 'Group by an attribute with fewer values, or filter.' },
  answers: [
    {
      want: 'median, quartiles, mean, minimum and maximum of a number over the records that match',
      query: 'attribute={field}&{filters}',
    },
    { want: 'the same figures for each group of records', query: 'attribute={field}&group_by={group}&{filters}' },
  ],
  ...inputOf(statsParameters),
  output: () =>
    z.object({
      attribute: z.string(),
      unit: z.string().nullable(),
      group_by: z.string().nullable().describe('As requested'),
      rows: z.array(
        z.object({ ...ROW, groups: z.array(z.object(ROW)).optional().describe('By the second attribute') }),
      ),
      ...ABOUT_OUTPUT,
    }),
  example: (pack) => {
    const [attribute] = openNames(pack, NUMERIC);
    return attribute === undefined ? null : { attribute };
  },
  names: ({ names }) => names,
  run: async (input, ctx) => {
    const answer = await getStats(releaseOf(ctx), input, ctx);
    const result = cachedResult(answer, ctx);
    // With a filter on a paid attribute, an uncharged call would reveal that nothing matches.
    result.uncharged = answer.rows.every(({ count }) => count === 0) && isPublicQuestion(input, releaseOf(ctx).pack);
    return result;
  },
  markdown,
});
