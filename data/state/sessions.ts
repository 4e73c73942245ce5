// Browser sessions of operators and of keys' owners: a secret token each, stored as a hash, limited by idle
// time and a working day.
import { randomBytes } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { hashSecret } from './key-format.ts';
import type { Store } from './store.ts';
import type { Tables } from './tables/schema.ts';

/** Lifetime after the last requested page, and in total. Milliseconds. */
export const SESSION_LIFETIME = { idle: 3_600_000, life: 12 * 3_600_000 };
/** Precision of the stored time of the last page, so that not every page writes. */
const EXACTLY = 60_000;

/** Who signs in, and the table of their sessions. */
const KINDS = {
  /** `subject`: SHA-256 of the operator's key. */
  operator: { table: sql.table('ops_sessions'), subject: sql.ref('admin') },
  /** `subject`: id of the key. */
  owner: { table: sql.table('account_sessions'), subject: sql.ref('key_id') },
};

type Db = Pick<Store, 'db'>;

/** Sessions of one kind of person. */
class Sessions {
  readonly #kind: (typeof KINDS)[keyof typeof KINDS];

  constructor(kind: keyof typeof KINDS) {
    this.#kind = KINDS[kind];
  }

  /** Signs a subject in; returns the token, which is not stored. */
  async open({ db }: Db, subject: string, now: number): Promise<string> {
    const token = randomBytes(32).toString('base64url');
    const { table, subject: column } = this.#kind;
    await sql`insert into ${table} (hash, ${column}, created_at, seen_at)
      values (${hashSecret(token)}, ${subject}, ${now}, ${now})`.execute(db);
    return token;
  }

  /** The subject of a token; null when it expired or is unknown. `renews`: the request is for a page. */
  async find({ db }: Db, token: string, now: number, renews: boolean): Promise<string | null> {
    const hash = hashSecret(token);
    const { table, subject } = this.#kind;
    const { rows } = await sql<{ subject: string; seen_at: number }>`
      select ${subject} as subject, seen_at from ${table} where hash = ${hash}
      and seen_at > ${now - SESSION_LIFETIME.idle} and created_at > ${now - SESSION_LIFETIME.life}`.execute(db);
    const [row] = rows;
    if (row === undefined) return null;
    if (renews && row.seen_at < now - EXACTLY)
      await sql`update ${table} set seen_at = ${now} where hash = ${hash}`.execute(db);
    return row.subject;
  }

  /**
   * Signs out: the token is invalid at once in every process. False when it was invalid before, so that of two
   * simultaneous calls one returns true.
   */
  async end({ db }: Db, token: string): Promise<boolean> {
    const { table } = this.#kind;
    const { rows } = await sql`delete from ${table} where hash = ${hashSecret(token)} returning hash`.execute(db);
    return rows.length > 0;
  }

  /** Signs a subject out of every browser, in the caller's transaction. */
  async endAll(db: Kysely<Tables>, subject: string): Promise<void> {
    const { table, subject: column } = this.#kind;
    await sql`delete from ${table} where ${column} = ${subject}`.execute(db);
  }

  /** Deletes expired sessions. */
  async forget({ db }: Db, now: number): Promise<void> {
    const { table } = this.#kind;
    await sql`delete from ${table}
      where seen_at <= ${now - SESSION_LIFETIME.idle} or created_at <= ${now - SESSION_LIFETIME.life}`.execute(db);
  }
}

export const operatorSessions = new Sessions('operator');
export const ownerSessions = new Sessions('owner');
