// Changes of a value that are published and not reported.
import { expect, test } from 'vitest';
import type { Attribute } from '../../packs/define/model.ts';
import type { Statement } from './model.ts';
import { movesToWrittenDay } from './same-value.ts';

const statement = (value: string, evidence: string): Statement => {
  return { value, evidence, source: 'a', source_kind: 'collector', at: 0, confidence: 1 };
};
const moves = (before: Statement, after: Statement, type: Attribute['type'] = 'date') =>
  movesToWrittenDay({ type } as Attribute, before, after);

test('the day as written follows the day in UTC that an earlier version stored', () => {
  const stored = statement('2024-03-14', 'line 2 of a.csv');
  const written = statement('2024-03-15', 'line 2 of a.csv: 2024-03-15T00:30:00+02:00');
  expect(moves(stored, written)).toBe(true);
  expect(moves(stored, written, 'string')).toBe(false);
  // Any other day is a change, and so is the same step once the evidence has the written time.
  expect(moves(stored, statement('2024-03-15', 'line 2 of a.csv'))).toBe(false);
  expect(moves(statement('2024-03-13', 'line 2 of a.csv'), written)).toBe(false);
  expect(moves(statement('2024-03-14', 'line 2 of a.csv: 2024-03-14T23:00:00+02:00'), written)).toBe(false);
  expect(moves(written, statement('2024-03-16', 'line 2 of a.csv: 2024-03-16T00:30:00+02:00'))).toBe(false);
});
