// Seeded fictional histories of numbers with edge cases: midnight, several values on one day, gaps, removed
// records.
import type { PublishedInterval, StoredRecord } from '../../data/model/record.ts';
import type { Pack, PriceRange, Value } from '../../packs/define/model.ts';
import { NUMERIC } from '../../packs/define/schema.ts';
import { pickOne, type Random, random } from './random-records.ts';

const DAY = 86_400_000;

/** Times of day, among them the first and last moments of a day. */
const CLOCK = [0, 1, 1_000, DAY / 2, DAY - 1];

/** A small set of numbers, so that values repeat. */
function valueAt(next: Random): Value {
  const min = Math.floor(next() * 60) / 8;
  return next() < 0.2 ? { min, max: min + 1.5, currency: 'EUR' } : min;
}

/** Ascending, distinct times up to `days` days before `end`; often on the same day. */
function times(next: Random, end: number, days: number): number[] {
  const found = new Set<number>();
  const count = Math.floor(next() * 7);
  while (found.size < count) {
    const day = Math.floor(end / DAY) - Math.floor(next() * (next() < 0.3 ? 4 : days));
    found.add(day * DAY + pickOne(next, CLOCK));
  }
  return [...found].sort((a, b) => a - b);
}

/**
 * Intervals of the numeric attributes as a release stores them. The newest one contains the record's current
 * value; an additional record, `r-gone`, has values too. `end` is about the time of the newest values.
 */
export function randomHistory(
  pack: Pack,
  records: readonly StoredRecord[],
  seed: number,
  end: number,
): PublishedInterval[] {
  const next = random(seed);
  const all = [...records, { id: 'r-gone', attributes: {} as StoredRecord['attributes'] }];
  return all.flatMap(({ id, attributes }) =>
    pack.attributes
      .filter(({ type }) => NUMERIC.includes(type))
      .flatMap(({ name }) => {
        const current = attributes[name];
        const moments = times(next, end, 400);
        if (current !== undefined && moments.length === 0) moments.push(end - 200 * DAY);
        return moments.map((from, index): PublishedInterval => {
          const to = moments[index + 1];
          const value = next() < 0.15 ? null : valueAt(next);
          return {
            entity: id,
            attribute: name,
            value: to === undefined ? (current ?? null) : value,
            from: new Date(from).toISOString(),
            to: to === undefined ? null : new Date(to).toISOString(),
            source_url: 'https://source.example/',
          };
        });
      }),
  );
}

/** Columns of history.parquet. */
export const HISTORY_COLUMNS = {
  ord: 'UINTEGER',
  entity: 'VARCHAR',
  attribute: 'VARCHAR',
  value: 'VARCHAR',
  old_value: 'VARCHAR',
  min: 'DOUBLE',
  max: 'DOUBLE',
  from: 'TIMESTAMP',
  to: 'TIMESTAMP',
  source_url: 'VARCHAR',
  source: 'VARCHAR',
  confidence: 'DOUBLE',
};

/**
 * Rows of history.parquet, sorted as in data/model/layout.ts. `records` are in the order of their ordinals.
 */
export function historyRows(
  intervals: readonly PublishedInterval[],
  records: readonly StoredRecord[],
): Record<string, unknown>[] {
  const ordinals = new Map(records.map(({ id }, ordinal) => [id, ordinal]));
  const text = (value: Value | null) => (value === null ? null : JSON.stringify(value));
  const sorted = [...intervals].sort((a, b) => {
    const [left, right] = [a, b].map(({ attribute, entity, from }) => `${attribute}\n${entity}\n${from}`);
    return left! < right! ? -1 : 1;
  });
  return sorted.map(({ entity, attribute, value, from, to, source_url }, index) => {
    const before = sorted[index - 1];
    const old = before?.entity === entity && before.attribute === attribute ? before.value : null;
    const ends = typeof value === 'number' ? { min: value, max: value } : (value as PriceRange | null);
    const told = { ord: ordinals.get(entity) ?? null, entity, attribute, value: text(value), old_value: text(old) };
    return { ...told, min: ends?.min ?? null, max: ends?.max ?? null, from, to, source_url };
  });
}
