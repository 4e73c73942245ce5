// 500 near misses of calls on the real packs: the message or hint contains the intended call.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requester } from '../near-misses/ask.ts';
import { byName } from '../near-misses/by-name.ts';
import { nearMisses } from '../near-misses/cases.ts';
import { failure, judge, type MissVerdict, report } from '../near-misses/judge.ts';
import { readWorld } from '../near-misses/world.ts';
import { type LiveServer, startServer } from './serve.ts';

let server: LiveServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

test('of 500 near misses at least 95 % get the intended call', async () => {
  const ask = requester(server.base, server.key);
  const verdicts: MissVerdict[] = [];
  for (const near of nearMisses(await readWorld(ask), 500, 1)) verdicts.push(await judge(ask, near));
  const failed = verdicts.filter((verdict) => !verdict.passed).map(failure);
  expect(verdicts).toHaveLength(500);
  expect(failed.length, [...failed, report(verdicts)].join('\n')).toBeLessThanOrEqual(25);
});

test('each of fifty mistakes of models over MCP gets the intended call in one step, for every dataset', async () => {
  const ask = requester(server.base, server.key);
  for (const dataset of await readWorld(ask)) {
    const mistakes = byName(dataset, () => 0).filter(({ given }) => given?.channel === 'mcp');
    expect(mistakes.length).toBeGreaterThanOrEqual(50);
    const verdicts: MissVerdict[] = [];
    for (const near of mistakes) verdicts.push(await judge(ask, near));
    expect(verdicts.filter(({ passed }) => !passed).map(failure)).toEqual([]);
  }
});
