// The ledger command: correct books, wrong books, none, and unknown commands.
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { createKey } from '../../data/state/keys/keys.ts';
import { openStore } from '../../data/state/store.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { scratchOfAll } from '../support/night-pack.ts';

const dataDir = scratchOfAll();
let id = '';
beforeAll(async () => {
  const store = await openStore({ dataDir });
  const made = await createKey(store, {
    email: 'a@example.org',
    email_normal: 'a@example.org',
    request_id: 'r',
    now: 0,
  });
  id = made?.key.id ?? '';
  await store.close();
});

const scratch = () => mkdtempSync(join(dataDir, 'scratch-'));
const database = (dir: string) => join(dir, 'state', 'register.db');

const run = (...words: string[]) => runIn({}, ...words);
function runIn(given: Record<string, string>, ...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const env = { ...CHILD_ENV, DATA_DIR: dataDir, ...given };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(import.meta.dirname, '../../build/cli/ledger.ts'), ...words],
      { env },
      (error, out, err) => resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
  });
}

test('reports correct books', async () => {
  expect(await run('verify')).toEqual({
    code: 0,
    out: `2 rows, 1 keys in ${database(dataDir)}: every balance is the sum of its rows, and all rows sum to zero\n`,
    err: '',
  });
});

test('an unknown command prints the usage', async () => {
  expect(await run('mend')).toMatchObject({ code: 2, err: expect.stringMatching(/^usage: npm run ledger -- verify/) });
  expect(await run('verify', 'again')).toMatchObject({ code: 2 });
});

test('a missing database is not created', async () => {
  const empty = scratch();
  expect(await runIn({ DATA_DIR: empty }, 'verify')).toEqual({
    code: 1,
    out: '',
    err: `DATA_DIR: no database at ${database(empty)}; start the service once to create it\n`,
  });
  expect(readdirSync(empty)).toEqual([]);
});

test('a database copied without its -wal is not reported as correct', async () => {
  const [source, torn] = [scratch(), scratch()];
  const store = await openStore({ dataDir: source });
  mkdirSync(join(torn, 'state'));
  copyFileSync(database(source), database(torn));
  await store.close();
  const { code, out, err } = await runIn({ DATA_DIR: torn }, 'verify');
  expect([code, out]).toEqual([1, '']);
  expect(err).toBe(`DATA_DIR: ${database(torn)} contains no register; was it copied without ${database(torn)}-wal?\n`);
});

test('a file that is not a database gives one line with its path', async () => {
  const garbage = scratch();
  mkdirSync(join(garbage, 'state'));
  writeFileSync(database(garbage), 'no database at all, however long one looks at it\n'.repeat(100));
  const err = `DATA_DIR: ${database(garbage)} cannot be used: file is not a database\n`;
  expect(await runIn({ DATA_DIR: garbage }, 'verify')).toEqual({ code: 1, out: '', err });
});

test('a database of an older schema is checked and stays unchanged', async () => {
  const old = scratch();
  const store = await openStore({ dataDir: old });
  for (const table of ['ops_sessions', 'grants']) await sql.raw(`drop table ${table}`).execute(store.db);
  await sql`delete from kysely_migration where name >= '0008'`.execute(store.db);
  const schema = async () => (await sql`select * from sqlite_schema order by name`.execute(store.db)).rows;
  const before = await schema();
  expect(await runIn({ DATA_DIR: old }, 'verify')).toMatchObject({ code: 0, err: '' });
  expect(await schema()).toEqual(before);
  await store.close();
});

test('empty books are not reported as correct', async () => {
  const empty = scratch();
  await (await openStore({ dataDir: empty })).close();
  const out = `0 rows, 0 keys in ${database(empty)}: the ledger is empty\n`;
  expect(await runIn({ DATA_DIR: empty }, 'verify')).toEqual({ code: 0, out, err: '' });
});

test('a database that does not exist on a server gives one line with the setting', async (context) => {
  const url = process.env['TEST_DATABASE_URL'];
  if (!url) return context.skip('TEST_DATABASE_URL is not set');
  const missing = Object.assign(new URL(url), { pathname: '/no_such_database', password: 'not-to-be-shown' });
  const { code, out, err } = await runIn({ DATABASE_URL: missing.href }, 'verify');
  expect([code, out]).toEqual([1, '']);
  expect(err).toMatch(/^DATABASE_URL: postgres(ql)?:\/\/[^@\n]+\/no_such_database cannot be used: [^\n]+\n$/);
  expect(err).not.toContain('not-to-be-shown');
});

test('a database server that does not answer gives one line with the setting', async () => {
  const { code, err } = await runIn({ DATABASE_URL: 'postgres://user:secret@localhost:1/register' }, 'verify');
  expect(code).toBe(1);
  expect(err).toMatch(/^DATABASE_URL: postgres:\/\/localhost:1\/register cannot be used: [^\n]*ECONNREFUSED[^\n]*\n$/);
});

test('a changed balance is reported, and the command fails', async () => {
  const store = await openStore({ dataDir });
  await sql`update balances set amount = amount + 1`.execute(store.db);
  await store.close();
  const { code, out } = await run('verify');
  expect(code).toBe(1);
  expect(out).toBe(
    `key:${id}: balance 500001, its rows sum to 500000 micro-EUR\n2 rows, 1 keys in ${database(dataDir)}: WRONG\n`,
  );
});
