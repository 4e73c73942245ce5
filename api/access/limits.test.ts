// Rate limits: separate buckets for free and paid calls and for each caller; headers with the remaining
// calls.
import { expect, test } from 'vitest';
import { verifies } from '../../tests/support/verifies.ts';
import { limitHeaders, memoryLimits } from './limits.ts';

verifies('limit.headers', 'header.ratelimit');

test('a bucket empties call by call and then refuses', async () => {
  const limits = memoryLimits({ free: 2, paid: 1 });
  const seen = [];
  for (let call = 0; call < 3; call++) seen.push((await limits.spend('free', '192.0.2.1'))!);
  expect(seen.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
    [true, 1],
    [true, 0],
    [false, 0],
  ]);
  expect(seen[2]).toMatchObject({ limit: 2, reset: 60 });
});

test('buckets and callers are apart', async () => {
  const limits = memoryLimits({ free: 1, paid: 1 });
  expect((await limits.spend('free', 'a'))?.allowed).toBe(true);
  expect((await limits.spend('paid', 'a'))?.allowed).toBe(true);
  expect((await limits.spend('free', 'b'))?.allowed).toBe(true);
  expect((await limits.spend('free', 'a'))?.allowed).toBe(false);
});

test('headers tell limit, rest and reset in both forms', () => {
  const standing = { bucket: 'paid' as const, limit: 60, remaining: 59, reset: 42, allowed: true };
  expect(limitHeaders(standing, new Date('2026-11-20T00:00:00Z'))).toEqual({
    'X-RateLimit-Limit': '60',
    'X-RateLimit-Remaining': '59',
    'X-RateLimit-Reset': String(Date.parse('2026-11-20T00:00:42Z') / 1000),
    'RateLimit-Policy': '"paid";q=60;w=60',
    RateLimit: '"paid";r=59;t=42',
  });
});
