// Budgets of messages to people and hosts that did not ask for them: mails by recipient and network, verifications of
// webhooks by host and caller, whatever feature sends them. Times in milliseconds since 1970.
import { sql } from 'kysely';
import { normalEmail } from '../model/email.ts';
import type { Store } from './store.ts';

const [HOUR, DAY] = [3_600_000, 24 * 3_600_000];

/** Messages in an hour and in a day. */
export const SENDS = {
  /** Mails to an address that never followed a mailed link, all kinds together. */
  mail: { hour: 3, day: 10 },
  /** Mails that one network address requests. */
  network: { hour: 20, day: 40 },
  /** Verifications of webhooks at one host. */
  host: { hour: 10, day: 60 },
  /** Verifications of webhooks that one key requests. */
  caller: { hour: 10, day: 60 },
} as const;

/** What a message counts for: the recipient's address, a network address, a host name or the id of a key. */
export interface SendCount {
  kind: keyof typeof SENDS;
  of: string;
}

const nameOf = ({ kind, of }: SendCount): string => `${kind} ${kind === 'mail' ? (normalEmail(of) ?? of) : of}`;

/**
 * Counts a message in the transaction `db` that queues it, and returns 0. Beyond a budget it counts nothing and returns
 * the seconds until there is room. Writing the rows makes concurrent messages of other processes wait for each other.
 */
export async function takeSend(db: Store['db'], counts: readonly SendCount[], now: number): Promise<number> {
  const rows = [];
  // In one order, so that two messages never wait for each other.
  for (const count of counts.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))) {
    const row = await db
      .insertInto('sends')
      .values({ name: nameOf(count), times: '[]', confirmed_at: null })
      .onConflict((c) => c.column('name').doUpdateSet((e) => ({ name: e.ref('excluded.name') })))
      .returning(['name', 'times', 'confirmed_at'])
      .executeTakeFirstOrThrow();
    // Mails to a confirmed address have no budget. Later times are those of a clock that went back.
    const times = (JSON.parse(row.times) as number[]).filter((at) => at > now - DAY);
    if (row.confirmed_at === null) rows.push({ name: row.name, times, most: SENDS[count.kind] });
  }
  const wait = Math.max(0, ...rows.map(({ times, most }) => roomAfter(times, most, now)));
  if (wait > 0) return Math.ceil(wait / 1000);
  for (const { name, times } of rows)
    await db
      .updateTable('sends')
      .set({ times: JSON.stringify([...times, now]) })
      .where('name', '=', name)
      .execute();
  return 0;
}

/** Milliseconds until one more message is within both windows; 0: now. */
function roomAfter(times: readonly number[], most: { hour: number; day: number }, now: number): number {
  const untilRoom = (window: number, count: number): number => {
    const recent = times.filter((at) => at > now - window).sort((a, b) => a - b);
    return recent.length < count ? 0 : Math.min(window, recent[recent.length - count]! + window - now);
  };
  return Math.max(untilRoom(HOUR, most.hour), untilRoom(DAY, most.day));
}

/** Stores that the reader of an address followed a mailed link. */
export async function confirmAddress({ db }: Pick<Store, 'db'>, address: string, now: number): Promise<void> {
  const row = { name: nameOf({ kind: 'mail', of: address }), times: '[]', confirmed_at: now };
  await db
    .insertInto('sends')
    .values(row)
    .onConflict((c) => c.column('name').doUpdateSet(row))
    .execute();
}

/** Whether the reader of an address ever followed a mailed link. */
export async function isConfirmed({ db }: Pick<Store, 'db'>, address: string): Promise<boolean> {
  const row = db
    .selectFrom('sends')
    .select('confirmed_at')
    .where('name', '=', nameOf({ kind: 'mail', of: address }));
  return (await row.executeTakeFirst())?.confirmed_at != null;
}

/** Deletes counts without a message in a day, and confirmations before a time of addresses that no key has. */
export async function forgetSends({ db }: Pick<Store, 'db'>, now: number, before: number): Promise<void> {
  const ofKey = sql<boolean>`exists (select 1 from keys where 'mail ' || keys.email_normal = sends.name)`;
  await db
    .deleteFrom('sends')
    .where('confirmed_at', '<', before)
    .where((e) => e.not(ofKey))
    .execute();
  const rows = await db.selectFrom('sends').select(['name', 'times']).where('confirmed_at', 'is', null).execute();
  for (const { name, times } of rows)
    if ((JSON.parse(times) as number[]).every((at) => at <= now - DAY))
      // Not if a message was counted meanwhile.
      await db.deleteFrom('sends').where('name', '=', name).where('times', '=', times).execute();
}
