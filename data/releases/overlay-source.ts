// What a build needs of the overlays: the one to hold, and its place in the change feed.
import { NO_OVERLAY, type Overlay } from '../plan/overlay.ts';
import { dropReserved, readOverlay, reserveFeed } from '../state/overlay.ts';
import type { Store } from '../state/store.ts';

export interface OverlaySource {
  /** The overlay of a dataset as it is now. */
  read(dataset: string): Promise<Overlay>;
  /** Gives a release `count` microseconds of the feed, all after `after`, ending at `now` (milliseconds) if there is room: the first. */
  reserve(dataset: string, range: { count: number; now: number; after: number }): Promise<number>;
  /** Gives back ranges after `after`: those of builds that died. */
  forget(dataset: string, after: number): Promise<void>;
}

/** The overlays of a store. */
export function storedOverlays(store: Store): OverlaySource {
  return {
    read: (dataset) => readOverlay(store, dataset),
    reserve: (dataset, range) => reserveFeed(store, { dataset, ...range }),
    forget: (dataset, after) => dropReserved(store, dataset, after),
  };
}

/** Where there is no store: nothing lies over anything, and the feed belongs to the releases alone. */
export const NO_SOURCE: OverlaySource = {
  read: async () => NO_OVERLAY,
  reserve: async (_dataset, { count, now, after }) => Math.max(after + 1, now * 1000 - Math.max(0, count - 1)),
  forget: async () => {},
};
