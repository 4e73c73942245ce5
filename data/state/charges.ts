// Charging a call: take the price off the key's balance if it covers it, and write both rows, in one transaction.
//
// On SQLite a worker thread owns the connection and commits everything that arrived meanwhile at once: the event loop
// never waits for a disk, and one commit serves many calls. On PostgreSQL one statement does it.
import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import { accountOf } from './ledger.ts';
import type { Store } from './store.ts';

export interface Charge {
  key_id: string;
  /** Micro-euros, above zero. */
  amount: number;
  operation: string;
  dataset: string | null;
  request_id: string;
  now: number;
}

/** `charged` with the balance left; `insufficient` with the balance there was; `revoked`: nothing was charged. */
export type ChargeOutcome = { state: 'charged' | 'insufficient'; balance: number } | { state: 'revoked' };

export interface Charger {
  charge: (charge: Charge) => Promise<ChargeOutcome>;
  close: () => Promise<void>;
}

/** The charger that fits the store. */
export function openCharger(store: Store): Charger {
  return store.file === null ? postgresCharger(store) : sqliteCharger(store.file);
}

/** Row of a batch on its way to the worker: key id, amount, operation, dataset, request id, time. */
export type Job = [string, number, string, string | null, string, number];
/** State and balance of each job: 0 charged, 1 insufficient, 2 revoked. */
export type JobResult = [0 | 1 | 2, number];

interface Waiting {
  job: Job;
  resolve: (outcome: ChargeOutcome) => void;
  reject: (error: unknown) => void;
}

function sqliteCharger(file: string): Charger {
  const worker = new Worker(new URL('./charge-worker.ts', import.meta.url), { workerData: { file } });
  worker.unref();
  let queue: Waiting[] = [];
  let flying: Waiting[] = [];
  let failure: Error | null = null;

  const send = () => {
    if (flying.length > 0 || queue.length === 0) return;
    flying = queue;
    queue = [];
    worker.postMessage(flying.map(({ job }) => job));
  };
  const fail = (error: Error) => {
    failure = error;
    for (const { reject } of [...flying, ...queue]) reject(error);
    flying = [];
    queue = [];
  };
  worker.on('message', (results: JobResult[] | { error: string }) => {
    const done = flying;
    flying = [];
    if ('error' in results) for (const { reject } of done) reject(new Error(results.error));
    else for (const [i, { resolve }] of done.entries()) resolve(outcomeOf(results[i] as JobResult));
    send();
  });
  worker.on('error', (error) => fail(error as Error));
  worker.on('exit', (code) => fail(new Error(`the ledger's thread ended with ${code}`)));

  return {
    charge: (charge) =>
      new Promise((resolve, reject) => {
        if (failure) return reject(failure);
        const job: Job = [
          charge.key_id,
          charge.amount,
          charge.operation,
          charge.dataset,
          charge.request_id,
          charge.now,
        ];
        // Whatever else arrives in this turn of the loop travels along.
        if (queue.push({ job, resolve, reject }) === 1 && flying.length === 0) setImmediate(send);
      }),
    close: async () => {
      failure ??= new Error('the ledger is closed');
      worker.removeAllListeners('exit');
      await worker.terminate();
    },
  };
}

function outcomeOf([state, balance]: JobResult): ChargeOutcome {
  if (state === 2) return { state: 'revoked' };
  return { state: state === 0 ? 'charged' : 'insufficient', balance };
}

function postgresCharger(store: Store): Charger {
  return {
    charge: async (charge) => {
      const account = accountOf(charge.key_id);
      const transaction = randomUUID();
      const { rows } = await sql<{ balance: number }>`
        with taken as (
          update balances set amount = amount - ${charge.amount}::bigint
          where account = ${account} and amount >= ${charge.amount}::bigint
            and exists (select 1 from keys where id = ${charge.key_id} and revoked_at is null)
          returning amount
        ), written as (
          insert into entries (transaction_id, account, amount, balance, at, kind, operation, dataset, request_id)
          select ${transaction}::text, v.account, v.amount, v.balance, ${charge.now}::bigint, 'charge', ${charge.operation}::text,
                 ${charge.dataset}::text, ${charge.request_id}::text
          from taken, lateral (values (${account}::text, -${charge.amount}::bigint, taken.amount), ('revenue', ${charge.amount}::bigint, null)) v (account, amount, balance)
        )
        select amount as balance from taken`.execute(store.db);
      if (rows[0]) return { state: 'charged', balance: rows[0].balance };
      const key = await store.db
        .selectFrom('keys')
        .leftJoin('balances', (join) => join.on('balances.account', '=', account))
        .select(['revoked_at', 'amount'])
        .where('id', '=', charge.key_id)
        .executeTakeFirst();
      if (!key || key.revoked_at !== null) return { state: 'revoked' };
      return { state: 'insufficient', balance: key.amount ?? 0 };
    },
    close: async () => {},
  };
}
