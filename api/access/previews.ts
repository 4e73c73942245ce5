// The daily quota of free public-field previews: 20 records a day, per address and dataset (contract section 3).

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

/** A quota kept in this process; days are UTC. */
export function memoryPreviews(quota: number = PREVIEWS_A_DAY): Previews {
  let day = '';
  const spent = new Map<string, number>();
  const today = (who: string, dataset: string, now: Date): string => {
    const date = now.toISOString().slice(0, 10);
    // A call that began before midnight still counts for its own day, so only a later day clears the old ones.
    if (date > day) {
      for (const key of spent.keys()) if (!key.startsWith(day)) spent.delete(key);
      day = date;
    }
    return `${date} ${dataset} ${who}`;
  };
  return {
    async left(who, dataset, now) {
      return quota - (spent.get(today(who, dataset, now)) ?? 0);
    },
    async take(who, dataset, wanted, now) {
      const key = today(who, dataset, now);
      const used = spent.get(key) ?? 0;
      const got = Math.max(0, Math.min(wanted, quota - used));
      if (got > 0) spent.set(key, used + got);
      return got;
    },
    async give(who, dataset, unused, now) {
      const key = today(who, dataset, now);
      const used = spent.get(key);
      if (used !== undefined) spent.set(key, Math.max(0, used - unused));
    },
  };
}

/** Seconds until the quota is whole again: the next midnight, UTC. */
export function secondsToMidnight(now: Date): number {
  const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1);
  return Math.max(1, Math.ceil((next - now.getTime()) / 1000));
}
