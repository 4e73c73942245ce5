// The preview quota: per address and dataset, reset at midnight UTC.
import { expect, it, test } from 'vitest';
import { type Previews, previewsIn, secondsToMidnight } from '../../../api/access/previews.ts';
import { storedQuotas } from '../../../data/state/quotas.ts';
import { describeStores } from '../../support/stores.ts';

const now = new Date('2026-11-20T23:59:30Z');

describeStores('previews', ({ open }) => {
  const opened = async (quota: number): Promise<Previews> => previewsIn(storedQuotas(await open()), quota);

  it('takes at most the rest', async () => {
    const previews = await opened(20);
    expect(await previews.take('a', 'bakeries-0', 15, now)).toBe(15);
    expect(await previews.left('a', 'bakeries-0', now)).toBe(5);
    expect(await previews.take('a', 'bakeries-0', 15, now)).toBe(5);
    expect(await previews.take('a', 'bakeries-0', 1, now)).toBe(0);
  });

  it('returns what was not shown', async () => {
    const previews = await opened(20);
    await previews.take('a', 'bakeries-1', 20, now);
    await previews.give('a', 'bakeries-1', 18, now);
    expect(await previews.left('a', 'bakeries-1', now)).toBe(18);
  });

  it('callers, datasets and days are apart', async () => {
    const previews = await opened(3);
    await previews.take('a', 'bakeries-2', 3, now);
    expect(await previews.left('b', 'bakeries-2', now)).toBe(3);
    expect(await previews.left('a', 'museums-2', now)).toBe(3);
    const tomorrow = new Date('2026-11-21T00:00:00Z');
    expect(await previews.left('a', 'bakeries-2', tomorrow)).toBe(3);
    await previews.give('a', 'bakeries-2', 3, tomorrow);
    expect(await previews.left('a', 'bakeries-2', tomorrow)).toBe(3);
  });

  it('a clock that goes back and forth over midnight resets nothing', async () => {
    const previews = await opened(3);
    const [today, tomorrow] = [now, new Date(now.getTime() + 60_000)];
    expect(await previews.take('back', 'tools', 3, today)).toBe(3);
    expect(await previews.take('back', 'tools', 2, tomorrow)).toBe(2);
    for (let times = 0; times < 3; times += 1) {
      expect(await previews.left('back', 'tools', today)).toBe(times === 0 ? 1 : 0);
      expect(await previews.take('back', 'tools', 3, today)).toBe(times === 0 ? 1 : 0);
      expect(await previews.take('back', 'tools', 3, tomorrow)).toBe(0);
    }
  });

  it('parallel calls share one quota', async () => {
    const previews = await opened(20);
    const got = await Promise.all(Array.from({ length: 10 }, () => previews.take('a', 'bakeries-3', 7, now)));
    expect(got.reduce((sum, one) => sum + one, 0)).toBe(20);
  });
});

test('midnight is 30 seconds away', () => {
  expect(secondsToMidnight(now)).toBe(30);
  expect(secondsToMidnight(new Date('2026-11-21T00:00:00Z'))).toBe(86_400);
});
