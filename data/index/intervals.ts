// Validity intervals of a numeric attribute, in whole days since 1970-01-01, by record.
//
//   ends    end of the intervals of each record (ends.ts)
//   value   numbers by interval (numbers.ts): the minimum of a price range
//   since   days by interval, like numbers
//   until   the first day on which the value is no longer valid, likewise
import { MOST_PACKED_INTERVALS } from '../duckdb/steps.ts';
import type { Container, Packed } from './container.ts';
import { Ends, packEnds } from './ends.ts';
import { Numbers, packNumbers } from './numbers.ts';

/** Intervals sorted by ordinal. */
export interface IntervalRows {
  ordinal: number[];
  value: number[];
  since: number[];
  until: number[];
}

const arrayName = (attribute: string) => `intervals ${attribute}`;

/** Packs the intervals of an attribute; nothing when there are more than MOST_PACKED_INTERVALS. */
export function packIntervals(attribute: string, records: number, rows: IntervalRows): Record<string, Packed> {
  if (rows.ordinal.length > MOST_PACKED_INTERVALS) return {};
  const ends = new Uint32Array(records);
  for (const ordinal of rows.ordinal) ends[ordinal]! += 1;
  for (let ordinal = 1; ordinal < records; ordinal += 1) ends[ordinal]! += ends[ordinal - 1]!;
  const name = arrayName(attribute);
  return {
    ...packEnds(name, ends),
    ...packNumbers(`${name}.value`, Float64Array.from(rows.value)),
    ...packNumbers(`${name}.since`, Float64Array.from(rows.since)),
    ...packNumbers(`${name}.until`, Float64Array.from(rows.until)),
  };
}

export class Intervals {
  readonly value: Numbers;
  readonly since: Numbers;
  readonly until: Numbers;
  readonly #ends: Ends;

  private constructor(container: Container, name: string) {
    this.#ends = new Ends(container, name);
    this.value = new Numbers(container, `${name}.value`);
    this.since = new Numbers(container, `${name}.since`);
    this.until = new Numbers(container, `${name}.until`);
  }

  /** Null when the index has no intervals of the attribute. */
  static of(container: Container, attribute: string): Intervals | null {
    const name = arrayName(attribute);
    const packed = container.has(`${name}.ends`) || container.has(`${name}.ends.low`);
    return packed ? new Intervals(container, name) : null;
  }

  /** The first interval of a record. */
  start(ordinal: number): number {
    return this.#ends.start(ordinal);
  }

  /** The end of the intervals of a record, exclusive. */
  end(ordinal: number): number {
    return this.#ends.end(ordinal);
  }
}
