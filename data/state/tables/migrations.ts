// Migrations of the store, one set for both databases. From 1.0.0 on a migration is never edited and only adds, because
// processes of the version before it continue to run: tables, and columns that may be null, which have its name as `since`.
// A migration that cannot do so has a name that ends in BREAKING.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { FORMAT } from '../../model/layout.ts';
import { makeSecret } from './audit-people.ts';
import { create, type Dialect, FIRST } from './columns.ts';
import { STORE_TABLES } from './schema.ts';

/** End of the name of a migration with which earlier versions of the program cannot work. */
export const BREAKING = '_breaking';

/**
 * All migrations by name, in order.
 *
 * @example
 * ```ts
 * await new Migrator({ db, provider: { getMigrations: async () => migrations('sqlite') } }).migrateToLatest();
 * ```
 */
export function migrations(dialect: Dialect): Record<string, Migration> {
  return {
    [FIRST]: {
      async up(db) {
        await create(db, dialect, STORE_TABLES, FIRST);
        await sql`insert into formats (format) values (${FORMAT})`.execute(db);
        await makeSecret(db);
      },
    },
  };
}
