// A stretch of a release in the making: settled records and verdicts in the order of the records' ids, as lines on disk.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Pack } from '../../packs/define/model.ts';
import { LineWriter, NULL, Shelf } from '../duckdb/lines.ts';
import { bodyOf, csvOf, engineOf, type SettledRecord, termsOf } from './record.ts';

/** Tables that come as lines, each with its columns in tables.ts; `ids`: every record ever seen, with its place on the shelf or nothing. */
const TABLES = ['verdicts', 'history', 'listings', 'review', 'ids'] as const;
type Table = (typeof TABLES)[number];

/** Records that a part may hold: part after part numbers its records from a multiple of this. */
const SPAN = 2 ** 32;

type Cell = string | number | boolean | null;

const cellsLine = (cells: readonly Cell[]) => cells.map((value) => (value === null ? NULL : String(value))).join('\t');

/** A finished part; may pass between threads. */
export interface PartFiles {
  /** Folder of its lines. */
  folder: string;
  /** Number of its first record. */
  first: number;
  /** Facts with a verdict, and open questions. */
  facts: number;
  review: number;
  /** By place on its shelf: quality, and where the entry begins. */
  quality: Float64Array;
  starts: Float64Array;
}

/** Path of a table's lines in a part's folder. */
export function linesOf(folder: string, table: Table | 'shelf'): string {
  return join(folder, table);
}

export class Part {
  readonly #pack: Pack;
  readonly #folder: string;
  readonly #first: number;
  readonly #lines: Record<Table, LineWriter>;
  readonly #shelf: Shelf;
  readonly #quality: number[] = [];
  #facts = 0;
  #review = 0;

  /** Begins in a new folder; `number` counts the parts from 0. */
  constructor(pack: Pack, folder: string, number: number) {
    this.#pack = pack;
    this.#folder = folder;
    this.#first = number * SPAN;
    mkdirSync(folder, { recursive: true });
    const writers = TABLES.map((name) => [name, new LineWriter(linesOf(folder, name))] as const);
    this.#lines = Object.fromEntries(writers) as Record<Table, LineWriter>;
    this.#shelf = new Shelf(linesOf(folder, 'shelf'));
  }

  /** Adds a line to one of the tables; null is NULL. */
  line(table: 'history' | 'listings', cells: readonly Cell[]): void {
    this.#lines[table].line(cellsLine(cells));
  }

  /** Adds a line of REVIEW_LINES; `open`: nothing has closed the item. */
  review(cells: readonly Cell[], open: boolean): void {
    this.#lines.review.line(cellsLine(cells));
    if (open) this.#review++;
  }

  /** The verdict on the next stored fact; null: it is not a fact of this release. */
  verdict(verdict: { confirmed_at: number; won: boolean; reason: string; group_median: number | null } | null): void {
    if (verdict === null) this.#lines.verdicts.line(`${NULL}\t${NULL}\t${NULL}\t${NULL}`);
    else {
      const { confirmed_at, won, reason, group_median } = verdict;
      this.#lines.verdicts.line(`${confirmed_at}\t${won}\t${reason}\t${group_median ?? NULL}`);
      this.#facts++;
    }
  }

  /** Adds the next record, in ascending order of ids; null: nothing of it is published. Gives its number. */
  record(id: string, record: SettledRecord | null): number {
    const number = this.#first + this.#lines.ids.lines;
    this.#lines.ids.line(`${id}\t${record === null ? '' : this.#shelf.size}`);
    if (record === null) return number;
    const pack = this.#pack;
    this.#quality.push(record.quality);
    this.#shelf.put([
      bodyOf(pack, record),
      record.identity,
      csvOf(pack, record),
      engineOf(pack, record),
      termsOf(pack, record),
    ]);
    return number;
  }

  /** Writes what is left. */
  close(): PartFiles {
    const review = this.#review;
    for (const writer of Object.values(this.#lines)) writer.close();
    const starts = this.#shelf.close();
    const quality = Float64Array.from(this.#quality);
    return { folder: this.#folder, first: this.#first, facts: this.#facts, review, quality, starts };
  }
}
