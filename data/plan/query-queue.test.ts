// The queue for engines: order of arrival, limits, timeout, abort.
import { expect, test, vi } from 'vitest';
import { createQueryQueue } from './query-queue.ts';

const queue = (limits = {}) => createQueryQueue({ running: 1, waiting: 2, patience: 60_000, ...limits });
const code = (promise: Promise<unknown>) =>
  promise.then(() => 'entered').catch((error) => `${error.code}: ${error.message}`);

test('serves in the order of arrival, one at a time', async () => {
  const one = queue();
  const order: string[] = [];
  const first = await one.enter();
  const others = ['a', 'b'].map(async (name) => {
    const leave = await one.enter();
    order.push(name);
    leave();
  });
  expect(one.load()).toEqual({ running: 1, waiting: 2 });
  first();
  await Promise.all(others);
  expect(order).toEqual(['a', 'b']);
  expect(one.load()).toEqual({ running: 0, waiting: 0 });
});

test('a slot is released once', async () => {
  const one = queue();
  const leave = await one.enter();
  leave();
  leave();
  await one.enter();
  expect(one.load().running).toBe(1);
});

test('a full queue rejects immediately', async () => {
  const one = queue({ waiting: 0 });
  await one.enter();
  expect(await code(one.enter())).toContain('unavailable: Too many queries are waiting');
});

test('a waiting query times out', async () => {
  vi.useFakeTimers();
  const one = queue({ patience: 100 });
  await one.enter();
  const waiting = code(one.enter());
  vi.advanceTimersByTime(101);
  vi.useRealTimers();
  expect(await waiting).toContain('unavailable: The query waited too long');
  expect(one.load()).toEqual({ running: 1, waiting: 0 });
});

test('serves holders in turn, preferred queries first', async () => {
  const one = queue({ waiting: 10 });
  const order: string[] = [];
  const first = await one.enter(undefined, { holder: 'a' });
  const others = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2', 'k1'].map(async (name) => {
    const leave = await one.enter(undefined, { holder: name[0], preferred: name === 'k1' });
    order.push(name);
    leave();
  });
  first();
  await Promise.all(others);
  expect(order.join(' ')).toBe('k1 a1 b1 c1 a2 b2 a3');
});

test('in a full queue the newest query of the holder with the most gives way', async () => {
  const one = queue({ waiting: 4, kept: 1 });
  await one.enter(undefined, { holder: 'a' });
  const outcomes: string[] = [];
  const enter = (name: string) =>
    void code(one.enter(undefined, { holder: name[0], preferred: name === 'k1' })).then((outcome) =>
      outcomes.push(`${name} ${outcome.slice(0, 11)}`),
    );
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'd1', 'k1']) enter(name);
  await new Promise(setImmediate);
  // One holder cannot push out itself, nor one that has a single place.
  expect(outcomes).toEqual(['a4 unavailable', 'a3 unavailable', 'a2 unavailable', 'd1 unavailable']);
  expect(one.load()).toEqual({ running: 1, waiting: 4 });
});

test('an aborted query leaves the queue; others stay', async () => {
  const one = queue();
  const leave = await one.enter();
  const giving = new AbortController();
  const dropped = code(one.enter(giving.signal));
  const kept = code(one.enter());
  giving.abort();
  expect(await dropped).toContain('unavailable: The query was aborted');
  leave();
  expect(await kept).toBe('entered');
  expect(await code(one.enter(AbortSignal.abort()))).toContain('aborted');
});
