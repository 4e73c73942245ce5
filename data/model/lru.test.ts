// What is kept, by use and by weight.
import { expect, test } from 'vitest';
import { Lru } from './lru.ts';

test('the entry that was used longest ago goes first', () => {
  const kept = new Lru<string, number>(2);
  kept.set('a', 1);
  kept.set('b', 2);
  expect(kept.get('a')).toBe(1);
  kept.set('c', 3);
  expect(['a', 'b', 'c'].map((key) => kept.get(key))).toEqual([1, undefined, 3]);
});

test('weights count, also of what takes the place of another, and nothing is kept that weighs too much', () => {
  const kept = new Lru<string, string>(10, (text) => text.length);
  kept.set('a', '12345');
  kept.set('b', '1234');
  kept.set('a', '123456');
  expect([kept.weight, kept.get('b')]).toEqual([10, '1234']);
  kept.set('c', '1');
  expect([kept.weight, kept.get('a'), kept.get('b')]).toEqual([5, undefined, '1234']);
  kept.set('b', '12345678901');
  expect([kept.weight, kept.get('b'), kept.get('c')]).toEqual([1, undefined, '1']);
  kept.clear();
  expect([kept.weight, kept.get('c')]).toEqual([0, undefined]);
});
