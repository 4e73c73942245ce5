// Rate limit of opt-outs: a dataset applies a number per hour at once; further ones wait for an operator
// (contract section 5, "Opt-out").
import { recordAudit } from '../audit.ts';
import type { Store } from '../store.ts';

type Db = Pick<Store, 'db'>;

/** Immediate removals in one dataset (`most`) within a time in milliseconds. */
export const OPT_OUT_LIMIT = { most: 20, within: 3_600_000 };
const HELD = 'hold-opt-outs';

/** Whether a further opt-out must wait. Exact in the transaction that changes the overlay of the dataset. */
export async function holdsOptOuts({ db }: Db, dataset: string, now: number): Promise<boolean> {
  const { count } = await db
    .selectFrom('opt_outs')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('dataset', '=', dataset)
    // Opt-outs decided by an operator have no domain.
    .where('domain', 'is not', null)
    .where('at', '>', now - OPT_OUT_LIMIT.within)
    .executeTakeFirstOrThrow();
  return Number(count) >= OPT_OUT_LIMIT.most;
}

/** Adds a row to the audit log that opt-outs of a dataset wait, at most one an hour. */
export async function noteHeld(store: Db, dataset: string, now: number): Promise<void> {
  const noted = (await heldSince(store, now - OPT_OUT_LIMIT.within)).some((hold) => hold.dataset === dataset);
  if (noted) return;
  const about = { dataset, entity_id: null, subject: null, request_id: null };
  await recordAudit(store, { at: now, who: 'register', action: HELD, ...about, details: { most: OPT_OUT_LIMIT.most } });
}

/** Datasets with waiting opt-outs since a time, and the newest start of the wait. */
export async function heldSince({ db }: Db, since: number): Promise<{ dataset: string; at: number }[]> {
  const rows = await db
    .selectFrom('audit')
    .select(['dataset', (e) => e.fn.max('at').as('at')])
    .where('action', '=', HELD)
    .where('at', '>', since)
    .groupBy('dataset')
    .orderBy('dataset')
    .execute();
  return rows.map(({ dataset, at }) => ({ dataset: dataset ?? '', at: Number(at) }));
}
