// Overlays as a build needs them: the overlay to include, and the reserved range of the change feed.
import { NO_OVERLAY, type Overlay } from '../plan/overlay.ts';
import type { RunLease } from '../state/leases.ts';
import { dropReserved, readOverlay, reserveFeed } from '../state/overlay.ts';
import type { Store } from '../state/store.ts';

export interface OverlaySource {
  /** The overlay of a dataset as it is now. */
  read(dataset: string): Promise<Overlay>;
  /**
   * Reserves `count` microseconds of the feed after `after`, if possible ending at `now` (milliseconds).
   * Returns the first.
   */
  reserve(dataset: string, range: { count: number; now: number; after: number }): Promise<number>;
  /** Releases ranges after `after`, which belong to builds that died. */
  forget(dataset: string, after: number): Promise<void>;
}

/** The overlays of a store. With a lease, `reserve` and `forget` throw LeaseLost once another run has it. */
export function storedOverlays(store: Store, lease?: Pick<RunLease, 'check'>): OverlaySource {
  const fence = lease && ((tx: Parameters<RunLease['check']>[0]) => lease.check(tx));
  return {
    read: (dataset) => readOverlay(store, dataset),
    reserve: (dataset, range) => reserveFeed(store, { dataset, ...range }, fence),
    forget: (dataset, after) => dropReserved(store, dataset, after, fence),
  };
}

/** Without a store: no overlays, and the feed has entries of releases only. */
export const NO_OVERLAY_SOURCE: OverlaySource = {
  read: async () => NO_OVERLAY,
  reserve: async (_dataset, { count, now, after }) => Math.max(after + 1, now * 1000 - Math.max(0, count - 1)),
  forget: async () => {},
};
