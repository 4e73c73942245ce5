// Daily quotas in Redis, shared by all processes; while it is away the store counts.
import { dayOf, type Quota, type Quotas } from '../../data/state/quotas.ts';
import type { Redis } from './redis.ts';

/** Two days: longer than any day is asked about. */
const LASTS = 172_800;

/** Takes what is left of a quota, at most what is wanted, in one step. */
const TAKE = `local used = tonumber(redis.call('get', KEYS[1]) or '0')
local got = math.max(0, math.min(tonumber(ARGV[1]), tonumber(ARGV[2]) - used))
redis.call('set', KEYS[1], used + got, 'EX', ARGV[3])
return got`;

const GIVE = `local used = tonumber(redis.call('get', KEYS[1]) or '0')
redis.call('set', KEYS[1], math.max(0, used - tonumber(ARGV[1])), 'EX', ARGV[2])
return 0`;

/** Quotas in Redis, with others to fall back on. */
export function redisQuotas({ client }: Redis, fallback: Quotas): Quotas {
  const key = ({ name }: Quota, now: Date) => `register:quota:${dayOf(now)}:${name}`;
  const orElse = async <T>(ask: () => Promise<T>, otherwise: () => Promise<T>): Promise<T> =>
    client.isReady ? ask().catch(otherwise) : otherwise();
  return {
    take: (quota, wanted, now) =>
      orElse(
        async () =>
          Number(
            await client.eval(TAKE, {
              keys: [key(quota, now)],
              arguments: [wanted, quota.quota, LASTS].map(String),
            }),
          ),
        () => fallback.take(quota, wanted, now),
      ),
    give: (quota, units, now) =>
      orElse(
        async () => void (await client.eval(GIVE, { keys: [key(quota, now)], arguments: [units, LASTS].map(String) })),
        () => fallback.give(quota, units, now),
      ),
    left: (quota, now) =>
      orElse(
        async () => Math.max(0, quota.quota - Number((await client.get(key(quota, now))) ?? 0)),
        () => fallback.left(quota, now),
      ),
  };
}
