// A part of a draft: settled records and verdicts as lines on disk, in the order of the records' ids.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Pack } from '../../packs/define/model.ts';
import type { HistoryCells } from '../consolidate/history-rows.ts';
import { LineWriter, NULL, Shelf } from '../duckdb/lines.ts';
import { type RecordPast, writeMoments } from './moments.ts';
import { bodyOf, csvOf, engineOf, type SettledRecord } from './record.ts';

/**
 * Tables written as lines, with columns in tables.ts; `ids`: all records ever observed, with their place on
 * the shelf or nothing.
 */
const TABLES = ['verdicts', 'history', 'listings', 'review', 'terms', 'past_terms', 'moments', 'ids'] as const;
type Table = (typeof TABLES)[number];

/** Maximum number of records in a part: parts number their records from multiples of this. */
const SPAN = 2 ** 32;

/** Bytes of a character in UTF-8, of those that UTF-16 counts as one. */
const MOST_BYTES = 3;

type Cell = string | number | boolean | null;

const cellsLine = (cells: readonly Cell[]) => cells.map((value) => (value === null ? NULL : String(value))).join('\t');

/** A finished part; can be sent between threads. */
export interface PartFiles {
  /** Folder of its lines. */
  folder: string;
  /** Number of its first record. */
  first: number;
  /** Facts with a verdict, and open review items. */
  facts: number;
  review: number;
  /** The most bytes of a line of a record or of one of its states. */
  longest: number;
  /** By place on its shelf: quality, and the start of the entry. */
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

  /** Starts in a new folder; `number` counts the parts from 0. */
  constructor(pack: Pack, folder: string, number: number) {
    this.#pack = pack;
    this.#folder = folder;
    this.#first = number * SPAN;
    mkdirSync(folder, { recursive: true });
    const writers = TABLES.map((name) => [name, new LineWriter(linesOf(folder, name))] as const);
    this.#lines = Object.fromEntries(writers) as Record<Table, LineWriter>;
    this.#shelf = new Shelf(linesOf(folder, 'shelf'));
  }

  /** Writes a line of one of the tables; null is NULL. */
  line(table: 'listings', cells: readonly Cell[]): void {
    this.#lines[table].line(cellsLine(cells));
  }

  /** Writes a line of history of the next record; `attribute` is its number from 0. */
  history(attribute: number, cells: HistoryCells): void {
    const [value, old, min, max, from, to, url, source, confidence] = cells;
    this.#lines.history.line(
      `${this.#next}\t${attribute + 1}\t${value ?? NULL}\t${old ?? NULL}\t${min ?? NULL}\t${max ?? NULL}\t${from}` +
        `\t${to ?? NULL}\t${url}\t${source ?? NULL}\t${confidence ?? NULL}`,
    );
  }

  /** Writes a line of REVIEW_LINES; `open`: the item is not closed. */
  review(cells: readonly Cell[], open: boolean): void {
    this.#lines.review.line(cellsLine(cells));
    if (open) this.#review++;
  }

  /** The verdict on the next stored fact; null: it is not in this release. */
  verdict(verdict: { confirmed_at: number; won: boolean; reason: string; group_median: number | null } | null): void {
    if (verdict === null) this.#lines.verdicts.line(`${NULL}\t${NULL}\t${NULL}\t${NULL}`);
    else {
      const { confirmed_at, won, reason, group_median } = verdict;
      this.#lines.verdicts.line(`${confirmed_at}\t${won}\t${reason}\t${group_median ?? NULL}`);
      this.#facts++;
    }
  }

  /** Number of the next record. */
  get #next(): number {
    return this.#first + this.#lines.ids.lines;
  }

  /** Writes the next record with its states, in ascending order of ids; null: nothing is published. */
  record(id: string, record: null): void;
  record(id: string, record: SettledRecord, past: RecordPast): void;
  record(id: string, record: SettledRecord | null, past?: RecordPast): void {
    const number = this.#next;
    this.#lines.ids.line(`${id}\t${record === null ? '' : this.#shelf.size}`);
    if (record === null || past === undefined) return;
    const pack = this.#pack;
    this.#quality.push(record.quality);
    // The row of CSV is last: it may contain line feeds.
    this.#shelf.put([bodyOf(pack, record), record.identity, engineOf(pack, record), csvOf(pack, record)]);
    writeMoments(pack, number, record, past, (table, line) => this.#lines[table].line(line));
  }

  /** Writes the buffers. */
  close(): PartFiles {
    const review = this.#review;
    for (const writer of Object.values(this.#lines)) writer.close();
    const longest = MOST_BYTES * Math.max(this.#shelf.longest, this.#lines.moments.longest);
    const starts = this.#shelf.close();
    const quality = Float64Array.from(this.#quality);
    return { folder: this.#folder, first: this.#first, facts: this.#facts, review, longest, quality, starts };
  }
}
