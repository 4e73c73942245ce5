// Daily quotas that outlive the process: free previews, new keys, mails. Days are UTC.
import { sql } from 'kysely';
import type { Store } from './store.ts';

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

/** The current UTC day. */
export const utcDay = (now: Date): string => now.toISOString().slice(0, 10);

/** Quotas in the store, shared by all its processes. */
export function storedQuotas(store: Store): Quotas {
  return {
    async take({ name, quota }, wanted, now) {
      const day = utcDay(now);
      if (store.writer) return store.writer.run({ kind: 'take', name, day, wanted, quota });
      const room = sql`greatest(0, least(${wanted}::bigint, ${quota}::bigint - quotas.used))`;
      const { rows } = await sql<{ last: number }>`
        insert into quotas (name, day, used, last)
        values (${name}, ${day}, least(${wanted}::bigint, ${quota}::bigint), least(${wanted}::bigint, ${quota}::bigint))
        on conflict (name, day) do update set last = ${room}, used = quotas.used + ${room} returning last`.execute(
        store.db,
      );
      return rows[0]?.last ?? 0;
    },
    async give({ name }, units, now) {
      const day = utcDay(now);
      if (store.writer) await store.writer.run({ kind: 'give', name, day, units });
      else
        await sql`update quotas set used = greatest(0, used - ${units}::bigint) where name = ${name} and day = ${day}`.execute(
          store.db,
        );
    },
    async left({ name, quota }, now) {
      const row = await store.db
        .selectFrom('quotas')
        .select('used')
        .where('name', '=', name)
        .where('day', '=', utcDay(now))
        .executeTakeFirst();
      return Math.max(0, quota - (row?.used ?? 0));
    },
  };
}

/** Deletes the days before yesterday. */
export async function forgetQuotas(store: Store, now: Date): Promise<void> {
  const yesterday = utcDay(new Date(now.getTime() - 86_400_000));
  await store.db.deleteFrom('quotas').where('day', '<', yesterday).execute();
}
