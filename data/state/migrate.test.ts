// Rolling updates: migrations only add, so a process of the version before works on a newer database.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { openStore, StoreError, type StoreOptions } from './store.ts';
import { type Dialect, migrations } from './tables/migrations.ts';

/** The newest migration of the version before migrations had to be additive. */
const BASE = '0012_reports';

/** Options of a new store, and its dialect: PostgreSQL where TEST_DATABASE_URL names one. */
async function fresh(): Promise<{ options: StoreOptions; dialect: Dialect }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'migrate-'));
  const url = process.env['TEST_DATABASE_URL'];
  const schema = `migrate_${randomBytes(6).toString('hex')}`;
  onTestFinished(async () => {
    rmSync(dataDir, { recursive: true, force: true });
    if (!url) return;
    const store = await openStore({ dataDir: tmpdir(), databaseUrl: url, schema, existing: true });
    await sql`drop schema if exists ${sql.id(schema)} cascade`.execute(store.db);
    await store.close();
  });
  return url
    ? { options: { dataDir, databaseUrl: url, schema }, dialect: 'postgres' }
    : { options: { dataDir }, dialect: 'sqlite' };
}

const upTo = (dialect: Dialect, last: string) =>
  Object.fromEntries(Object.entries(migrations(dialect)).filter(([name]) => name <= last));

/** Columns by table, each with its type and whether an insert may leave it out. */
async function columns(options: StoreOptions): Promise<Map<string, { type: string; optional: boolean }>> {
  const store = await openStore({ ...options, existing: true });
  const tables = await store.db.introspection.getTables();
  await store.close();
  const own = tables.filter(({ schema }) => schema === undefined || schema === options.schema);
  return new Map(
    own.flatMap(({ name: table, columns: list }) =>
      list.map(({ name, dataType, isNullable, hasDefaultValue, isAutoIncrementing }) => [
        `${table}.${name}`,
        { type: dataType, optional: isNullable || hasDefaultValue || isAutoIncrementing },
      ]),
    ),
  );
}

test(`since ${BASE} migrations add tables and optional columns, and change nothing`, async () => {
  const { options, dialect } = await fresh();
  await (await openStore({ ...options, migrations: upTo(dialect, BASE) })).close();
  const before = await columns(options);
  await (await openStore(options)).close();
  const after = await columns(options);
  for (const [name, column] of before) expect(after.get(name), name).toEqual(column);
  const tables = new Set([...before.keys()].map((name) => name.split('.')[0]));
  const added = [...after].filter(([name]) => !before.has(name) && tables.has(name.split('.')[0]));
  expect(added.filter(([, { optional }]) => !optional)).toEqual([]);
});

test('a process of the version before goes on, and starts again, on a database of a newer version', async () => {
  const { options, dialect } = await fresh();
  const older = { ...options, migrations: upTo(dialect, BASE) };
  const running = await openStore(older);
  const newer = await openStore(options);
  const secret = (name: string) => ({ name, value: 'of the older version' });
  await running.db.insertInto('secrets').values(secret('running')).execute();
  const again = await openStore(older);
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

test('processes that start at once migrate one after the other', async () => {
  const { options } = await fresh();
  // PostgreSQL cannot create one schema twice at once, and only tests have schemas.
  if (options.databaseUrl) await (await openStore({ ...options, migrations: {} })).close();
  const stores = await Promise.all(Array.from({ length: 4 }, () => openStore(options)));
  const { rows } = await sql<{ n: number }>`select count(*) as n from kysely_migration`.execute(stores[0]!.db);
  expect(Number(rows[0]?.n)).toBe(Object.keys(migrations('sqlite')).length);
  for (const store of stores) await store.close();
});
