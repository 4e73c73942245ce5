// The history of nightly runs: incidents from the log, as sentences and as bars.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type NightlyRun, recordRun, runHistory } from '../../data/releases/runs.ts';
import { incidentText, runBars } from './run-history.ts';

const folder = mkdtempSync(join(tmpdir(), 'runs-'));
afterAll(() => rmSync(folder, { recursive: true }));

const LOG: [string, NightlyRun['outcome']][] = [
  ['2026-11-01', 'released'],
  ['2026-11-02', 'failed'],
  ['2026-11-03', 'refused'],
  ['2026-11-04', 'unchanged'],
  ['2026-11-05', 'released'],
  ['2026-11-06', 'failed'],
];

test('bad runs in a row are one incident, until the next good one; long messages hide none', async () => {
  for (const [day, outcome] of LOG)
    await recordRun(folder, 'x', {
      ...{ at: `${day}T03:00:00Z`, outcome, seconds: 1, release: null, records: 0, steps: [] },
      messages: Array.from({ length: 20 }, () => 'm'.repeat(3_000)),
    });
  const history = await runHistory(folder, 'x');
  expect(history).toEqual({
    since: '2026-11-01',
    incidents: [
      { from: '2026-11-06', solved: null, outcome: 'failed', runs: 1 },
      { from: '2026-11-02', solved: '2026-11-04', outcome: 'refused', runs: 2 },
    ],
  });
  expect(history.incidents.map(incidentText)).toEqual([
    'Not updated in 1 nightly run: the run stopped before it was complete, so the release before it stayed. Not solved yet.',
    'Not updated in 2 nightly runs: the new data did not pass our checks, so the release before it stayed. Solved on Nov 4, 2026.',
  ]);
  const states = [...runBars(history, '2026-11-07T12:00:00Z').matchAll(/class="(good|bad|none)"/g)].map(([, s]) => s);
  expect(states).toHaveLength(90);
  expect(states.slice(-8)).toEqual(['none', 'good', 'bad', 'bad', 'good', 'good', 'bad', 'bad']);
  expect(await runHistory(folder, 'never')).toEqual({ since: null, incidents: [] });
});
