// A payment's row stays ours as long as we are at it, and becomes free soon after this process is gone.
import { LEASE, type Payment, renewLease } from '../../../data/state/payments.ts';
import type { Store } from '../../../data/state/store.ts';

/** Renews the lease of a row until `end` is called. A row that was lost shows when it is written to. */
export function keepLease(store: Store, row: Payment, now: () => Date): { end(): void } {
  const beat = setInterval(() => {
    renewLease(store, row, now().getTime()).catch(() => {});
  }, LEASE / 3);
  beat.unref();
  return { end: () => clearInterval(beat) };
}
