// Values derived from an object are computed once for each name.
import { expect, test } from 'vitest';
import { derive, derived } from './derive.ts';

test('a value is computed once for each object and name', () => {
  let computed = 0;
  const next = () => ({ number: ++computed });
  const [first, second] = [{}, {}];
  expect(derived(first, 'number')).toBeUndefined();
  expect([derive(first, 'number', next), derive(first, 'number', next)]).toEqual([{ number: 1 }, { number: 1 }]);
  expect(derive(first, 'another', next)).toEqual({ number: 2 });
  expect(derive(second, 'number', next)).toEqual({ number: 3 });
  expect(derived(first, 'number')).toEqual({ number: 1 });
});

test('a rejected promise is dropped, and its caller gets the error', async () => {
  const owner = {};
  await expect(derive(owner, 'answer', () => Promise.reject(new Error('no disk')))).rejects.toThrow('no disk');
  expect(await derive(owner, 'answer', async () => 42)).toBe(42);
  expect(await derive(owner, 'answer', async () => 43)).toBe(42);
});
