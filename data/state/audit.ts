// The audit log. An action and its row are written in one transaction.

import type { Store } from './store.ts';
import { hashActor, withAddresses } from './tables/audit-people.ts';
import type { AuditTable } from './tables/owners.ts';

/** An action; `at` in milliseconds since 1970. */
export type AuditEntry = Omit<AuditTable, 'id' | 'told'> & { details?: object };

/** An action as stored; `details` is JSON text. */
export type StoredAuditEntry = Omit<AuditTable, 'id' | 'told'> & { id: number; details: string };

type Db = Pick<Store, 'db'>;

/** Appends an action to the log. */
export async function recordAudit({ db }: Db, { details = {}, ...entry }: AuditEntry): Promise<void> {
  const who = await hashActor(db, entry.who, entry.at);
  await db
    .insertInto('audit')
    .values({ ...entry, who, told: JSON.stringify(details) })
    .execute();
}

/** Filter for the log: a dataset, one record of it, rows older than an id. */
export interface AuditQuery {
  dataset?: string | null;
  entity_id?: string | null;
  before?: number | null;
  limit: number;
}

/** Actions, newest first. */
export async function auditEntries({ db }: Db, query: AuditQuery): Promise<StoredAuditEntry[]> {
  const { dataset = null, entity_id = null, before = null, limit } = query;
  let rows = db.selectFrom('audit').selectAll();
  if (dataset !== null) rows = rows.where('dataset', '=', dataset);
  if (entity_id !== null) rows = rows.where('entity_id', '=', entity_id);
  if (before !== null) rows = rows.where('id', '<', before);
  const entries = await rows.orderBy('id', 'desc').limit(limit).execute();
  return withAddresses(
    db,
    entries.map(({ told: details, ...entry }) => ({ ...entry, details })),
  );
}
