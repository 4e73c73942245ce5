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
      'serving/core': ['weight', 'weigth'],
      compare: ['weigth', 'weight', 'weight'],
      gone: { attribute: 'weight', value: 'none' },
      owner: { domain: 'weight' },
    }),
  ).toMatchInlineSnapshot(`
    "identity.attributes.0 | 'nam' | the name of an attribute | name
    identity.attributes.1 | 'price.hire' of type price | an attribute of type string, enum, url, date, datetime, integer, number
    owner.domain | 'weight' of type number | an attribute of type string, url
    group_by | 'weight' of type number | an attribute of type string, enum, boolean, integer
    serving.similar_differ_by | 'price.hire' of type price | an attribute of type string, enum, boolean, integer
    serving.core.1 | 'weigth' | the name of an attribute | weight
    compare.0 | 'weigth' | the name of an attribute | weight
    compare.2 | 'weight' twice | each once
    gone.attribute | 'weight' of type number | an attribute of type enum, string"
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
  expect(wrong({ calculator })).toMatchInlineSnapshot(`"calculator.sum.3.factor | 0 | a number above 0"`);
  calculator.sum[3]!.factor = 2;
  expect(wrong({ calculator })).toMatchInlineSnapshot(`
    "calculator.inputs.ids | the name 'ids' | another name: comparisons have this parameter
    calculator.inputs.Hours | the name 'Hours' | lower-case letters, digits and _, such as 'days'
    calculator.inputs.Hours | an input that no term of sum uses | a term with it, or no such input
    calculator.sum.0.input | 'dayz' | the name of an input | days
    calculator.sum.0.attribute | 'price.hire', which is neither | a public attribute, or one of compare: a comparison loads no others
    calculator.sum.1.attribute | 'name' of type string | an attribute of type integer, number, price
    calculator.sum.2.attribute | 'weigth' | the name of an attribute | weight
    calculator.sum.3.otherwise | 'price.hire', which is neither | a public attribute, or one of compare: a comparison loads no others"
  `);
  expect(wrong({ calculator: { ...calculator, sum: 'price.hire * days' } })).toMatchInlineSnapshot(
    `"calculator.sum | 'price.hire * days' | a list of terms {attribute, input, factor}"`,
  );
});

test('only numbers can be better', () => {
  const name = { type: 'string', description: 'Its name', example: 'Big one', public: true, sla: 100, better: 'low' };
  expect(wrong({ 'attributes/name': name })).toMatchInlineSnapshot(
    `"attributes.name.better | 'low' | nothing: better belongs to type integer, number, price, and this attribute is of type string"`,
  );
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
    "sources.tower.from.attributes.weight.thousands | ',', which is the decimal sign too | another sign
    sources.tower.complete | true | false: with a cursor, a reading lists only the newer rows, and all others would be gone"
  `);
});

test('prominence is a public number', () => {
  expect(wrong({ 'serving/prominence': 'name' })).toContain("'name' of type string");
  expect(wrong({ 'serving/prominence': 'price.hire' })).toContain('not public');
  expect(wrong({ 'serving/prominence': 'wieght' })).toMatch(/ \| weight$/);
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
    "tests.0.values | 'lost' | values of 'status': listed, gone
    tests.1 | {"kind":"rows"} | min or max: a rows test needs a bound
    tests.2.min | 80 | a share, from 0 to 1
    tests.3.attribute | 'naem' | the name of an attribute | name
    tests.4.attribute | nothing | attribute: a unique test needs it
    tests.4.min | 1 | nothing: a unique test has only kind, attribute
    tests.5 | {"kind":"rows","min":5,"max":2} | a min that is not above the max
    gone.value | 'gonne' | one of listed, gone | gone"
  `);
});

test('owners edit neither identity nor domain, and nothing without a domain', () => {
  expect(wrong({ 'attributes/weight/editable': true })).toMatchInlineSnapshot(
    `"attributes.weight.editable | true | false, or owner.domain: without a domain records cannot be claimed"`,
  );
  expect(
    wrong({
      'attributes/name/editable': true,
      'attributes/domain': { type: 'string', description: 'Domain', example: 'a.example', editable: true, sla: 1 },
      owner: { domain: 'domain' },
    }),
  ).toMatchInlineSnapshot(`
    "attributes.name.editable | true | false: owners cannot edit identity attributes
    attributes.domain.editable | true | false: the domain decides who the owner is"
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
    "prices.search | 1e-7 | a price in EUR with at most six decimals
    prices.get | 0.00400000000001 | a price in EUR with at most six decimals
    prices.facts | 0 | a price in EUR above 0, at most 100
    prices.compare | '0.01' | a price in EUR above 0, at most 100
    quality | weights that sum to 1.5 | a sum of 1"
  `);
});

test('a pack has a public and a weighted attribute', () => {
  expect(wrong({ 'attributes/name/public': false, group_by: 'name' })).toMatchInlineSnapshot(`
    "attributes | no public attribute | at least one with public: true, for previews
    group_by | 'name', which is not public | a public attribute: groups are named on free pages"
  `);
  expect(
    wrong({ 'attributes/name/weight': 0, 'attributes/weight/weight': 0, 'attributes/price.hire/weight': 0 }),
  ).toMatchInlineSnapshot(`"attributes | no weight above 0 | at least one, for the completeness of a record"`);
});

test('an unknown kind of test is reported with the nearest one', () => {
  expect(wrong({ tests: [{ kind: 'accepts' }] })).toMatchInlineSnapshot(
    `"tests.0.kind | 'accepts' | one of rows, fill, unique, accepted | accepted"`,
  );
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
