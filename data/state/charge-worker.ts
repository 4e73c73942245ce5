// The thread that owns the ledger's writing connection on SQLite: one transaction for each batch of charges.
import { randomUUID } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import type { Job, JobResult } from './charges.ts';
import { openSqlite } from './sqlite.ts';

// NORMAL: a charge survives the end of the process; after a power cut the last few calls may turn out free. Credits are FULL.
const db = openSqlite((workerData as { file: string }).file, 'NORMAL');

const take = db.prepare(
  `update balances set amount = amount - ?2 where account = 'key:' || ?1 and amount >= ?2
   and exists (select 1 from keys where id = ?1 and revoked_at is null) returning amount`,
);
const state = db.prepare(
  "select revoked_at, (select amount from balances where account = 'key:' || ?1) as amount from keys where id = ?1",
);
const write = db.prepare(
  `insert into entries (transaction_id, account, amount, balance, at, kind, operation, dataset, request_id)
   values (?1, 'key:' || ?2, -?3, ?4, ?5, 'charge', ?6, ?7, ?8), (?1, 'revenue', ?3, null, ?5, 'charge', ?6, ?7, ?8)`,
);

function charge([key, amount, operation, dataset, request, now]: Job): JobResult {
  const taken = take.get(key, amount) as { amount: number } | undefined;
  if (taken) {
    write.run(randomUUID(), key, amount, taken.amount, now, operation, dataset, request);
    return [0, taken.amount];
  }
  const found = state.get(key) as { revoked_at: number | null; amount: number | null } | undefined;
  return !found || found.revoked_at !== null ? [2, 0] : [1, found.amount ?? 0];
}

parentPort?.on('message', (jobs: Job[]) => {
  try {
    db.exec('begin immediate');
    const results = jobs.map(charge);
    db.exec('commit');
    parentPort?.postMessage(results);
  } catch (error) {
    if (db.isTransaction) db.exec('rollback');
    parentPort?.postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
});
