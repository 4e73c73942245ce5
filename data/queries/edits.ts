// What the overlay changes in the files of a release: the text of `/files/{ds}/edits.json` (contract section 5,
// "Overlay").
import { derive } from '../../packs/define/derive.ts';
import type { Value } from '../../packs/define/model.ts';
import type { StoredRecord } from '../model/record.ts';
import { touchedSince } from '../plan/overlay.ts';
import type { Release } from '../releases/release.ts';

/** Differences between the records that are served and those in the files. */
export interface Edits {
  release: string;
  /** Public values that differ, null where there is none any more; `name`: the displayed name, if it differs. */
  records: { id: string; name?: string; values: Record<string, Value | null> }[];
  /** Ids of restored records, which the files may lack. */
  restored: string[];
  /** Ids of removed records, which the files may have. */
  removed: string[];
}

/** Versions of the overlay that the published files have: they lack its removals, and contain its edits. */
export interface PublishedVersions {
  removals: number;
  edits: number;
}

/**
 * What differs from the files that were published with these versions, absent: from the release. Null: nothing does.
 * Computed once for a release with its overlay.
 */
export function getEdits(release: Release, published?: PublishedVersions): Promise<Edits | null> {
  const held = release.manifest.overlay ?? 0;
  const { removals = held, edits = held } = published ?? {};
  // The files may be of an earlier release, but contain nothing that this one lacks.
  const since = { removals: Math.min(held, removals), edits: Math.min(held, edits) };
  return derive(release, `edits since ${since.removals} ${since.edits}`, () => computeEdits(release, since, held));
}

async function computeEdits(
  { pack, manifest, engine, overlay, base }: Release,
  since: PublishedVersions,
  held: number,
): Promise<Edits | null> {
  if (!overlay) return null;
  // As `applyOverlay`: a store from a backup that is older than the files has no comparable versions.
  const isOlder = since.removals > overlay.version;
  const removed = [...overlay.removed.values()].flatMap(({ entity, version }) =>
    isOlder || version > since.removals ? [entity] : [],
  );
  const restored = [...overlay.restored].flatMap(([entity, version]) =>
    version > since.edits && !overlay.removed.has(entity) ? [entity] : [],
  );
  const ids = touchedSince(overlay, since.edits).filter((id) => !overlay.removed.has(id));
  const now = await recordsOf(engine, ids);
  // Values of records whose edits the release contains, but not the files, are given in full.
  const comparable = new Set(touchedSince(overlay, held));
  const before = base && since.edits === held ? await recordsOf(base.engine, ids) : null;
  const records: Edits['records'] = [];
  for (const [i, id] of ids.entries()) {
    const record = now[i];
    const old = comparable.has(id) ? before?.[i] : undefined;
    if (record) {
      const names = pack.attributes.filter((attribute) => attribute.public).map(({ name }) => name);
      const differing = names.filter((name) => !old || textOf(old, name) !== textOf(record, name));
      const values = Object.fromEntries(differing.map((name) => [name, record.attributes[name] ?? null]));
      const named = old?.name === record.name ? {} : { name: record.name };
      if (differing.length > 0 || 'name' in named) records.push({ id, ...named, values });
      // An edit left no value. Files that are older than the release have the record unless it was removed before.
    } else if (old || (before === null && !overlay.restored.has(id))) removed.push(id);
  }
  if (records.length + restored.length + removed.length === 0) return null;
  return { release: manifest.release, records, restored, removed };
}

const textOf = ({ attributes }: StoredRecord, name: string) => JSON.stringify(attributes[name]);

/** Records by id; null: there is none. */
async function recordsOf(engine: Release['engine'], ids: string[]): Promise<(StoredRecord | null)[]> {
  const ordinals = ids.length === 0 ? [] : await engine.resolve(ids);
  const present = ordinals.filter((ordinal) => ordinal !== null);
  const bodies = present.length === 0 ? [] : await engine.bodies(present);
  const records = new Map(present.map((ordinal, i) => [ordinal, JSON.parse(bodies[i]!.body) as StoredRecord]));
  return ordinals.map((ordinal) => (ordinal === null ? null : records.get(ordinal)!));
}
