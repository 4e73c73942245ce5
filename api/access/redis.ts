// The connection to Redis. It may fail or hang at any time; the log has one line when it is lost and one when it
// is back.

import { createClient } from '@redis/client';
import { dayOf } from '../../data/state/budgets.ts';
import type { Quota, Quotas } from '../../data/state/quotas.ts';

export interface Redis {
  /** The one command that callers need, with the members that rate-limiter-flexible reads of a client. */
  client: {
    /** Whether commands are sent now; while they are not, callers use their fallback at once. */
    readonly isReady: boolean;
    /** Runs a script. Rejects when Redis does not answer within COMMAND milliseconds. */
    eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  };
  /** Whether Redis answers now. */
  up(): boolean;
  close(): Promise<void>;
}

/** Milliseconds that a command may take: a caller waits for it before the fallback counts. */
const COMMAND = 200;
/** Interval between two pings in milliseconds. They find a Redis that hangs, and one that answers again. */
const PING = 500;
/**
 * Milliseconds without any traffic after which a connection is replaced. Pings are sent one at a time, so that
 * only a connection that hangs is silent for so long.
 */
const SILENT = 2_000;
/** Longest delay between two attempts to connect, in milliseconds. */
const MAX_RECONNECT_DELAY = 2_000;

const connection = (url: string) =>
  createClient({
    url,
    // A command never waits for a connection: the caller falls back to the memory of the process.
    disableOfflineQueue: true,
    socket: {
      connectTimeout: 1_000,
      socketTimeout: SILENT,
      reconnectStrategy: (tries) => Math.min(MAX_RECONNECT_DELAY, 50 * (tries + 1)),
    },
  });

/** Connects, or retries in the background. Never throws: the service also runs without Redis. */
export async function openRedis(url: string, log: (line: string) => void): Promise<Redis> {
  const redis = new RedisConnection(url, log);
  await redis.open();
  return { client: redis, up: () => redis.isReady, close: async () => redis.close() };
}

class RedisConnection {
  readonly #client: ReturnType<typeof connection>;
  readonly #log: (line: string) => void;
  #away = false;
  #pings: NodeJS.Timeout | undefined;
  #pinging = false;

  constructor(url: string, log: (line: string) => void) {
    this.#log = log;
    this.#client = connection(url)
      .on('error', () => this.#lost())
      .on('ready', () => this.#back());
  }

  /** Resolves when Redis answers, or after a second. */
  async open(): Promise<void> {
    const connecting = this.#client.connect().catch(() => {});
    await Promise.race([connecting, new Promise((resolve) => setTimeout(resolve, 1_000).unref())]);
    if (!this.#client.isReady) this.#lost();
    this.#pings = setInterval(() => void this.#ping(), PING).unref();
  }

  get isReady(): boolean {
    return this.#client.isReady && !this.#away;
  }

  async eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown> {
    if (!this.isReady) throw new Error('Redis does not answer');
    return this.#limited(this.#client.eval(script, options));
  }

  close(): void {
    clearInterval(this.#pings);
    if (this.#client.isOpen) this.#client.destroy();
  }

  /** The result of a command, or a rejection after COMMAND milliseconds. */
  async #limited<T>(command: Promise<T>): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    let settled = false;
    const timer = setTimeout(() => {
      // An answer that came while this thread was busy is read before the immediate.
      setImmediate(() => {
        if (settled) return;
        this.#lost();
        reject(new Error(`Redis did not answer within ${COMMAND} ms`));
      });
    }, COMMAND);
    return Promise.race([command, late]).finally(() => {
      settled = true;
      clearTimeout(timer);
    });
  }

  /** Pings, unless the last ping still waits. A Redis that answers in time is used again. */
  async #ping(): Promise<void> {
    if (this.#pinging || !this.#client.isReady) return;
    this.#pinging = true;
    const answer = this.#client.ping();
    await this.#limited(answer).then(
      () => this.#back(),
      () => {},
    );
    await answer.catch(() => {});
    this.#pinging = false;
  }

  #lost(): void {
    if (!this.#away) this.#log('Redis does not answer: limits are counted in this process until it does');
    this.#away = true;
  }

  #back(): void {
    if (this.#away) this.#log('Redis answers again: limits are shared');
    this.#away = false;
  }
}

/** Lifetime of a counter in seconds: two days, longer than any quota day. */
const COUNTER_TTL = 172_800;

/** Reads the day and the units of a quota. The later of its day and the caller's counts. */
const READ = `local day, used = redis.call('hget', KEYS[1], 'day') or '', redis.call('hget', KEYS[1], 'used')
if day < ARGV[1] then day, used = ARGV[1], '0' end
used = tonumber(used)
`;

/** Writes them, `units` added; returns the units. */
const ADD = `redis.call('hset', KEYS[1], 'day', day, 'used', used + units)
redis.call('expire', KEYS[1], ${COUNTER_TTL})
return units`;

/** Takes the rest of a quota, at most the requested number, atomically. */
const TAKE = `${READ}local units = math.max(0, math.min(tonumber(ARGV[2]), tonumber(ARGV[3]) - used))
${ADD}`;

const GIVE = `${READ}local units = -math.min(used, tonumber(ARGV[2]))
${ADD}`;

const USED = `${READ}return used`;

/** Quotas in Redis, with a fallback for when it is unreachable. */
export function redisQuotas({ client }: Redis, fallback: Quotas): Quotas {
  const run = async (script: string, { name }: Quota, now: Date, ...values: number[]): Promise<number> =>
    Number(
      await client.eval(script, {
        keys: [`register:quota:${name}`],
        arguments: [dayOf(now.getTime()), ...values.map(String)],
      }),
    );
  const orElse = async <T>(ask: () => Promise<T>, otherwise: () => Promise<T>): Promise<T> =>
    client.isReady ? ask().catch(otherwise) : otherwise();
  return {
    take: (quota, wanted, now) =>
      orElse(
        () => run(TAKE, quota, now, wanted, quota.quota),
        () => fallback.take(quota, wanted, now),
      ),
    give: (quota, units, now) =>
      orElse(
        async () => void (await run(GIVE, quota, now, units)),
        () => fallback.give(quota, units, now),
      ),
    left: (quota, now) =>
      orElse(
        async () => Math.max(0, quota.quota - (await run(USED, quota, now))),
        () => fallback.left(quota, now),
      ),
  };
}
