// Tables of the overlay: opt-outs, owners' values, decisions, and their lines of the change feed.
import type { Kysely } from 'kysely';

/**
 * One row per dataset. Each change increments `version`; `recorded_at` is the last reserved microsecond
 * (since 1970) of the change feed, by the overlay or a release.
 */
export interface OverlayTable {
  dataset: string;
  version: number;
  recorded_at: number;
  /** Microseconds at which the ranges of the newest releases begin, oldest first, separated by spaces. */
  reserved: string;
}

/** An opted-out record; `restored_version` is set when it was restored. Times are milliseconds since 1970. */
export interface OptOutTable {
  id: string;
  dataset: string;
  entity_id: string;
  slug: string;
  name: string;
  contact: string;
  /** Domain of the contact; null for an operator's decision without contact. */
  domain: string | null;
  reason: string | null;
  at: number;
  version: number;
  restored_at: number | null;
  restored_version: number | null;
}

/** A value that a verified owner set; append-only. */
export interface OwnerFactTable {
  dataset: string;
  entity_id: string;
  attribute: string;
  /** JSON text; null: the owner withdrew an earlier value. */
  value: string | null;
  source_url: string;
  evidence: string;
  /** The claim of the edit. */
  claim_id: string;
  at: number;
  version: number;
}

/** An operator's decision about a review item of a release. */
export interface DecisionTable {
  id: string;
  dataset: string;
  entity_id: string;
  attribute: string;
  status: 'approved' | 'rejected';
  at: number;
  decided_by: string;
  version: number;
  /** JSON text of the item at the time of the decision. */
  item: string;
}

/** A line of the change feed caused by the overlay; columns as in data/plan/history.ts. */
export interface FeedTable {
  dataset: string;
  recorded_at: number;
  version: number;
  entity_id: string;
  slug: string | null;
  name: string | null;
  attribute: string | null;
  type: string;
  old_value: string | null;
  new_value: string | null;
  observed_at: number;
  source_url: string | null;
}

export interface OverlayTables {
  overlays: OverlayTable;
  opt_outs: OptOutTable;
  owner_facts: OwnerFactTable;
  decisions: DecisionTable;
  feed: FeedTable;
}

/** Creates the tables; `big` is the dialect's 64-bit integer. */
export async function makeOverlayTables({ schema }: Kysely<unknown>, big: 'bigint' | 'integer'): Promise<void> {
  await makeOverlays(schema, big);
  await makeOptOuts(schema, big);
  await makeOwnerFacts(schema, big);
  await makeDecisions(schema, big);
  await makeFeed(schema, big);
}

type Schema = Kysely<unknown>['schema'];

async function makeOverlays(schema: Schema, big: 'bigint' | 'integer'): Promise<void> {
  await schema
    .createTable('overlays')
    .addColumn('dataset', 'text', (c) => c.primaryKey())
    .addColumn('version', big, (c) => c.notNull())
    .addColumn('recorded_at', big, (c) => c.notNull())
    .addColumn('reserved', 'text', (c) => c.notNull())
    .execute();
}

async function makeOptOuts(schema: Schema, big: 'bigint' | 'integer'): Promise<void> {
  await schema
    .createTable('opt_outs')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('dataset', 'text', (c) => c.notNull())
    .addColumn('entity_id', 'text', (c) => c.notNull())
    .addColumn('slug', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('contact', 'text', (c) => c.notNull())
    .addColumn('domain', 'text')
    .addColumn('reason', 'text')
    .addColumn('at', big, (c) => c.notNull())
    .addColumn('version', big, (c) => c.notNull())
    .addColumn('restored_at', big)
    .addColumn('restored_version', big)
    .execute();
  await schema.createIndex('opt_outs_by_record').on('opt_outs').columns(['dataset', 'entity_id']).execute();
}

async function makeOwnerFacts(schema: Schema, big: 'bigint' | 'integer'): Promise<void> {
  await schema
    .createTable('owner_facts')
    .addColumn('dataset', 'text', (c) => c.notNull())
    .addColumn('entity_id', 'text', (c) => c.notNull())
    .addColumn('attribute', 'text', (c) => c.notNull())
    .addColumn('value', 'text')
    .addColumn('source_url', 'text', (c) => c.notNull())
    .addColumn('evidence', 'text', (c) => c.notNull())
    .addColumn('claim_id', 'text', (c) => c.notNull())
    .addColumn('at', big, (c) => c.notNull())
    .addColumn('version', big, (c) => c.notNull())
    .addPrimaryKeyConstraint('owner_facts_pk', ['dataset', 'version', 'attribute'])
    .execute();
}

async function makeDecisions(schema: Schema, big: 'bigint' | 'integer'): Promise<void> {
  await schema
    .createTable('decisions')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('dataset', 'text', (c) => c.notNull())
    .addColumn('entity_id', 'text', (c) => c.notNull())
    .addColumn('attribute', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('at', big, (c) => c.notNull())
    .addColumn('decided_by', 'text', (c) => c.notNull())
    .addColumn('version', big, (c) => c.notNull())
    .addColumn('item', 'text', (c) => c.notNull())
    .execute();
  await schema.createIndex('decisions_by_dataset').on('decisions').columns(['dataset', 'version']).execute();
}

async function makeFeed(schema: Schema, big: 'bigint' | 'integer'): Promise<void> {
  await schema
    .createTable('feed')
    .addColumn('dataset', 'text', (c) => c.notNull())
    .addColumn('recorded_at', big, (c) => c.notNull())
    .addColumn('version', big, (c) => c.notNull())
    .addColumn('entity_id', 'text', (c) => c.notNull())
    .addColumn('slug', 'text')
    .addColumn('name', 'text')
    .addColumn('attribute', 'text')
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('old_value', 'text')
    .addColumn('new_value', 'text')
    .addColumn('observed_at', big, (c) => c.notNull())
    .addColumn('source_url', 'text')
    .addPrimaryKeyConstraint('feed_pk', ['dataset', 'recorded_at'])
    .execute();
}
