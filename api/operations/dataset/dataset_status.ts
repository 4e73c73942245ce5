// GET /v1/{ds}/status: number of records, freshness, last and next collection.

import { z } from 'zod';
import type { Manifest } from '../../../data/model/layout.ts';
import { lastCollected, releaseHistory } from '../../../data/releases/runs.ts';
import type { Pack } from '../../../packs/define/model.ts';
import { nextRun, parseSchedule } from '../../../packs/define/schedule.ts';
import { operation } from '../../contract/operation.ts';
import { blocks, escapeText, table } from '../../render/markdown.ts';
import { incidentText } from '../../render/run-history.ts';
import { aboutDataset, releaseOf } from '../common/about.ts';
import { inputOf, NO_PARAMETERS } from '../common/inputs.ts';
import { ABOUT_OUTPUT, count, share, time } from '../common/outputs.ts';

const output = () =>
  z.object({
    dataset: z.string(),
    records: count('Records'),
    facts: count('Facts ever observed'),
    median_age_hours: z.number().nullable().describe('null: there are no values'),
    within_sla: share('Values younger than the limit of their attribute').nullable(),
    sla_hours: z.record(z.string(), z.number()).describe('That limit, by attribute'),
    last_collection: time('When sources were last read'),
    next_collection: time('When they will be').nullable(),
    snapshot: z.string().describe('Id of the release'),
    runs: z
      .object({
        since: z.string().nullable().describe('Day of the first recorded nightly run'),
        incidents: z.array(
          z.object({
            from: z.string().describe('Day of the first bad run'),
            solved: z.string().nullable().describe('Day of the next good run; null: none yet'),
            outcome: z.enum(['refused', 'failed']).describe('refused: the new data did not pass the checks'),
            runs: count('Bad runs in a row'),
          }),
        ),
      })
      .describe('Nightly runs that published nothing because they were refused or failed, newest first'),
    ...ABOUT_OUTPUT,
  });
type Status = z.infer<ReturnType<typeof output>>;

const HOUR = 3_600_000;

/** Median age and share within the limit, over the few distinct (attribute, time) counts of the manifest. */
export function freshness(
  { ages }: Pick<Manifest, 'ages'>,
  pack: Pack,
  now: Date,
): Pick<Status, 'median_age_hours' | 'within_sla'> {
  const limits = new Map(pack.attributes.map(({ name, sla }) => [name, sla.error]));
  const counted = ages
    .map(({ attribute, observed_at, count }) => {
      const hours = Math.max(0, (now.getTime() - Date.parse(observed_at)) / HOUR);
      return { hours, count, within: hours <= (limits.get(attribute) ?? Number.POSITIVE_INFINITY) };
    })
    .sort((a, b) => a.hours - b.hours);
  const all = counted.reduce((sum, { count }) => sum + count, 0);
  if (all === 0) return { median_age_hours: null, within_sla: null };
  const within = counted.reduce((sum, age) => sum + (age.within ? age.count : 0), 0);
  let cumulative = 0;
  let median = 0;
  for (const { hours, count } of counted) {
    median = hours;
    cumulative += count;
    if (cumulative * 2 >= all) break;
  }
  return {
    median_age_hours: Math.round(median * 10) / 10,
    within_sla: Math.floor((within / all) * 1e4) / 1e4,
  };
}

function markdown(status: Status): string {
  const { attribution, license, sla_hours: _, dataset, runs, ...numbers } = status;
  return blocks(
    `# Status of ${escapeText(dataset)}`,
    table(['', ''], Object.entries(numbers)),
    runs.incidents.map((incident) => `- ${incident.from}: ${incidentText(incident)}`).join('\n'),
    `${escapeText(attribution)} License: ${escapeText(license)}`,
  );
}

export const dataset_status = operation<object, Status>({
  name: 'dataset_status',
  title: 'Status of a dataset',
  description:
    'Counts of records and facts, median age of the values, share within their freshness limit, last and next collection.',
  rest: { method: 'GET', path: '/v1/:ds/status' },
  charge: { access: 'free' },
  tool: {},
  docs: {
    group: 'dataset',
    tasks: [{ want: 'how many records there are in all, how fresh they are, when they were collected' }],
    example: () => ({}),
  },
  formats: ['json', 'markdown'],
  ...inputOf(NO_PARAMETERS),
  output,
  run: async (_input, ctx) => {
    const { pack, manifest } = releaseOf(ctx);
    const body: Status = {
      dataset: pack.id,
      records: manifest.records,
      facts: manifest.facts,
      ...freshness(manifest, pack, ctx.now),
      sla_hours: Object.fromEntries(pack.attributes.map(({ name, sla }) => [name, sla.error])),
      last_collection: await lastCollected(releaseOf(ctx)),
      next_collection: nextRun(parseSchedule(pack.schedule), ctx.now)?.toISOString() ?? null,
      snapshot: manifest.release,
      runs: await releaseHistory(releaseOf(ctx)),
      ...aboutDataset(pack, ctx.base_url),
    };
    return { body };
  },
  markdown,
});
