// Counters in shared memory: exact over threads; windows end; a full table returns null.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test, vi } from 'vitest';
import { sharedLimits } from './limits.ts';
import { counterMemory, SharedCounters } from './shared-counters.ts';

test('a window begins with the first call of a client, and ends', () => {
  let now = 1_800_000_000_000;
  const counters = new SharedCounters(counterMemory(), 60, () => now);
  expect(counters.add('a', 2)).toEqual({ total: 2, rest: 60_000 });
  now += 59_999;
  expect(counters.add('a', 1)).toEqual({ total: 3, rest: 1 });
  expect(counters.add('b', 1)).toEqual({ total: 1, rest: 60_000 });
  now += 1;
  expect(counters.add('a', 5)).toEqual({ total: 5, rest: 60_000 });
});

test('a clock that steps back extends no window', async () => {
  const counters = new SharedCounters(counterMemory(), 1);
  expect(counters.add('a', 3)?.total).toBe(3);
  const before = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => before - 3_600_000);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  expect(counters.add('a', 1)?.total).toBe(1);
});

test('a client that finds no room is not counted, and finds some when windows have ended', () => {
  let now = 1_800_000_000_000;
  const counters = new SharedCounters(new SharedArrayBuffer(2 ** 17 * 16), 60, () => now);
  let refused = 0;
  for (let i = 0; i < 400_000; i += 1) if (counters.add(`client ${i}`, 1) === null) refused += 1;
  expect(refused).toBeGreaterThan(100_000);
  now += 60_000;
  for (let i = 500_000; i < 501_000; i += 1) expect(counters.add(`client ${i}`, 1)?.total).toBe(1);
}, 60_000);

test('no call of several threads is lost', async () => {
  const memory = counterMemory();
  const module = new URL('./shared-counters.ts', import.meta.url).href;
  const code = `
    const { SharedCounters } = await import(${JSON.stringify(module)});
    const { workerData } = await import('node:worker_threads');
    const counters = new SharedCounters(workerData, 3600);
    for (let i = 0; i < 20000; i += 1) counters.add('client ' + (i % 5), 1);`;
  const url = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  await Promise.all([1, 2, 3].map(() => once(new Worker(url, { workerData: memory }), 'exit')));
  const counters = new SharedCounters(memory, 3600);
  for (let i = 0; i < 5; i += 1) expect(counters.add(`client ${i}`, 0)?.total).toBe(12_000);
});

test('two limiters over one memory allow together what one would', async () => {
  const memory = counterMemory();
  const [one, two] = [1, 2].map(() => sharedLimits(new SharedCounters(memory, 60), { free: 5 }));
  const states = [];
  for (let i = 0; i < 4; i += 1)
    states.push(await one!.spend('free', 'ip 192.0.2.1'), await two!.spend('free', 'ip 192.0.2.1'));
  expect(states.map((state) => state!.allowed)).toEqual([true, true, true, true, true, false, false, false]);
  expect(states.map((state) => state!.remaining)).toEqual([4, 3, 2, 1, 0, 0, 0, 0]);
  expect((await two!.spend('free', 'ip 192.0.2.2'))!.remaining).toBe(4);
});
