// Arguments by name: the same raw input as a query string, in any JSON form.
import { describe, expect, it } from 'vitest';
import { verifies } from '../../tests/support/verifies.ts';
import { dataset_facets } from '../operations/analysis/dataset_facets.ts';
import { entity_get } from '../operations/record/entity_get.ts';
import { entity_search } from '../operations/record/entity_search.ts';
import { readArguments } from './named-arguments.ts';

verifies('table.argument-names', 'table.lists', 'table.filters');

const refused = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was refused');
};

describe('arguments', () => {
  it('bear the names of REST, and dataset and entity_id beside them', () => {
    const read = readArguments(entity_get, { dataset: 'tools', entity_id: 'hammer/1', fields: ['a', 'b'] });
    const { raw, dataset, entity, address } = read;
    expect({ raw, dataset, entity, address }).toEqual({
      raw: { ds: 'tools', entity_id: 'hammer/1', fields: ['a', 'b'] },
      dataset: 'tools',
      entity: 'hammer/1',
      address: '/v1/tools/entities/hammer%2F1?fields=a%2Cb',
    });
  });

  it('take filters as an object or flat, lists or commas, numbers and truths', () => {
    const flat = readArguments(entity_search, { dataset: 'tools', kind: 'saw,plane', max_price: 4, has_url: true });
    const nested = readArguments(entity_search, {
      dataset: 'tools',
      filters: { has_url: true, max_price: 4, kind: 'saw,plane' },
      q: null,
    });
    expect(nested).toEqual(flat);
    expect(flat.raw).toEqual({ ds: 'tools', kind: 'saw,plane', max_price: '4', has_url: 'true' });
  });

  it('keep a comma inside a value of a list', () => {
    expect(readArguments(dataset_facets, { dataset: 'tools', maker: ['Acme, Inc.', 'b'] }).raw['maker']).toEqual([
      'Acme\\, Inc.',
      'b',
    ]);
  });

  it('have the dataset of a tool that has one, and no other', () => {
    expect(readArguments(entity_search, {}, 'tools').dataset).toBe('tools');
    expect(readArguments(entity_search, { dataset: 'tools' }, 'tools').misread).toBeUndefined();
    const other = readArguments(entity_search, { dataset: 'harbours' }, 'tools');
    expect(other).toMatchObject({ dataset: 'tools', misread: { code: 'unknown_filter' } });
  });

  it('are refused without what the path needs, every line named', () => {
    expect(refused(() => readArguments(entity_get, { fields: 'a' }))).toMatchObject({
      code: 'validation_failed',
      message: 'dataset: is required (and 1 more)',
      detail: [
        { loc: ['query', 'dataset'], type: 'missing' },
        { loc: ['query', 'entity_id'], type: 'missing' },
      ],
    });
    expect(refused(() => readArguments(entity_get, ['tools', 'hammer']))).toMatchObject({ code: 'validation_failed' });
    expect(refused(() => readArguments(entity_get, { dataset: ['a', 'b'], entity_id: {} }))).toMatchObject({
      code: 'validation_failed',
    });
  });

  it.each([
    [{ q: { $ne: '' } }, 'q: must be a text, a number, true, false, or a list'],
    [{ ids: [['a']] }, 'ids: must be a text, a number, true, false, or a list'],
    [{ q: 'a', filters: { q: 'b' } }, 'q: must be sent once'],
    [{ filters: { population: null } }, 'population: must not be null'],
    [{ filters: '{"q": null}' }, 'q: must not be null'],
    [{ min_population: null, cursor: null }, 'min_population: must not be null'],
    [{ elevation: { min: null } }, 'elevation[min]: must not be null'],
    [{ filters: { kind: ['saw', null] } }, 'kind: must be a text, a number, true, false, or a list'],
    [{ filters: { kind: {} } }, 'kind: must be a text, a number, true, false, or a list'],
    [{ filters: [] }, 'filters: must be an object'],
    [{ ds: 'harbours' }, '"ds" is not a parameter of this operation.'],
  ])('are misread: %j', (given, message) => {
    const { misread, dataset } = readArguments(entity_search, { dataset: 'tools', ...given });
    expect([dataset, misread?.message]).toEqual(['tools', expect.stringContaining(message)]);
  });

  it('that are null are absent, where they are parameters', () => {
    const nulls = { q: null, fields: null, cursor: null, sort: null, filters: null, near: null, limit: null };
    const { raw, misread } = readArguments(entity_search, { dataset: 'tools', ...nulls });
    expect([raw, misread]).toEqual([{ ds: 'tools' }, undefined]);
  });

  it('cannot reach into prototypes', () => {
    const hostile = JSON.parse('{"dataset":"tools","__proto__":{"q":"x"},"constructor":"y"}');
    const { raw } = readArguments(entity_search, hostile);
    expect(Object.getPrototypeOf(raw)).toBeNull();
    expect(Object.keys(raw)).toEqual(['constructor', 'ds']);
    expect(({} as Record<string, unknown>)['q']).toBeUndefined();
  });
});
