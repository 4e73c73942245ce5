// The address of a list of changes, its call, its bars and its cells.
import { expect, test } from 'vitest';
import { countText, dayBars } from './chart.ts';
import { cellsOf } from './model.ts';
import { changelogQuery, filtersOf, pageNumber, viewSearch } from './view.ts';

const model = { main: ['price.input', 'status'] };

test('an address without filters is the main attributes of a year', () => {
  const none = filtersOf('');
  expect(changelogQuery(model, none)).toBe('?type=changed&days=365&attribute=price.input,status');
  expect(changelogQuery(model, none, { limit: '5' })).toBe(
    '?type=changed&days=365&attribute=price.input,status&limit=5',
  );
  expect(viewSearch(none)).toBe('');
  expect(viewSearch(none, 3)).toBe('?page=3');
});

test('filters replace the defaults; empty and default ones leave the address', () => {
  const filters = filtersOf('?attribute=all&q=+claude+&direction=&days=365&type=all&min_x=1&min_x=2&page=4');
  expect(viewSearch(filters)).toBe('?attribute=all&q=claude&type=all&min_x=1&min_x=2');
  expect(changelogQuery(model, filters)).toBe('?days=365&q=claude&type=all&min_x=1&min_x=2');
  expect(changelogQuery(model, filtersOf('?attribute=a,b'), { format: 'atom' })).toBe(
    '?type=changed&days=365&attribute=a,b&format=atom',
  );
});

test('the page is a whole number from 1', () => {
  expect(['?page=7', '?page=0', '?page=x', '?page=-1', ''].map(pageNumber)).toEqual([7, 1, 1, 1, 1]);
});

test('bars begin and end with the first and last day, and stack to the count', () => {
  const day = (date: string, changes: number, falls = 0, rises = 0) => ({
    ...{ date, changes, falls, rises, ranges: 0, withdrawn: 0 },
  });
  expect(dayBars([day('2026-11-10', 5), day('2026-11-01', 2)])).toEqual([]);
  const bars = dayBars([day('2026-11-10', 10, 6, 3), day('2026-11-05', 4, 4), day('2026-11-01', 5)]);
  expect(bars.map(({ kind, height }) => [kind, height])).toEqual([
    ...[
      ['fall', 60],
      ['rise', 30],
      ['other', 10],
      ['fall', 40],
      ['other', 50],
    ],
  ]);
  expect(bars[2]!.y).toBe(0);
  expect(bars[0]!.x + bars[0]!.width).toBeCloseTo(100);
  expect(bars.at(-1)!.x).toBe(0);
  expect(bars[0]!.title).toBe('Nov 10, 2026: 10 changes: 6 decreases, 3 increases');
  expect(countText({ changes: 1, rises: 1, falls: 0, ranges: 0, withdrawn: 0 })).toBe('1 change: 1 increase');
  expect(countText({ changes: 418, rises: 0, falls: 20, ranges: 1, withdrawn: 367 })).toBe(
    '418 changes: 20 decreases, 1 range moved apart or together, 367 withdrawn',
  );
});

test('cells show both values, and direction and size in words of their own', () => {
  const base = { entity_id: 'r', slug: 'r', name: 'R', observed_at: '2026-11-10T00:00:00Z', type: 'changed' as const };
  const units = { price: { unit: 'EUR', better: 'low' as const }, name: { unit: null, better: null } };
  const cut = { ...base, attribute: 'price', old_value: 1.25, new_value: 1, kind: 'fall' as const };
  const by = { change: -0.25, change_percent: -20 };
  expect(cellsOf({ ...cut, ...by }, units)).toEqual({
    ...{ attribute: 'price', note: null, was: '1.25', now: '1 EUR' },
    move: { word: 'fell', text: '▼ −20 %', mark: 'better' },
  });
  const rise = { ...base, attribute: 'price', kind: 'rise' as const };
  expect(cellsOf({ ...rise, old_value: 0, new_value: 2, change: 2 }, units).move).toEqual({
    ...{ word: 'rose', text: '▲ +2', mark: 'worse' },
  });
  // A percentage of 0 is no size.
  const least = { ...cut, old_value: 1_048_576, new_value: 1_048_575, change: -1, change_percent: 0 };
  expect(cellsOf(least, units).move?.text).toBe('▼ −1');
  expect(cellsOf({ ...cut, kind: 'range', change: 0, change_percent: 0 }, units).move?.text).toBe('range');
  expect(cellsOf({ ...base, attribute: 'secret' }, units)).toMatchObject({ note: 'changed, value paid', move: null });
  expect(cellsOf({ ...base, attribute: 'name', old_value: 'a' }, units)).toMatchObject({ note: 'withdrawn', was: 'a' });
});
