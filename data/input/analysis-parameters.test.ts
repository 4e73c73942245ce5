// Input of similar, compare, statistics and time series: defaults, bounds, the split of 400 and 422, names
// for the gate.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadPack } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';
import { verifies } from '../../tests/support/verifies.ts';
import { DataError } from '../model/errors.ts';
import type { RawInput } from '../plan/plan.ts';
import { compareParameters, similarParameters, statsParameters, timeseriesParameters } from './analysis-parameters.ts';

verifies('similar.limit', 'similar.fields', 'stats.attribute', 'timeseries.attribute', 'timeseries.days');
verifies('timeseries.step', 'compare.ids', 'compare.attribute', 'limit.similar', 'limit.compare', 'limit.timeseries');
verifies('error.400-attribute', 'error.400-statistics');

const pack = await loadPack(join(import.meta.dirname, '../../tests/packs/tools'));
const harbours = await loadPack(join(import.meta.dirname, '../../tests/packs/harbours'));

/** Status, code and message of each refusal. */
function refusals(parse: (raw: RawInput, pack: Pack) => unknown, inputs: RawInput[]): string[] {
  return inputs.map((raw) => {
    try {
      parse(raw, pack);
    } catch (error) {
      if (error instanceof DataError)
        return `${error.code === 'validation_failed' ? 422 : 400} ${error.code} ${error.message}`;
      throw error;
    }
    return `${JSON.stringify(raw)} is taken`;
  });
}

describe('similar', () => {
  test('defaults, the pack decides what differs', () => {
    expect(similarParameters.parse({ entity_id: 'x' }, pack)).toEqual({
      entity_id: 'x',
      where: [],
      words: [],
      text: '',
      statuses: [],
      names: [],
      // A record without common words is left out.
      conditions: ['name', 'maker', 'model', 'materials', 'summary'],
      limit: 10,
      differ_by: 'maker',
      fields: null,
    });
    expect(similarParameters.parse({}, harbours).differ_by).toBeNull();
  });

  test('takes fields, differ_by and everything that selects', () => {
    const raw = {
      entity_id: 'x',
      limit: '100',
      differ_by: 'kind',
      fields: 'name,price',
      q: 'saw',
      min_mass: '2',
      ds: 'tools',
    };
    expect(similarParameters.parse(raw, pack)).toEqual({
      entity_id: 'x',
      where: [{ kind: 'min', attribute: 'mass', value: 2 }],
      words: ['saw'],
      text: 'saw',
      statuses: [],
      names: ['mass', 'name', 'price.list', 'kind'],
      conditions: ['mass', 'name', 'maker', 'model', 'materials', 'summary', 'kind'],
      limit: 100,
      differ_by: 'kind',
      fields: ['name', 'price.list', 'price.rental'],
    });
  });

  test('refuses', () => {
    const wrong = [
      { limit: '0' },
      { limit: '101' },
      { limit: 'many' },
      { differ_by: 'colour' },
      { differ_by: 'materials' },
      { differ_by: 'price.list' },
      { differ_by: '' },
      { fields: 'colour' },
      { sort: 'name' },
      { cursor: 'x' },
      { format: 'csv' },
      { limit: '0', format: 'xml' },
    ];
    expect(refusals(similarParameters.parse, wrong)).toMatchInlineSnapshot(`
      [
        "422 validation_failed limit: must be between 1 and 100 (got 0)",
        "422 validation_failed limit: must be between 1 and 100 (got 101)",
        "422 validation_failed limit: must be a whole number between 1 and 100 (got "many")",
        "400 invalid_parameter differ_by: tools has no attribute "colour". Known, the nearest first: maker, name, model, kind, status, first_seen, cordless, mass, runtime, manual, summary, tested_on, domain.",
        "400 invalid_parameter differ_by: materials (strings) is not an attribute with a single plain value.",
        "400 invalid_parameter differ_by: price.list (price) is not an attribute with a single plain value.",
        "422 validation_failed differ_by: must not be empty",
        "400 invalid_parameter fields: tools has no attribute "colour". Known, the nearest first: maker, name, model, kind, status, first_seen, cordless, mass, runtime, materials, workshop, manual, summary, tested_on, domain, price.list, price.rental.",
        "400 unknown_filter "sort" is not a filter or parameter of this operation. Known, the nearest first: format, limit, differ_by, fields, q, filter, filter-lang, match, near, bbox, ids, updated_since, min_quality, provenance_status, as_of, name, maker, model, kind, status, first_seen, cordless, mass, runtime, materials, tested_on, domain, summary, price.list, price.rental, workshop.",
        "400 unknown_filter "cursor" is not a filter or parameter of this operation. Known, the nearest first: maker, limit, differ_by, fields, q, filter, filter-lang, match, near, bbox, ids, updated_since, min_quality, provenance_status, as_of, format, name, model, kind, status, first_seen, cordless, mass, runtime, materials, tested_on, domain, summary, price.list, price.rental, workshop.",
        "422 validation_failed format: must be one of json, md (got "csv")",
        "422 validation_failed limit: must be between 1 and 100 (got 0) (and 1 more)",
      ]
    `);
  });
});

describe('statistics', () => {
  test('without, with one and with two keys', () => {
    expect(statsParameters.parse({ attribute: 'mass' }, pack)).toEqual({
      where: [],
      words: [],
      text: '',
      statuses: [],
      names: ['mass'],
      attributes: ['mass'],
      group_by: [],
      order: '-count',
      limit: 1000,
      having_min_count: 1,
      buckets: null,
    });
    const several = { attribute: 'mass,runtime', order: '-MEDIAN', limit: '10', having_min_count: '3', buckets: '50' };
    expect(statsParameters.parse(several, pack)).toMatchObject({
      names: ['mass', 'runtime'],
      attributes: ['mass', 'runtime'],
      order: '-median',
      ...{ limit: 10, having_min_count: 3, buckets: 50 },
    });
    expect(
      statsParameters.parse({ attribute: ' runtime ', group_by: 'kind , materials', kind: 'Saw' }, pack),
    ).toMatchObject({
      where: [{ kind: 'any', attribute: 'kind', values: ['saw'] }],
      names: ['kind', 'runtime', 'materials'],
      attributes: ['runtime'],
      group_by: ['kind', 'materials'],
    });
    expect(statsParameters.parse({ attribute: 'mass', group_by: ['kind', 'maker'] }, pack).group_by).toEqual([
      'kind',
      'maker',
    ]);
  });

  test('refuses', () => {
    const wrong = [
      {},
      { attribute: '' },
      { attribute: ['mass', 'colour'] },
      { attribute: 'colour' },
      { attribute: 'name' },
      { attribute: 'price' },
      { attribute: 'mass', group_by: '' },
      { attribute: 'mass', group_by: 'colour' },
      { attribute: 'mass', group_by: 'summary' },
      { attribute: 'mass', group_by: 'price.list' },
      { attribute: 'mass', group_by: 'manual' },
      { attribute: 'mass', group_by: 'kind,kind' },
      { attribute: 'mass', group_by: 'kind,maker,name' },
      { attribute: 'mass', grop_by: 'kind' },
      { attribute: 'mass', limit: '1001' },
      { attribute: 'mass', order: 'count desc' },
      { attribute: 'mass', having_min_count: '0' },
      { attribute: 'mass', buckets: '1' },
      { attribute: 'mass', buckets: '51' },
    ];
    expect(refusals(statsParameters.parse, wrong)).toMatchInlineSnapshot(`
      [
        "422 validation_failed attribute: is required",
        "422 validation_failed attribute: needs at least one value",
        "400 invalid_parameter attribute: tools has no attribute "colour". Known, the nearest first: mass, runtime, price.list, price.rental.",
        "400 invalid_parameter attribute: tools has no attribute "colour". Known, the nearest first: mass, runtime, price.list, price.rental.",
        "400 invalid_parameter attribute: name (string) is not numeric; choose one of mass, runtime, price.list, price.rental.",
        "400 invalid_parameter attribute: tools has no attribute "price". price is a group: name one of its members, price.list, price.rental.",
        "422 validation_failed group_by: needs at least one value",
        "400 invalid_parameter group_by: tools has no attribute "colour". Known, the nearest first: maker, name, model, kind, status, first_seen, cordless, mass, runtime, materials, tested_on, domain.",
        "400 invalid_parameter group_by: summary (text) cannot be counted or grouped by; choose one of name, maker, model, kind, status, first_seen, cordless, mass, runtime, materials, tested_on, domain.",
        "400 invalid_parameter group_by: price.list (price) cannot be counted or grouped by; choose one of name, maker, model, kind, status, first_seen, cordless, mass, runtime, materials, tested_on, domain.",
        "400 invalid_parameter group_by: manual (url) cannot be counted or grouped by; choose one of name, maker, model, kind, status, first_seen, cordless, mass, runtime, materials, tested_on, domain.",
        "400 invalid_parameter group_by: contains the same attribute twice.",
        "400 invalid_parameter group_by: must have at most 2 attributes here.",
        "400 unknown_filter "grop_by" is not a filter or parameter of this operation. Did you mean "group_by"? Write group_by=<attribute>.",
        "422 validation_failed limit: must be between 1 and 1000 (got 1001)",
        "422 validation_failed order: must be one of -count, count, -sum, sum, -median, median, -min, min, -max, max, -mean, mean (got "count desc")",
        "422 validation_failed having_min_count: must be at least 1 (got 0)",
        "422 validation_failed buckets: must be between 2 and 50 (got 1)",
        "422 validation_failed buckets: must be between 2 and 50 (got 51)",
      ]
    `);
  });
});

describe('time series', () => {
  test('defaults and everything given', () => {
    expect(timeseriesParameters.parse({ attribute: 'price.list' }, pack)).toMatchObject({
      attribute: 'price.list',
      group_by: null,
      days: 90,
      step: 'day',
      names: ['price.list'],
    });
    const raw = { attribute: 'mass', group_by: 'kind', days: '366', step: 'Week', near: '1,2,3' };
    expect(timeseriesParameters.parse(raw, pack)).toMatchObject({ group_by: 'kind', days: 366, step: 'week' });
  });

  test('refuses', () => {
    const wrong = [
      {},
      { attribute: 'kind' },
      { attribute: 'mass', days: '0' },
      { attribute: 'mass', days: '400' },
      { attribute: 'mass', days: '1.5' },
      { attribute: 'mass', step: 'month' },
      { attribute: 'mass', group_by: 'kind,maker' },
      { attribute: 'mass', group_by: 'workshop' },
      { days: '0', step: 'x' },
    ];
    expect(refusals(timeseriesParameters.parse, wrong)).toMatchInlineSnapshot(`
      [
        "422 validation_failed attribute: is required",
        "400 invalid_parameter attribute: kind (enum) is not numeric; choose one of mass, runtime, price.list, price.rental.",
        "422 validation_failed days: must be between 1 and 366 (got 0)",
        "422 validation_failed days: must be between 1 and 366 (got 400)",
        "422 validation_failed days: must be a whole number between 1 and 366 (got "1.5")",
        "422 validation_failed step: must be one of day, week (got "month")",
        "400 invalid_parameter group_by: must have one attribute here.",
        "400 invalid_parameter group_by: workshop (geo) cannot be counted or grouped by; choose one of name, maker, model, kind, status, first_seen, cordless, mass, runtime, materials, tested_on, domain.",
        "422 validation_failed attribute: is required (and 2 more)",
      ]
    `);
  });
});

describe('a comparison', () => {
  test('takes ids, one column and everything that selects', () => {
    expect(compareParameters.parse({ ids: 'A,b, a' }, pack)).toEqual({
      where: [],
      words: [],
      text: '',
      statuses: [],
      names: [],
      conditions: [],
      ids: ['A', 'b', 'a'],
      columns: pack.compare,
    });
    expect(compareParameters.parse({ ids: ['a', 'b'], attribute: 'mass', has_mass: 'true' }, pack)).toMatchObject({
      where: [{ kind: 'has', attribute: 'mass', present: true }],
      names: ['mass'],
      conditions: ['mass'],
      ids: ['a', 'b'],
      columns: ['mass'],
    });
  });

  test('refuses', () => {
    const wrong = [
      {},
      { ids: ' , ' },
      { ids: 'a,b,c,d,e,f' },
      { ids: ['a,b,c', 'd,e,f'] },
      { ids: 'a', attribute: 'colour' },
      { ids: 'a', attribute: 'name' },
      { ids: 'a', fields: 'name' },
      { ids: 'a', min_mass: 'heavy' },
    ];
    expect(refusals(compareParameters.parse, wrong)).toMatchInlineSnapshot(`
      [
        "422 validation_failed ids: is required",
        "422 validation_failed ids: needs at least one value",
        "400 too_many_ids ids: must have at most 5 entries (got 6).",
        "400 too_many_ids ids: must have at most 5 entries (got 6).",
        "400 invalid_parameter attribute: tools has no attribute "colour". Known, the nearest first: status, kind, cordless, mass, runtime, price.list, price.rental.",
        "400 invalid_parameter attribute: name is not compared; choose one of price.list, price.rental, kind, mass, runtime, cordless, status.",
        "400 unknown_filter "fields" is not a filter or parameter of this operation. Did you mean "attribute"? Write attribute=<attribute>.",
        "422 validation_failed min_mass: must be a number of kg (got "heavy")",
      ]
    `);
  });
});
