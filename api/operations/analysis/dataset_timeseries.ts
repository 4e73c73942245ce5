// GET /v1/{ds}/timeseries: a numeric attribute as it was at the end of each day or week.
import { z } from 'zod';
import { type TimeseriesInput, timeseriesParameters } from '../../../data/input/analysis-parameters.ts';
import { getTimeseries, type SeriesPoint, type TimeseriesReport } from '../../../data/queries/timeseries.ts';
import { NUMERIC } from '../../../packs/define/schema.ts';
import { type Context, operation } from '../../contract/operation.ts';
import { cell, columnTitle, figureCells } from '../../render/cells.ts';
import { blocks, escapeText, table } from '../../render/markdown.ts';
import { type About, releaseOf } from '../common/about.ts';
import { cachedResult } from '../common/cached-result.ts';
import { inputOf, openNames } from '../common/inputs.ts';
import { ABOUT_OUTPUT, count, FIGURES_OUTPUT, VALUE } from '../common/outputs.ts';

type Timeseries = TimeseriesReport & About;

const FIGURES = ['count', 'median', 'min', 'max', 'mean'] as const;

const POINT = z.object({ date: z.iso.date(), ...FIGURES_OUTPUT });

/** Merges neighbouring points with the same figures to one row: first date, last date, figures. */
function lines(series: readonly SeriesPoint[]): unknown[][] {
  const rows: unknown[][] = [];
  let previous = '';
  for (const point of series) {
    const figures = figureCells(FIGURES, point);
    const text = figures.join(' ');
    if (text === previous) rows.at(-1)![1] = point.date;
    else rows.push([point.date, point.date, ...figures]);
    previous = text;
  }
  return rows;
}

function markdown(answer: Timeseries, ctx: Context): string {
  const { attribute, step, attribution, license } = answer;
  const definition = releaseOf(ctx).pack.attributes.find(({ name }) => name === attribute);
  const columns = ['from', 'to', ...FIGURES];
  const lower = definition?.type === 'price' ? ' Of a price range the lower end counts.' : '';
  return blocks(
    `${escapeText(definition ? columnTitle(definition) : attribute)} at the end of each ${step === 'day' ? 'day' : 'seventh day'}, UTC`,
    'series' in answer
      ? table(columns, lines(answer.series))
      : answer.groups.length === 0
        ? 'No record that matches has a group and had a value in this time.'
        : table(
            ['group', ...columns],
            answer.groups.flatMap(({ group, series }) => lines(series).map((line) => [cell(group, true), ...line])),
          ),
    `Points with the same figures share a line. count: values, one a record that matches now.${lower}`,
    `${escapeText(attribution)} License: ${escapeText(license)}`,
  );
}

export const dataset_timeseries = operation<TimeseriesInput, Timeseries>({
  name: 'dataset_timeseries',
  title: 'An attribute over time',
  description:
    'Median, minimum, maximum and mean of a numeric attribute at the end of each day or week, of all records that match or by an attribute.',
  rest: { method: 'GET', path: '/v1/:ds/timeseries' },
  charge: { access: 'paid', price: { of: 'stats' }, names: ({ names }) => names },
  tool: { long: { more: 'Request fewer days or step=week, or omit group_by.' } },
  docs: {
    group: 'analysis',
    tasks: [{ want: 'how a number moved over the last days', query: 'attribute={field}&days={days}&{filters}' }],
    example: (pack, slugs) => {
      const [attribute] = openNames(pack, NUMERIC);
      return attribute === undefined || slugs.length === 0 ? null : { attribute, days: '2', ids: slugs.join() };
    },
  },
  repeats: true,
  formats: ['json', 'markdown'],
  ...inputOf(timeseriesParameters),
  output: () =>
    z.object({
      attribute: z.string(),
      unit: z.string().nullable(),
      step: z.enum(['day', 'week']),
      days: count('As requested'),
      series: z.array(POINT).optional().describe('Without group_by'),
      groups: z
        .array(z.object({ group: VALUE, series: z.array(POINT) }))
        .optional()
        .describe('With group_by'),
      ...ABOUT_OUTPUT,
    }),
  run: async (input, ctx) => {
    const answer = await getTimeseries(releaseOf(ctx), input, ctx.now, ctx);
    const result = cachedResult(answer, ctx);
    const points = 'series' in answer ? answer.series : answer.groups.flatMap(({ series }) => series);
    result.empty = points.every(({ count }) => count === 0);
    return result;
  },
  markdown,
});
