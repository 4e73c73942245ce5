// The thread with the writing connection on SQLite: one transaction per batch of jobs.
import { randomUUID } from 'node:crypto';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { openSqlite } from './sqlite.ts';
import type { ChargeJob, ChargeOutcome, Job } from './writer-jobs.ts';

// NORMAL: a charge survives the process; after a power cut the last few calls may be free. Credits use FULL.
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
const granted = db.prepare('select cap - spent as left from grants where id = ?');
const spend = db.prepare('update grants set spent = spent + ? where id = ?');
const claimed = db.prepare(
  'select 1 from idempotency where key_id = ? and idempotency_key = ? and created_at = ? and answer is null',
);
const keep = db.prepare('update idempotency set answer = ?, records = ? where key_id = ? and idempotency_key = ?');
const use = db.prepare(
  `insert into quotas (name, day, used, last) values (?1, ?2, min(?3, ?4), min(?3, ?4))
   on conflict (name, day) do update set last = max(0, min(?3, ?4 - used)), used = used + max(0, min(?3, ?4 - used))
   returning last`,
);
const give = db.prepare('update quotas set used = max(0, used - ?3) where name = ?1 and day = ?2');

function charge(job: ChargeJob): ChargeOutcome {
  const { key_id, amount, answer, grant } = job;
  if (answer && !claimed.get(key_id, answer.idempotency_key, answer.claim)) return { state: 'superseded' };
  if (grant !== undefined) {
    const found = granted.get(grant) as { left: number | null } | undefined;
    if (!found) return { state: 'withdrawn' };
    if (found.left !== null && found.left < amount) return { state: 'capped', left: found.left };
  }
  const taken = take.get(key_id, amount) as { amount: number } | undefined;
  if (!taken) {
    const found = state.get(key_id) as { revoked_at: number | null; amount: number | null } | undefined;
    return !found || found.revoked_at !== null
      ? { state: 'revoked' }
      : { state: 'insufficient', balance: found.amount ?? 0 };
  }
  write.run(randomUUID(), key_id, amount, taken.amount, job.now, job.operation, job.dataset, job.request_id);
  if (grant !== undefined) spend.run(amount, grant);
  if (answer) keep.run(answer.text, answer.records, key_id, answer.idempotency_key);
  return { state: 'charged', balance: taken.amount };
}

function perform(job: Job): ChargeOutcome | number {
  if (job.kind === 'charge') return charge(job);
  if (job.kind === 'take') return (use.get(job.name, job.day, job.wanted, job.quota) as { last: number }).last;
  give.run(job.name, job.day, job.units);
  return 0;
}

/** Runs one transaction for each list of jobs of a port; other threads of the process bring ports of their own. */
function serve(port: MessagePort): void {
  port.on('message', (message: Job[] | { port: MessagePort }) => {
    if (!Array.isArray(message)) return serve(message.port);
    try {
      db.exec('begin immediate');
      const results = message.map(perform);
      db.exec('commit');
      port.postMessage(results);
    } catch (error) {
      if (db.isTransaction) db.exec('rollback');
      // A clone of an error has no code.
      const { message, code, errcode } = error as Error & { code?: string; errcode?: number };
      port.postMessage({ message, code, errcode });
    }
  });
}

if (parentPort) serve(parentPort);
