// The connection to Redis. It may fail at any time; the log has one line when it is lost and one when it is
// back.

import { createClient } from '@redis/client';
import { type Quota, type Quotas, utcDay } from '../../data/state/quotas.ts';

export interface Redis {
  client: ReturnType<typeof connection>;
  /** Whether Redis is reachable now. */
  up(): boolean;
  close(): Promise<void>;
}

/** Longest delay between two attempts to connect, in milliseconds. */
const MAX_RECONNECT_DELAY = 2_000;

const connection = (url: string) =>
  createClient({
    url,
    // A command never waits for a connection: the caller falls back to the memory of the process.
    disableOfflineQueue: true,
    socket: { connectTimeout: 1_000, reconnectStrategy: (tries) => Math.min(MAX_RECONNECT_DELAY, 50 * (tries + 1)) },
  });

/** Connects, or retries in the background. Never throws: the service also runs without Redis. */
export async function openRedis(url: string, log: (line: string) => void): Promise<Redis> {
  const client = connection(url);
  let away = false;
  const lost = () => {
    if (!away) log('Redis does not answer: limits are counted in this process until it does');
    away = true;
  };
  client.on('error', lost);
  client.on('ready', () => {
    if (away) log('Redis answers again: limits are shared');
    away = false;
  });
  const connecting = client.connect().then(
    () => {},
    () => {},
  );
  await Promise.race([connecting, new Promise((resolve) => setTimeout(resolve, 1_000).unref())]);
  return {
    client,
    up: () => client.isReady && !away,
    close: async () => {
      if (client.isOpen) client.destroy();
    },
  };
}

/** Lifetime of a counter in seconds: two days, longer than any quota day. */
const COUNTER_TTL = 172_800;

/** Takes the rest of a quota, at most the requested number, atomically. */
const TAKE = `local used = tonumber(redis.call('get', KEYS[1]) or '0')
local got = math.max(0, math.min(tonumber(ARGV[1]), tonumber(ARGV[2]) - used))
redis.call('set', KEYS[1], used + got, 'EX', ARGV[3])
return got`;

const GIVE = `local used = tonumber(redis.call('get', KEYS[1]) or '0')
redis.call('set', KEYS[1], math.max(0, used - tonumber(ARGV[1])), 'EX', ARGV[2])
return 0`;

/** Quotas in Redis, with a fallback for when it is unreachable. */
export function redisQuotas({ client }: Redis, fallback: Quotas): Quotas {
  const key = ({ name }: Quota, now: Date) => `register:quota:${utcDay(now)}:${name}`;
  const orElse = async <T>(ask: () => Promise<T>, otherwise: () => Promise<T>): Promise<T> =>
    client.isReady ? ask().catch(otherwise) : otherwise();
  return {
    take: (quota, wanted, now) =>
      orElse(
        async () =>
          Number(
            await client.eval(TAKE, {
              keys: [key(quota, now)],
              arguments: [wanted, quota.quota, COUNTER_TTL].map(String),
            }),
          ),
        () => fallback.take(quota, wanted, now),
      ),
    give: (quota, units, now) =>
      orElse(
        async () =>
          void (await client.eval(GIVE, { keys: [key(quota, now)], arguments: [units, COUNTER_TTL].map(String) })),
        () => fallback.give(quota, units, now),
      ),
    left: (quota, now) =>
      orElse(
        async () => Math.max(0, quota.quota - Number((await client.get(key(quota, now))) ?? 0)),
        () => fallback.left(quota, now),
      ),
  };
}
