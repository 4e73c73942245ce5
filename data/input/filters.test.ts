// Filters of a dataset: the grammar, what each kind parses to, and what is refused.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadPack } from '../../packs/define/load.ts';
import { verifies } from '../../tests/support/verifies.ts';
import type { DataError } from '../model/errors.ts';
import type { Manifest } from '../model/layout.ts';
import type { RawInput } from '../plan/plan.ts';
import { spellCondition } from '../plan/predicates.ts';
import { filterGrammar, parseFilters } from './filters.ts';

verifies('search.filters-generated', 'filter.unknown', 'error.suggestion', 'shape.schema-filters');

const pack = await loadPack(join(import.meta.dirname, '../../tests/packs/tools'));

const where = (raw: RawInput) => parseFilters(raw, pack, ['q', 'limit']).where;

function refused(raw: RawInput): DataError {
  try {
    where(raw);
  } catch (error) {
    return error as DataError;
  }
  throw new Error('nothing was refused');
}

describe('grammar', () => {
  test('names by type of attribute', () => {
    const names = (attribute: string) =>
      filterGrammar(pack, null).flatMap((entry) =>
        entry.attribute === attribute ? [`${entry.name}: ${entry.type}`] : [],
      );
    expect(names('maker')).toEqual(['maker: string', 'not_maker: string', 'like_maker: string', 'has_maker: boolean']);
    expect(names('runtime')).toEqual([
      'runtime: integer',
      'not_runtime: integer',
      'min_runtime: number',
      'max_runtime: number',
      'has_runtime: boolean',
    ]);
    expect(names('price.list')).toEqual([
      'min_price.list: number',
      'max_price.list: number',
      'has_price.list: boolean',
    ]);
    expect(names('materials')).toEqual([
      'materials: string',
      'not_materials: string',
      'like_materials: string',
      'has_materials: boolean',
    ]);
    expect(names('workshop')).toEqual(['has_workshop: boolean']);
    expect(names('tested_on')).toEqual([
      'tested_on: date',
      'not_tested_on: date',
      'min_tested_on: date',
      'max_tested_on: date',
      'has_tested_on: boolean',
    ]);
    expect(names('summary')).toEqual(['like_summary: string', 'has_summary: boolean']);
    expect(names('manual'), 'not filterable').toEqual([]);
  });

  test('every name is unique and every sentence names its attribute', () => {
    const entries = filterGrammar(pack, null);
    expect(new Set(entries.map(({ name }) => name)).size).toBe(entries.length);
    for (const { description, attribute } of entries) expect(description).toContain(attribute);
  });

  test('values come from the closed list, or from the release for public attributes only', () => {
    const manifest = { enums: { maker: ['Acme'], domain: ['secret.example'] } } as unknown as Manifest;
    const values = (name: string) => filterGrammar(pack, manifest).find((entry) => entry.name === name)?.values;
    expect(values('status')).toEqual(pack.attributes.find(({ name }) => name === 'status')?.values);
    expect(values('not_maker')).toEqual(['Acme']);
    expect(values('like_maker')).toBeUndefined();
    expect(values('domain')).toBeUndefined();
  });
});

describe('parsing', () => {
  test('texts are folded, lists split, repeats added', () => {
    expect(where({ maker: 'Zürich Tools,ACME' })).toEqual([
      { kind: 'any', attribute: 'maker', values: ['acme', 'zurich tools'] },
    ]);
    expect(where({ maker: ['a', 'b\\,c'] })).toEqual([{ kind: 'any', attribute: 'maker', values: ['a', 'b,c'] }]);
    expect(where({ not_materials: 'Steel' })).toEqual([{ kind: 'none', attribute: 'materials', values: ['steel'] }]);
    expect(where({ like_name: ' ÉTAU ' })).toEqual([{ kind: 'like', attribute: 'name', needle: 'etau' }]);
  });

  test('numbers, dates, booleans and presence are typed', () => {
    expect(where({ runtime: '3,4' })).toEqual([{ kind: 'any', attribute: 'runtime', values: [3, 4] }]);
    expect(where({ 'min_price.list': '1.5' })).toEqual([{ kind: 'min', attribute: 'price.list', value: 1.5 }]);
    expect(where({ max_tested_on: '2026-01-31' })).toEqual([
      { kind: 'max', attribute: 'tested_on', value: '2026-01-31' },
    ]);
    expect(where({ cordless: 'TRUE' })).toEqual([{ kind: 'any', attribute: 'cordless', values: [true] }]);
    expect(where({ has_workshop: 'false' })).toEqual([{ kind: 'has', attribute: 'workshop', present: false }]);
  });

  test('a condition is spelled as the parameter that parses to it', () => {
    const raw = { maker: 'ACME,Zürich Tools', not_materials: 'steel', like_name: 'vise', 'min_price.list': '1.5' };
    const conditions = where({ ...raw, max_tested_on: '2026-01-31', has_workshop: 'false' });
    const spelled = conditions.map((condition) => spellCondition(condition, (text) => text));
    expect(where(Object.fromEntries(new URLSearchParams(spelled.join('&'))))).toEqual(conditions);
    expect(spelled).toContain('maker=acme,zurich tools');
  });

  test('the same question is the same plan, in whatever order it is asked', () => {
    const asked = where({ min_mass: '1', maker: 'b,a' });
    expect(where({ maker: ['a', 'b'], min_mass: '1.0' })).toEqual(asked);
  });

  test('names the attributes, not the parameters', () =>
    expect(parseFilters({ min_mass: '1', max_mass: '2', maker: 'a' }, pack).names).toEqual(['maker', 'mass']));
});

describe('refusals', () => {
  test.each([
    [{ makr: 'a' }, `"makr" is not a filter or parameter of this operation. Did you mean "maker"?`],
    [{ limt: 'a' }, `"limt" is not a filter or parameter of this operation. Did you mean "limit"?`],
    [
      { min_maker: 'a' },
      `"min_maker" is not a filter. Filters of maker (enum): maker, not_maker, like_maker, has_maker. Did you mean "maker"?`,
    ],
    [{ manual: 'a' }, `"manual" is not a filter: manual cannot be filtered.`],
    [{ 'price.list': '5' }, `"price.list" is not a filter. Filters of price.list (price): `],
    [{ summary: 'x' }, `"summary" is not a filter. Filters of summary (text): like_summary, has_summary`],
    [{ constructor: 'x' }, `"constructor" is not a filter`],
    [JSON.parse('{"__proto__": "x"}') as RawInput, `"__proto__" is not a filter`],
    [{ [`maker\0`]: 'x' }, `"maker�" is not a filter`],
    [{ ['x'.repeat(100_000)]: 'x' }, `…" is not a filter`],
  ])('unknown %#', (raw, message) => {
    const error = refused(raw);
    expect(error.code).toBe('unknown_filter');
    expect(error.message).toContain(message);
    expect(error.message.length).toBeLessThan(300);
  });

  test('every wrong value has its line', () => {
    const error = refused({ min_mass: 'heavy', tested_on: '2026-02-30', cordless: 'maybe', maker: '' });
    expect(error.code).toBe('validation_failed');
    const issues = [
      ['cordless', 'maybe', 'must be true or false (got "maybe")', 'bool_parsing'],
      ['maker', '', 'needs at least one value', 'too_short'],
      ['min_mass', 'heavy', 'must be a number of kg (got "heavy")', 'float_parsing'],
      ['tested_on', '2026-02-30', 'must be a date, YYYY-MM-DD (got "2026-02-30")', 'date_parsing'],
    ].map(([name, input, msg, type]) => ({ loc: ['query', name], input, msg, type }));
    expect(error.detail).toEqual(issues);
  });

  test.each(['min_mass', 'like_name', 'has_maker'])('%s given twice', (name) => {
    expect(refused({ [name]: ['1', '2'] }).message).toBe(`${name}: must be sent once`);
  });

  test.each([
    ['a text that folds to nothing', { like_name: '\u0301' }],
    ['a value with NUL', { maker: 'a\0' }],
    ['a huge value', { maker: 'x'.repeat(10_000) }],
    ['a word for a whole number', { runtime: '1.5' }],
  ])('%s', (_, raw) => expect(refused(raw).code).toBe('validation_failed'));
});
