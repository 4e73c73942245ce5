// What reads the rows of one kind of declared source (packs/define/sources.ts), before its cells become values.

import type { DeclaredSource } from '../../packs/define/sources.ts';
import type { Web } from '../crawl/web.ts';

/** A row as the source has it. */
export interface RawRow {
  /** Line of the file where the row begins, or number of the row, from 1. */
  line: number;
  /**
   * Cells in the order of `columns`: texts, or JSON values; undefined where the row has no cell. Dates and times are
   * ISO 8601, whole numbers beyond 2^53 and NaN are texts, and bytes (BLOB, bytea) a Uint8Array, which is no value.
   */
  cells: readonly unknown[];
}

/** A row that could not be read as a row: too short, too long, not JSON. It gives no record. */
export interface BrokenRow {
  line: number;
  /** The row as found, shortened. */
  text: string;
  /** Completes "expected …": `12 fields, as the header has`. */
  expected: string;
}

/** One version of a source: its rows at one time. */
export interface SourceVersion {
  /** Name for messages and evidence: the file's name, the address, `query`. */
  name: string;
  /**
   * Names of the columns, in the order of the source, then wanted paths. For JSON the members of the first rows;
   * members that appear later are appended while the rows are read.
   */
  columns: readonly string[];
  /** Time of the version: of the file, of the header Last-Modified, of the query. */
  observed_at: Date;
  /** Rows, in bounded memory. Can be read once. Throws when the rest cannot be read, with the line. */
  rows: AsyncIterable<RawRow>;
  /**
   * What the next run needs to know, after the rows were read: size and time of the file, ETag, cursor. Equal
   * to what is stored: the version was read before. JSON.
   */
  mark(): Mark;
  /** Number formats of columns, such as `0%` and `#,##0.00 "€"`, where the source has them: in workbooks. */
  formats?: ReadonlyMap<string, string> | undefined;
  /** Sentences about what the source contains and the rows lack; complete when the rows were read. */
  notes?: readonly string[] | undefined;
}

/** What a source remembers of a version: size and time of a file, ETag, value of the cursor column. */
export type Mark = Readonly<Record<string, string | number | null>>;

/** What a reader needs of the run. */
export interface SourceContext {
  /** Base of relative paths: the folder of the pack, or of the pinned package. */
  folder: string;
  /**
   * Columns that the pack reads, or paths such as `address.city`; empty: all. A reader may leave the cells of the
   * others undefined.
   */
  wanted: ReadonlySet<string>;
  /** Marks of the versions that were read in earlier runs, newest last. */
  marks: readonly Mark[];
  /** An environment variable, for secrets. Throws, with its name and the member that names it, when it is not set. */
  environment: (name: string, member: string) => string;
  /** Opens the web client of the crawler; the caller closes it. */
  web: () => Promise<Web>;
  now: () => Date;
  /** Milliseconds that a database may take for one statement (`timeout_minutes`); absent: no limit. */
  timeout?: number | undefined;
  /** Reports a row that is left out. */
  broken: (row: BrokenRow) => void;
  /** Shows how many rows, pages or bytes were read; `of`: how many there are, or null. */
  progress: (done: number, of: number | null, what: string) => void;
}

/**
 * Versions of a source that were not read before, oldest first: one for each new or changed file, one for a
 * query or an API. Throws when there is no such file, or when the source does not answer.
 */
export type SourceReader<D extends DeclaredSource = DeclaredSource> = (
  declared: D,
  context: SourceContext,
) => AsyncIterable<SourceVersion>;
