// Input of the questions about the past: defaults, bounds, the split of 400 and 422, times to the
// microsecond.

import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadPack } from '../../packs/define/load.ts';
import { DataError } from '../model/errors.ts';
import type { RawInput } from '../plan/plan.ts';
import { isoMicroseconds } from '../queries/changes.ts';
import {
  batchParameters,
  changelogParameters,
  changesParameters,
  exportParameters,
  factsParameters,
  getParameters,
} from './history-parameters.ts';
import { parameters } from './parameters.ts';
import { representation } from './rows.ts';
import { searchParameters } from './search-parameters.ts';

const now = new Date('2026-11-20T12:00:00Z');
const pack = await loadPack(join(import.meta.dirname, '../../tests/packs/tools'));

/** Code and message of each refusal. */
function refusals(parse: (raw: RawInput) => unknown, inputs: RawInput[]): string[] {
  return inputs.map((raw) => {
    try {
      parse(raw);
    } catch (error) {
      if (error instanceof DataError) return `${error.code} ${error.message}`;
      throw error;
    }
    return `${JSON.stringify(raw)} is taken`;
  });
}

describe('as_of', () => {
  const get = (raw: RawInput) => getParameters.parse(raw, pack, { now });

  test('is a moment up to now, or absent', () => {
    expect(get({ ds: 'tools', entity_id: 'x' })).toEqual({
      entity_id: 'x',
      fields: null,
      names: [],
      as_of: null,
    });
    expect(get({ as_of: '2026-11-20' }).as_of).toBe(Date.parse('2026-11-20T00:00:00Z'));
    expect(get({ as_of: '2026-11-20T13:00:00 01:00' }).as_of).toBe(now.getTime());
    expect(get({ as_of: '2026-03-01', fields: 'price' })).toMatchObject({ fields: ['price.list', 'price.rental'] });
    expect(batchParameters.parse({ ids: 'a,b', as_of: '2026-03-01' }, pack, { now })).toEqual({
      ids: ['a', 'b'],
      fields: null,
      names: [],
      conditions: [],
      as_of: Date.parse('2026-03-01'),
    });
  });

  test('is refused otherwise, together with what else is wrong', () => {
    expect(
      refusals(get, [
        { as_of: '2026-11-20T12:00:00.001Z' },
        { as_of: 'soon' },
        { as_of: ['2026-01-01', '2026-01-02'] },
        { as_of: 'soon', fields: '' },
        { asof: '2026-01-01' },
      ]),
    ).toMatchInlineSnapshot(`
      [
        "validation_failed as_of: must not be in the future",
        "validation_failed as_of: must be an ISO 8601 date or date-time, such as 2026-11-20T00:00:00Z (got "soon")",
        "validation_failed as_of: must be sent once",
        "validation_failed fields: needs at least one value (and 1 more)",
        "unknown_filter "asof" is not a parameter of this operation. Did you mean "as_of"? Write as_of=<time>, such as 2026-11-20T00:00:00Z.",
      ]
    `);
    expect(refusals((raw) => batchParameters.parse(raw, pack, { now }), [{ as_of: 'soon' }])).toMatchInlineSnapshot(`
      [
        "validation_failed ids: is required (and 1 more)",
      ]
    `);
  });
});

describe('facts', () => {
  test('attribute and since', () => {
    expect(factsParameters.parse({ entity_id: 'x' }, pack)).toEqual({
      entity_id: 'x',
      attribute: null,
      since: null,
      names: [],
    });
    expect(
      factsParameters.parse({ entity_id: 'x', attribute: ' mass ', since: '2999-01-01', format: 'md' }, pack),
    ).toEqual({
      entity_id: 'x',
      attribute: 'mass',
      since: Date.parse('2999-01-01'),
      names: ['mass'],
    });
    expect(
      refusals(
        (raw) => factsParameters.parse(raw, pack),
        [
          { attribute: 'mas' },
          { attribute: 'price' },
          { since: '1' },
          { format: 'csv', since: '' },
          { fields: 'mass' },
        ],
      ),
    ).toMatchInlineSnapshot(`
      [
        "invalid_parameter attribute: tools has no attribute "mas". Did you mean "mass"?",
        "invalid_parameter attribute: tools has no attribute "price". price is a group: name one of its members, price.list, price.rental.",
        "validation_failed since: must be an ISO 8601 date or date-time, such as 2026-11-20T00:00:00Z (got "1")",
        "validation_failed since: must be an ISO 8601 date or date-time, such as 2026-11-20T00:00:00Z (got "") (and 1 more)",
        "unknown_filter "fields" is not a parameter of this operation. Did you mean "attribute"? Write attribute=<attribute>.",
      ]
    `);
  });
});

describe('changelog', () => {
  test('defaults and everything given', () => {
    const all = { where: [], words: [], statuses: [], names: [] };
    const plain = {
      days: 30,
      limit: 100,
      offset: 0,
      attributes: null,
      entity: null,
      type: 'all',
      direction: null,
      min_change_percent: null,
      by_day: false,
      ...all,
    };
    expect(changelogParameters.parse({}, pack)).toMatchObject(plain);
    const attribute = 'price.list,mass,price.list';
    const given = { days: '365', limit: '500', offset: '9', attribute, entity: 'X', type: 'CHANGED' };
    const chosen = {
      direction: 'FALL',
      min_change_percent: '2.5',
      by_day: 'true',
      min_runtime: '5',
      ids: 'X',
      q: 'Drill',
    };
    expect(changelogParameters.parse({ ...given, ...chosen }, pack)).toMatchObject({
      ...{ days: 365, limit: 500, offset: 9, attributes: ['price.list', 'mass'], entity: 'X', type: 'changed' },
      ...{
        direction: 'fall',
        min_change_percent: 2.5,
        by_day: true,
        words: ['drill'],
        statuses: [],
        names: ['runtime', 'price.list', 'mass'],
        conditions: ['runtime'],
      },
      where: [
        { kind: 'min', attribute: 'runtime', value: 5 },
        { kind: 'ids', refs: ['x'] },
      ],
    });
  });

  test('a parameter comes before a filter of the same name, and is_ is its filter by value', () => {
    const typed = { ...pack, attributes: [...pack.attributes, { ...pack.attributes[3]!, name: 'type' }] };
    expect(changelogParameters.parse({ type: 'added', not_type: 'hub', is_type: 'saw' }, typed)).toMatchObject({
      type: 'added',
      where: [
        { kind: 'any', attribute: 'type', values: ['saw'] },
        { kind: 'none', attribute: 'type', values: ['hub'] },
      ],
    });
    expect(searchParameters.parse({ type: 'saw' }, typed).where).toEqual([
      { kind: 'any', attribute: 'type', values: ['saw'] },
    ]);
    expect(refusals((raw) => searchParameters.parse(raw, typed), [{ is_type: 'saw' }])).toEqual([
      expect.stringContaining('"is_type" is not a filter'),
    ]);
    expect(refusals((raw) => changelogParameters.parse(raw, typed), [{ type: 'hub' }])).toEqual([
      'validation_failed type: must be one of all, changed, added (got "hub") (is_type=hub filters by the attribute type)',
    ]);
  });

  test('bounds', () => {
    const wrong = [{ days: '0' }, { days: '366' }, { limit: '0' }, { limit: '501' }, { offset: '-1' }, { type: 'new' }];
    expect(
      refusals(
        (raw) => changelogParameters.parse(raw, pack),
        [...wrong, { min_change_percent: '-1' }, { attribute: 'mass,x' }, { entity: ' ' }, { since: '1' }],
      ),
    ).toMatchInlineSnapshot(`
      [
        "validation_failed days: must be between 1 and 365 (got 0)",
        "validation_failed days: must be between 1 and 365 (got 366)",
        "validation_failed limit: must be between 1 and 500 (got 0)",
        "validation_failed limit: must be between 1 and 500 (got 501)",
        "validation_failed offset: must be at least 0 (got -1)",
        "validation_failed type: must be one of all, changed, added (got "new"); did you mean added?",
        "validation_failed min_change_percent: must be at least 0 (got -1)",
        "invalid_parameter attribute: tools has no attribute "x". Known, the nearest first: name, maker, model, kind, status, first_seen, cordless, mass, runtime, materials, workshop, manual, summary, tested_on, domain, price.list, price.rental.",
        "validation_failed entity: must not be empty",
        "unknown_filter "since" is not a filter or parameter of this operation. Did you mean "days"? Write days=<number>: the number of days before today.",
      ]
    `);
    const three = refusals((raw) => changelogParameters.parse(raw, pack), [{ days: 'a', limit: 'b', type: 'c' }]);
    expect(three[0]).toContain('(and 2 more)');
  });
});

describe('changes', () => {
  test('since is required and counts to the microsecond', () => {
    const since = (raw: string) => changesParameters.parse({ since: raw }).since;
    const base = Date.parse('2026-11-20T00:00:00Z') * 1000;
    expect(since('2026-11-20')).toBe(base);
    expect(since('2026-11-20T00:00:00.5Z')).toBe(base + 500_000);
    expect(since('2026-11-20T00:00:00.123456Z')).toBe(base + 123_456);
    expect(since('2026-11-20T00:00:00.123456999Z')).toBe(base + 123_456);
    expect(since('2026-11-20T02:00:00.000001 02:00')).toBe(base + 1);
    expect(since('9999-12-31')).toBe(Number.MAX_SAFE_INTEGER);
    expect(since('0001-01-01')).toBe(Number.MIN_SAFE_INTEGER);
    expect(changesParameters.parse({ since: '2026-11-20' }).limit).toBe(1000);
    expect(changesParameters.parse({ since: '2026-11-20', limit: '10000' }).limit).toBe(10_000);
    expect(
      refusals(changesParameters.parse, [
        {},
        { since: 'then' },
        { since: '2026-11-20', limit: '10001' },
        { since: ['2026', '2027'] },
      ]),
    ).toMatchInlineSnapshot(`
      [
        "validation_failed since: is required",
        "validation_failed since: must be an ISO 8601 date or date-time, such as 2026-11-20T00:00:00Z (got "then")",
        "validation_failed limit: must be between 1 and 10000 (got 10001)",
        "validation_failed since: must be sent once",
      ]
    `);
  });

  test('what next_since says comes back as it was', () => {
    const moment = fc.integer({ min: -9e15, max: 9e15 });
    fc.assert(fc.property(moment, (at) => changesParameters.parse({ since: isoMicroseconds(at) }).since === at));
    expect(isoMicroseconds(-1)).toBe('1969-12-31T23:59:59.999999Z');
  });
});

test('export takes a format of its own, and plain questions none but theirs', () => {
  expect([exportParameters.parse({}), exportParameters.parse({ format: 'Parquet' })]).toEqual([
    { format: 'csv' },
    { format: 'parquet' },
  ]);
  expect(refusals(exportParameters.parse, [{ format: 'xml' }, { format: '' }, { limit: '1' }])).toMatchInlineSnapshot(`
    [
      "validation_failed format: must be one of csv, jsonl, parquet (got "xml")",
      "validation_failed format: must be one of csv, jsonl, parquet (got "")",
      "unknown_filter "limit" is not a parameter of this operation. Its parameters are format.",
    ]
  `);
  const plain = parameters({ format: representation('md') });
  expect(refusals(plain.parse, [{ format: 'json' }, { q: 'x' }])).toMatchInlineSnapshot(`
    [
      "validation_failed format: must be one of md (got "json")",
      "unknown_filter "q" is not a parameter of this operation. Its parameters are format.",
    ]
  `);
});
