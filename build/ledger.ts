// `npm run ledger -- verify`: adds the ledger up again from its rows alone and says whether the books are right.
import { ConfigError, readConfig } from '../config.ts';
import { verify } from '../data/state/ledger.ts';
import { openStore } from '../data/state/store.ts';

const print = (line: string) => void process.stdout.write(`${line}\n`);

/** Prints what is wrong; answers the exit code. */
async function main(command: string | undefined): Promise<number> {
  if (command !== 'verify') {
    process.stderr.write('usage: npm run ledger -- verify\n');
    return 2;
  }
  const { DATA_DIR, DATABASE_URL } = readConfig(process.env);
  const store = await openStore({ dataDir: DATA_DIR, databaseUrl: DATABASE_URL });
  try {
    const { entries, accounts, sum, unbalanced, wrong } = await verify(store);
    for (const each of unbalanced)
      print(`transaction ${each.transaction_id} does not balance: ${each.sum} micro-EUR over`);
    for (const each of wrong)
      print(`${each.account} holds ${each.stored ?? 'nothing'}, its rows sum to ${each.sum} micro-EUR`);
    const right = sum === 0 && unbalanced.length === 0 && wrong.length === 0;
    print(
      `${entries} rows, ${accounts} keys: ${right ? 'every balance is the sum of its rows, and all rows sum to zero' : 'WRONG'}`,
    );
    return right ? 0 : 1;
  } finally {
    await store.close();
  }
}

try {
  process.exitCode = await main(process.argv[2]);
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
