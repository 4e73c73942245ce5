// The daily quota of free previews of public fields: 20 records a day per address and dataset (contract
// section 3).
import type { Quotas } from '../../data/state/quotas.ts';

/** Records a day that a caller without a credential may preview in one dataset. */
export const PREVIEWS_A_DAY = 20;

export interface Previews {
  /** Records left today. */
  left(who: string, dataset: string, now: Date): Promise<number>;
  /**
   * Takes up to `count` records from today's quota and returns how many it got. Atomic, so that parallel
   * calls cannot take the same record twice.
   */
  take(who: string, dataset: string, count: number, now: Date): Promise<number>;
  /** Returns records that were taken and not shown. */
  give(who: string, dataset: string, unused: number, now: Date): Promise<void>;
}

/** Previews counted in the quota store: they survive a restart and are shared by all processes. */
export function previewsIn(quotas: Quotas, quota: number = PREVIEWS_A_DAY): Previews {
  const of = (who: string, dataset: string) => ({ name: `previews ${dataset} ${who}`, quota });
  return {
    left: (who, dataset, now) => quotas.left(of(who, dataset), now),
    take: (who, dataset, count, now) => quotas.take(of(who, dataset), count, now),
    give: async (who, dataset, unused, now) => {
      if (unused > 0) await quotas.give(of(who, dataset), unused, now);
    },
  };
}

/** Seconds until the quota is full again: the next midnight, UTC. */
export function secondsToMidnight(now: Date): number {
  const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1);
  return Math.max(1, Math.ceil((next - now.getTime()) / 1000));
}
