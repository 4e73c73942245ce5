// Kysely over node:sqlite, the SQLite of Node, so that nothing is compiled or downloaded.
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type SqliteDatabase, SqliteDialect } from 'kysely';
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

/**
 * The dialect over an open database. `onChange` is called after each statement that may have changed something.
 */
export function sqliteDialect(db: DatabaseSync, onChange: () => void, health: StoreHealth): SqliteDialect {
  return new SqliteDialect({ database: adapt(db, onChange, health) });
}

/** Stands for a rollback where SQLite has rolled back itself, as it does when the disk is full. */
const NOTHING = {
  reader: false,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [].values(),
};

function adapt(db: DatabaseSync, onChange: () => void, health: StoreHealth): SqliteDatabase {
  return {
    close: () => db.close(),
    prepare(text) {
      if (text === 'rollback' && !db.isTransaction) return NOTHING;
      const guarded = <T>(work: () => T): T => {
        try {
          return work();
        } catch (error) {
          throw health.failed(error);
        }
      };
      // Our transactions always write: with the lock taken first they wait and never fail half-way.
      const statement = guarded(() => db.prepare(text === 'begin' ? 'begin immediate' : text));
      const bound = (parameters: readonly unknown[]) => parameters as SQLInputValue[];
      // A commit is one too; a query with a common table expression counts although it changes nothing.
      const changes = !/^\s*select\b/i.test(text);
      const counted = <T>(work: () => T): T => {
        const result = guarded(work);
        if (changes) onChange();
        health.worked(changes && !db.isTransaction && text !== 'rollback');
        return result;
      };
      return {
        reader: statement.columns().length > 0,
        all: (parameters) => counted(() => statement.all(...bound(parameters))),
        run: (parameters) => counted(() => statement.run(...bound(parameters))),
        iterate: (parameters) => statement.iterate(...bound(parameters)),
      };
    },
  };
}
