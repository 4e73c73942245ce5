// Leases: one process at a time has a right, for as long as it renews it. Its fencing token makes the writes of
// a process that lost the lease fail.
import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Store } from './store.ts';
import type { Tables } from './tables/schema.ts';

/** Another process has the lease. */
export class LeaseHeld extends Error {}

/** The lease was lost: it expired, and another process acquired it. */
export class LeaseLost extends Error {}

/** An acquired lease. */
export interface RunLease {
  readonly name: string;
  readonly token: number;
  /** Throws LeaseLost unless the lease is still this one; in a transaction also until its end. */
  check(tx?: Transaction<Tables>): Promise<void>;
  /** Ends the renewals and releases the lease. */
  release(): Promise<void>;
}

export interface LeaseOptions {
  name: string;
  /** Machine and process, for messages. */
  holder: string;
  /** Milliseconds after the last renewal at which another process may acquire it. */
  duration: number;
  /** Receives the error when the lease is lost, once. */
  onLost?: (error: LeaseLost) => void;
}

/** Milliseconds since 1970 by the clock of the database, which all machines share. */
export const databaseClock = ({ dialect }: Store): RawBuilder<number> =>
  dialect === 'postgres'
    ? sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`
    : sql<number>`cast((julianday('now') - 2440587.5) * 86400000 as integer)`;

/** The time of the database, in milliseconds since 1970. */
export async function databaseTime(store: Store): Promise<number> {
  const { rows } = await sql<{ at: number }>`select ${databaseClock(store)} as at`.execute(store.db);
  return rows[0]!.at;
}

/** Acquires a lease, and renews it until it is released. Throws LeaseHeld while another process has it. */
export async function acquireLease(store: Store, { name, holder, duration, onLost }: LeaseOptions): Promise<RunLease> {
  const now = databaseClock(store);
  const expires_at = sql<number>`${now} + ${sql.lit(duration)}`;
  const row = await store.db
    .insertInto('leases')
    .values({ name, holder, token: 1, expires_at })
    .onConflict((c) =>
      c
        .column('name')
        .doUpdateSet({ holder, token: sql<number>`leases.token + 1`, expires_at })
        .where('leases.expires_at', '<', now),
    )
    .returning('token')
    .executeTakeFirst();
  if (row === undefined) throw await heldBy(store.db, name);
  const mine = { name, token: row.token };
  const renew = async () => {
    const renewed = await store.db
      .updateTable('leases')
      .set({ expires_at })
      .where('name', '=', mine.name)
      .where('token', '=', mine.token)
      .executeTakeFirst();
    if (renewed.numUpdatedRows > 0n) return;
    clearInterval(renewing);
    onLost?.(await lostTo(store.db, mine));
  };
  // A database that does not answer is tried again; the lease stays until another process acquires it.
  const renewing = setInterval(() => void renew().catch(() => {}), duration / 4).unref();
  return {
    ...mine,
    async check(tx) {
      const query = (tx ?? store.db).selectFrom('leases').select('token').where('name', '=', name);
      const locked = tx !== undefined && store.dialect === 'postgres' ? query.forUpdate() : query;
      if ((await locked.executeTakeFirst())?.token !== mine.token) throw await lostTo(tx ?? store.db, mine);
    },
    async release() {
      clearInterval(renewing);
      await store.db
        .updateTable('leases')
        .set({ expires_at: 0 })
        .where('name', '=', name)
        .where('token', '=', mine.token)
        .execute();
    },
  };
}

type Db = Store['db'];

// In a transaction by its connection: SQLite has one only.
const rowOf = (db: Db, name: string) => db.selectFrom('leases').selectAll().where('name', '=', name).executeTakeFirst();

async function heldBy(db: Db, name: string): Promise<LeaseHeld> {
  const row = await rowOf(db, name);
  return new LeaseHeld(`another ${name} is in progress (${row?.holder ?? 'unknown'}, token ${row?.token ?? '?'})`);
}

async function lostTo(db: Db, { name, token }: { name: string; token: number }): Promise<LeaseLost> {
  const row = await rowOf(db, name);
  return new LeaseLost(
    `this ${name} (token ${token}) lost its lease to ${row?.holder ?? 'another process'} (token ${row?.token ?? '?'}); nothing more is published`,
  );
}

// The processes of the API and the releases that each has, so that they switch to a release together: a cursor
// of it must not reach a process that lacks it.

/** Milliseconds after which a process that was not seen does not count. */
const GONE = 10_000;

/** Notes that a process runs, and the listings of releases that it has. Removes processes that are gone. */
export async function noteNode(store: Store, id: string, listings: readonly string[]): Promise<void> {
  const row = { listings: listings.join(' '), seen_at: databaseClock(store) };
  await store.db
    .insertInto('nodes')
    .values({ id, ...row })
    .onConflict((c) => c.column('id').doUpdateSet(row))
    .execute();
  await store.db
    .deleteFrom('nodes')
    .where('seen_at', '<', sql<number>`${databaseClock(store)} - ${sql.lit(GONE)}`)
    .execute();
}

/** Number of running processes that lack a listing. */
export async function nodesWithout(store: Store, listing: string): Promise<number> {
  const rows = await store.db.selectFrom('nodes').select(['listings', 'seen_at']).execute();
  return rows.filter(({ listings }) => !listings.split(' ').includes(listing)).length;
}

/** Removes a process that stops. */
export async function removeNode({ db }: Store, id: string): Promise<void> {
  await db.deleteFrom('nodes').where('id', '=', id).execute();
}
