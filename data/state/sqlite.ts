// Kysely over node:sqlite, the SQLite of Node, so that nothing is compiled or downloaded.
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type SqliteDatabase, SqliteDialect } from 'kysely';
import { BoundedCache } from '../model/bounded-cache.ts';
import type { StoreHealth } from './failures.ts';

/**
 * FULL: a commit is on disk when it returns. NORMAL: it survives the process; a power cut may lose the last
 * ones.
 */
export type Durability = 'FULL' | 'NORMAL';

/** Opens the store's file with the settings that every connection must have. */
export function openSqlite(file: string, durability: Durability): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 10_000 });
  db.exec(`pragma journal_mode = wal; pragma synchronous = ${durability}; pragma foreign_keys = on`);
  return db;
}

/** Opens the store's file for reading: what is committed, without waiting for a writer. */
export function openSqliteReader(file: string): DatabaseSync {
  return new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
}

/** Prepared statements of a connection: most calls run the same ones, and SQLite plans a statement longer than it runs. */
const PREPARED = 200;

/** The dialect over a database, which may be opened by the first statement. */
export function sqliteDialect(database: DatabaseSync | (() => DatabaseSync), health: StoreHealth): SqliteDialect {
  return new SqliteDialect({
    database: typeof database === 'function' ? async () => adapt(database(), health) : adapt(database, health),
  });
}

type Statement = ReturnType<SqliteDatabase['prepare']>;

/** Stands for a rollback where SQLite has rolled back itself, as it does when the disk is full. */
const NOTHING: Statement = {
  reader: false,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [].values(),
};

function adapt(db: DatabaseSync, health: StoreHealth): SqliteDatabase {
  const prepared = new BoundedCache<string, Statement>('SQLite statements', { most: PREPARED });
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw health.failed(error);
    }
  };
  const prepare = (text: string): Statement => {
    // The columns of `select *` are those of the tables when it was prepared.
    if (/^\s*(create|alter|drop)\b/i.test(text)) prepared.clear();
    // Our transactions always write: with the lock taken first they wait and never fail half-way.
    const statement = guarded(() => db.prepare(text === 'begin' ? 'begin immediate' : text));
    const bound = (parameters: readonly unknown[]) => parameters as SQLInputValue[];
    // A commit is one too; a query with a common table expression counts although it changes nothing.
    const changes = !/^\s*select\b/i.test(text);
    const counted = <T>(work: () => T): T => {
      const result = guarded(work);
      health.worked(changes && !db.isTransaction && text !== 'rollback');
      return result;
    };
    return {
      reader: statement.columns().length > 0,
      all: (parameters) => counted(() => statement.all(...bound(parameters))),
      run: (parameters) => counted(() => statement.run(...bound(parameters))),
      // Each iteration has a statement of its own, because others may run meanwhile.
      iterate: (parameters) => db.prepare(text).iterate(...bound(parameters)),
    };
  };
  return {
    close: () => db.close(),
    prepare: (text) => (text === 'rollback' && !db.isTransaction ? NOTHING : prepared.of(text, () => prepare(text))),
  };
}
