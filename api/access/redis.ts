// The connection to Redis: it may be away at any time, which is said once in the log, and so is its return.

import { createClient } from '@redis/client';
import { dayOf, type Quota, type Quotas } from '../../data/state/quotas.ts';

export interface Redis {
  client: ReturnType<typeof connection>;
  /** Whether it answers now. */
  up(): boolean;
  close(): Promise<void>;
}

/** Longest wait between two attempts to connect, in milliseconds. */
const RETRY = 2_000;

const connection = (url: string) =>
  createClient({
    url,
    // A command never waits for a connection: whoever asks goes on in process.
    disableOfflineQueue: true,
    socket: { connectTimeout: 1_000, reconnectStrategy: (tries) => Math.min(RETRY, 50 * (tries + 1)) },
  });

/** Connects, or keeps trying in the background. Never throws: the service runs without Redis too. */
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
