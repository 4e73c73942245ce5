// The preview quota: per address and dataset, whole again at midnight UTC.
import { expect, test } from 'vitest';
import { memoryPreviews, secondsToMidnight } from './previews.ts';

const now = new Date('2026-11-20T23:59:30Z');

test('takes what is left and no more', async () => {
  const previews = memoryPreviews(20);
  expect(await previews.take('a', 'bakeries', 15, now)).toBe(15);
  expect(await previews.left('a', 'bakeries', now)).toBe(5);
  expect(await previews.take('a', 'bakeries', 15, now)).toBe(5);
  expect(await previews.take('a', 'bakeries', 1, now)).toBe(0);
});

test('gives back what was not shown', async () => {
  const previews = memoryPreviews(20);
  await previews.take('a', 'bakeries', 20, now);
  await previews.give('a', 'bakeries', 18, now);
  expect(await previews.left('a', 'bakeries', now)).toBe(18);
});

test('callers, datasets and days are apart', async () => {
  const previews = memoryPreviews(3);
  await previews.take('a', 'bakeries', 3, now);
  expect(await previews.left('b', 'bakeries', now)).toBe(3);
  expect(await previews.left('a', 'museums', now)).toBe(3);
  const tomorrow = new Date('2026-11-21T00:00:00Z');
  expect(await previews.left('a', 'bakeries', tomorrow)).toBe(3);
  await previews.give('a', 'bakeries', 3, tomorrow);
  expect(await previews.left('a', 'bakeries', tomorrow)).toBe(3);
});

test('parallel calls share one quota', async () => {
  const previews = memoryPreviews(20);
  const got = await Promise.all(Array.from({ length: 10 }, () => previews.take('a', 'bakeries', 7, now)));
  expect(got.reduce((sum, one) => sum + one, 0)).toBe(20);
});

test('midnight is 30 seconds away', () => {
  expect(secondsToMidnight(now)).toBe(30);
  expect(secondsToMidnight(new Date('2026-11-21T00:00:00Z'))).toBe(86_400);
});
