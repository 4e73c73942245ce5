// `npm run ledger -- verify` recomputes all balances from the ledger rows.
import { ConfigError, readConfig } from '../../config.ts';
import { createPrivateFiles } from '../../data/model/permissions.ts';
import { commandLine } from '../../data/model/program.ts';
import { verify } from '../../data/state/money/ledger.ts';
import { openStore, type Store, StoreError } from '../../data/state/store.ts';

const print = (line: string) => void process.stdout.write(`${line}\n`);

const USAGE = `usage: ${commandLine('ledger', 'verify')}
         check that every balance is the sum of its rows`;

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

/** Returns the exit code. */
async function main([command, ...rest]: string[]): Promise<number> {
  if (command !== 'verify' || rest.length > 0) {
    process.stderr.write(`${USAGE}\n`);
    return 2;
  }
  const { DATA_DIR, DATABASE_URL } = readConfig(process.env);
  const store = await openStore({ dataDir: DATA_DIR, databaseUrl: DATABASE_URL, existing: true });
  try {
    return await check(store);
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
