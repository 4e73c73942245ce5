// E-mail addresses of the audit log. The log is append-only and contains a keyed hash of each; this table can
// be erased.
import { createHmac, randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import { defineTable, integer, type RowsOf, text } from './columns.ts';

export const auditPeopleTables = {
  /** An address in the audit log. */
  audit_people: defineTable({
    /** HMAC-SHA256 of the address in lower case, the first 32 hex digits. */
    hash: text().primaryKey(),
    address: text(),
    /** When a row of the log last had it, milliseconds since 1970. */
    seen_at: integer(),
  }),
};

/** Tables used here; the schema imports this module, so its type cannot be imported. */
type Db = Kysely<RowsOf<typeof auditPeopleTables> & { secrets: { name: string; value: string } }>;
/** A connection to the whole store, or a migration's. */
type AnyDb = Pick<Kysely<never>, 'schema'>;
const tablesOf = (db: AnyDb) => db as unknown as Db;

const SECRET = 'audit_people';
/** `owner office@port.example`: role and address. */
const NAMED = /^(owner|contact) (\S+@\S+)$/;
/** `owner #` and the hash. */
const HASHED = /^(owner|contact) #([0-9a-f]{32})$/;

const hashOf = (secret: string, address: string) =>
  createHmac('sha256', secret).update(address.toLowerCase()).digest('hex').slice(0, 32);

async function secretOf(db: Db): Promise<string> {
  return (await db.selectFrom('secrets').select('value').where('name', '=', SECRET).executeTakeFirstOrThrow()).value;
}

/** `who` as the log stores it: the address is replaced by its hash and stored in audit_people. */
export async function hashActor(any: AnyDb, who: string, now: number): Promise<string> {
  const db = tablesOf(any);
  const [, role = '', address] = NAMED.exec(who) ?? [];
  if (address === undefined) return who;
  const hash = hashOf(await secretOf(db), address);
  await db
    .insertInto('audit_people')
    .values({ hash, address, seen_at: now })
    .onConflict((c) => c.column('hash').doUpdateSet({ address, seen_at: now }))
    .execute();
  return `${role} #${hash}`;
}

/** The rows with addresses that are still stored; an erased one stays `contact #…`. */
export async function withAddresses<T extends { who: string }>(any: AnyDb, lines: readonly T[]): Promise<T[]> {
  const db = tablesOf(any);
  const hashes = lines.flatMap(({ who }) => HASHED.exec(who)?.[2] ?? []);
  if (hashes.length === 0) return [...lines];
  const people = await db
    .selectFrom('audit_people')
    .selectAll()
    .where('hash', 'in', [...new Set(hashes)])
    .execute();
  const addresses = new Map(people.map(({ hash, address }) => [hash, address]));
  return lines.map((line) => {
    const [, role = '', hash = ''] = HASHED.exec(line.who) ?? [];
    const address = addresses.get(hash);
    return address === undefined ? line : { ...line, who: `${role} ${address}` };
  });
}

/** Makes the key of the hashes. */
export async function makeSecret(db: AnyDb): Promise<void> {
  const value = randomBytes(32).toString('base64url');
  await tablesOf(db).insertInto('secrets').values({ name: SECRET, value }).execute();
}
