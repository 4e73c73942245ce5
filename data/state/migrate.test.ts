// Formats and rolling updates: migrations only add, so a process of the version before works on a newer database.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../tests/support/verifies.ts';
import { openStore, type Store, StoreError, type StoreOptions } from './store.ts';
import { create, type Dialect, defineTable, FIRST, integer, text } from './tables/columns.ts';
import { migrations } from './tables/migrations.ts';

verifies('data.format');

/** Options of a new store, and its dialect: PostgreSQL where TEST_DATABASE_URL names one. */
async function fresh(): Promise<{ options: StoreOptions & { dataDir: string }; dialect: Dialect }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'migrate-'));
  const url = process.env['TEST_DATABASE_URL'];
  const schema = `migrate_${randomBytes(6).toString('hex')}`;
  onTestFinished(async () => {
    rmSync(dataDir, { recursive: true, force: true });
    if (!url) return;
    const store = await openStore({ dataDir: tmpdir(), databaseUrl: url, schema, migrations: {} }).catch(() => null);
    if (store === null) return;
    await sql`drop schema if exists ${sql.id(schema)} cascade`.execute(store.db);
    await store.close();
  });
  return url
    ? { options: { dataDir, databaseUrl: url, schema }, dialect: 'postgres' }
    : { options: { dataDir }, dialect: 'sqlite' };
}

/** Tables as a later version may declare them. */
const LATER = {
  links: defineTable({ hash: text().primaryKey(), reason: text().optional().since('0002_later') }),
  later: defineTable({ id: text().primaryKey(), count: integer() }, { since: '0002_later' }),
};

const later = (dialect: Dialect): Record<string, Migration> => ({
  ...migrations(dialect),
  '0002_later': { up: (db) => create(db, dialect, LATER, '0002_later') },
});

/** Columns by defineTable, each with its type and whether an insert may leave it out. */
async function columns({ db }: Store, schema?: string): Promise<Map<string, { type: string; optional: boolean }>> {
  const tables = (await db.introspection.getTables()).filter(
    (one) => one.schema === undefined || one.schema === schema,
  );
  return new Map(
    tables.flatMap(({ name: tableName, columns: list }) =>
      list.map(({ name, dataType, isNullable, hasDefaultValue, isAutoIncrementing }) => [
        `${tableName}.${name}`,
        { type: dataType, optional: isNullable || hasDefaultValue || isAutoIncrementing },
      ]),
    ),
  );
}

test('a later migration adds tables and optional columns, and changes nothing', async () => {
  const { options, dialect } = await fresh();
  const first = await openStore(options);
  const before = await columns(first, options.schema);
  const newer = await openStore({ ...options, migrations: later(dialect) });
  const after = await columns(newer, options.schema);
  for (const store of [first, newer]) await store.close();
  for (const [name, column] of before) expect(after.get(name), name).toEqual(column);
  const added = [...after].filter(([name]) => !before.has(name)).map(([name, { optional }]) => [name, optional]);
  expect(added.sort()).toEqual([
    ['later.count', false],
    ['later.id', false],
    ['links.reason', true],
  ]);
});

test('a process of the version before goes on, and starts again, on a database of a newer version', async () => {
  const { options, dialect } = await fresh();
  const running = await openStore(options);
  const newer = await openStore({ ...options, migrations: later(dialect) });
  const secret = (name: string) => ({ name, value: 'of the older version' });
  await running.db.insertInto('secrets').values(secret('running')).execute();
  const again = await openStore(options);
  await again.db.insertInto('secrets').values(secret('again')).execute();
  const names = await newer.db.selectFrom('secrets').select('name').orderBy('name').execute();
  expect(names.map(({ name }) => name)).toEqual(expect.arrayContaining(['again', 'running']));
  for (const store of [running, newer, again]) await store.close();
});

test('a breaking migration of a newer version is named, and the older version does not start', async () => {
  const { options, dialect } = await fresh();
  const breaking = { '9999_drop_links_breaking': { up: async () => {} } };
  await (await openStore({ ...options, migrations: { ...migrations(dialect), ...breaking } })).close();
  const started = openStore(options);
  await expect(started).rejects.toThrow(StoreError);
  await expect(started).rejects.toThrow('has the migration 9999_drop_links_breaking');
});

test('a store or a DATA_DIR of another format is refused with one sentence', async () => {
  const { options } = await fresh();
  const store = await openStore(options);
  expect(readFileSync(join(options.dataDir, 'format'), 'utf8')).toBe('1\n');
  await sql`update formats set format = 7`.execute(store.db);
  await store.close();
  for (const existing of [false, true])
    await expect(openStore({ ...options, existing })).rejects.toThrow(
      'has the format 7, expected 1: start the version',
    );
  writeFileSync(join(options.dataDir, 'format'), '8\n');
  await expect(openStore(options)).rejects.toThrow(`DATA_DIR: ${options.dataDir} has the format 8, expected 1`);
});

test('a store without a format is refused', async () => {
  const { options } = await fresh();
  const other = { '0001_other': { up: async () => {} } };
  await (await openStore({ ...options, migrations: other })).close();
  await expect(openStore(options)).rejects.toThrow('has no format, expected 1');
});

test('rows of the ledger and of the audit log cannot be changed', async () => {
  const { options } = await fresh();
  const store = await openStore(options);
  const { db } = store;
  const entry = { transaction_id: 't', account: 'revenue', amount: 0, at: 0, kind: 'charge' };
  await db.insertInto('entries').values(entry).execute();
  await db.insertInto('audit').values({ at: 0, who: 'operator 0', action: 'grant', told: '{}' }).execute();
  for (const change of [db.updateTable('entries').set({ amount: 1 }), db.deleteFrom('entries')])
    await expect(change.execute()).rejects.toThrow('the ledger is append-only');
  for (const change of [db.updateTable('audit').set({ who: 'x' }), db.deleteFrom('audit')])
    await expect(change.execute()).rejects.toThrow('the audit log is append-only');
  await store.close();
});

test('processes that start at once migrate one after the other', async () => {
  const { options } = await fresh();
  // PostgreSQL cannot create one schema twice at once, and only tests have schemas.
  if (options.databaseUrl) await (await openStore({ ...options, migrations: {} })).close();
  const stores = await Promise.all(Array.from({ length: 4 }, () => openStore(options)));
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(stores[0]!.db);
  expect(rows).toEqual([{ name: FIRST }]);
  for (const store of stores) await store.close();
});
