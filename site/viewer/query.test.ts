// Filters and sorts over columns, compared with the plain meaning of each condition; clusters and files.
import { describe, expect, test } from 'vitest';
import type { Predicate } from '../../data/plan/plan.ts';
import { fold, words } from '../../packs/define/text.ts';
import { boundsOf, gather } from './clusters.ts';
import { ListColumn, NumberColumn, TextColumn } from './columns.ts';
import { fileParts } from './export.ts';
import type { FileFormat } from './messages.ts';
import { byName, matchingRows, sortedRows, type ViewTable } from './query.ts';

const NAMES = ['Zürich', 'zurich West', 'Ulm', null, 'Sankt  Gallen', 'Łódź', 'Ulm', 'St. Ulm-Nord', 'bulm'];
const HEIGHTS = [3, null, 1, 7, 3, -2, 0.5, 1e9, null];
const LISTS = [['Rot'], [], null, ['rot', 'Blau'], ['grün'], null, ['blau'], null, null];
const POINTS = [[47, 8], [48, 179.5], [48, -179.5], null, [0, 0], [1, 1], [47.5, 8.5], [89, 0], [-60, 10]] as const;
const rows = NAMES.length;

const name = new TextColumn(rows);
name.write(0, NAMES.slice(0, 4));
name.write(4, NAMES.slice(4));
const height = new NumberColumn(rows, 'number');
height.write(0, HEIGHTS);
const colours = new ListColumn(rows);
colours.write(0, LISTS);
const lat = new NumberColumn(rows, 'number');
lat.write(
  0,
  POINTS.map((point) => point?.[0]),
);
const lng = new NumberColumn(rows, 'number');
lng.write(
  0,
  POINTS.map((point) => point?.[1]),
);

const COLUMNS = { name, height, colours, slug: name, id: name } as const;
const table: ViewTable = {
  rows,
  dropped: [],
  column: (of) => COLUMNS[of as 'name'],
  ends: (of) => ({ low: COLUMNS[of as 'name'], high: COLUMNS[of as 'name'] }),
  point: () => ({ lat, lng }),
  searched: () => [name],
};
const matching = (...conditions: Predicate[]) => [...matchingRows(table, conditions)];
const where = (test: (row: number) => boolean) => [...NAMES.keys()].filter(test);

test('times compare with days and moments to the microsecond', () => {
  const texts = [
    '2024-03-14T00:00:00Z',
    '2024-03-14T22:30:00.000001Z',
    null,
    '2024-03-15T00:00:00Z',
    '1969-12-31T23:59:59.25Z',
  ];
  const times = new NumberColumn(texts.length, 'time');
  times.write(
    0,
    texts.map((text) => text && times.numberOf(text)),
  );
  expect(texts.map((_, row) => times.value(row))).toEqual(texts);
  const dated = { ...table, rows: texts.length, ends: () => ({ low: times, high: times }) };
  const found = (kind: 'min' | 'max', value: string) => [...matchingRows(dated, [{ kind, attribute: 'at', value }])];
  expect([...matchingRows(dated, [{ kind: 'any', attribute: 'at', values: ['2024-03-14'] }])]).toEqual([0, 1]);
  expect([...matchingRows(dated, [{ kind: 'none', attribute: 'at', values: ['2024-03-14', '1969-12-31'] }])]).toEqual([
    2, 3,
  ]);
  expect([...matchingRows(dated, [{ kind: 'any', attribute: 'at', values: ['2024-03-14T22:30:00.000001'] }])]).toEqual([
    1,
  ]);
  expect(found('min', '2024-03-14T22:30:00.000002')).toEqual([3]);
  expect(found('max', '2024-03-14T23:59:59.999999')).toEqual([0, 1, 4]);
  expect([...sortedRows(Uint32Array.from(texts.keys()), times, true)]).toEqual([3, 1, 0, 4, 2]);
});

test.each(['ulm', 'zur', 'st', 'w', 'gallen', 'lodz', 'nord'])('q=%s finds the beginnings of words', (word) => {
  expect(matching({ kind: 'words', words: [word], scope: 'public' })).toEqual(
    where((row) => words(NAMES[row] ?? '').some((each) => each.startsWith(word))),
  );
});

test.each(['ulm', 'ich', 'sankt gallen', ' ', 'x'])('like=%s finds parts of texts', (needle) => {
  expect(matching({ kind: 'like', attribute: 'name', needle })).toEqual(
    where((row) => fold(NAMES[row] ?? '').includes(needle)),
  );
});

test('names that are the phrase come first, then names that begin with it, each in the given order', () => {
  const all = Uint32Array.from(NAMES.keys());
  expect([...byName(all, name, 'ulm')].slice(0, 2)).toEqual([2, 6]);
  expect([...byName(all, name, 'zurich')].slice(0, 2)).toEqual([0, 1]);
  expect([...byName(all, name, 'st ulm')][0]).toBe(7);
  expect([...byName(all.toReversed(), name, 'x')]).toEqual([...all.toReversed()]);
});

const CONDITIONS: [Predicate, (row: number) => boolean][] = [
  [
    { kind: 'any', attribute: 'name', values: ['ulm', 'zurich'] },
    (row) => ['ulm', 'zurich'].includes(fold(NAMES[row] ?? '')),
  ],
  [{ kind: 'none', attribute: 'name', values: ['ulm'] }, (row) => fold(NAMES[row] ?? '') !== 'ulm'],
  [{ kind: 'any', attribute: 'height', values: [3, 7] }, (row) => [3, 7].includes(HEIGHTS[row] ?? NaN)],
  [{ kind: 'none', attribute: 'height', values: [3] }, (row) => HEIGHTS[row] !== 3],
  [{ kind: 'min', attribute: 'height', value: 1 }, (row) => (HEIGHTS[row] ?? NaN) >= 1],
  [{ kind: 'max', attribute: 'height', value: 1 }, (row) => (HEIGHTS[row] ?? NaN) <= 1],
  [{ kind: 'has', attribute: 'height', present: false }, (row) => HEIGHTS[row] === null],
  [{ kind: 'has', attribute: 'colours', present: true }, (row) => LISTS[row] !== null],
  [{ kind: 'any', attribute: 'colours', values: ['rot'] }, (row) => [0, 3].includes(row)],
  [{ kind: 'like', attribute: 'colours', needle: 'bl' }, (row) => [3, 6].includes(row)],
  [{ kind: 'near', attribute: '', lat: 47, lng: 8, km: 100 }, (row) => [0, 6].includes(row)],
  [{ kind: 'bbox', attribute: '', west: 179, south: 40, east: -179, north: 50 }, (row) => [1, 2].includes(row)],
  [{ kind: 'ids', refs: ['ulm'] }, (row) => NAMES[row] === 'Ulm'],
];
test.each(CONDITIONS)('%j selects its rows', (condition, meaning) => {
  expect(matching(condition)).toEqual(where(meaning));
  expect(matching(condition, { kind: 'has', attribute: 'name', present: true })).toEqual(
    where((row) => meaning(row) && NAMES[row] !== null),
  );
});

test.each([
  [height, HEIGHTS, false],
  [height, HEIGHTS, true],
  [name, NAMES.map((text) => (text === null ? null : fold(text))), false],
  [name, NAMES.map((text) => (text === null ? null : fold(text))), true],
] as const)(
  'rows are sorted, missing values last, ties in the order of the file (%#)',
  (column, values, descending) => {
    const sign = descending ? -1 : 1;
    const expected = [...NAMES.keys()].sort((a, b) => {
      const [x, y] = [values[a]!, values[b]!];
      if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
      return x === y ? 0 : x < y ? -sign : sign;
    });
    expect([...sortedRows(Uint32Array.from(NAMES.keys()), column, descending)]).toEqual(expected);
  },
);

test('points are gathered in cells, and bounded', () => {
  const all = Uint32Array.from(NAMES.keys());
  const points = { lat: lat.values, lng: lng.values };
  const { clusters, total } = gather(all, points, [-180, -60, 180, 84], 36);
  expect(total).toBe(7);
  expect(clusters.reduce((sum, { count }) => sum + count, 0)).toBe(7);
  expect(clusters[0]).toMatchObject({ count: 2, lat: 47.25, lng: 8.25 });
  expect(boundsOf(all, points.lat, points.lng)).toEqual([-179.5, -60, 179.5, 89]);
  expect(boundsOf(new Uint32Array(), points.lat, points.lng)).toBeNull();
});

describe('a file', () => {
  const attribute = (of: string, type: 'string' | 'geo' | 'price') => ({
    ...{ name: of, type, unit: null, description: '', public: true, filterable: true, searchable: false },
  });
  const columns = [attribute('town', 'string'), attribute('place', 'geo'), attribute('cost', 'price')];
  const items = [
    { slug: 'a', name: '=A, "b"', values: ['Ulm', { lat: 1, lng: 2 }, { min: 1, max: 2, currency: 'EUR' }] },
    { slug: 'c', name: 'C', values: [null, null, 3] },
  ];
  const model = { attribution: 'From "us"', pages: 'https://x.example/', geo: 'place' };
  const text = (format: FileFormat) => [...fileParts(format, items, columns, model)].join('');
  test('as CSV executes nothing in a spreadsheet', () => {
    expect(text('csv')).toBe(
      'slug,record,town,place.lat,place.lng,cost.min,cost.max\r\na,"\'=A, ""b""",Ulm,1,2,1,2\r\nc,C,,,,3,3\r\n',
    );
  });
  test('as JSON has the values that exist', () => {
    expect(JSON.parse(text('json'))).toMatchObject({
      attribution: 'From "us"',
      items: [
        { slug: 'a', attributes: { town: 'Ulm' } },
        { slug: 'c', url: 'https://x.example/c', attributes: { cost: 3 } },
      ],
    });
  });
  test('as GeoJSON has points, longitude first', () => {
    const { features } = JSON.parse(text('geojson')) as { features: object[] };
    expect(features[0]).toMatchObject({
      geometry: { type: 'Point', coordinates: [2, 1] },
      properties: { town: 'Ulm' },
    });
    expect(features[1]).toMatchObject({ geometry: null });
    expect(features[0]).not.toHaveProperty('properties.place');
  });
});
