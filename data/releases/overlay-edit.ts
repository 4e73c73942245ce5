// Edits an overlay: computes the new record, writes the change feed, and retries after a concurrent change.
import type { Transaction } from 'kysely';
import type { StoredRecord } from '../model/record.ts';
import type { ChangeRow } from '../plan/history.ts';
import type { Overlay } from '../plan/overlay.ts';
import { changeOverlay } from '../state/overlay.ts';
import type { Store } from '../state/store.ts';
import type { Tables } from '../state/tables/schema.ts';
import { recordWithOverlay } from './apply-overlay.ts';
import type { Release } from './release.ts';

/** Dependencies of an edit. */
export interface EditContext {
  store: Store;
  /** Applies committed changes of all processes; later queries see them. */
  refresh(): Promise<unknown>;
  /** The release of the dataset that is served now, with its newest overlay. */
  current(dataset: string): Release | null;
}

/** A change to the overlay of one record. */
export interface RecordEdit {
  dataset: string;
  entity: string;
  /** Milliseconds since 1970. */
  now: number;
  /**
   * Returns the new overlay; `version` is its new version. Errors thrown here, such as a rejection, end the
   * edit.
   */
  alter(overlay: Overlay, version: number): Overlay;
  /** Writes the rows of the change. */
  write(tx: Transaction<Tables>, version: number): Promise<void>;
}

/** The record before and after the edit; null: not published. */
export interface EditedRecord {
  before: StoredRecord | null;
  after: StoredRecord | null;
  version: number;
}

/** Attempts of an edit when concurrent edits of the dataset win. */
const TRIES = 20;

/** Applies an edit. Afterwards this process answers with it, other processes within a second. */
export async function editRecord(editing: EditContext, edit: RecordEdit): Promise<EditedRecord> {
  const { dataset, entity, now } = edit;
  for (let i = 0; i < TRIES; i++) {
    await editing.refresh();
    const release = editing.current(dataset);
    if (!release?.overlay) throw new Error(`${dataset} is not served with an overlay`);
    const { overlay, base = release } = release;
    const held = { version: base.manifest.overlay ?? 0, recorded_to: base.manifest.recorded_to ?? 0 };
    const altered = edit.alter(overlay, Math.max(overlay.version, held.version) + 1);
    const before = await recordWithOverlay(base, overlay, entity);
    const after = await recordWithOverlay(base, altered, entity);
    const feed = feedLines(before, after, now);
    const change = { dataset, expected: overlay.version, now, held, feed };
    const done = await changeOverlay(editing.store, change, edit.write);
    if (done === null) continue;
    await editing.refresh();
    return { before, after, version: done.version };
  }
  throw new Error(`${dataset}: failed after ${TRIES} attempts because of concurrent edits; retry`);
}

/**
 * Lines of the change feed for a changed record. For a removal only the id: slug and name are opted out too.
 */
function feedLines(before: StoredRecord | null, after: StoredRecord | null, now: number): ChangeRow[] {
  if (after === null) {
    if (before === null) return [];
    const nothing = { slug: null, name: null, attribute: null, old_value: null, new_value: null, source_url: null };
    return [{ entity_id: before.id, type: 'removed', observed_at: now, ...nothing }];
  }
  const { id: entity_id, slug, name } = after;
  const names = [...new Set([...Object.keys(before?.attributes ?? {}), ...Object.keys(after.attributes)])].sort();
  return names.flatMap((attribute): ChangeRow[] => {
    const jsonOf = (record: StoredRecord | null) => {
      const value = record?.attributes[attribute];
      return value === undefined ? null : JSON.stringify(value);
    };
    const [old_value, new_value] = [jsonOf(before), jsonOf(after)];
    if (old_value === new_value) return [];
    const source_url = (after.provenance[attribute] ?? before?.provenance[attribute])?.source_url ?? null;
    const type = old_value === null ? 'added' : 'changed';
    return [{ entity_id, slug, name, attribute, type, old_value, new_value, observed_at: now, source_url }];
  });
}

/** An overlay with one more entry in one of its lists. */
export function withEntry<T>(
  lists: ReadonlyMap<string, readonly T[]>,
  entity: string,
  ...more: T[]
): ReadonlyMap<string, readonly T[]> {
  return new Map(lists).set(entity, [...(lists.get(entity) ?? []), ...more]);
}
