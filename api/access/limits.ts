// Rate limits: one bucket a minute for paid calls and one for free calls (specification section 8).
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { subscription } from '../../data/model/subscriptions.ts';
import type { Redis } from './redis.ts';
import { counterMemory, SharedCounters } from './shared-counters.ts';

export type Bucket = 'free' | 'paid' | 'signin' | 'register' | 'sql' | 'sql_time' | 'rows';

/** Window of a bucket in seconds. */
export const WINDOW = 60;

/**
 * Calls a minute unless the plan sets another number (specification section 8; contract section 3). Per
 * address: attempts to sign in to OAuth, and new OAuth clients, by registration or by a metadata document
 * that must be fetched, and files of rows (`rows`). `sql_time`: milliseconds that statements ran.
 */
export const CALLS: Record<Bucket, number> = {
  free: 300,
  paid: 60,
  signin: 10,
  register: 20,
  sql: 20,
  sql_time: 20_000,
  rows: 10,
};
/** Statements a minute of plans with all columns. */
const PLAN_STATEMENTS = 60;

/** State of a bucket after a call was counted. */
export interface BucketState {
  bucket: Bucket;
  limit: number;
  remaining: number;
  /** Seconds until the bucket is full again, at least 1. */
  reset: number;
  /** False when the limit is exceeded. */
  allowed: boolean;
}

export interface Limits {
  /**
   * Counts `calls` (default 1) calls of `who` (a key or an address), with the plan of a key. Null: no limit
   * applies.
   */
  spend(bucket: Bucket, who: string, plan?: string, calls?: number): Promise<BucketState | null>;
}

/** Calls in the current window of a key or an address, as rate-limiter-flexible counts them. */
type Counted = Pick<RateLimiterRes, 'consumedPoints' | 'remainingPoints' | 'msBeforeNext'>;

/** The limiter of one bucket. Rejects with the count when the limit is exceeded, or resolves to it. */
interface Limiter {
  consume(who: string, calls: number): Promise<Counted>;
}

/** Creates the limiter of one bucket with this capacity. */
type LimiterFactory = (bucket: Bucket, points: number) => Limiter;

/** Rate limits in the memory of this process. */
export const memoryLimits = (calls: Partial<Record<Bucket, number>> = {}): Limits =>
  sharedLimits(new SharedCounters(counterMemory(), WINDOW), calls);

/** Rate limits in memory that the threads of a process share; those that find no room count for themselves. */
export function sharedLimits(counters: SharedCounters, calls: Partial<Record<Bucket, number>> = {}): Limits {
  return limitsOf((bucket, points) => {
    const limiter = new RateLimiterMemory({ keyPrefix: bucket, points, duration: WINDOW });
    return {
      async consume(who, count) {
        const counted = counters.add(`${bucket} ${points} ${who}`, count);
        if (counted === null) return limiter.consume(who, count);
        const { total, rest } = counted;
        return { consumedPoints: total, remainingPoints: points - total, msBeforeNext: rest };
      },
    };
  }, calls);
}

/**
 * Rate limits in Redis, shared by all processes; while Redis is unreachable, each process counts for itself.
 */
export function redisLimits(redis: Redis, calls: Partial<Record<Bucket, number>> = {}): Limits {
  return limitsOf((bucket, points) => {
    const keyPrefix = `register:${bucket}:${points}`;
    return new RateLimiterRedis({
      storeClient: redis.client,
      useRedisPackage: true,
      rejectIfRedisNotReady: true,
      keyPrefix,
      points,
      duration: WINDOW,
      insuranceLimiter: new RateLimiterMemory({ keyPrefix, points, duration: WINDOW }),
    });
  }, calls);
}

function limitsOf(make: LimiterFactory, changed: Partial<Record<Bucket, number>>): Limits {
  const calls = { ...CALLS, ...changed };
  const limiters = new Map<string, Limiter>();
  const limiterOf = (bucket: Bucket, points: number): Limiter => {
    const name = `${bucket} ${points}`;
    let limiter = limiters.get(name);
    if (limiter === undefined) {
      limiter = make(bucket, points);
      limiters.set(name, limiter);
    }
    return limiter;
  };
  return {
    async spend(bucket, who, plan, count = 1) {
      const limit = allowance(bucket, plan, calls);
      if (limit === null) return null;
      const counted = await countCalls(limiterOf(bucket, limit), who, count);
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

function countCalls(limiter: Limiter, who: string, calls: number): Promise<Counted> {
  return limiter.consume(who, calls).catch((refused) => {
    if (refused instanceof RateLimiterRes) return refused;
    throw refused;
  });
}

/** Calls a minute: the same for all in the free bucket; a plan may allow more in the paid one. */
function allowance(bucket: Bucket, plan: string | undefined, calls: Record<Bucket, number>): number | null {
  if (plan === undefined) return calls[bucket];
  const { calls: planLimit, bulk } = subscription(plan);
  if (planLimit === null) return null;
  if (bucket === 'sql' && bulk) return Math.max(PLAN_STATEMENTS, calls.sql);
  if (bucket === 'paid') return Math.max(planLimit, calls.paid);
  return bucket === 'sql' || bucket === 'sql_time' ? calls[bucket] : calls.free;
}

/**
 * Headers of every answer that passed the gate: the `X-RateLimit-*` family (Reset in seconds since 1970), and
 * `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers (`t` in seconds from now).
 */
export function limitHeaders(state: BucketState, now: Date): Record<string, string> {
  const { bucket, limit, remaining, reset } = state;
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(Math.ceil(now.getTime() / 1000) + reset),
    'RateLimit-Policy': `"${bucket}";q=${limit};w=${WINDOW}`,
    RateLimit: `"${bucket}";r=${remaining};t=${reset}`,
  };
}
