// The overlay of a dataset: opt-outs, what owners said, what operators decided. It lies over every release until a later one holds it.
import type { Decision } from '../consolidate/settle.ts';
import type { RecordedChange } from './history.ts';

/** Source and run of what owners say, in facts and releases. */
export const OWNER = 'owner';

/** A record that its business had removed. */
export interface Removal {
  entity: string;
  slug: string;
  /** Version of the overlay that removed it. */
  version: number;
}

/** What a verified owner says of an attribute. */
export interface OwnerFact {
  entity: string;
  attribute: string;
  /** JSON text; null: the owner takes an earlier value back. */
  value: string | null;
  source_url: string;
  evidence: string;
  /** Milliseconds since 1970. */
  at: number;
  version: number;
}

/** What an operator decided about a review item of a release. */
export interface OperatorDecision extends Decision {
  /** Id of the item. */
  id: string;
  entity: string;
  attribute: string;
  version: number;
}

/** A line of the change feed that the overlay caused. */
export interface OverlayChange extends RecordedChange {
  version: number;
}

/** Everything that lies over the releases of a dataset, as of one version. Versions grow by one with each change. */
export interface Overlay {
  version: number;
  /** Records that are opted out now, by id. */
  removed: ReadonlyMap<string, Removal>;
  /** Version at which a record that was opted out came back, by id; the newest one. */
  restored: ReadonlyMap<string, number>;
  /** By record, oldest first. */
  said: ReadonlyMap<string, readonly OwnerFact[]>;
  decided: ReadonlyMap<string, readonly OperatorDecision[]>;
  /** The overlay's lines of the change feed, oldest first. */
  feed: readonly OverlayChange[];
  /** Microseconds since 1970 at which the ranges of the newest releases in the change feed begin, ascending. */
  reserved: readonly number[];
}

/** Nothing was ever decided. */
export const NO_OVERLAY: Overlay = {
  version: 0,
  removed: new Map(),
  restored: new Map(),
  said: new Map(),
  decided: new Map(),
  feed: [],
  reserved: [],
};

/**
 * What of an overlay a release does not hold yet: ids of records that say something else than the release has them say, or that were gone for a
 * while, so that they have news for who reads on.
 */
export function touchedSince({ said, decided, restored }: Overlay, version: number): string[] {
  const newer = (list: readonly { version: number }[]) => list.some((each) => each.version > version);
  const touched = [...said, ...decided].filter(([, list]) => newer(list)).map(([entity]) => entity);
  const back = [...restored].filter(([, at]) => at > version).map(([entity]) => entity);
  return [...new Set([...touched, ...back])];
}
