// The overlays in memory: read from the store and polled, so that changes of other processes are seen soon.

import { coalesce } from '../model/coalesce.ts';
import { NO_OVERLAY, type Overlay } from '../plan/overlay.ts';
import { overlayStates, readOverlay } from '../state/overlay.ts';
import type { Store } from '../state/store.ts';

export interface Overlays {
  /** The newest overlay of a dataset that was read; a new object after every change. */
  of(dataset: string): Overlay;
  /** Reads changes; sees everything committed before the call. */
  refresh(): Promise<void>;
}

/**
 * Reads the overlays of a store for the first time. A poll is one small query; an overlay is read when its
 * version changed.
 */
export async function openOverlays(store: Store): Promise<Overlays> {
  const overlays = new Map<string, Overlay>();
  const refresh = coalesce(async () => {
    for (const [dataset, { version, reserved }] of await overlayStates(store)) {
      const before = overlays.get(dataset);
      if (before?.version !== version) overlays.set(dataset, await readOverlay(store, dataset));
      else if (before.reserved.join() !== reserved.join()) overlays.set(dataset, { ...before, reserved });
    }
  });
  await refresh();
  return { of: (dataset) => overlays.get(dataset) ?? NO_OVERLAY, refresh };
}

/** Always the empty overlay: for releases without a store. */
export const NO_OVERLAYS: Overlays = { of: () => NO_OVERLAY, refresh: async () => {} };
