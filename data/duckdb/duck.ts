// DuckDB for the build: in memory, with temporary files in the build's folder. The number of threads affects the sizes of
// row groups only.
import { availableParallelism } from 'node:os';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
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

export class Duck {
  readonly #instance: DuckDBInstance;
  readonly #idle: DuckDBConnection[] = [];

  private constructor(instance: DuckDBInstance) {
    this.#instance = instance;
  }

  /**
   * Opens a database that may write temporary files to `folder`. A night has several of them and a heap of
   * 0.9 GB; sorting 4 million facts with this memory takes as long as with 1 GB. Threads that share a statement need
   * more processor time than one, so use one where other statements or threads keep the processors busy. Files of a
   * release are written with one, because row groups, and thus bytes, depend on the number.
   */
  static async open(folder: string, threads = Math.min(4, availableParallelism())): Promise<Duck> {
    const instance = await DuckDBInstance.create(':memory:', {
      threads: String(threads),
      memory_limit: '512MB',
      temp_directory: folder,
      preserve_insertion_order: 'true',
    });
    return new Duck(instance);
  }

  /** Runs a statement and returns its rows. Concurrent statements use separate connections. */
  async rows(sql: string): Promise<unknown[][]> {
    const connection = this.#idle.pop() ?? (await this.#instance.connect());
    try {
      return (await connection.runAndReadAll(sql)).getRows();
    } finally {
      this.#idle.push(connection);
    }
  }

  /** Rows of a query as columns, in chunks, to limit memory. */
  async *chunks(sql: string): AsyncGenerator<{ columns: unknown[][]; rows: number }> {
    const connection = this.#idle.pop() ?? (await this.#instance.connect());
    try {
      const result = await connection.stream(sql);
      for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
        yield { columns: chunk.getColumns(), rows: chunk.rowCount };
      }
    } finally {
      this.#idle.push(connection);
    }
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
   * 8,192 values; in `chunks` each text is a call.
   */
  async *ordered(expression: string, from: string): AsyncGenerator<unknown[]> {
    const query = `SELECT to_json(list(${expression} ORDER BY ord))::VARCHAR FROM ${from} GROUP BY ord // 8192 ORDER BY ord // 8192`;
    for await (const { columns } of this.chunks(query))
      for (const texts of columns[0] as string[]) yield JSON.parse(texts) as unknown[];
  }

  /** Rows of a statement in its order, a few thousand at a time, to limit memory. */
  async *batches(sql: string): AsyncGenerator<unknown[][]> {
    const connection = this.#idle.pop() ?? (await this.#instance.connect());
    try {
      yield* (await connection.stream(sql)).yieldRows();
    } finally {
      this.#idle.push(connection);
    }
  }

  async run(sql: string): Promise<void> {
    await this.rows(sql);
  }

  /** The single number that a statement returns. */
  async count(sql: string): Promise<number> {
    return Number((await this.rows(sql))[0]?.[0] ?? 0);
  }

  /**
   * Writes the rows of a query as a Parquet file, in the query's order; returns their number. `notes` is the
   * file's key-value metadata.
   */
  async parquet(query: string, path: string, rowGroup = 20_480, notes: Record<string, string> = {}): Promise<number> {
    const entries = Object.entries(notes).map(([key, text]) => `${quotedIdentifier(key)}: ${quotedText(text)}`);
    const metadata = entries.length === 0 ? '' : `, KV_METADATA {${entries.join(', ')}}`;
    const options = `FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowGroup}${metadata}`;
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

/** One or several files of a `LineWriter`, in sequence, as a table expression. */
export function fromLines(path: string | readonly string[], columns: ColumnTypes): string {
  const files = typeof path === 'string' ? quotedText(path) : `[${path.map(quotedText).join(', ')}]`;
  const shape = Object.entries(columns).map(([name, type]) => `${quotedText(name)}: ${quotedText(type)}`);
  const form = `auto_detect = false, header = false, delim = '\t', quote = '', escape = '', nullstr = ${quotedText(NULL)}`;
  return `read_csv(${files}, ${form}, max_line_size = 8388608, buffer_size = 16777216, columns = {${shape.join(', ')}})`;
}

/** Parquet files as a table expression; without files an empty table with these columns. */
export function fromParquet(files: readonly string[], columns: ColumnTypes): string {
  if (files.length > 0) return `read_parquet([${files.map(quotedText).join(', ')}])`;
  const shape = Object.entries(columns).map(([name, type]) => `NULL::${type} AS ${quotedIdentifier(name)}`);
  return `(SELECT ${shape.join(', ')} LIMIT 0)`;
}
