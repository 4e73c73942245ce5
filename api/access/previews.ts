// The daily quota of free public-field previews: 20 records a day, per address and dataset (contract section 3).
import type { Quotas } from '../../data/state/quotas.ts';

/** Records a caller without a credential may preview a day, in one dataset. */
const PREVIEWS_A_DAY = 20;

export interface Previews {
  /** Records still free today. */
  left(who: string, dataset: string, now: Date): Promise<number>;
  /** Takes up to `wanted` records off today's quota and says how many it got, so that parallel calls cannot share one. */
  take(who: string, dataset: string, wanted: number, now: Date): Promise<number>;
  /** Gives back what was taken and not shown. */
  give(who: string, dataset: string, unused: number, now: Date): Promise<void>;
}

/** Previews counted where all quotas are: they outlive the process and are shared like everything there. */
export function previewsIn(quotas: Quotas, quota: number = PREVIEWS_A_DAY): Previews {
  const of = (who: string, dataset: string) => ({ name: `previews ${dataset} ${who}`, quota });
  return {
    left: (who, dataset, now) => quotas.left(of(who, dataset), now),
    take: (who, dataset, wanted, now) => quotas.take(of(who, dataset), wanted, now),
    give: async (who, dataset, unused, now) => {
      if (unused > 0) await quotas.give(of(who, dataset), unused, now);
    },
  };
}

/** Seconds until the quota is whole again: the next midnight, UTC. */
export function secondsToMidnight(now: Date): number {
  const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1);
  return Math.max(1, Math.ceil((next - now.getTime()) / 1000));
}
