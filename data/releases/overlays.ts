// The overlays as this process knows them: read from the store, looked after often, so that a change made elsewhere is soon here.

import { inTurn } from '../model/turns.ts';
import { NO_OVERLAY, type Overlay } from '../plan/overlay.ts';
import { overlayStates, readOverlay } from '../state/overlay.ts';
import type { Store } from '../state/store.ts';

export interface Overlays {
  /** The newest overlay of a dataset that this process has read; another object after every change. */
  of(dataset: string): Overlay;
  /** Reads what has changed; what was committed before the call is seen. */
  refresh(): Promise<void>;
}

/** Reads the overlays of a store for the first time. A look is one small query; overlays are read when their version has moved. */
export async function openOverlays(store: Store): Promise<Overlays> {
  const known = new Map<string, Overlay>();
  const refresh = inTurn(async () => {
    for (const [dataset, { version, reserved }] of await overlayStates(store)) {
      const before = known.get(dataset);
      if (before?.version !== version) known.set(dataset, await readOverlay(store, dataset));
      else if (before.reserved.join() !== reserved.join()) known.set(dataset, { ...before, reserved });
    }
  });
  await refresh();
  return { of: (dataset) => known.get(dataset) ?? NO_OVERLAY, refresh };
}

/** Nothing lies over anything: for those who serve releases without a store. */
export const NO_OVERLAYS: Overlays = { of: () => NO_OVERLAY, refresh: async () => {} };
