// `npm run ledger -- verify` recomputes all balances from the ledger rows; `npm run ledger -- backup <file>`
// copies the database while it is in use.

import { closeSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { sql } from 'kysely';
import { ConfigError, readConfig } from '../../config.ts';
import { createPrivateFiles } from '../../data/model/permissions.ts';
import { commandLine } from '../../data/model/program.ts';
import { verify } from '../../data/state/money/ledger.ts';
import { openStore, type Store, StoreError } from '../../data/state/store.ts';

const print = (line: string) => void process.stdout.write(`${line}\n`);

const USAGE = `usage: ${commandLine('ledger', 'verify')}
         check that every balance is the sum of its rows
       ${commandLine('ledger', 'backup <file>')}
         copy the SQLite database, also while it is in use`;

/** Prints every mismatch and returns the exit code. */
async function check(store: Store): Promise<number> {
  const { entries, accounts, sum, unbalanced, wrong } = await verify(store);
  for (const transaction of unbalanced)
    print(`transaction ${transaction.transaction_id} does not balance: its rows sum to ${transaction.sum} micro-EUR`);
  for (const entry of wrong)
    print(`${entry.account}: balance ${entry.stored ?? 'missing'}, its rows sum to ${entry.sum} micro-EUR`);
  const right = sum === 0 && unbalanced.length === 0 && wrong.length === 0;
  const verdict =
    entries === 0 ? 'the ledger is empty' : 'every balance is the sum of its rows, and all rows sum to zero';
  print(`${entries} rows, ${accounts} keys in ${store.place}: ${right ? verdict : 'WRONG'}`);
  return right ? 0 : 1;
}

/** Writes one consistent copy into one file with mode 0600, because it contains secrets. */
async function copy(store: Store, to: string): Promise<number> {
  if (store.file === null)
    throw new StoreError(`DATABASE_URL: this command copies SQLite only; copy ${store.place} with pg_dump`);
  const made = create(to);
  try {
    await sql`vacuum into ${to}`.execute(store.db);
    fsyncSync(made);
  } catch (error) {
    rmSync(to);
    throw error;
  } finally {
    closeSync(made);
  }
  const folder = openSync(dirname(to), 'r');
  fsyncSync(folder);
  closeSync(folder);
  print(`${store.place} copied to ${to}, ${statSync(to).size.toLocaleString('en-US')} bytes`);
  return 0;
}

/** Creates an empty file with mode 0600; SQLite writes into it and keeps the mode. */
function create(file: string): number {
  try {
    return openSync(file, 'wx', 0o600);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new StoreError(code === 'EEXIST' ? `${file} already exists and was not changed` : message);
  }
}

/** Returns the exit code. */
async function main([command, file, ...rest]: string[]): Promise<number> {
  const checking = command === 'verify' && file === undefined;
  const copying = command === 'backup' && file !== undefined && rest.length === 0;
  if (!checking && !copying) {
    process.stderr.write(`${USAGE}\n`);
    return 2;
  }
  const { DATA_DIR, DATABASE_URL } = readConfig(process.env);
  const store = await openStore({ dataDir: DATA_DIR, databaseUrl: DATABASE_URL, existing: true });
  try {
    // npm runs scripts in the repository; INIT_CWD is the directory in which the operator called it.
    return checking ? await check(store) : await copy(store, resolve(process.env['INIT_CWD'] ?? '.', file as string));
  } finally {
    await store.close();
  }
}

try {
  createPrivateFiles();
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof ConfigError) && !(error instanceof StoreError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
