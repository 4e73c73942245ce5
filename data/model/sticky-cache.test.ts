// A cache that is full keeps most of its entries although many others come.
import { expect, test } from 'vitest';
import { StickyCache } from './sticky-cache.ts';

function offer(cache: StickyCache<number, number>, key: number, size = 1): boolean {
  const admitted = cache.admits(size);
  if (admitted) cache.set(key, size);
  return admitted;
}

test('entries are added until the cache is full, then one of sixteen', () => {
  const cache = new StickyCache<number, number>(100);
  for (let key = 0; key < 100; key += 1) expect(offer(cache, key)).toBe(true);
  const admitted = Array.from({ length: 160 }, (_, i) => offer(cache, 100 + i)).filter(Boolean).length;
  expect(admitted).toBe(10);
  // The first ten, which were used least recently, were replaced.
  expect(Array.from({ length: 100 }, (_, key) => cache.get(key)).filter((each) => each !== undefined)).toHaveLength(90);
  expect(cache.get(0)).toBeUndefined();
});

test('keys that repeat in turn are found, although there are more than fit', () => {
  const cache = new StickyCache<number, number>(100);
  let found = 0;
  for (let i = 0; i < 1_500; i += 1) {
    const key = i % 150;
    if (cache.get(key) === undefined) offer(cache, key);
    else found += 1;
  }
  expect(found).toBeGreaterThan(700);
});

test('sizes add up, and an empty cache admits again', () => {
  const cache = new StickyCache<number, number>(100, (size) => size);
  expect([offer(cache, 1, 60), offer(cache, 2, 60), offer(cache, 3, 40)]).toEqual([true, false, true]);
  cache.clear();
  expect([cache.get(1), offer(cache, 2, 60)]).toEqual([undefined, true]);
});
