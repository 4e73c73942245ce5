// Kinds of changes: the statements of the engine and the items of answers agree, for numbers, ranges and withdrawals.
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { type ChangelogPlan, DIRECTIONS } from '../plan/plan.ts';
import { publicChange } from '../queries/changelog.ts';
import { countStatement } from './changelog.ts';
import type { Shape } from './shape.ts';

const range = (min: number, max: number) => ({ min, max, currency: 'EUR' });

/** Old and new value, the kind, and the change in percent. */
const PAIRS: [unknown, unknown, string | undefined, number | undefined][] = [
  [4, 5, 'rise', 25],
  [5, 4, 'fall', -20],
  [1_048_576, 1_048_575, 'fall', 0],
  [3, 3, undefined, 0],
  [0, 2, 'rise', undefined],
  [-2, -1, 'rise', 50],
  [0.1, range(0.1, 0.3), 'rise', 200],
  [range(0.1, 0.3), 0.1, 'fall', -66.67],
  [range(1, 2), range(1.5, 2), 'rise', 50],
  [range(1, 2), range(2, 4), 'rise', 100],
  [range(10, 20), range(9, 12), 'fall', -10],
  [range(10, 20), range(5, 19), 'fall', -5],
  [range(1, 3), range(0.5, 4), 'range', 0],
  [range(0.5, 4), range(1, 3), 'range', 0],
  [2, range(1, 3), 'range', 0],
  [7, null, 'withdrawn', undefined],
  [range(1, 2), null, 'withdrawn', undefined],
  [null, 7, undefined, undefined],
];

test('statements and items find the same kinds and percentages', async () => {
  const connection = await (await DuckDBInstance.create()).connect();
  const json = (value: unknown) => (value === null ? 'NULL' : `'${JSON.stringify(value)}'`);
  const rows = [...PAIRS.map(([old, now]) => `(${json(old)}, ${json(now)}, 'price')`), `('"a"', NULL, 'note')`];
  const table = `(SELECT *, 0 AS ord, TIMESTAMP '2026-01-01' AS observed_at, 'changed' AS type FROM (VALUES ${rows.join()}) t(old_value, new_value, attribute))`;
  const changelog = { text: table, values: [] };
  const plan: ChangelogPlan = {
    ...{
      since: 1,
      attributes: null,
      ordinal: null,
      type: 'all',
      where: [],
      numbers: ['price'],
      shown: ['price', 'note'],
    },
    ...{ direction: null, minPercent: null, first: [], byDay: false, limit: 10, offset: 0 },
  };
  const shape: Shape = { attributes: new Map(), enums: new Map() };
  const rowsOf = async ({ text, values }: { text: string; values: readonly unknown[] }) =>
    (await connection.runAndReadAll(text, [...values] as string[])).getRows();
  for (const direction of DIRECTIONS) {
    const counted = Number((await rowsOf(countStatement({ ...plan, direction }, changelog, shape)))[0]![0]);
    // A withdrawn text counts too.
    const expected = PAIRS.filter(([, , kind]) => kind === direction).length + Number(direction === 'withdrawn');
    expect(counted, direction).toBe(expected);
    const hidden = countStatement({ ...plan, numbers: [], shown: [], direction }, changelog, shape);
    expect(Number((await rowsOf(hidden))[0]![0]), `${direction}, not shown`).toBe(0);
  }
  for (const [old, now, kind, percent] of PAIRS) {
    const values = {
      old_value: old === null ? null : JSON.stringify(old),
      new_value: now === null ? null : JSON.stringify(now),
    };
    const row = { entity_id: 'r', slug: 'r', name: 'R', attribute: 'price', type: 'changed' as const, observed_at: 0 };
    const item = publicChange({ ...row, ...values, source_url: null }, () => true);
    expect([item.kind, item.change_percent], JSON.stringify([old, now])).toEqual([kind, percent]);
    expect(publicChange({ ...row, ...values, source_url: null }, () => false).kind).toBeUndefined();
    const one = { text: table.replace(rows.join(), `(${json(old)}, ${json(now)}, 'price')`), values: [] };
    const least = countStatement({ ...plan, minPercent: Math.abs(percent ?? 0) }, one, shape);
    expect(Number((await rowsOf(least))[0]![0]), JSON.stringify([old, now])).toBe(percent === undefined ? 0 : 1);
  }
  connection.closeSync();
});
