// The overlay of a dataset: opt-outs, owners' values and operators' decisions, applied to every release until
// a later release contains them.
import type { Decision } from '../consolidate/settle.ts';
import type { RecordedChange } from './history.ts';

/** Source and run of owners' facts, in facts and releases. */
export const OWNER_SOURCE = 'owner';

/** An opted-out record. */
export interface Removal {
  entity: string;
  slug: string;
  /** Version of the overlay that removed it. */
  version: number;
}

/** A value of an attribute that a verified owner set. */
export interface OwnerFact {
  entity: string;
  attribute: string;
  /** JSON text; null: the owner withdrew an earlier value. */
  value: string | null;
  source_url: string;
  evidence: string;
  /** Milliseconds since 1970. */
  at: number;
  version: number;
}

/** An operator's decision about a review item of a release. */
export interface OperatorDecision extends Decision {
  /** Id of the review item. */
  id: string;
  entity: string;
  attribute: string;
  version: number;
}

/** A line of the change feed that an overlay change caused. */
export interface OverlayChange extends RecordedChange {
  version: number;
}

/** The overlay of a dataset at one version. Each change increments the version by one. */
export interface Overlay {
  version: number;
  /** Currently opted-out records, by id. */
  removed: ReadonlyMap<string, Removal>;
  /** Version of the newest restoration of an opted-out record, by id. */
  restored: ReadonlyMap<string, number>;
  /** By record, oldest first. */
  ownerFacts: ReadonlyMap<string, readonly OwnerFact[]>;
  decided: ReadonlyMap<string, readonly OperatorDecision[]>;
  /** The overlay's lines of the change feed, oldest first. */
  feed: readonly OverlayChange[];
  /** Start of the ranges of the newest releases in the change feed, microseconds since 1970, ascending. */
  reserved: readonly number[];
}

/** The empty overlay. */
export const NO_OVERLAY: Overlay = {
  version: 0,
  removed: new Map(),
  restored: new Map(),
  ownerFacts: new Map(),
  decided: new Map(),
  feed: [],
  reserved: [],
};

/**
 * Ids of records whose overlay changes a release does not contain yet: owners' values, decisions, or a
 * removal and restoration, which readers of the change feed must see.
 */
export function touchedSince({ ownerFacts, decided, restored }: Overlay, version: number): string[] {
  const newer = (list: readonly { version: number }[]) => list.some((item) => item.version > version);
  const touched = [...ownerFacts, ...decided].filter(([, list]) => newer(list)).map(([entity]) => entity);
  return [...new Set([...touched, ...restoredSince({ restored }, version)])];
}

/** Ids of records that were restored after a version of the overlay. */
export function restoredSince({ restored }: Pick<Overlay, 'restored'>, version: number): string[] {
  return [...restored].filter(([, at]) => at > version).map(([entity]) => entity);
}

/** The removals of an overlay alone. Its version is that of the newest one. */
export function removalsOf({ removed }: Overlay): Overlay {
  const version = Math.max(0, ...[...removed.values()].map((removal) => removal.version));
  return { ...NO_OVERLAY, version, removed };
}

/** Milliseconds after which an edit is built into a release, so that it is in all files within an hour. */
const EDIT_WAIT = 1_800_000;

/**
 * When a release that contains the overlay up to the version `held` is to be built again, in milliseconds since 1970: at
 * once (0) after a removal or restoration, and some time after the first edit or decision. Null: nothing is missing.
 */
export function rebuildDue(overlay: Overlay, held: number): number | null {
  const { removed, restored, ownerFacts, decided } = overlay;
  // Versions cannot be compared when the store is from a backup that is older than the release.
  const from = overlay.version < held ? 0 : held;
  const isNew = ({ version }: { version: number }) => version > from;
  if ([...removed.values()].some(isNew) || [...restored.values()].some((version) => version > from)) return 0;
  const edits = [...ownerFacts.values(), ...decided.values()].flat().filter(isNew);
  return edits.length === 0 ? null : Math.min(...edits.map(({ at }) => at)) + EDIT_WAIT;
}
