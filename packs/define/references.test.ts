// Messages of definePack when members of a pack contradict each other.
import { expect, test } from 'vitest';
import { least, wrong } from '../../tests/packs/bells.ts';
import { verifies } from '../../tests/support/verifies.ts';
import { definePack } from './define.ts';
import { packWarnings } from './references.ts';
import type { PackInput } from './shape.ts';
import { postgres } from './sources.ts';

verifies('dataset.compare-columns', 'dataset.differ-by');

test('references are existing attributes of an allowed type', () => {
  expect(
    wrong({
      'identity/attributes': ['nam', 'price.hire'],
      group_by: 'weight',
      'serving/similar_differ_by': 'price.hire',
      compare: ['weigth', 'weight', 'weight'],
      gone: { attribute: 'weight', value: 'none' },
      owner: { domain: 'weight' },
    }),
  ).toMatchInlineSnapshot(`
    "8 mistakes in pack bells

    bells/pack.ts: identity.attributes.0
      found     'nam'
      expected  the name of an attribute
      nearest   'name'

    bells/pack.ts: identity.attributes.1
      found     'price.hire' of type price
      expected  an attribute of type string, enum, url, date, datetime, integer, number

    bells/pack.ts: owner.domain
      found     'weight' of type number
      expected  an attribute of type string, url

    bells/pack.ts: group_by
      found     'weight' of type number
      expected  an attribute of type string, enum, boolean, integer

    bells/pack.ts: serving.similar_differ_by
      found     'price.hire' of type price
      expected  an attribute of type string, enum, boolean, integer

    bells/pack.ts: compare.0
      found     'weigth'
      expected  the name of an attribute
      nearest   'weight'

    bells/pack.ts: compare.2
      found     'weight' twice
      expected  each once

    bells/pack.ts: gone.attribute
      found     'weight' of type number
      expected  an attribute of type enum, string"
  `);
});

test('a calculator sums numbers that readers can load, with inputs that exist and are used', () => {
  const input = { label: 'Days', default: 1 };
  const calculator = {
    title: 'Cost',
    unit: 'EUR',
    inputs: { days: input, ids: input, Hours: input },
    sum: [
      { attribute: 'price.hire', input: 'dayz' },
      { attribute: 'name', input: 'days' },
      { attribute: 'weigth', input: 'ids', factor: 0.001 },
      { attribute: 'weight', otherwise: 'price.hire', input: 'days', factor: 0 },
    ],
  };
  expect(wrong({ calculator })).toMatchInlineSnapshot(`
    "1 mistake in pack bells

    bells/pack.ts: calculator.sum.3.factor
      found     0
      expected  a number above 0"
  `);
  calculator.sum[3]!.factor = 2;
  expect(wrong({ calculator })).toMatchInlineSnapshot(`
    "8 mistakes in pack bells

    bells/pack.ts: calculator.inputs.ids
      found     the name 'ids'
      expected  another name: comparisons have this parameter

    bells/pack.ts: calculator.inputs.Hours
      found     the name 'Hours'
      expected  lower-case letters, digits and _, such as 'days'

    bells/pack.ts: calculator.inputs.Hours
      found     an input that no term of sum uses
      expected  a term with it, or no such input

    bells/pack.ts: calculator.sum.0.input
      found     'dayz'
      expected  the name of an input
      nearest   'days'

    bells/pack.ts: calculator.sum.0.attribute
      found     'price.hire', which is neither
      expected  a public attribute, or one of compare: a comparison loads no others

    bells/pack.ts: calculator.sum.1.attribute
      found     'name' of type string
      expected  an attribute of type integer, number, price

    bells/pack.ts: calculator.sum.2.attribute
      found     'weigth'
      expected  the name of an attribute
      nearest   'weight'

    bells/pack.ts: calculator.sum.3.otherwise
      found     'price.hire', which is neither
      expected  a public attribute, or one of compare: a comparison loads no others"
  `);
  expect(wrong({ calculator: { ...calculator, sum: 'price.hire * days' } })).toMatchInlineSnapshot(`
    "1 mistake in pack bells

    bells/pack.ts: calculator.sum
      found     'price.hire * days'
      expected  a list of terms {attribute, input, factor}"
  `);
});

test('only numbers can be better', () => {
  const name = { type: 'string', description: 'Its name', example: 'Big one', public: true, sla: 100, better: 'low' };
  expect(wrong({ 'attributes/name': name })).toMatchInlineSnapshot(`
    "1 mistake in pack bells

    bells/pack.ts: attributes.name.better
      found     'low'
      expected  nothing: better belongs to type integer, number, price, and this attribute is of type string"
  `);
});

const DECLARED = { title: 'T', url: 'https://t.example/', license: 'CC0-1.0', trust: 1 };

test('a source with a cursor cannot be complete, and the signs of a number differ', () => {
  const from = postgres({
    query: 'SELECT 1',
    cursor: 'updated_at',
    attributes: { weight: { thousands: ',' } },
    decimal: ',',
  });
  expect(wrong({ 'sources/tower': { ...DECLARED, from, complete: true } })).toMatchInlineSnapshot(`
    "2 mistakes in pack bells

    bells/pack.ts: sources.tower.from.attributes.weight.thousands
      found     ',', which is the decimal sign too
      expected  another sign

    bells/pack.ts: sources.tower.complete
      found     true
      expected  false: with a cursor, a reading lists only the newer rows, and all others would be gone"
  `);
});

test('prominence is a public number', () => {
  expect(wrong({ 'serving/prominence': 'name' })).toContain("'name' of type string");
  expect(wrong({ 'serving/prominence': 'price.hire' })).toContain('not public');
  expect(wrong({ 'serving/prominence': 'wieght' })).toContain("nearest   'weight'");
});

test('closed lists apply to gone and tests; tests have the members of their kind', () => {
  const status = { type: 'enum', values: ['listed', 'gone'], description: 'Status', example: 'Listed', sla: 1 };
  expect(
    wrong({
      'attributes/status': status,
      gone: { attribute: 'status', value: 'gonne' },
      tests: [
        { kind: 'accepted', attribute: 'status', values: ['listed', 'lost'] },
        { kind: 'rows' },
        { kind: 'fill', attribute: 'name', min: 80 },
        { kind: 'unique', attribute: 'naem' },
        { kind: 'unique', min: 1 },
        { kind: 'rows', min: 5, max: 2 },
      ],
    }),
  ).toMatchInlineSnapshot(`
    "8 mistakes in pack bells

    bells/pack.ts: tests.0.values
      found     'lost'
      expected  values of 'status': listed, gone

    bells/pack.ts: tests.1
      found     {"kind":"rows"}
      expected  min or max: a rows test needs a bound

    bells/pack.ts: tests.2.min
      found     80
      expected  a share, from 0 to 1

    bells/pack.ts: tests.3.attribute
      found     'naem'
      expected  the name of an attribute
      nearest   'name'

    bells/pack.ts: tests.4.attribute
      found     nothing
      expected  attribute: a unique test needs it

    bells/pack.ts: tests.4.min
      found     1
      expected  nothing: a unique test has only kind, attribute

    bells/pack.ts: tests.5
      found     {"kind":"rows","min":5,"max":2}
      expected  a min that is not above the max

    bells/pack.ts: gone.value
      found     'gonne'
      expected  one of listed, gone
      nearest   'gone'"
  `);
});

test('owners edit neither identity nor domain, and nothing without a domain', () => {
  expect(wrong({ 'attributes/weight/editable': true })).toMatchInlineSnapshot(`
    "1 mistake in pack bells

    bells/pack.ts: attributes.weight.editable
      found     true
      expected  false, or owner.domain: without a domain records cannot be claimed"
  `);
  expect(
    wrong({
      'attributes/name/editable': true,
      'attributes/domain': { type: 'string', description: 'Domain', example: 'a.example', editable: true, sla: 1 },
      owner: { domain: 'domain' },
    }),
  ).toMatchInlineSnapshot(`
    "2 mistakes in pack bells

    bells/pack.ts: attributes.name.editable
      found     true
      expected  false: owners cannot edit identity attributes

    bells/pack.ts: attributes.domain.editable
      found     true
      expected  false: the domain decides who the owner is"
  `);
});

test('money has at most six decimals and weights sum to one', () => {
  expect(
    wrong({
      'prices/search': 0.0000001,
      'prices/get': 0.00400000000001,
      'prices/facts': 0,
      'prices/compare': '0.01',
      quality: { completeness: 0.5, confidence: 0.5, freshness: 0.5 },
    }),
  ).toMatchInlineSnapshot(`
    "5 mistakes in pack bells

    bells/pack.ts: prices.search
      found     1e-7
      expected  a price in EUR with at most six decimals

    bells/pack.ts: prices.get
      found     0.00400000000001
      expected  a price in EUR with at most six decimals

    bells/pack.ts: prices.facts
      found     0
      expected  a price in EUR above 0, at most 100

    bells/pack.ts: prices.compare
      found     '0.01'
      expected  a price in EUR above 0, at most 100

    bells/pack.ts: quality
      found     weights that sum to 1.5
      expected  a sum of 1"
  `);
});

test('a pack has a public and a weighted attribute', () => {
  expect(wrong({ 'attributes/name/public': false, group_by: 'name' })).toMatchInlineSnapshot(`
    "2 mistakes in pack bells

    bells/pack.ts: attributes
      found     no public attribute
      expected  at least one with public: true, for previews

    bells/pack.ts: group_by
      found     'name', which is not public
      expected  a public attribute: groups are named on free pages"
  `);
  expect(
    wrong({ 'attributes/name/weight': 0, 'attributes/weight/weight': 0, 'attributes/price.hire/weight': 0 }),
  ).toMatchInlineSnapshot(`
    "1 mistake in pack bells

    bells/pack.ts: attributes
      found     no weight above 0
      expected  at least one, for the completeness of a record"
  `);
});

test('an unknown kind of test is reported with the nearest one', () => {
  expect(wrong({ tests: [{ kind: 'accepts' }] })).toMatchInlineSnapshot(`
    "1 mistake in pack bells

    bells/pack.ts: tests.0.kind
      found     'accepts'
      expected  one of rows, fill, unique, accepted
      nearest   'accepted'"
  `);
});

test('something that is not an object is one mistake', () => {
  expect(definePack('bells' as unknown as PackInput).mistakes).toHaveLength(1);
  expect(definePack([] as unknown as PackInput).mistakes[0]?.expected).toMatch(/an object/);
});

test('warnings: a domain and nothing to edit; complete sources without gone', () => {
  const pack = (changes: object) => {
    const { settings, mistakes } = definePack({ ...least(), ...changes } as PackInput);
    expect(mistakes).toEqual([]);
    return packWarnings({ ...settings!, id: 'bells', folder: '', samples: [], template: '', guide: '' });
  };
  const [tower] = Object.values(least().sources);
  expect(pack({})).toEqual([]);
  expect(pack({ owner: { domain: 'name' }, sources: { tower: { ...tower, complete: true } } })).toEqual([
    'owner.domain is set and no attribute is editable: an owner can claim a record and then edit nothing.',
    'sources.tower.complete is true and gone is not set: records that are no longer listed stay published as they are.',
  ]);
});
