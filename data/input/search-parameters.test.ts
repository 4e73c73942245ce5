// Search, facets, get and batch input: defaults, the split of 400 and 422, names for the gate, fields and
// groups.
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadPack } from '../../packs/define/load.ts';
import { cursors } from '../../tests/support/cursors.ts';
import { verifies } from '../../tests/support/verifies.ts';
import { DataError } from '../model/errors.ts';
import type { RawInput } from '../plan/plan.ts';
import { batchParameters, getParameters } from './history-parameters.ts';
import { facetsParameters, searchParameters } from './search-parameters.ts';
import { questionOf } from './selection.ts';

verifies('search.limit-default', 'search.limit-json', 'search.limit-rows', 'limit.search-page', 'error.400-limit');
verifies('facets.by', 'facets.limit', 'limit.facets', 'batch.limit', 'limit.batch', 'error.422-values');
verifies('error.400-names', 'search.format', 'search.bbox-malformed', 'search.sort-distance-near');

const pack = await loadPack(join(import.meta.dirname, '../../tests/packs/tools'));

/** Code and message of the refusal. */
function refusal(parse: () => unknown): string {
  try {
    parse();
  } catch (error) {
    if (error instanceof DataError) return `${error.code} ${error.message}`;
    throw error;
  }
  throw new Error('nothing was refused');
}

test('the defaults', () => {
  expect(searchParameters.parse({}, pack)).toEqual({
    bom: false,
    where: [],
    words: [],
    text: '',
    statuses: [],
    names: [],
    conditions: [],
    sort: { key: 'quality', descending: true },
    ordered: false,
    cursor: null,
    limit: 20,
    group: null,
    fields: null,
    total: false,
    format: 'json',
  });
  expect(facetsParameters.parse({ by: 'maker' }, pack)).toEqual({
    where: [],
    words: [],
    text: '',
    statuses: [],
    names: ['maker'],
    conditions: [],
    by: ['maker'],
    limit: 50,
  });
  expect(getParameters.parse({}, pack)).toEqual({ entity_id: '', fields: null, names: [], as_of: null });
});

test('everything at once', () => {
  const raw = {
    ds: 'tools',
    q: 'Säge 2000 säge',
    near: '47.4, 8.5, 20',
    sort: '-price.list',
    limit: '100',
    fields: 'name,price',
    total: 'true',
    ids: 'B-1,a-2',
    updated_since: '2026-01-01',
    min_quality: '0.5',
    cordless: 'true',
  };
  expect(searchParameters.parse(raw, pack)).toEqual({
    bom: false,
    cursor: null,
    fields: ['name', 'price.list', 'price.rental'],
    format: 'json',
    limit: 100,
    group: null,
    names: ['cordless', 'workshop', 'price.list', 'name'],
    conditions: ['cordless', 'workshop'],
    ordered: true,
    sort: { descending: true, key: 'price.list' },
    statuses: [],
    text: 'sage 2000 sage',
    total: true,
    where: [
      { attribute: 'cordless', kind: 'any', values: [true] },
      { attribute: 'workshop', kind: 'near', km: 20, lat: 47.4, lng: 8.5 },
      { kind: 'ids', refs: ['a-2', 'b-1'] },
      { at: Date.parse('2026-01-01'), kind: 'updated_since' },
      { kind: 'min_quality', value: 0.5 },
    ],
    words: ['2000', 'sage'],
  });
});

describe('422: the wrong type, outside the bounds, repeated or missing', () => {
  test.each<[string, RawInput]>([
    ['limit: must be between 1 and 1000 (got 0)', { limit: '0' }],
    ['limit: must be between 1 and 1000 (got 1001)', { limit: '1001' }],
    ['limit: must be a whole number', { limit: 'ten' }],
    ['limit: must be sent once', { limit: ['1', '2'] }],
    ['total: must be true or false', { total: 'yes' }],
    ['format: must be one of json, md, csv, ndjson, arrow', { format: 'xml' }],
    ['updated_since: must be an ISO 8601 date', { updated_since: 'soon' }],
    ['min_quality: must be between 0 and 1', { min_quality: '80' }],
    ['q: must not be empty', { q: '' }],
    ['q: must contain a word', { q: '!?' }],
    ['q: must have at most 500 characters', { q: 'x'.repeat(501) }],
    ['q: must have at most 16 different words', { q: Array.from({ length: 17 }, (_, i) => `w${i}`).join(' ') }],
    ['q: must be sent once', { q: ['a', 'b'] }],
    ['q: must be well-formed', { q: 'a\0' }],
    ['sort: must be sent once', { sort: ['name', 'mass'] }],
    ['ids: needs at least one value', { ids: ',' }],
    ['fields: needs at least one value', { fields: '' }],
  ])('%s', (message, raw) =>
    expect(refusal(() => searchParameters.parse(raw, pack))).toContain(`validation_failed ${message}`),
  );

  test('facets need by; batch needs ids', () => {
    expect(refusal(() => facetsParameters.parse({}, pack))).toBe('validation_failed by: is required');
    expect(refusal(() => batchParameters.parse({}, pack))).toBe('validation_failed ids: is required');
    expect(refusal(() => facetsParameters.parse({ by: 'maker', limit: '201' }, pack))).toContain(
      'limit: must be between 1 and 200',
    );
  });

  test('filters and parameters are told together', () =>
    expect(refusal(() => searchParameters.parse({ limit: 'x', min_mass: 'y' }, pack))).toContain('(and 1 more)'));
});

describe('400: a name or combination that this dataset does not allow', () => {
  test.each<[string, RawInput]>([
    ['unknown_filter "country"', { country: 'x' }],
    ['unknown_filter "by"', { by: 'maker' }],
    ['invalid_parameter sort: tools has no attribute "pirce.list". Did you mean "price.list"?', { sort: 'pirce.list' }],
    ['invalid_parameter sort: materials (strings) has no order', { sort: 'materials' }],
    ['invalid_parameter sort: relevance is the order by the words of q. Add q', { sort: 'relevance' }],
    ['invalid_parameter sort: relevance has one direction', { sort: '-relevance', q: 'saw' }],
    ['Did you mean "relevance"?', { sort: 'relevence', q: 'saw' }],
    ['invalid_parameter sort: workshop (geo) has no order; near=', { sort: '-workshop' }],
    ['invalid_parameter sort: distance needs a point; add near=', { sort: 'distance' }],
    ['invalid_parameter sort: distance has one direction, nearest first', { sort: '-distance', near: '0,0,1' }],
    ['Did you mean "distance"?', { sort: 'proximity', near: '0,0,1' }],
    ['Did you mean "distance"?', { sort: '-distanse', near: '0,0,1' }],
    ['Did you mean "distance"?', { sort: 'distance asc', near: '0,0,1' }],
    ['invalid_parameter fields: tools has no attribute "colour"', { fields: 'name,colour' }],
    ['invalid_parameter near: must be "lat,lng,km"', { near: '1,2' }],
    ['invalid_parameter near: ', { near: '91,0,1' }],
    ['invalid_parameter near: ', { near: '0,181,1' }],
    ['invalid_parameter near: ', { near: '0,0,-1' }],
    ['invalid_parameter near: ', { near: '0,0,Infinity' }],
    ['invalid_parameter near: ', { near: 'a,b,c' }],
    ['invalid_parameter near: ', { near: '' }],
    ['invalid_parameter bbox: must be "west,south,east,north"', { bbox: '1,2,3' }],
    ['Did you mean bbox=5.9,45.8,10.5,47.8?', { bbox: '5.9 45.8 10.5 47.8' }],
    ['Did you mean bbox=-10,45.8,10.5,47.8?', { bbox: '[[-10, 45.8], [10.5, 47.8]]' }],
    ['5.9,45.8,10.5,47.8 (got "1,2,3,4,5,6"; degrees).', { bbox: '1,2,3,4,5,6' }],
    ['bbox: must be "west,south,east,north"', { bbox: '5W,2S,3E,4N' }],
    ['bbox: must be "west,south,east,north"', { bbox: 'Fiji' }],
    ['bbox: must be "west,south,east,north"', { bbox: '0,0,1,Infinity' }],
    ['bbox: must be "west,south,east,north"', { bbox: '' }],
    [
      'bbox: the south edge must not be north of the north edge (got 2 and 1). Did you mean bbox=0,1,3,2?',
      { bbox: '0,2,3,1' },
    ],
    [
      'bbox: the latitudes must be between -90 and 90 (got 139.6 and 139.9). The order is west,south,east,north: did you mean bbox=139.6,35.5,139.9,35.8?',
      { bbox: '35.5,139.6,35.8,139.9' },
    ],
    ['bbox: the latitudes must be between -90 and 90 (got -91 and 0).', { bbox: '0,-91,1,0' }],
    ['bbox: the longitudes must be between -180 and 180 (got 170 and 190).', { bbox: '170,0,190,1' }],
    ['too_many_ids ids: must have at most 100', { ids: Array.from({ length: 101 }, (_, i) => `r${i}`).join(',') }],
    ['invalid_parameter limit: at most 100 in json, md and geojson', { limit: '101' }],
    ['invalid_parameter limit: at most 100', { limit: '1000', format: 'md' }],
    ['invalid_cursor cursor: this is not', { cursor: 'abc' }],
  ])('%s', (message, raw) => expect(refusal(() => searchParameters.parse(raw, pack))).toContain(message));

  test('places without geography, or with two places to choose from', () => {
    const without = { ...pack, attributes: pack.attributes.filter(({ type }) => type !== 'geo') };
    const geo = pack.attributes.find(({ type }) => type === 'geo')!;
    const two = { ...pack, attributes: [...pack.attributes, { ...geo, name: 'branch' }] };
    for (const raw of [{ near: '0,0,1' }, { bbox: '0,0,1,1' }]) {
      const [name] = Object.keys(raw);
      expect(refusal(() => searchParameters.parse(raw, without))).toContain(
        `invalid_parameter ${name}: tools has no geographic attribute`,
      );
      expect(refusal(() => searchParameters.parse(raw, two))).toContain('has more than one geographic attribute');
    }
    expect(refusal(() => searchParameters.parse({ bounds: '0,0,1,1' }, without))).not.toContain('bbox');
  });

  test('facets by what cannot be counted', () => {
    for (const by of ['summary', 'workshop', 'price.list', 'manual'])
      expect(refusal(() => facetsParameters.parse({ by }, pack))).toContain(`invalid_parameter by: ${by}`);
    expect(refusal(() => facetsParameters.parse({ by: 'makr' }, pack))).toContain('Did you mean "maker"?');
    expect(refusal(() => facetsParameters.parse({ by: 'maker', sort: 'name' }, pack))).toContain(
      'unknown_filter "sort"',
    );
  });

  test('get and batch take no filters', () => {
    expect(refusal(() => getParameters.parse({ maker: 'x' }, pack))).toBe(
      'unknown_filter "maker" is not a parameter of this operation. Its parameters are fields, as_of, format.',
    );
    expect(refusal(() => batchParameters.parse({ ids: 'a', q: 'x' }, pack))).toContain('unknown_filter "q"');
  });
});

test('a thousand records a page only where the format allows', () => {
  expect(searchParameters.parse({ limit: '1000', format: 'csv' }, pack).limit).toBe(1000);
  expect(searchParameters.parse({ limit: '1000' }, pack, { format: 'ndjson' }).limit).toBe(1000);
  expect(refusal(() => searchParameters.parse({ limit: '101' }, pack, { format: 'markdown' }))).toContain(
    'at most 100',
  );
});

test('a group selects its attributes and names its public ones', () => {
  const { fields, names } = searchParameters.parse({ fields: 'price,name' }, pack);
  expect(fields).toEqual(['name', 'price.list', 'price.rental']);
  expect(names).toEqual(['price.list', 'name']);
  expect(searchParameters.parse({ fields: 'price.rental' }, pack).names).toEqual(['price.rental']);
});

test.each([
  ['0,1,2,3', { west: 0, south: 1, east: 2, north: 3 }],
  [' -10.5 , -90 , +10 , 90 ', { west: -10.5, south: -90, east: 10, north: 90 }],
  ['170,-20,-170,-10', { west: 170, south: -20, east: -170, north: -10 }],
  ['1,2,1,2', { west: 1, south: 2, east: 1, north: 2 }],
])('the box %j', (bbox, edges) => {
  const input = searchParameters.parse({ bbox }, pack);
  expect(input.where).toEqual([{ kind: 'bbox', attribute: 'workshop', ...edges }]);
  expect(input.names).toEqual(['workshop']);
});

test('places have the notation of every other number', () => {
  const parsed = (raw: RawInput) => searchParameters.parse(raw, pack).where[0];
  for (const [text, value] of [
    ['-1e-7', -1e-7],
    ['+1.5E1', 15],
    ['.5e0', 0.5],
    ['5.', 5],
    ['-0', 0],
  ] as const) {
    expect(parsed({ near: `${text},${text}, ${Math.abs(value)}` })).toMatchObject({ lat: value, lng: value });
    expect(parsed({ bbox: `${text},${text},180,90` })).toMatchObject({ west: value, south: value });
    expect(parsed({ min_mass: text })).toMatchObject({ value });
  }
  for (const text of ['0x1', '1e', '1e99999', '1e400', 'Infinity', '1_0', '', ' ', '1 2'])
    for (const raw of [{ near: `${text},1,1` }, { bbox: `${text},1,2,2` }, { min_mass: text }])
      expect(() => parsed(raw), JSON.stringify(raw)).toThrow();
});

test('distance is measured from near, and is no key without geography', () => {
  const { sort, names, ordered } = searchParameters.parse({ near: '47,8.5,20', sort: 'distance' }, pack);
  expect(sort).toEqual({
    key: 'distance',
    descending: false,
    distance: { attribute: 'workshop', lat: 47, lng: 8.5 },
  });
  expect([names, ordered]).toEqual([['workshop'], true]);
  const without = { ...pack, attributes: pack.attributes.filter(({ type }) => type !== 'geo') };
  expect(refusal(() => searchParameters.parse({ sort: 'distance' }, without))).toContain(
    'sort: tools has no attribute "distance".',
  );
});

test.each(['box', 'bounds', 'bounding_box', 'extent', 'within', 'viewport', 'minLon'])('%s means bbox', (name) =>
  expect(refusal(() => facetsParameters.parse({ by: 'maker', [name]: '0,0,1,1' }, pack))).toContain(
    'Did you mean "bbox"? Write bbox=<west>,<south>,<east>,<north>.',
  ),
);

test('relevance has the words of q in both orders', () => {
  const { sort, words } = searchParameters.parse({ q: 'Saw Chain saw', sort: 'relevance' }, pack);
  const relevance = {
    text: 'saw chain saw',
    words: ['chain', 'saw'],
    names: ['model'],
    scope: 'full',
    prominence: null,
  };
  expect(sort).toEqual({ key: 'relevance', descending: true, relevance });
  expect(words).toEqual(['chain', 'saw']);
});

test('sort and filters are named for the gate, words are not', () => {
  const { names } = searchParameters.parse({ sort: 'tested_on', min_runtime: '1', near: '0,0,1', q: 'x' }, pack);
  expect(names).toEqual(['runtime', 'workshop', 'tested_on']);
});

test('a cursor comes back to the question it came from', () => {
  const input = searchParameters.parse({ sort: 'mass', maker: 'a,b' }, pack);
  const question = { dataset: 'tools', where: questionOf(input), sort: input.sort };
  const cursor = cursors.write(question, '0123456789abcdef', { value: 2.5, id: 'r-1' });
  const next = searchParameters.parse(
    { maker: 'B,A', sort: 'mass', limit: '5', fields: 'name', total: 'true', cursor },
    pack,
    {
      cursors,
    },
  );
  expect(next.cursor).toEqual({ release: '0123456789abcdef', after: { value: 2.5, id: 'r-1' } });
  expect(refusal(() => searchParameters.parse({ maker: 'a,b', cursor }, pack, { cursors }))).toContain(
    'invalid_cursor cursor: this is not',
  );
  expect(refusal(() => searchParameters.parse({ sort: 'mass', maker: 'a', cursor }, pack, { cursors }))).toContain(
    'invalid_cursor',
  );
});

test('whatever is asked, the answer is an input or a DataError', () => {
  const name = fc.oneof(
    fc.string(),
    fc.constantFrom('q', 'near', 'bbox', 'sort', 'limit', 'cursor', 'fields', 'ids', 'maker', 'min_mass'),
  );
  const value = fc.oneof(fc.string({ unit: 'binary' }), fc.array(fc.string({ unit: 'binary' }), { maxLength: 3 }));
  fc.assert(
    fc.property(fc.dictionary(name, value, { maxKeys: 4 }), (raw) => {
      for (const parse of [
        searchParameters.parse,
        facetsParameters.parse,
        getParameters.parse,
        batchParameters.parse,
      ]) {
        try {
          parse(raw, pack);
        } catch (error) {
          if (!(error instanceof DataError)) throw error;
        }
      }
    }),
  );
});
