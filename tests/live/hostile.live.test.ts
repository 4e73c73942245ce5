// 2,000 hostile calls on the real packs, and five kills: `npm run hostile` and `npm run hostile:kills` do more of both.
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { attack, growth } from '../hostile/attack.ts';
import { hostileData } from '../hostile/data.ts';
import { killAll } from '../hostile/kills.ts';

test('2,000 hostile calls: no error of the server, no paid value, flat memory, no long turn', async () => {
  const data = await hostileData(resolve(process.env['DATA_DIR'] ?? ''));
  try {
    const result = await attack({ ...data, calls: 2000, seed: 2, minutes: 10 });
    expect(result.calls).toBe(2000);
    expect(result.values).toBeGreaterThan(1000);
    expect(result.searched).toBeGreaterThan(1000);
    expect(result.failures).toEqual([]);
    expect(result.leaks).toEqual([]);
    // The search works: answers that were paid for have such values.
    expect(result.paidFor).toBeGreaterThan(0);
    expect(result.written).toEqual([]);
    expect(result.slow).toEqual([]);
    const { rss } = growth(result);
    expect(rss[1]).toBeLessThan(rss[0] * 1.5);
  } finally {
    data.remove();
  }
});

test('five kills lose and invent nothing', async () => {
  const kinds = ['nightly run', 'release switch', 'ledger', 'mail', 'publishing'];
  const results = await killAll({ times: 1, minutes: 10, seed: 2, kinds });
  expect(results.map(({ kind, problems }) => ({ kind, problems }))).toEqual(
    expect.arrayContaining(kinds.map((kind) => ({ kind, problems: [] }))),
  );
});
