// DuckDB for the build: in memory, with temporary files in the build's folder. The number of threads affects the sizes of
// row groups only.
import { mkdirSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import { type DuckDBConnection, type DuckDBDataChunk, DuckDBInstance } from '@duckdb/node-api';
import { memoryLimit } from '../model/heap.ts';
import { NULL } from './lines.ts';

/** Quotes a text for SQL. Only for our own paths and names; a build has no user input. */
export function quotedText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Quotes an identifier. */
export function quotedIdentifier(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}

/** Column names and their SQL types, in order. */
export type ColumnTypes = Record<string, string>;

const MIB = 2 ** 20;

/** A night of 500,000 records is not faster with more: what does not fit is sorted in files (docs/scaling.md). */
const MOST = 1024 * MIB;

/** Key of the setting that threads take from the thread that starts them. */
const MEMORY = 'register.duckdb_memory';

/**
 * Sets the bytes of memory of each database that this thread, and threads that start later, open. Undefined: a sixth
 * of the memory of the machine or container, because a night has up to four databases open, and the heaps of its
 * threads, and at most `MOST`; half of the memory for a statement that needs more (`Duck`).
 */
export function setDuckMemory(bytes: number | undefined): void {
  setEnvironmentData(MEMORY, bytes);
}

/** Bytes of memory of a database that this thread opens. */
export const duckMemory = (): number =>
  (getEnvironmentData(MEMORY) as number | undefined) ??
  Math.min(MOST, Math.max(256 * MIB, Math.floor(memoryLimit() / 6)));

/** Most rows and most uncompressed bytes of a row group: a COPY holds one in memory, which cannot spill. */
const GROUP = { rows: 20_480, bytes: 80 * MIB };

/** Rows of one statement of `ordered`, which holds their values in memory. */
const RANGE = 16_384;

/** Rows that DuckDB processes together. A row group has a multiple of them. */
const VECTOR = 2048;

/**
 * Rows of the row groups of a file for `parquet`, from the size of its rows in another format. Does not depend on the
 * memory: equal releases have equal bytes on every machine.
 */
export function rowGroup(bytes: number, rows: number): number {
  const fitting = Math.floor((GROUP.bytes * rows) / Math.max(1, bytes) / VECTOR) * VECTOR;
  return Math.max(VECTOR, Math.min(GROUP.rows, fitting));
}

/** Copies of a batch of rows that a statement holds at once, estimated with rows of 50 kB of text. */
const COPIES = 5;

/** Bytes of memory that a statement over `rows` with together `bytes` needs: DuckDB processes `VECTOR` of them at once. */
export const batchMemory = (bytes: number, rows: number): number =>
  Math.ceil(COPIES * bytes * Math.min(1, VECTOR / Math.max(1, rows)));

/** Bytes of memory of a night (docs/scaling.md, "Capacity"): for the process, a value, and the sources of a value. */
const NIGHT = { process: 2 ** 30, value: 90, sources: 200 };

/**
 * Why a night of a table may lack memory, as a message with both figures in GB; null when the memory is sufficient.
 *
 * @param bytes size of all values as text
 */
export function memoryShortage(records: number, attributes: number, bytes: number): string | null {
  const batch = batchMemory(bytes + records * attributes * NIGHT.sources, records);
  // A database gets at most half of the memory.
  const needed = Math.max(NIGHT.process + records * attributes * NIGHT.value + batch, 2 * batch);
  const [need, present] = [needed, memoryLimit()].map((memory) => (memory / 2 ** 30).toFixed(1));
  if (Number(need) <= Number(present)) return null;
  return `a night needs about ${need} GB of memory, and this machine has ${present} GB (docs/scaling.md#capacity)`;
}

/** Bytes for the dictionaries of all text columns of a Parquet file. Each gets at most 1 MiB, DuckDB's default. */
const DICTIONARIES = 128 * MIB;

/**
 * A DuckDB instance with its own limit of memory; close it after use.
 *
 * @example
 * ```ts
 * const duck = await Duck.open('/tmp/spill');
 * const rows = await duck.rows("SELECT name FROM read_parquet('records.parquet')");
 * duck.close();
 * ```
 */
export class Duck {
  readonly #instance: DuckDBInstance;
  #memory: number;
  /** Whether a statement that lacks memory may get more. */
  readonly #grows: boolean;
  readonly #idle: DuckDBConnection[] = [];
  readonly #running = new Set<Promise<unknown>>();
  /** Resolves when the statements that lacked memory have run again. */
  #again: Promise<unknown> = Promise.resolve();

  private constructor(instance: DuckDBInstance, memory: number, grows: boolean) {
    this.#instance = instance;
    this.#memory = memory;
    this.#grows = grows;
  }

  /**
   * Opens a database that may write temporary files to `folder`, which it creates, up to half of the free disk space.
   * Threads that share a statement need more processor time than one, so use one where other statements or threads keep
   * the processors busy. Files of a release are written with one, because row groups, and thus bytes, depend on the
   * number. `bound`: most bytes of memory, whatever a statement needs; absent: `duckMemory`.
   */
  static async open(folder: string, threads = Math.min(4, availableParallelism()), bound?: number): Promise<Duck> {
    mkdirSync(folder, { recursive: true });
    const { bavail, bsize } = statfsSync(folder);
    const memory = bound ?? duckMemory();
    const instance = await DuckDBInstance.create(':memory:', {
      threads: String(threads),
      memory_limit: `${Math.floor(memory / 1024)}KiB`,
      temp_directory: folder,
      max_temp_directory_size: `${Math.floor((bavail * bsize) / 2048)}KiB`,
      preserve_insertion_order: 'true',
    });
    return new Duck(instance, memory, bound === undefined && getEnvironmentData(MEMORY) === undefined);
  }

  async #connection(): Promise<DuckDBConnection> {
    return this.#idle.pop() ?? (await this.#instance.connect());
  }

  /**
   * Runs a statement; when it lacks memory, again: alone, with one thread and up to half of the memory of the machine.
   * DUCKDB_MEMORY is not exceeded.
   */
  async #enough<T>(statement: () => Promise<T>): Promise<T> {
    await this.#again;
    const first = statement();
    this.#running.add(first);
    try {
      return await first;
    } catch (error) {
      if (!lacksMemory(error)) throw error;
    } finally {
      this.#running.delete(first);
    }
    const second = this.#again.then(async () => {
      await Promise.allSettled(this.#running);
      await this.#grow();
      return statement();
    });
    this.#again = second.catch(() => {});
    return second;
  }

  async #grow(): Promise<void> {
    if (this.#grows) this.#memory = Math.max(this.#memory, Math.floor(memoryLimit() / 2));
    const connection = await this.#connection();
    await connection.run(`SET memory_limit = '${Math.floor(this.#memory / 1024)}KiB'; SET threads = 1`);
    this.#idle.push(connection);
  }

  /** Runs a statement and returns its rows. Concurrent statements use separate connections. */
  async rows(sql: string): Promise<unknown[][]> {
    const connection = await this.#connection();
    try {
      return await this.#enough(async () => (await connection.runAndReadAll(sql)).getRows());
    } catch (error) {
      throw withRemedy(error, sql, this.#memory);
    } finally {
      this.#idle.push(connection);
    }
  }

  async *#stream(sql: string): AsyncGenerator<DuckDBDataChunk> {
    const connection = await this.#connection();
    try {
      // Once a chunk has been delivered, the statement cannot run again.
      const { result, first } = await this.#enough(async () => {
        const result = await connection.stream(sql);
        return { result, first: await result.fetchChunk() };
      });
      for (let chunk = first; chunk && chunk.rowCount > 0; chunk = await result.fetchChunk()) yield chunk;
    } catch (error) {
      throw withRemedy(error, sql, this.#memory);
    } finally {
      this.#idle.push(connection);
    }
  }

  /** Rows of a query as columns, in chunks, to limit memory. */
  async *chunks(sql: string): AsyncGenerator<{ columns: unknown[][]; rows: number }> {
    for await (const chunk of this.#stream(sql)) yield { columns: chunk.getColumns(), rows: chunk.rowCount };
  }

  /**
   * Rows of the query `SELECT columns rest` as JSON values, some thousand at a time. Reads rows of several texts in about
   * half the time of `chunks`, where each text is a call of DuckDB.
   */
  async *values(columns: readonly string[], rest: string): AsyncGenerator<unknown[][]> {
    for await (const { columns: cells } of this.chunks(`SELECT json_array(${columns.join(', ')}) ${rest}`))
      yield JSON.parse(`[${cells[0]!.join()}]`) as unknown[][];
  }

  /**
   * Values of one expression for the rows of `from`, as JSON values in the order of the column `ord`. One call of DuckDB reads
   * the values of a range; in `chunks` each text is a call. `from` is read once for each range, so it is a table or file.
   */
  async *ordered(expression: string, from: string): AsyncGenerator<unknown[]> {
    const last = await this.count(`SELECT coalesce(max(ord), -1) FROM ${from}`);
    for (let first = 0; first <= last; first += RANGE) {
      const range = `ord >= ${first} AND ord < ${first + RANGE}`;
      const rows = await this.rows(
        `SELECT to_json(list(${expression} ORDER BY ord))::VARCHAR FROM ${from} WHERE ${range}`,
      );
      const texts = rows[0]?.[0];
      if (typeof texts === 'string') yield JSON.parse(texts) as unknown[];
    }
  }

  /** Rows of a statement in its order, a few thousand at a time, to limit memory. */
  async *batches(sql: string): AsyncGenerator<unknown[][]> {
    for await (const chunk of this.#stream(sql)) yield chunk.getRows();
  }

  async run(sql: string): Promise<void> {
    await this.rows(sql);
  }

  /** The single number that a statement returns. */
  async count(sql: string): Promise<number> {
    return Number((await this.rows(sql))[0]?.[0] ?? 0);
  }

  /**
   * Writes the rows of a query as a Parquet file, in the query's order; returns their number. `group`: rows of a row
   * group. `notes` is the file's key-value metadata.
   */
  async parquet(query: string, path: string, group = GROUP.rows, notes: Record<string, string> = {}): Promise<number> {
    const entries = Object.entries(notes).map(([key, text]) => `${quotedIdentifier(key)}: ${quotedText(text)}`);
    const metadata = entries.length === 0 ? '' : `, KV_METADATA {${entries.join(', ')}}`;
    const texts = (await this.rows(`DESCRIBE FROM (${query})`)).join().split('VARCHAR').length;
    const dictionary = Math.min(MIB, Math.floor(DICTIONARIES / texts));
    const options = `FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${group}, STRING_DICTIONARY_PAGE_SIZE_LIMIT ${dictionary}${metadata}`;
    return this.count(`COPY (${query}) TO ${quotedText(path)} (${options})`);
  }

  /** Writes the rows of a query as lines for `readLines`. */
  async lines(query: string, path: string): Promise<number> {
    return this.count(
      `COPY (${query}) TO ${quotedText(path)} (FORMAT csv, DELIMITER '\t', HEADER false, QUOTE '', ESCAPE '', NULLSTR ${quotedText(NULL)})`,
    );
  }

  close(): void {
    for (const connection of this.#idle) connection.closeSync();
    this.#instance.closeSync();
  }
}

/** Whether an error of DuckDB is for lack of memory, and not of space for temporary files. */
export const lacksMemory = (error: unknown) =>
  error instanceof Error &&
  error.message.startsWith('Out of Memory') &&
  !error.message.includes('max_temp_directory_size');

/** An error of DuckDB; one of memory or temporary files names the file, the limit and the remedy. */
function withRemedy(error: unknown, sql: string, memory: number): unknown {
  const text = error instanceof Error ? error.message : '';
  if (!text.startsWith('Out of Memory')) return error;
  const [, target] = / TO '(?:[^']*\/)?([^'/]+)'/.exec(sql) ?? [];
  const files = [...sql.matchAll(/'(?:[^']*\/)?([^'/]+\.(?:parquet|jsonl))'/g)].map(([, name]) => name);
  const step = target ? `writing ${target}` : `a query of ${[...new Set(files)].join(', ') || 'the facts'}`;
  const full = !lacksMemory(error);
  const remedy = full ? 'free space on the disk of DATA_DIR' : 'set DUCKDB_MEMORY to more, or use more memory';
  const limit = `${Math.round(memory / MIB)} MB${full ? ' and half of the free disk space' : ''}`;
  const message = `${step} needs more than ${limit}, the bound of one database of a nightly run: ${remedy}`;
  return new Error(message, { cause: error });
}

/** Bytes of the longest line that DuckDB reads, unless a file has longer ones: a value and its predecessor fit. */
const LINE = 8 * MIB;

/** One or several files of a `LineWriter`, in sequence, as a table expression. `longest`: bytes of their longest line. */
export function fromLines(path: string | readonly string[], columns: ColumnTypes, longest = 0): string {
  const line = Math.max(LINE, longest);
  const files = typeof path === 'string' ? quotedText(path) : `[${path.map(quotedText).join(', ')}]`;
  const shape = Object.entries(columns).map(([name, type]) => `${quotedText(name)}: ${quotedText(type)}`);
  const form = `auto_detect = false, header = false, delim = '\t', quote = '', escape = '', nullstr = ${quotedText(NULL)}`;
  return `read_csv(${files}, ${form}, max_line_size = ${line}, buffer_size = ${2 * line}, columns = {${shape.join(', ')}})`;
}

/** Parquet files as a table expression; without files an empty table with these columns. */
export function fromParquet(files: readonly string[], columns: ColumnTypes): string {
  if (files.length > 0) return `read_parquet([${files.map(quotedText).join(', ')}])`;
  const shape = Object.entries(columns).map(([name, type]) => `NULL::${type} AS ${quotedIdentifier(name)}`);
  return `(SELECT ${shape.join(', ')} LIMIT 0)`;
}

/** The rows of a JSON list of objects, which a parameter or text expression contains, with these columns. */
export function fromJsonRows(json: string, columns: ColumnTypes): string {
  const shape = Object.entries(columns).map(([name, type]) => [name, type.endsWith('[]') ? [type.slice(0, -2)] : type]);
  return `SELECT row.* FROM (SELECT unnest(from_json(${json}, ${quotedText(JSON.stringify([Object.fromEntries(shape)]))})) AS row)`;
}
