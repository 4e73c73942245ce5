// Daily quotas that outlive the process: free previews, new keys, mails. Days are UTC; the later of two days counts,
// whatever a clock does.
import { dayOf } from './budgets.ts';
import { usedUnits } from './statements.ts';
import type { Store } from './store.ts';
import { JOBS } from './writer-jobs.ts';

/** A daily limit: what is counted, for whom, and the maximum. */
export interface Quota {
  name: string;
  quota: number;
}

/** Counters in the store or in Redis. */
export interface Quotas {
  /** Takes up to `wanted` units and returns the number taken, so that parallel calls cannot share a unit. */
  take(quota: Quota, wanted: number, now: Date): Promise<number>;
  /** Returns unused units. */
  give(quota: Quota, units: number, now: Date): Promise<void>;
  /** Units left today. */
  left(quota: Quota, now: Date): Promise<number>;
}

/** Quotas in the store, shared by all its processes. */
export function storedQuotas(store: Store): Quotas {
  return {
    take({ name, quota }, wanted, now) {
      const input = { name, day: dayOf(now.getTime()), wanted, quota };
      return store.writer?.run('take', input) ?? JOBS.take(store.db, input);
    },
    give({ name }, units, now) {
      const input = { name, day: dayOf(now.getTime()), units };
      return store.writer?.run('give', input) ?? JOBS.give(store.db, input);
    },
    async left({ name, quota }, now) {
      const [row] = await usedUnits(store.reader, { name, day: dayOf(now.getTime()) });
      return Math.max(0, quota - (row?.used ?? 0));
    },
  };
}

/** Deletes the days before yesterday. */
export async function forgetQuotas(store: Store, now: Date): Promise<void> {
  const yesterday = dayOf(now.getTime() - 86_400_000);
  await store.db.deleteFrom('quotas').where('day', '<', yesterday).execute();
}
