// The audit log. An action and its row are written in one transaction.

import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Store } from './store.ts';
import { hashActor, withAddresses } from './tables/audit-people.ts';
import type { AuditTable } from './tables/owners.ts';
import type { Tables } from './tables/schema.ts';

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

/** Filter for the log: a dataset, one record of it, a text, rows older than an id. */
export interface AuditQuery {
  /** Part of an actor's or key's address, an action, a subject or a detail; case is ignored. */
  q?: string;
  dataset?: string | null;
  entity_id?: string | null;
  before?: number | null;
  limit: number;
}

/** Actions, newest first. */
export async function auditEntries({ db }: Db, query: AuditQuery): Promise<StoredAuditEntry[]> {
  const { dataset = null, entity_id = null, before = null, limit, q = '' } = query;
  let rows = db.selectFrom('audit').selectAll();
  if (q !== '') rows = rows.where(await matchText(db, q));
  if (dataset !== null) rows = rows.where('dataset', '=', dataset);
  if (entity_id !== null) rows = rows.where('entity_id', '=', entity_id);
  if (before !== null) rows = rows.where('id', '<', before);
  const entries = await rows.orderBy('id', 'desc').limit(limit).execute();
  return withAddresses(
    db,
    entries.map(({ told: details, ...entry }) => ({ ...entry, details })),
  );
}

/** Most people and keys whose address a text of a search may be a part of. */
const MOST_PEOPLE = 20;

/** The condition of a text: in the row, or in the address of a person or key that it names by hash or id. */
async function matchText(db: Store['db'], q: string): Promise<Expression<SqlBool>> {
  const pattern = `%${q.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
  const has = (column: string) => sql<SqlBool>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;
  const people = await db.selectFrom('audit_people').select('hash').where(has('address')).limit(MOST_PEOPLE).execute();
  const keys = await db.selectFrom('keys').select('id').where(has('email')).limit(MOST_PEOPLE).execute();
  const names = [...people.map(({ hash }) => `#${hash}`), ...keys.map(({ id }) => id)];
  const e = expressionBuilder<Tables, 'audit'>();
  return e.or([
    ...['who', 'action', 'dataset', 'entity_id', 'subject', 'told'].map(has),
    ...names.flatMap((name) => (['who', 'subject', 'told'] as const).map((column) => e(column, 'like', `%${name}%`))),
  ]);
}
