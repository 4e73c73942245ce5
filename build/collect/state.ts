// The last value of each source for each attribute of each record, as hashes: enough to detect changes.
import type { Value } from '../../packs/define/model.ts';

/**
 * A 53-bit hash of a text, never 0, from two 32-bit lanes with different steps. Two values of one cell
 * collide once in about 10^15 cases.
 */
export function hash53(text: string): number {
  let left = 0x811c9dc5;
  let right = 0x2545f491;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    left = Math.imul(left ^ unit, 0x01000193);
    right = Math.imul((right << 13) | (right >>> 19), 0x27d4eb2f) + unit;
  }
  return mixed(left, right);
}

/** `hash53` of the JSON text of a value. Most texts need no escapes, and then no JSON text is made. */
export function hashOfJson(value: Value): number {
  if (typeof value !== 'string') return hash53(JSON.stringify(value));
  let left = Math.imul(0x811c9dc5 ^ QUOTE, 0x01000193);
  let right = Math.imul((0x2545f491 << 13) | (0x2545f491 >>> 19), 0x27d4eb2f) + QUOTE;
  for (let i = 0; i < value.length; i++) {
    const unit = value.charCodeAt(i);
    // Quotes, control characters and unpaired surrogates are escaped.
    if (unit < 0x20 || unit === QUOTE || unit === BACKSLASH || (unit & 0xf800) === 0xd800)
      return hash53(JSON.stringify(value));
    left = Math.imul(left ^ unit, 0x01000193);
    right = Math.imul((right << 13) | (right >>> 19), 0x27d4eb2f) + unit;
  }
  left = Math.imul(left ^ QUOTE, 0x01000193);
  right = Math.imul((right << 13) | (right >>> 19), 0x27d4eb2f) + QUOTE;
  return mixed(left, right);
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];

function mixed(one: number, other: number): number {
  let left = Math.imul(one ^ (one >>> 15) ^ other, 0x2c1b3c6d);
  let right = Math.imul(other ^ (other >>> 13) ^ left, 0x297a2d39);
  left ^= left >>> 16;
  right ^= right >>> 15;
  return (right >>> 11) * 0x1_0000_0000 + (left >>> 0) || 1;
}

/** Numbers of a dataset's records, in the order of their first use. */
export class Records {
  readonly ids: string[] = [];
  readonly #numbers = new Map<string, number>();

  number(id: string): number {
    const number = this.#numbers.get(id);
    if (number !== undefined) return number;
    this.#numbers.set(id, this.ids.length);
    return this.ids.push(id) - 1;
  }
}

/** State of one source: a cell for each record and attribute, 0 where the source has no value. */
export class SourceState {
  readonly #width: number;
  #room = 0;
  #cells = new Float64Array(0);
  /** Last reading that had a value for the cell; 0: before this run. */
  #readings = new Uint16Array(0);
  #listed = new Uint8Array(0);
  #seen = new Uint16Array(0);

  constructor(attributes: number) {
    this.#width = attributes;
  }

  #grow(record: number): void {
    if (record < this.#room) return;
    this.#room = Math.max(1024, record + 1, this.#room * 2);
    const enlarge = <T extends Float64Array | Uint16Array | Uint8Array>(old: T, larger: T): T => {
      larger.set(old);
      return larger;
    };
    this.#cells = enlarge(this.#cells, new Float64Array(this.#room * this.#width));
    this.#readings = enlarge(this.#readings, new Uint16Array(this.#room * this.#width));
    this.#listed = enlarge(this.#listed, new Uint8Array(this.#room));
    this.#seen = enlarge(this.#seen, new Uint16Array(this.#room));
  }

  /** Sets a value from before this run. */
  restore(record: number, attribute: number, hash: number): void {
    this.#grow(record);
    this.#cells[record * this.#width + attribute] = hash;
  }

  restoreListed(record: number, listed: boolean): void {
    this.#grow(record);
    this.#listed[record] = listed ? 1 : 0;
  }

  /** Notes that a reading (numbered from 1) lists the record; returns whether it was not listed before. */
  markListed(record: number, reading: number): boolean {
    this.#grow(record);
    this.#seen[record] = reading;
    if (this.#listed[record] === 1) return false;
    this.#listed[record] = 1;
    return true;
  }

  /** Whether this reading listed the record before. */
  isListedIn(record: number, reading: number): boolean {
    return this.#seen[record] === reading;
  }

  /** Number of records that the source lists. */
  listedCount(): number {
    return this.#listed.reduce((sum, listed) => sum + listed, 0);
  }

  /** Number of records that a reading lists. */
  listedCountIn(reading: number): number {
    return this.#seen.reduce((sum, seen) => sum + (seen === reading ? 1 : 0), 0);
  }

  /** Whether this reading already had a value for the cell. */
  hasValueIn(record: number, attribute: number, reading: number): boolean {
    return this.#readings[record * this.#width + attribute] === reading;
  }

  has(record: number, attribute: number): boolean {
    return this.#cells[record * this.#width + attribute] !== 0;
  }

  /** The hash of the cell's value; 0: no value. */
  hash(record: number, attribute: number): number {
    return this.#cells[record * this.#width + attribute]!;
  }

  /** Notes a value of a reading; returns whether it is new. */
  setValue(record: number, attribute: number, hash: number, reading: number): boolean {
    const at = record * this.#width + attribute;
    this.#readings[at] = reading;
    if (this.#cells[at] === hash) return false;
    this.#cells[at] = hash;
    return true;
  }

  /** Yields and clears the values of listed records that the reading no longer has. */
  *withdraw(reading: number, lasting: readonly boolean[]): Generator<[record: number, attribute: number]> {
    for (let record = 0; record < this.#room; record++) {
      if (this.#seen[record] !== reading) continue;
      for (let attribute = 0; attribute < this.#width; attribute++) {
        const at = record * this.#width + attribute;
        if (this.#cells[at] === 0 || this.#readings[at] === reading || lasting[attribute]) continue;
        this.#cells[at] = 0;
        yield [record, attribute];
      }
    }
  }

  /** Yields records that were listed and are missing in the reading; they are no longer listed. */
  *drop(reading: number): Generator<number> {
    for (let record = 0; record < this.#room; record++) {
      if (this.#listed[record] !== 1 || this.#seen[record] === reading) continue;
      this.#listed[record] = 0;
      yield record;
    }
  }
}
