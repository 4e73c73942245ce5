// E-mail addresses of the audit log. The log is append-only and contains a keyed hash of each; this table can
// be erased.
import { createHmac, randomBytes } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { OwnerTables } from './owners.ts';

/** An address in the audit log. */
export interface AuditPersonTable {
  /** HMAC-SHA256 of the address in lower case, the first 32 hex digits. */
  hash: string;
  address: string;
  /** When a row of the log last had it, milliseconds since 1970. */
  seen_at: number;
}

export interface AuditPeopleTables {
  audit_people: AuditPersonTable;
}

/** Tables used here; the schema imports this module, so its type cannot be imported. */
type Db = Kysely<AuditPeopleTables & OwnerTables & { secrets: { name: string; value: string } }>;
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

/** Creates the table and moves the addresses of an existing log into it. */
export async function makeAuditPeople(db: Kysely<unknown>, big: 'bigint' | 'integer'): Promise<void> {
  await db.schema
    .createTable('audit_people')
    .addColumn('hash', 'text', (c) => c.primaryKey())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('seen_at', big, (c) => c.notNull())
    .execute();
  const tables = tablesOf(db);
  const value = randomBytes(32).toString('base64url');
  await tables.insertInto('secrets').values({ name: SECRET, value }).execute();
  await writable(db, big, true);
  const lines = await tables.selectFrom('audit').select(['id', 'who', 'at']).where('who', 'like', '%@%').execute();
  for (const { id, who, at } of lines) {
    const hashed = await hashActor(tables, who, at);
    await tables.updateTable('audit').set({ who: hashed }).where('id', '=', id).execute();
  }
  // The reason of an opt-out is in its own row, where it can be erased.
  await tables.updateTable('audit').set({ told: '{}' }).where('action', '=', 'opt-out').execute();
  await writable(db, big, false);
  const named = tables.updateTable('requests').where('decided_by', 'like', 'contact %@%');
  await named.set({ decided_by: 'contact' }).execute();
}

/** Switches whether the migration may change rows of the log. */
async function writable(db: Kysely<unknown>, big: 'bigint' | 'integer', on: boolean): Promise<void> {
  if (big === 'bigint')
    await sql.raw(`alter table audit ${on ? 'disable' : 'enable'} trigger audit_no_change`).execute(db);
  else if (on) await sql`drop trigger audit_no_update`.execute(db);
  else
    await sql`create trigger audit_no_update before update on audit
      begin select raise(abort, 'the audit log is append-only'); end`.execute(db);
}
