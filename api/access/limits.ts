// How often a caller may call: one bucket a minute for paid calls and one for free ones (specification section 8).
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

export type Bucket = 'free' | 'paid';

/** Seconds of a bucket's window. */
const WINDOW = 60;

/** Calls a minute where no plan says otherwise (specification section 8; contract section 3). */
const CALLS: Record<Bucket, number> = { free: 300, paid: 60 };

/** What a bucket says after a call was counted. */
export interface Standing {
  bucket: Bucket;
  limit: number;
  remaining: number;
  /** Seconds until the bucket is full again, at least 1. */
  reset: number;
  /** False: one call too many. */
  allowed: boolean;
}

export interface Limits {
  /** Counts one call of `who` (a key or an address). */
  spend(bucket: Bucket, who: string): Promise<Standing>;
}

/** Limits kept in this process. */
export function memoryLimits(calls: Record<Bucket, number> = CALLS): Limits {
  const limiters = {
    free: new RateLimiterMemory({ points: calls.free, duration: WINDOW }),
    paid: new RateLimiterMemory({ points: calls.paid, duration: WINDOW }),
  };
  return {
    async spend(bucket, who) {
      const counted = await limiters[bucket].consume(who).catch((refused: unknown) => {
        if (refused instanceof RateLimiterRes) return refused;
        throw refused;
      });
      const limit = calls[bucket];
      return {
        bucket,
        limit,
        remaining: Math.max(0, counted.remainingPoints),
        reset: Math.max(1, Math.ceil(counted.msBeforeNext / 1000)),
        allowed: counted.consumedPoints <= limit,
      };
    },
  };
}

/**
 * Headers of a gated answer: the `X-RateLimit-*` family (Reset in seconds since 1970), and beside it `RateLimit-Policy` and
 * `RateLimit` of draft-ietf-httpapi-ratelimit-headers (`t` in seconds from now).
 */
export function limitHeaders(standing: Standing, now: Date): Record<string, string> {
  const { bucket, limit, remaining, reset } = standing;
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(Math.ceil(now.getTime() / 1000) + reset),
    'RateLimit-Policy': `"${bucket}";q=${limit};w=${WINDOW}`,
    RateLimit: `"${bucket}";r=${remaining};t=${reset}`,
  };
}
