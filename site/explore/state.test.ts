// The explorer's state without a browser: parameters, lists, columns, prices, programs.
import { describe, expect, test } from 'vitest';
import { readQuery, writeQuery } from '../sql/hash.ts';
import type { Model } from './model.ts';
import { LANGUAGES, snippet } from './snippets.ts';
import { callOf, columnsOf, listOf, listText, readState, selectionOf, withValue } from './state.ts';

const attribute = (name: string, type: string, open = true) => ({
  name,
  type,
  unit: null,
  description: '',
  public: open,
});
const model: Model = {
  dataset: 'lamps',
  api: 'https://register.example/v1/lamps',
  pages: '/datasets/lamps/',
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
  ],
  columns: ['town', 'height', 'cost'],
  group_by: 'town',
  prominence: null,
  geo: 'place',
  words: true,
  price: 0.008,
};
const state = (search: string) => readState(search, model);

test('parameters that the API does not know, and empty ones, are left out; the order is fixed', () => {
  expect(String(state('?utm_source=x&limit=3&town=%20&min_height=2&q=a+b&api_key=secret'))).toBe(
    'min_height=2&q=a+b&limit=3',
  );
});

test('records are sorted by prominence where the dataset has one, unless another order is set', () => {
  const known = { ...model, prominence: 'height' };
  expect(callOf(state('?q=bell'), known, false).parameters.get('sort')).toBe('-height');
  expect(callOf(state('?sort=-quality'), known, false).parameters.get('sort')).toBe('-quality');
  expect(callOf(state('?q=bell'), model, false).parameters.has('sort')).toBe(false);
});

test('a new filter resets the cursor, a new cursor keeps the filters', () => {
  const paged = state('?town=ulm&cursor=abc');
  expect(String(withValue(paged, 'min_height', '3'))).not.toContain('cursor');
  expect(String(withValue(paged, 'cursor', 'def'))).toBe('town=ulm&cursor=def');
  expect(String(withValue(state('?town=ulm'), 'town', ''))).toBe('');
});

test('lists are parsed and written with escaped commas', () => {
  for (const values of [['a'], ['a', 'b'], ['Washington, D.C.', 'x\\y', 'z']])
    expect(listOf(listText(values))).toEqual(values);
  expect(listText(['a,b', 'c'])).toBe('a\\,b,c');
  expect(listOf('')).toEqual([]);
});

test('sort, fields, limit and cursor are no selection', () => {
  expect(String(selectionOf(state('?town=ulm&near=1,2,3&q=x&sort=town&fields=town&limit=2&cursor=c')))).toBe(
    'town=ulm&q=x&near=1%2C2%2C3',
  );
});

describe('the call', () => {
  test('without a key requests few public fields and shows the daily quota', () => {
    const call = callOf(state('?town=ulm'), model, false);
    expect(String(call.parameters)).toBe('town=ulm&fields=town%2Cheight%2Cplace&limit=5');
    expect(call).toMatchObject({ price: 'Free: 5 of the 20 free records a day. €0.008 with a key.' });
    expect(call.needs_key).toBeUndefined();
  });
  test.each(['?max_cost=3', '?sort=-cost', '?fields=cost'])('%s takes a key', (search) => {
    expect(callOf(state(search), model, false).needs_key).toEqual(['cost']);
    expect(callOf(state(search), model, true).needs_key).toBeUndefined();
  });
  test('with a key shows all fields and costs the price of a search', () => {
    expect(columnsOf(state(''), model, true)).toEqual(['town', 'height', 'cost']);
    expect(callOf(state(''), model, true)).toMatchObject({
      price: '€0.008 for this call, whatever the number of records.',
    });
  });
});

describe('programs', () => {
  const parameters = new URLSearchParams([['q', `it's "$HOME" \`x\` \\`]]);
  test.each(LANGUAGES)('%s reads the key from a variable', (language) => {
    const text = snippet(language, `${model.api}/entities`, parameters, true);
    expect(text).toContain('REGISTER_KEY');
    expect(snippet(language, `${model.api}/entities`, parameters, false)).not.toContain('REGISTER_KEY');
  });
  test('a value cannot end the string that contains it', () => {
    expect(snippet('curl', 'https://x.example', parameters, false)).toContain(`'q=it'\\''s "$HOME" \`x\` \\'`);
    for (const language of ['TypeScript', 'Python'] as const)
      expect(snippet(language, 'https://x.example', parameters, false)).toContain(JSON.stringify(parameters.get('q')));
  });
});

test('a query in the fragment is read back unchanged', () => {
  for (const sql of ['SELECT 1', 'SELECT \'#&=+%\' AS "a b"\nFROM records -- ü'])
    expect(readQuery(writeQuery(sql))).toBe(sql);
  expect(readQuery('')).toBeNull();
});
