// Columns of the table in memory, as typed arrays by position in the file. Texts are numbered, so that a
// filter compares each distinct text once.
import type { AttributeType, Value } from '../../packs/define/model.ts';
import { fold } from '../../packs/define/text.ts';
import { fromMicroseconds, microseconds } from '../../packs/define/times.ts';

/** How a column of the file is decoded. */
export type ColumnKind = 'number' | 'boolean' | 'date' | 'time' | 'text' | 'list';

const KINDS: Partial<Record<AttributeType, ColumnKind>> = {
  boolean: 'boolean',
  date: 'date',
  datetime: 'time',
  integer: 'number',
  number: 'number',
  price: 'number',
  geo: 'number',
  strings: 'list',
};

export const kindOf = (type: AttributeType): ColumnKind => KINDS[type] ?? 'text';

/** A value as Parquet decodes it. */
type Cell = string | number | bigint | boolean | Date | readonly string[] | null | undefined;

const DAY = 86_400_000;

/** Numbers, dates (days since 1970), times (milliseconds with microseconds as decimals) and booleans (0, 1); NaN: missing. */
export class NumberColumn {
  readonly values: Float64Array;
  readonly kind: ColumnKind;
  #ranks: Uint32Array | null = null;
  #distinct: Float64Array | null = null;

  constructor(rows: number, kind: ColumnKind) {
    this.values = new Float64Array(rows).fill(NaN);
    this.kind = kind;
  }

  write(at: number, cells: ArrayLike<Cell>): void {
    const { values, kind } = this;
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      if (cell === null || cell === undefined) values[at + i] = NaN;
      else values[at + i] = kind === 'date' ? Number(cell) / DAY : Number(cell);
    }
    this.#ranks = null;
  }

  /** The number of a text that a condition or an edit contains: a date, or a time with or without `Z`. */
  numberOf(text: string): number {
    const ms = Number(microseconds(text)) / 1000;
    return this.kind === 'date' ? ms / DAY : ms;
  }

  value(row: number): Value | null {
    const value = this.values[row]!;
    if (Number.isNaN(value)) return null;
    if (this.kind === 'boolean') return value === 1;
    if (this.kind === 'number') return value;
    if (this.kind === 'time') return fromMicroseconds(BigInt(Math.round(value * 1000)));
    return new Date(value * DAY).toISOString().slice(0, 10);
  }

  has(row: number): boolean {
    return !Number.isNaN(this.values[row]!);
  }

  /** Rank of each row among the distinct values, from 1; 0: missing. */
  ranks(): Uint32Array {
    if (this.#ranks !== null) return this.#ranks;
    const { values } = this;
    const sorted = values.filter((value) => !Number.isNaN(value)).sort();
    let count = 0;
    for (const value of sorted) if (count === 0 || value !== sorted[count - 1]) sorted[count++] = value;
    const distinct = sorted.subarray(0, count);
    this.#distinct = distinct;
    const ranks = new Uint32Array(values.length);
    for (let row = 0; row < values.length; row++) {
      const value = values[row]!;
      if (Number.isNaN(value)) continue;
      let [low, high] = [0, count - 1];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (distinct[middle]! < value) low = middle + 1;
        else high = middle;
      }
      ranks[row] = low + 1;
    }
    this.#ranks = ranks;
    return ranks;
  }

  /** Largest rank. */
  get groups(): number {
    this.ranks();
    return this.#distinct!.length;
  }
}

/** Texts with the number of each row's text, from 1; 0: missing. */
export class TextColumn {
  readonly codes: Uint32Array;
  readonly texts: string[] = [];
  readonly #numbers = new Map<string, number>();
  #folds: string[] = [];
  #joined: { text: string; starts: Uint32Array } | null = null;
  #ranks: { rows: Uint32Array; groups: number } | null = null;

  constructor(rows: number) {
    this.codes = new Uint32Array(rows);
  }

  write(at: number, cells: ArrayLike<Cell>): void {
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      this.codes[at + i] = cell === null || cell === undefined ? 0 : this.number(String(cell));
    }
    this.#ranks = null;
  }

  number(text: string): number {
    let code = this.#numbers.get(text);
    if (code === undefined) {
      code = this.texts.push(text);
      this.#numbers.set(text, code);
    }
    return code;
  }

  value(row: number): Value | null {
    return this.texts[this.codes[row]! - 1] ?? null;
  }

  has(row: number): boolean {
    return this.codes[row] !== 0;
  }

  /** Folded texts, by number less 1. */
  folds(): readonly string[] {
    for (let at = this.#folds.length; at < this.texts.length; at++) this.#folds.push(folded(this.texts[at]!));
    return this.#folds;
  }

  /** Marks the numbers of the texts whose folded form is one of these. */
  equalTo(wanted: ReadonlySet<string>): Uint8Array {
    const passes = new Uint8Array(this.texts.length + 1);
    for (const [at, text] of this.folds().entries()) if (wanted.has(text)) passes[at + 1] = 1;
    return passes;
  }

  /**
   * Marks the numbers of the texts that contain `needle`, or a word that begins with it: one search through
   * all texts in a row.
   */
  containing(needle: string, beginsWord = false): Uint8Array {
    const { text, starts } = this.#haystack();
    const passes = new Uint8Array(this.texts.length + 1);
    let code = 0;
    for (let at = text.indexOf(needle); at >= 0; ) {
      while (code < starts.length && starts[code]! <= at) code += 1;
      const end = starts[code] ?? text.length;
      const inWord = beginsWord && at > 0 && /[\p{L}\p{M}\p{N}]/u.test(text[at - 1]!);
      if (!inWord) passes[code] = 1;
      // A text that passed is not searched further.
      at = text.indexOf(needle, inWord ? at + 1 : end);
    }
    return passes;
  }

  /** Folds the texts and joins them, each in a line; done once. */
  #haystack(): { text: string; starts: Uint32Array } {
    const folds = this.folds();
    if (this.#joined?.starts.length === folds.length) return this.#joined;
    const starts = new Uint32Array(folds.length);
    let at = 0;
    for (const [index, text] of folds.entries()) {
      starts[index] = at;
      at += text.length + 1;
    }
    this.#joined = { text: folds.join('\n'), starts };
    return this.#joined;
  }

  /** Prepares searches in the texts. */
  prepare(): void {
    this.#haystack();
  }

  /** Rank of each row among the folded texts, from 1; 0: missing. */
  ranks(): Uint32Array {
    return this.#ranked().rows;
  }

  get groups(): number {
    return this.#ranked().groups;
  }

  #ranked(): { rows: Uint32Array; groups: number } {
    if (this.#ranks !== null) return this.#ranks;
    const folds = this.folds();
    const order = [...new Set(folds)].sort();
    const rank = new Map(order.map((text, at) => [text, at + 1]));
    const ranks = new Uint32Array(folds.length + 1);
    for (const [at, text] of folds.entries()) ranks[at + 1] = rank.get(text)!;
    this.#ranks = { rows: this.codes.map((code) => ranks[code]!), groups: order.length };
    return this.#ranks;
  }
}

/** Lists of texts. */
export class ListColumn {
  readonly texts: TextColumn;
  readonly lists: (Uint32Array | undefined)[];

  constructor(rows: number) {
    this.texts = new TextColumn(0);
    this.lists = new Array<Uint32Array | undefined>(rows);
  }

  write(at: number, cells: ArrayLike<Cell>): void {
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      this.lists[at + i] = Array.isArray(cell)
        ? Uint32Array.from(cell, (text) => this.texts.number(String(text)))
        : undefined;
    }
  }

  value(row: number): Value | null {
    const list = this.lists[row];
    return list === undefined ? null : Array.from(list, (code) => this.texts.texts[code - 1]!);
  }

  has(row: number): boolean {
    return this.lists[row] !== undefined;
  }
}

export type TypedColumn = NumberColumn | TextColumn | ListColumn;

export function newColumn(rows: number, kind: ColumnKind): TypedColumn {
  if (kind === 'text') return new TextColumn(rows);
  return kind === 'list' ? new ListColumn(rows) : new NumberColumn(rows, kind);
}

/** `fold`, which is slow for each of 170,000 names, without its Unicode steps for plain texts. */
function folded(text: string): string {
  return /^[!-~]+(?: [!-~]+)*$/.test(text) ? text.toLowerCase() : fold(text);
}
