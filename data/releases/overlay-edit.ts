// Changing an overlay: works out what a change makes of its record, tells the feed, and tries again when another change came first.
import type { Transaction } from 'kysely';
import type { StoredRecord } from '../model/record.ts';
import type { ChangeRow } from '../plan/history.ts';
import type { Overlay } from '../plan/overlay.ts';
import { changeOverlay } from '../state/overlay.ts';
import type { Store } from '../state/store.ts';
import type { Tables } from '../state/tables/schema.ts';
import { recordUnder } from './overlaid.ts';
import type { Release } from './release.ts';

/** What a change is made with. */
export interface Editing {
  store: Store;
  /** Takes what was committed, here and elsewhere; what is asked afterwards is answered under it. */
  refresh(): Promise<unknown>;
  /** The release of the dataset that is served now, under its newest overlay. */
  current(dataset: string): Release | null;
}

/** A change of what lies over one record. */
export interface RecordEdit {
  dataset: string;
  entity: string;
  /** Milliseconds since 1970. */
  now: number;
  /** The overlay as it will be, `version` being its new one. What this throws, such as a refusal, ends the change. */
  alter(overlay: Overlay, version: number): Overlay;
  /** Writes the rows of the change. */
  write(tx: Transaction<Tables>, version: number): Promise<void>;
}

/** What a record said before a change and says after it; null: nothing, since it is not there. */
export interface Edited {
  before: StoredRecord | null;
  after: StoredRecord | null;
  version: number;
}

/** Times that a change is thought out anew; more at once on one dataset are not served in a reasonable time. */
const TRIES = 20;

/** Makes a change; when this is done, this process answers under it, and the others within a second. */
export async function editRecord(editing: Editing, edit: RecordEdit): Promise<Edited> {
  const { dataset, entity, now } = edit;
  for (let i = 0; i < TRIES; i++) {
    await editing.refresh();
    const release = editing.current(dataset);
    if (!release?.overlay) throw new Error(`${dataset} is not served under an overlay`);
    const { overlay, base = release } = release;
    const held = { version: base.manifest.overlay ?? 0, recorded_to: base.manifest.recorded_to ?? 0 };
    const altered = edit.alter(overlay, Math.max(overlay.version, held.version) + 1);
    const before = await recordUnder(base, overlay, entity);
    const after = await recordUnder(base, altered, entity);
    const feed = feedLines(before, after, now);
    const made = { dataset, expected: overlay.version, now, held, feed };
    const done = await changeOverlay(editing.store, made, edit.write);
    if (done === null) continue;
    await editing.refresh();
    return { before, after, version: done.version };
  }
  throw new Error(`${dataset}: too many changes at once`);
}

/** How the change feed tells that a record says something else. Who leaves takes their names along: only the id is told. */
function feedLines(before: StoredRecord | null, after: StoredRecord | null, now: number): ChangeRow[] {
  if (after === null) {
    if (before === null) return [];
    const nothing = { slug: null, name: null, attribute: null, old_value: null, new_value: null, source_url: null };
    return [{ entity_id: before.id, type: 'removed', observed_at: now, ...nothing }];
  }
  const { id: entity_id, slug, name } = after;
  const names = [...new Set([...Object.keys(before?.attributes ?? {}), ...Object.keys(after.attributes)])].sort();
  return names.flatMap((attribute): ChangeRow[] => {
    const told = (record: StoredRecord | null) => {
      const value = record?.attributes[attribute];
      return value === undefined ? null : JSON.stringify(value);
    };
    const [old_value, new_value] = [told(before), told(after)];
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
