// Kysely over node:sqlite: the SQLite that comes with Node, so that nothing is compiled or downloaded.
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type SqliteDatabase, SqliteDialect } from 'kysely';

/** FULL: a commit is on disk when it returns. NORMAL: it survives the process, a power cut may take the last ones. */
export type Durability = 'FULL' | 'NORMAL';

/** Opens the store's file with the settings that every connection must have. */
export function openSqlite(file: string, durability: Durability): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 10_000 });
  db.exec(`pragma journal_mode = wal; pragma synchronous = ${durability}; pragma foreign_keys = on`);
  return db;
}

/** The dialect over an open database. Statements are kept, since the same few run again and again. */
export function sqliteDialect(db: DatabaseSync): SqliteDialect {
  return new SqliteDialect({ database: adapt(db) });
}

function adapt(db: DatabaseSync): SqliteDatabase {
  return {
    close: () => db.close(),
    prepare(text) {
      // A transaction of ours always writes: taking the lock first means that it waits, and never fails half way.
      const statement = db.prepare(text === 'begin' ? 'begin immediate' : text);
      const bound = (parameters: readonly unknown[]) => parameters as SQLInputValue[];
      return {
        reader: statement.columns().length > 0,
        all: (parameters) => statement.all(...bound(parameters)),
        run: (parameters) => statement.run(...bound(parameters)),
        iterate: (parameters) => statement.iterate(...bound(parameters)),
      };
    },
  };
}
