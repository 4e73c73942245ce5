// Migrations of the store, one set for both databases. A released migration is never edited; add a new one.
// From 0013 on a migration only adds, because processes of the version before it continue to run: tables, and
// columns that may be null or have a default. A migration that cannot do so has a name that ends in BREAKING.
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { makeAuditPeople } from './audit-people.ts';
import { makeBudgetTables } from './budgets.ts';
import { makeSubscriptionTables } from './change-subscriptions.ts';
import { makeCheckoutTables } from './checkout.ts';
import { makeFleetTables } from './fleet.ts';
import { makeMailTables } from './mails.ts';
import { addGrantResources, makeOAuthTables } from './oauth.ts';
import { makeAccountSessions, makeOpsTables } from './ops.ts';
import { makeOverlayTables } from './overlay.ts';
import { addReports, makeOwnerTables } from './owners.ts';
import { addPurchases, makePaymentTables } from './payments.ts';

type Db = Kysely<unknown>;
export type Dialect = 'sqlite' | 'postgres';

/** Columns with micro-euros and milliseconds need 64 bits; SQLite's integer has them. */
const wide = (dialect: Dialect) => (dialect === 'postgres' ? ('bigint' as const) : ('integer' as const));

async function first(db: Db, dialect: Dialect): Promise<void> {
  const big = wide(dialect);
  await db.schema
    .createTable('keys')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('email', 'text', (c) => c.notNull())
    .addColumn('email_normal', 'text', (c) => c.notNull().unique())
    .addColumn('hash', 'text', (c) => c.notNull().unique())
    .addColumn('plan', 'text', (c) => c.notNull())
    .addColumn('plan_until', big)
    .addColumn('created_at', big, (c) => c.notNull())
    .addColumn('revoked_at', big)
    .execute();
  await db.schema
    .createTable('entries')
    .addColumn('id', dialect === 'postgres' ? 'bigserial' : 'integer', (c) =>
      dialect === 'postgres' ? c.primaryKey() : c.primaryKey().autoIncrement(),
    )
    .addColumn('transaction_id', 'text', (c) => c.notNull())
    .addColumn('account', 'text', (c) => c.notNull())
    .addColumn('amount', big, (c) => c.notNull())
    .addColumn('balance', big)
    .addColumn('at', big, (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('operation', 'text')
    .addColumn('dataset', 'text')
    .addColumn('request_id', 'text')
    .addColumn('reference', 'text')
    .execute();
  await db.schema.createIndex('entries_by_account').on('entries').columns(['account', 'id']).execute();
  // An outside payment counts once, even if it is delivered twice.
  await sql`create unique index entries_once on entries (kind, reference, account) where reference is not null`.execute(
    db,
  );
  await db.schema
    .createTable('balances')
    .addColumn('account', 'text', (c) => c.primaryKey())
    .addColumn('amount', big, (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('secrets')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('value', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('idempotency')
    .addColumn('key_id', 'text', (c) => c.notNull())
    .addColumn('idempotency_key', 'text', (c) => c.notNull())
    .addColumn('request', 'text', (c) => c.notNull())
    .addColumn('answer', 'text')
    .addColumn('records', 'text', (c) => c.notNull())
    .addColumn('created_at', big, (c) => c.notNull())
    .addPrimaryKeyConstraint('idempotency_pk', ['key_id', 'idempotency_key'])
    .execute();
  await appendOnly(db, dialect);
}

/** Triggers that reject every change of a ledger row. */
async function appendOnly(db: Db, dialect: Dialect): Promise<void> {
  if (dialect === 'sqlite') {
    for (const event of ['update', 'delete']) {
      await sql
        .raw(
          `create trigger entries_no_${event} before ${event} on entries begin select raise(abort, 'the ledger is append-only'); end`,
        )
        .execute(db);
    }
    return;
  }
  await sql`create function refuse_ledger_change() returns trigger language plpgsql as
    $$ begin raise exception 'the ledger is append-only'; end $$`.execute(db);
  await sql`create trigger entries_no_change before update or delete on entries for each row execute function refuse_ledger_change()`.execute(
    db,
  );
}

async function quotasAndLinks(db: Db, dialect: Dialect): Promise<void> {
  const big = wide(dialect);
  await db.schema.alterTable('entries').addColumn('note', 'text').execute();
  await db.schema
    .createTable('quotas')
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('day', 'text', (c) => c.notNull())
    .addColumn('used', big, (c) => c.notNull())
    .addColumn('last', big, (c) => c.notNull())
    .addPrimaryKeyConstraint('quotas_pk', ['name', 'day'])
    .execute();
  await db.schema
    .createTable('links')
    .addColumn('hash', 'text', (c) => c.primaryKey())
    .addColumn('purpose', 'text', (c) => c.notNull())
    .addColumn('subject', 'text', (c) => c.notNull())
    .addColumn('created_at', big, (c) => c.notNull())
    .addColumn('expires_at', big, (c) => c.notNull())
    .addColumn('used_at', big)
    .execute();
}

/** Requests with an Idempotency-Key hold a lease while they run; a refused payment is stored as refused. */
async function requestLeases(db: Db, dialect: Dialect): Promise<void> {
  await db.schema
    .alterTable('idempotency')
    .addColumn('leased_until', wide(dialect), (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema.alterTable('payments').addColumn('refused', 'text').execute();
}

/** At most one unused link per topic, for links that anyone can request; index of the audit log by action. */
async function linksAndAudit({ schema }: Db): Promise<void> {
  await schema.alterTable('links').addColumn('topic', 'text').execute();
  const unused = schema.createIndex('links_unused').on('links').columns(['purpose', 'topic']).unique();
  await unused.where(sql.ref('used_at'), 'is', null).where(sql.ref('topic'), 'is not', null).execute();
  await schema.createIndex('audit_by_action').on('audit').columns(['action', 'at']).execute();
}

/** End of the name of a migration with which earlier versions of the program cannot work. */
export const BREAKING = '_breaking';

/**
 * All migrations by name, in order.
 *
 * @example
 * ```ts
 * await new Migrator({ db, provider: { getMigrations: async () => migrations('sqlite') } }).migrateToLatest();
 * ```
 */
export function migrations(dialect: Dialect): Record<string, Migration> {
  return {
    '0001_keys_and_ledger': { up: (db) => first(db, dialect) },
    '0002_quotas_and_links': { up: (db) => quotasAndLinks(db, dialect) },
    '0003_checkouts': { up: (db) => makeCheckoutTables(db, wide(dialect)) },
    '0004_oauth': { up: (db) => makeOAuthTables(db, wide(dialect)) },
    '0005_payments': { up: (db) => makePaymentTables(db, wide(dialect)) },
    '0006_overlay': { up: (db) => makeOverlayTables(db, wide(dialect)) },
    '0007_owners': { up: (db) => makeOwnerTables(db, wide(dialect)) },
    '0008_ops': { up: (db) => makeOpsTables(db, wide(dialect)) },
    '0009_request_leases': { up: (db) => requestLeases(db, dialect) },
    '0010_link_topics_and_audit_actions': { up: linksAndAudit },
    '0011_audit_people': { up: (db) => makeAuditPeople(db, wide(dialect)) },
    '0012_reports': { up: addReports },
    '0013_fleet': { up: (db) => makeFleetTables(db, wide(dialect)) },
    '0014_account_sessions': { up: (db) => makeAccountSessions(db, wide(dialect)) },
    '0015_grant_resources': { up: addGrantResources },
    '0016_mails': { up: (db) => makeMailTables(db, wide(dialect)) },
    '0019_subscriptions': { up: (db) => makeSubscriptionTables(db, wide(dialect)) },
    '0020_budgets': { up: (db) => makeBudgetTables(db, wide(dialect)) },
    '0021_prepaid': { up: addPurchases },
  };
}
