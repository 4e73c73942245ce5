// The overlay in the store: read as of one version; changed together with its lines of the change feed in one
// transaction.
import type { Transaction } from 'kysely';
import type { ReviewItem } from '../model/record.ts';
import type { ChangeRow } from '../plan/history.ts';
import { NO_OVERLAY, type Overlay } from '../plan/overlay.ts';
import type { Store } from './store.ts';
import type { DecisionTable } from './tables/overlay.ts';
import type { Tables } from './tables/schema.ts';

/** Stored ranges of releases in the feed: more than a process may be behind. */
const RANGES = 8;

export interface OverlayState {
  version: number;
  reserved: number[];
}

const numbers = (list: string) => list.split(' ').filter(Boolean).map(Number);

/** Version and reserved ranges of every dataset with an overlay; processes poll this to detect changes. */
export async function overlayStates({ db }: Store): Promise<Map<string, OverlayState>> {
  const rows = await db.selectFrom('overlays').select(['dataset', 'version', 'reserved']).execute();
  return new Map(rows.map(({ dataset, version, reserved }) => [dataset, { version, reserved: numbers(reserved) }]));
}

/** The overlay of a dataset. Rows newer than the version read first are ignored, so that it is consistent. */
export async function readOverlay({ db }: Store, dataset: string): Promise<Overlay> {
  const state = await db
    .selectFrom('overlays')
    .select(['version', 'reserved'])
    .where('dataset', '=', dataset)
    .executeTakeFirst();
  if (!state) return NO_OVERLAY;
  const { version } = state;
  const optOuts = await db
    .selectFrom('opt_outs')
    .select(['entity_id', 'slug', 'version', 'restored_version'])
    .where('dataset', '=', dataset)
    .where('version', '<=', version)
    .orderBy('version')
    .execute();
  const facts = await db
    .selectFrom('owner_facts')
    .select(['entity_id as entity', 'attribute', 'value', 'source_url', 'evidence', 'at', 'version'])
    .where('dataset', '=', dataset)
    .where('version', '<=', version)
    .orderBy('version')
    .orderBy('attribute')
    .execute();
  const decisions = await db
    .selectFrom('decisions')
    .select(['id', 'entity_id as entity', 'attribute', 'status', 'at', 'version'])
    .where('dataset', '=', dataset)
    .where('version', '<=', version)
    .orderBy('version')
    .execute();
  const feed = await db
    .selectFrom('feed')
    .selectAll()
    .where('dataset', '=', dataset)
    .where('version', '<=', version)
    .orderBy('recorded_at')
    .execute();
  const back = ({ restored_version: at }: { restored_version: number | null }) => at !== null && at <= version;
  return {
    version,
    removed: new Map(
      optOuts
        .filter((optOut) => !back(optOut))
        .map(({ entity_id, slug, version: since }) => [entity_id, { entity: entity_id, slug, version: since }]),
    ),
    restored: new Map(optOuts.filter(back).map((optOut) => [optOut.entity_id, optOut.restored_version ?? 0])),
    ownerFacts: Map.groupBy(facts, ({ entity }) => entity),
    decided: Map.groupBy(decisions, ({ entity }) => entity),
    feed: feed.map(({ dataset: _, type, ...rest }) => ({ ...rest, type: type as ChangeRow['type'] })),
    reserved: numbers(state.reserved),
  };
}

/** A change of the overlay. */
export interface OverlayEdit {
  dataset: string;
  /** The version that the change is based on. */
  expected: number;
  /** Milliseconds since 1970. */
  now: number;
  /** Overlay version and last microsecond of the feed in the newest release. The change gets later ones. */
  held: { version: number; recorded_to: number };
  /** Its lines of the change feed, in order. */
  feed: readonly ChangeRow[];
}

type Tx = Transaction<Tables>;

/**
 * Changes the overlay in one transaction: the next version, the rows of `write`, the lines of the feed. Null
 * when another change was first: read the new overlay and retry. An error in `write` rolls everything back.
 */
export async function changeOverlay(
  store: Store,
  { dataset, expected, now, held, feed }: OverlayEdit,
  write: (tx: Tx, version: number) => Promise<void>,
): Promise<{ version: number; recorded_at: number } | null> {
  await begin(store, dataset);
  return store.db.transaction().execute(async (tx) => {
    const overlayTable = await locked(store, tx, dataset);
    if (overlayTable.version !== expected) return null;
    const version = Math.max(expected, held.version) + 1;
    const first = Math.max(overlayTable.recorded_at, held.recorded_to, now * 1000 - 1) + 1;
    const last = first + feed.length - 1;
    const recorded_at = Math.max(overlayTable.recorded_at, last);
    await tx.updateTable('overlays').set({ version, recorded_at }).where('dataset', '=', dataset).execute();
    // The store is from a backup that is older than the release, which may contain records whose restoration the
    // backup lacks: their removals become changes of this version, so that they still count as later than the release.
    if (held.version > expected)
      await tx
        .updateTable('opt_outs')
        .set({ version })
        .where('dataset', '=', dataset)
        .where('restored_version', 'is', null)
        .execute();
    await write(tx, version);
    for (const [i, row] of feed.entries())
      await tx
        .insertInto('feed')
        .values({ dataset, version, recorded_at: first + i, ...row })
        .execute();
    return { version, recorded_at };
  });
}

/**
 * Throws unless the writer may still write, and stays true until the transaction ends. Checked before it, a run
 * could stall in between, and then release the range of the run that followed it: clients would miss its changes.
 */
export type Fence = (tx: Tx) => Promise<void>;

const NO_FENCE: Fence = async () => {};

/**
 * Reserves the range of a release in the feed: `count` microseconds, ending at `now` (milliseconds) if
 * possible, after all earlier ranges and after `after`, where the feed of the previous release ends. A
 * process that does not serve that release yet shows no overlay change recorded after the range. Returns the
 * first microsecond.
 */
export async function reserveFeed(
  store: Store,
  { dataset, count, now, after }: { dataset: string; count: number; now: number; after: number },
  fence: Fence = NO_FENCE,
): Promise<number> {
  await begin(store, dataset);
  return store.db.transaction().execute(async (tx) => {
    await fence(tx);
    const overlayTable = await locked(store, tx, dataset);
    const first = Math.max(overlayTable.recorded_at + 1, after + 1, now * 1000 - Math.max(0, count - 1));
    const reserved = [...numbers(overlayTable.reserved), first].slice(-RANGES).join(' ');
    const recorded_at = Math.max(overlayTable.recorded_at, first + count - 1);
    await tx.updateTable('overlays').set({ reserved, recorded_at }).where('dataset', '=', dataset).execute();
    return first;
  });
}

/**
 * Releases ranges that begin after a microsecond: those of builds that died before their release was served.
 */
export async function dropReserved(
  store: Store,
  dataset: string,
  after: number,
  fence: Fence = NO_FENCE,
): Promise<void> {
  await store.db.transaction().execute(async (tx) => {
    await fence(tx);
    const row = await locked(store, tx, dataset).catch(() => null);
    if (!row) return;
    const kept = numbers(row.reserved).filter((from) => from <= after);
    if (kept.length === numbers(row.reserved).length) return;
    await tx
      .updateTable('overlays')
      .set({ reserved: kept.join(' ') })
      .where('dataset', '=', dataset)
      .execute();
  });
}

async function begin({ db }: Store, dataset: string): Promise<void> {
  await db
    .insertInto('overlays')
    .values({ dataset, version: 0, recorded_at: 0, reserved: '' })
    .onConflict((c) => c.column('dataset').doNothing())
    .execute();
}

/** The dataset's row, locked until the transaction ends. On SQLite a transaction locks the whole file. */
async function locked({ dialect }: Store, tx: Tx, dataset: string): Promise<Tables['overlays']> {
  const row = tx.selectFrom('overlays').selectAll().where('dataset', '=', dataset);
  return (dialect === 'postgres' ? row.forUpdate() : row).executeTakeFirstOrThrow();
}

/** A decision with the item at the time of the decision. */
export interface DecidedRow extends Pick<DecisionTable, 'status' | 'at' | 'decided_by'> {
  item: ReviewItem;
}

const decisions = ({ db }: Store) => db.selectFrom('decisions').select(['status', 'at', 'decided_by', 'item']);

const parsed = ({ item, ...row }: Pick<DecisionTable, 'status' | 'at' | 'decided_by' | 'item'>): DecidedRow => ({
  ...row,
  item: JSON.parse(item) as ReviewItem,
});

/** Decisions, newest first; `status` null: all. */
export async function decidedItems(
  store: Store,
  status: DecisionTable['status'] | null,
  limit: number,
): Promise<DecidedRow[]> {
  let query = decisions(store);
  if (status !== null) query = query.where('status', '=', status);
  return (await query.orderBy('at', 'desc').orderBy('id').limit(limit).execute()).map(parsed);
}

/** The decision about one item; null when there is none. */
export async function decidedItem(store: Store, id: string): Promise<DecidedRow | null> {
  const row = await decisions(store).where('id', '=', id).executeTakeFirst();
  return row ? parsed(row) : null;
}
