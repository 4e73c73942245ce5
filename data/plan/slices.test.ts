// Work in slices: order, turns of the event loop, and abort.
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eachSlice, mapSlices, nextTurn } from './slices.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

test('a list is processed in slices and in order', async () => {
  expect(await mapSlices([1, 2, 3], 3, String)).toEqual(['1', '2', '3']);
  expect(await mapSlices([], 3, String)).toEqual([]);
  const slices: number[][] = [];
  await eachSlice([1, 2], 2, (slice) => slices.push([...slice]));
  await eachSlice([], 2, (slice) => slices.push([...slice]));
  await eachSlice(numbers(5), 2, (slice) => slices.push([...slice]));
  expect(slices).toEqual([[1, 2], [0, 1], [2, 3], [4]]);
  expect(await mapSlices(numbers(7), 3, String)).toEqual(numbers(7).map(String));
});

test('a turn of the event loop runs one slice, whatever the number of lists', async () => {
  let turn = 0;
  let running = true;
  const counting = (async () => {
    for (; running; turn += 1) await setImmediate();
  })();
  const turns: number[] = [];
  // The first slice of each list runs synchronously in the call.
  const lists = numbers(4).map(() => eachSlice(numbers(50), 10, ([first]) => first !== 0 && turns.push(turn)));
  await Promise.all(lists);
  running = false;
  await counting;
  expect(turns).toHaveLength(16);
  expect(new Set(turns).size).toBe(16);
});

test('an aborted request stops before its next slice', async () => {
  const gone = new AbortController();
  const done: number[] = [];
  const list = eachSlice(
    numbers(30),
    10,
    ([first = 0]) => {
      done.push(first);
      if (first === 10) gone.abort();
    },
    gone,
  );
  await expect(list).rejects.toMatchObject({ code: 'unavailable' });
  expect(done).toEqual([0, 10]);
  await expect(nextTurn(gone)).rejects.toMatchObject({ code: 'unavailable' });
  await nextTurn();
});
