// The viewer's state without a browser: parameters, lists, columns, filters in words, programs.
import { describe, expect, test } from 'vitest';
import { barsOf, spreadText, statsOf, viewCell } from '../../api/pages/viewer-cells.ts';
import type { Model, ModelAttribute } from '../../api/pages/viewer-model.ts';
import {
  addressProblem,
  callOf,
  columnsOf,
  filterText,
  listOf,
  listText,
  pageOf,
  pageProblem,
  paidNames,
  readState,
  selectionOf,
  sortOf,
  withValue,
} from '../../api/pages/viewer-state.ts';
import type { AttributeProfile } from '../../data/queries/profile.ts';
import { type OperationCall, snippet } from '../lib/snippets.ts';

const attribute = (name: string, type: ModelAttribute['type'], open = true): ModelAttribute => ({
  ...{ name, type, unit: null, description: '', public: open, filterable: true, searchable: false },
});
const model: Model = {
  dataset: 'lamps',
  api: 'https://register.example/v1/lamps',
  compare: { path: '/compare/lamps', most: 5 },
  pages: '/datasets/lamps/',
  files: [{ name: 'public.parquet', title: 'Parquet' }],
  land: null,
  records: 3,
  attributes: [
    attribute('town', 'enum'),
    attribute('height', 'number'),
    attribute('place', 'geo'),
    attribute('cost', 'price', false),
  ],
  filters: [
    { name: 'town', attribute: 'town', operator: 'any', type: 'string' },
    { name: 'min_height', attribute: 'height', operator: 'min', type: 'number' },
    { name: 'max_cost', attribute: 'cost', operator: 'max', type: 'number' },
    { name: 'has_cost', attribute: 'cost', operator: 'has', type: 'boolean' },
  ],
  columns: ['town', 'height'],
  choices: {},
  stats: {},
  sort: '-height',
  geo: 'place',
  price: 0.008,
};
const state = (search: string) => readState(search, model);

test('unknown and empty parameters are left out; the order is fixed', () => {
  const search = '?utm_source=x&limit=3&town=%20&min_height=2&q=a+b&api_key=secret';
  expect(String(state(search))).toBe('q=a+b&min_height=2');
});

test.each([
  ['?utm_source=x&town=%20&sort=-height&page=2', null],
  ['?colour=red&size=3', { text: 'Not a filter of this dataset: colour, size.', empty: true }],
  ['?sort=nope', { text: 'The table cannot be sorted by nope; it is sorted by -height.', empty: false }],
  ['?sort=place', { text: 'The table cannot be sorted by place; it is sorted by -height.', empty: false }],
  ['?fields=town,nope', { text: 'Not a column of this dataset: nope.', empty: false }],
  ['?page=x', { text: 'page must be a number from 1 (got "x").', empty: false }],
])('the address %s is reported as %j', (search, expected) => expect(addressProblem(search, model)).toEqual(expected));

test('a page after the last one is reported', () => {
  expect(pageProblem(state('?page=3'), 101)).toBe('');
  expect(pageProblem(state('?page=4'), 101)).toBe('There is no page 4; the last page is 3.');
});

test('another selection or sort is on page 1, other columns are not', () => {
  const paged = state('?town=ulm&page=3');
  expect(String(withValue(paged, 'min_height', '3'))).toBe('town=ulm&min_height=3');
  expect(String(withValue(paged, 'sort', 'town'))).not.toContain('page');
  expect(String(withValue(paged, 'fields', 'town'))).toContain('page=3');
  expect(String(withValue(state('?town=ulm'), 'town', ''))).toBe('');
  expect(['?page=0', '?page=x', '?page=1.5', ''].map((search) => pageOf(state(search)))).toEqual([1, 1, 1, 1]);
  expect(pageOf(paged)).toBe(3);
});

test('a search is sorted by relevance, unless the address names another order', () => {
  const sorts = ['', '?q=x', '?q=x&sort=town', '?q=x&sort=nothing', '?sort=relevance'];
  expect(sorts.map((search) => sortOf(state(search), model))).toEqual([
    '-height',
    'relevance',
    'town',
    'relevance',
    '-height',
  ]);
});

test('lists are parsed and written with escaped commas', () => {
  for (const values of [['a'], ['a', 'b'], ['Washington, D.C.', 'x\\y', 'z']])
    expect(listOf(listText(values))).toEqual(values);
  expect(listText(['a,b', 'c'])).toBe('a\\,b,c');
  expect(listOf('')).toEqual([]);
});

test('sort, columns, page and panels are no selection', () => {
  expect(String(selectionOf(state('?town=ulm&near=1,2,3&q=x&sort=town&fields=town&page=2&map=1&sources=1')))).toBe(
    'q=x&near=1%2C2%2C3&town=ulm',
  );
});

test('columns are those of the address that exist, else the default ones', () => {
  expect(columnsOf(state('?fields=cost,town,cost,nothing'), model)).toEqual(['cost', 'town']);
  expect(columnsOf(state('?fields=nothing'), model)).toEqual(['town', 'height']);
});

test('a filter or sort by a paid attribute needs the API', () => {
  expect(paidNames(state('?town=ulm&fields=cost'), model)).toEqual([]);
  expect(paidNames(state('?max_cost=3&sort=-cost'), model)).toEqual(['cost']);
});

test('the call of a view returns its rows', () => {
  expect(String(callOf(state('?town=ulm&page=2'), model))).toBe('town=ulm&sort=-height&fields=town%2Cheight&limit=50');
});

test.each([
  ['town', 'ulm', 'Town is ulm'],
  ['min_height', '3', 'Height at least 3'],
  ['has_cost', 'false', 'Cost has no value'],
  ['q', 'bell', 'search: bell'],
  ['ids', 'a,b', '2 selected rows'],
])('the filter %s=%s is called "%s"', (name, value, text) => expect(filterText(name, value, model)).toBe(text));

test('the smallest and the largest value of a filter have the unit of its attribute', () => {
  const attributes = model.attributes.map((column) => ({ ...column, unit: column.name === 'height' ? 'm' : null }));
  expect(filterText('min_height', '3', { ...model, attributes })).toBe('Height at least 3 m');
});

describe('the chart of a head', () => {
  const profile: AttributeProfile = {
    name: 'height',
    type: 'integer',
    unit: 'm',
    public: true,
    count: 9,
    fill_rate: 1,
    distinct: 4,
    sources: [],
    freshness: null,
  };
  test('has a bar for each bin, which filters by its whole numbers', () => {
    const stats = statsOf({
      ...profile,
      histogram: [
        { from: 0, to: 5, count: 6 },
        { from: 5, to: 10, count: 3 },
      ],
    });
    const bars = barsOf('height', 'integer', stats);
    expect(bars.map(({ filters }) => filters)).toEqual([
      { min_height: '0', max_height: '4' },
      { min_height: '5', max_height: '9' },
    ]);
    expect(bars[0]).toMatchObject({ x: 0, height: 24, label: '0 to 5: 6 records' });
    expect(spreadText('integer', stats)).toBe('0 to 10');
  });
  test('has a part for each common value, with escaped commas', () => {
    const stats = statsOf({
      ...profile,
      type: 'string',
      top: [
        { value: 'a, b', count: 6 },
        { value: 'c', count: 3 },
      ],
    });
    expect(barsOf('town', 'string', stats).map(({ filters }) => filters)).toEqual([{ town: 'a\\, b' }, { town: 'c' }]);
    expect(spreadText('string', stats)).toBe('4 values');
  });
});

test.each([
  [null, 'number', null, '–'],
  [12345, 'number', 'm', '12,345'],
  [12345, 'integer', null, '12345'],
  [{ lat: 1.23456, lng: -2 }, 'geo', 'degrees', '1.235, -2.000'],
  [{ min: 1, max: 2, currency: 'EUR' }, 'price', 'EUR', '1 to 2'],
  [true, 'boolean', null, 'yes'],
] as const)('the value %j of type %s in %s is shown as %s', (value, type, unit, text) =>
  expect(viewCell(value, { type, unit })).toBe(text),
);

describe('programs', () => {
  const query = { q: `it's "$HOME" \`x\` \\` };
  const call = (keyed: boolean): OperationCall => ({
    ...{ base_url: 'https://x.example', operation: 'entity_search', method: 'GET', path: '/v1/lamps/entities' },
    ...{ query: new URLSearchParams(query), input: query, filters: {}, keyed, tool: true },
  });
  test.each(['curl', 'TypeScript', 'Python'] as const)('%s reads the key from a variable', (language) => {
    expect(snippet(language, call(true))).toContain('REGISTER_KEY');
    expect(snippet(language, call(false))).not.toContain('REGISTER_KEY');
  });
  test('a value cannot end the string that contains it', () => {
    expect(snippet('curl', call(false))).toContain(`'q=it'\\''s "$HOME" \`x\` \\'`);
    for (const language of ['TypeScript', 'Python', 'MCP'] as const)
      expect(snippet(language, call(false))).toContain(JSON.stringify(query.q));
  });
});
