// Limits and quotas in Redis: shared by processes, local while it is unavailable, and shared again when it is
// back.
import { randomBytes } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { redisLimits } from '../../../api/access/limits.ts';
import { openRedis, redisQuotas } from '../../../api/access/redis.ts';
import { storedQuotas } from '../../../data/state/quotas.ts';
import { NOW, testApp } from '../../support/app.ts';
import { verifies } from '../../support/verifies.ts';

verifies('setting.redis-url');

const url = process.env['TEST_REDIS_URL'];

/** A proxy to Redis that can be cut and restored. */
async function way(): Promise<{ url: string; cut: () => Promise<void>; mend: () => Promise<void> }> {
  const { hostname, port: there } = new URL(url ?? '');
  const open = new Set<Socket>();
  let server: Server;
  let port = 0;
  const mend = async () => {
    server = createServer((socket) => {
      const onward = connect(Number(there || 6379), hostname);
      for (const end of [socket, onward]) {
        open.add(end);
        end.on('error', () => {});
      }
      socket.pipe(onward).pipe(socket);
    });
    server.listen(port, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    port = (server.address() as AddressInfo).port;
  };
  await mend();
  const cut = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of open) socket.destroy();
    open.clear();
    await closed;
  };
  return { url: `redis://127.0.0.1:${port}`, cut, mend };
}

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const until = async (condition: () => boolean) => {
  for (let i = 0; i < 400 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(condition()).toBe(true);
};

describe('Redis', () => {
  beforeEach((context) => {
    if (!url) context.skip('TEST_REDIS_URL is not set');
  });

  test('two processes share buckets and quotas', async () => {
    const [one, two] = await Promise.all([openRedis(url ?? '', () => {}), openRedis(url ?? '', () => {})]);
    closing.push(one.close, two.close);
    const who = randomBytes(6).toString('hex');
    const limits = [redisLimits(one, { free: 3, paid: 3 }), redisLimits(two, { free: 3, paid: 3 })];
    const seen = [];
    for (let call = 0; call < 4; call++) seen.push(await limits[call % 2]?.spend('free', who));
    expect(seen.map((each) => [each?.allowed, each?.remaining])).toEqual([
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
    ]);
    const app = await testApp({ records: 3 });
    closing.push(() => app.close());
    const quotas = [redisQuotas(one, storedQuotas(app.state)), redisQuotas(two, storedQuotas(app.state))];
    const quota = { name: who, quota: 20 };
    const got = await Promise.all(Array.from({ length: 10 }, (_, i) => quotas[i % 2]?.take(quota, 7, NOW)));
    expect(got.reduce((sum, each) => (sum ?? 0) + (each ?? 0), 0)).toBe(20);
    await quotas[0]?.give(quota, 5, NOW);
    expect(await quotas[1]?.left(quota, NOW)).toBe(5);
    const tomorrow = new Date(NOW.getTime() + 86_400_000);
    expect(await quotas[1]?.left(quota, tomorrow)).toBe(20);
    // A clock that goes back to the day before resets nothing.
    expect(await quotas[0]?.take(quota, 20, tomorrow)).toBe(20);
    expect(await quotas[1]?.left(quota, NOW)).toBe(0);
    expect(await quotas[1]?.take(quota, 1, NOW)).toBe(0);
    await quotas[0]?.give(quota, 2, NOW);
    expect(await quotas[1]?.left(quota, tomorrow)).toBe(2);
  });

  test('fails: the service continues with local limits, logs it once, and shares again afterwards', async () => {
    const road = await way();
    const lines: string[] = [];
    const redis = await openRedis(road.url, (line) => lines.push(line));
    closing.push(redis.close, road.cut);
    const who = randomBytes(6).toString('hex');
    const limits = redisLimits(redis, { free: 5, paid: 5 });
    expect(await limits.spend('free', who)).toMatchObject({ allowed: true, remaining: 4 });
    await road.cut();
    await until(() => lines.length === 1);
    expect(redis.up()).toBe(false);
    expect(lines).toEqual(['Redis does not answer: limits are counted in this process until it does']);
    // The local count starts at zero, with the same limits.
    const alone = [];
    for (let call = 0; call < 6; call++) alone.push((await limits.spend('free', who))?.allowed);
    expect(alone).toEqual([true, true, true, true, true, false]);
    await road.mend();
    await until(() => lines.length === 2);
    expect(lines[1]).toBe('Redis answers again: limits are shared');
    expect(redis.up()).toBe(true);
    expect(await limits.spend('free', who)).toMatchObject({ allowed: true, remaining: 3 });
  });

  test('is missing at the start: the service starts and answers', async () => {
    const road = await way();
    await road.cut();
    const app = await testApp({ records: 3, store: { redisUrl: road.url } });
    closing.push(() => app.close());
    const answer = await app.json('/v1/tools/entities?limit=2', { address: '192.0.2.7' });
    expect([answer.status, (answer.body['items'] as unknown[]).length]).toEqual([200, 2]);
    const metrics = await (await app.ask('/ops/metrics', { admin: true })).text();
    expect(metrics).toContain('\nregister_redis_up{use="limits"} 0\n');
  });
});
