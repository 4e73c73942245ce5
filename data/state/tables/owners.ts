// Tables of the owners' channel: claims, requests for operators, and the audit log.
import { type Generated, type Kysely, sql } from 'kysely';

/** A claim of a record by the holder of an address at its domain. Times are milliseconds since 1970. */
export interface ClaimTable {
  id: string;
  /** SHA-256 of the token in hex; only the mail contains the token. */
  hash: string;
  dataset: string;
  entity_id: string;
  /** As given, and normalised for comparison. */
  email: string;
  email_normal: string;
  domain: string;
  created_at: number;
  /** Expiry of the link until it is opened. */
  expires_at: number;
  /** First opening, and the end of the time for edits. */
  verified_at: number | null;
  until: number | null;
  /** When another claim of the same record and address replaced it. */
  replaced_at: number | null;
}

/**
 * A request for an operator. `notice`: information about an opt-out that is already applied. `report`: a
 * mistake; its message is the reason, and its contact may be empty.
 */
export interface RequestTable {
  id: string;
  kind: 'opt_out' | 'claim' | 'notice' | 'report';
  dataset: string;
  entity_id: string;
  slug: string;
  name: string;
  contact: string;
  reason: string | null;
  /** Why an operator must decide, as text. */
  because: string;
  status: 'open' | 'approved' | 'rejected';
  opened_at: number;
  decided_at: number | null;
  decided_by: string | null;
  /** The attribute of a report; null: the whole record. */
  attribute: string | null;
}

/** Actions with person and time; append-only. */
export interface AuditTable {
  id: Generated<number>;
  at: number;
  /**
   * `owner #<hash>`, `contact #<hash>` (audit-people.ts), or `operator <first digits of the hash of the
   * key>`.
   */
  who: string;
  /** `opt-out`, `restore`, `verify`, `edit`; operators have more actions. */
  action: string;
  /** Null for an action without a record, such as a grant. */
  dataset: string | null;
  entity_id: string | null;
  /** Id of the review item, claim, opt-out or key. */
  subject: string | null;
  /** Further details, JSON text. */
  told: string;
  request_id: string | null;
}

export interface OwnerTables {
  claims: ClaimTable;
  requests: RequestTable;
  audit: AuditTable;
}

/** Creates the tables; `big` is the dialect's 64-bit integer. */
export async function makeOwnerTables(db: Kysely<unknown>, big: 'bigint' | 'integer'): Promise<void> {
  await makeClaims(db, big);
  await makeRequests(db, big);
  await makeAudit(db, big);
  await appendOnly(db, big);
}

async function makeClaims({ schema }: Kysely<unknown>, big: 'bigint' | 'integer'): Promise<void> {
  await schema
    .createTable('claims')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('hash', 'text', (c) => c.notNull().unique())
    .addColumn('dataset', 'text', (c) => c.notNull())
    .addColumn('entity_id', 'text', (c) => c.notNull())
    .addColumn('email', 'text', (c) => c.notNull())
    .addColumn('email_normal', 'text', (c) => c.notNull())
    .addColumn('domain', 'text', (c) => c.notNull())
    .addColumn('created_at', big, (c) => c.notNull())
    .addColumn('expires_at', big, (c) => c.notNull())
    .addColumn('verified_at', big)
    .addColumn('until', big)
    .addColumn('replaced_at', big)
    .execute();
  const claimed = ['dataset', 'entity_id', 'email_normal'];
  // At most one unopened link per record and address, with concurrent requests.
  await schema
    .createIndex('claims_open')
    .on('claims')
    .columns(claimed)
    .unique()
    .where(sql.ref('verified_at'), 'is', null)
    .where(sql.ref('replaced_at'), 'is', null)
    .execute();
  await schema.createIndex('claims_by_record').on('claims').columns(claimed).execute();
}

async function makeRequests({ schema }: Kysely<unknown>, big: 'bigint' | 'integer'): Promise<void> {
  await schema
    .createTable('requests')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('dataset', 'text', (c) => c.notNull())
    .addColumn('entity_id', 'text', (c) => c.notNull())
    .addColumn('slug', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('contact', 'text', (c) => c.notNull())
    .addColumn('reason', 'text')
    .addColumn('because', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('opened_at', big, (c) => c.notNull())
    .addColumn('decided_at', big)
    .addColumn('decided_by', 'text')
    .execute();
  const asked = ['kind', 'dataset', 'entity_id', 'contact'];
  const open = sql<boolean>`status = 'open'`;
  await schema.createIndex('requests_open').on('requests').columns(asked).unique().where(open).execute();
  await schema.createIndex('requests_by_status').on('requests').columns(['status', 'opened_at']).execute();
}

/** Adds reports: with an attribute, and any number of open ones about a record. */
export async function addReports({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('requests').addColumn('attribute', 'text').execute();
  await schema.dropIndex('requests_open').execute();
  const asked = ['kind', 'dataset', 'entity_id', 'contact'];
  const single = sql<boolean>`status = 'open' and kind <> 'report'`;
  await schema.createIndex('requests_open').on('requests').columns(asked).unique().where(single).execute();
}

async function makeAudit({ schema }: Kysely<unknown>, big: 'bigint' | 'integer'): Promise<void> {
  await schema
    .createTable('audit')
    .addColumn('id', big === 'bigint' ? 'bigserial' : 'integer', (c) =>
      big === 'bigint' ? c.primaryKey() : c.primaryKey().autoIncrement(),
    )
    .addColumn('at', big, (c) => c.notNull())
    .addColumn('who', 'text', (c) => c.notNull())
    .addColumn('action', 'text', (c) => c.notNull())
    .addColumn('dataset', 'text')
    .addColumn('entity_id', 'text')
    .addColumn('subject', 'text')
    .addColumn('told', 'text', (c) => c.notNull())
    .addColumn('request_id', 'text')
    .execute();
  await schema.createIndex('audit_by_record').on('audit').columns(['dataset', 'entity_id', 'id']).execute();
}

/** Triggers that reject every change of the log. */
async function appendOnly(db: Kysely<unknown>, big: 'bigint' | 'integer'): Promise<void> {
  const refused = 'the audit log is append-only';
  if (big === 'integer') {
    for (const event of ['update', 'delete'])
      await sql
        .raw(`create trigger audit_no_${event} before ${event} on audit begin select raise(abort, '${refused}'); end`)
        .execute(db);
    return;
  }
  await sql
    .raw(`create function refuse_audit_change() returns trigger language plpgsql as
      $$ begin raise exception '${refused}'; end $$`)
    .execute(db);
  await sql`create trigger audit_no_change before update or delete on audit for each row execute function refuse_audit_change()`.execute(
    db,
  );
}
