// The ledger's command: right books, wrong books, and a word it does not know.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKey } from '../data/state/keys.ts';
import { openStore } from '../data/state/store.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'ledger-'));
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
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

function run(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const env = { PATH: process.env['PATH'] ?? '', DATA_DIR: dataDir };
  return new Promise((resolve) => {
    execFile(process.execPath, [join(import.meta.dirname, 'ledger.ts'), ...words], { env }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
  });
}

test('right books are said to be right', async () => {
  expect(await run('verify')).toEqual({
    code: 0,
    out: '2 rows, 1 keys: every balance is the sum of its rows, and all rows sum to zero\n',
    err: '',
  });
});

test('another word is answered with how to use it', async () => {
  expect(await run('mend')).toMatchObject({ code: 2, err: 'usage: npm run ledger -- verify\n' });
});

test('a balance that somebody changed is named, and the command fails', async () => {
  const store = await openStore({ dataDir });
  await sql`update balances set amount = amount + 1`.execute(store.db);
  await store.close();
  const { code, out } = await run('verify');
  expect(code).toBe(1);
  expect(out).toBe(`key:${id} holds 500001, its rows sum to 500000 micro-EUR\n2 rows, 1 keys: WRONG\n`);
});
