// One store for everything that must outlive a process: SQLite in DATA_DIR, or PostgreSQL shared by several processes.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import pg from 'pg';
import { paths } from '../layout.ts';
import { type Dialect, migrations } from './migrations.ts';
import type { Tables } from './schema.ts';
import { openSqlite, sqliteDialect } from './sqlite.ts';
import { openWriter, type Writer } from './writer.ts';

export interface Store {
  db: Kysely<Tables>;
  dialect: Dialect;
  /** SQLite file, or null on PostgreSQL. */
  file: string | null;
  /** The thread that writes what calls cost; null on PostgreSQL. */
  writer: Writer | null;
  close: () => Promise<void>;
}

export interface StoreOptions {
  dataDir: string;
  /** `postgres://…`; absent: SQLite in DATA_DIR. */
  databaseUrl?: string | undefined;
  /** PostgreSQL schema, for tests that share a database. */
  schema?: string;
}

// PostgreSQL's bigint would arrive as text; micro-euros and milliseconds stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, (text) => {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw new RangeError(`${text} does not fit an exact number`);
  return number;
});

/** Opens the store and brings its tables up to date; several processes may do so at once. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { databaseUrl, schema } = options;
  const file = databaseUrl ? null : sqliteFile(options.dataDir);
  const dialect: Dialect = file ? 'sqlite' : 'postgres';
  const db = new Kysely<Tables>({
    dialect: file ? sqliteDialect(openSqlite(file, 'FULL')) : postgres(databaseUrl as string, schema),
  });
  if (schema) await sql`create schema if not exists ${sql.id(schema)}`.execute(db);
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => migrations(dialect) },
    ...(schema ? { migrationTableSchema: schema } : {}),
  });
  const { error } = await migrator.migrateToLatest();
  if (error) {
    await db.destroy();
    throw error;
  }
  const writer = file === null ? null : openWriter(file);
  const close = async () => {
    await writer?.close();
    await db.destroy();
  };
  return { db, dialect, file, writer, close };
}

function sqliteFile(dataDir: string): string {
  const folder = paths.state(dataDir);
  mkdirSync(folder, { recursive: true });
  return join(folder, 'register.db');
}

/** A commit waits for the disk, whatever the server's default is. */
function postgres(url: string, schema?: string): PostgresDialect {
  const path = schema ? ` -c search_path=${schema}` : '';
  const pool = new pg.Pool({ connectionString: url, max: 10, options: `-c synchronous_commit=on${path}` });
  // The server may end a connection that nobody uses, as when it starts again; the pool opens another. Unheard, it ends us.
  pool.on('error', () => {});
  return new PostgresDialect({ pool });
}
