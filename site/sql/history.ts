// Queries that ran on this page, in the browser's storage. Without storage they last while the page is open.

export interface PastQuery {
  sql: string;
  /** Milliseconds since 1970. */
  at: number;
  rows: number;
}

/** Stored queries of a dataset. */
const MOST = 50;

export class QueryHistory {
  readonly #key: string;
  #queries: PastQuery[];

  constructor(dataset: string) {
    this.#key = `sql-history:${dataset}`;
    this.#queries = this.#read();
  }

  /** The newest first. */
  get queries(): readonly PastQuery[] {
    return this.#queries;
  }

  /** Adds a query; an equal older one is removed. */
  add(query: PastQuery): void {
    this.#queries = this.#read();
    this.#write([query, ...this.#queries.filter(({ sql }) => sql !== query.sql)].slice(0, MOST));
  }

  remove(sql: string): void {
    this.#write(this.#queries.filter((query) => query.sql !== sql));
  }

  clear(): void {
    this.#write([]);
  }

  /** Other tabs write as well. */
  #read(): PastQuery[] {
    try {
      const stored: unknown = JSON.parse(localStorage.getItem(this.#key) ?? 'null');
      return Array.isArray(stored) ? stored.filter(isPastQuery) : (this.#queries ?? []);
    } catch {
      return this.#queries ?? [];
    }
  }

  #write(queries: PastQuery[]): void {
    this.#queries = queries;
    try {
      localStorage.setItem(this.#key, JSON.stringify(queries));
    } catch {
      // Private windows and full storage: the list remains in memory.
    }
  }
}

function isPastQuery(value: unknown): value is PastQuery {
  const { sql, at, rows } = (value ?? {}) as Record<string, unknown>;
  return typeof sql === 'string' && typeof at === 'number' && typeof rows === 'number';
}
