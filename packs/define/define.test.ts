// Defaults of definePack, and its messages about mistakes in the shape of the input.
import { expect, test } from 'vitest';
import { least, wrong } from '../../tests/packs/bells.ts';
import { definePack } from './define.ts';
import type { PackInput } from './shape.ts';

test('the minimal pack gets every default', () => {
  const { settings, mistakes } = definePack(least());
  expect(mistakes).toEqual([]);
  expect(settings).toMatchObject({
    keywords: [],
    revision: 1,
    gone: null,
    quality: { completeness: 0.5, confidence: 0.3, freshness: 0.2 },
    serving: { similar_differ_by: null, similar_by: [], similar_min_score: 0, prominence: null },
    consolidation: { floor: 0.3, apart_days: 30, penalty: 0.2 },
    owner: { domain: null, shared_domain_bound: 5 },
    tests: [],
    price_attributes: ['price.hire'],
    prices: { search: 8000, get: 1, facts: 10000, prices: 1, compare: 12000, stats: 15000 },
    sources: [{ id: 'tower', pins: [], newest: 'tower', complete: false }],
  });
  expect(settings?.attributes[0]).toEqual({
    name: 'name',
    type: 'string',
    unit: null,
    currency: null,
    description: 'Its name',
    example: 'Big one',
    public: true,
    filterable: false,
    searchable: false,
    search_weight: 1,
    values: null,
    range: { min: null, max: null },
    jump: null,
    group_jump: true,
    tolerance: 0,
    sla: { warn: 50, error: 100 },
    weight: 1,
    once: false,
    editable: false,
    published_entries: null,
    aliases: [],
    vocabulary: null,
  });
  expect(settings?.attributes[1]?.example).toBe(2.000000000049);
  expect(settings?.attributes[1]?.sla).toEqual({ warn: 1, error: 2 });
});

test('default identity rules fold the key, slugify, and prefer the value of name', () => {
  const { identity, consolidation } = definePack(least()).settings!;
  expect(identity.key({ name: ' Große  GLOCKE ' })).toBe('grosse glocke');
  expect(identity.slug({ name: 'Große Glocke' }, {})).toBe('grosse-glocke');
  expect(identity.name({ name: 'a' }, { name: 'b' })).toBe('b');
  expect(identity.name({ name: 'a' }, {})).toBe('a');
  expect(consolidation.rule({ name: 'a' })).toEqual({ prefer: 'trust' });
});

test('misspelt members and names are reported with the nearest known one', () => {
  expect(
    wrong({
      titel: 'Bells',
      group_by: 'nmae',
      'attributes/weight/type': 'nubmer',
      'attributes/name/filterble': true,
      'sources/tower/trsut': 1,
      'license/link': 'x',
    }),
  ).toMatchInlineSnapshot(`
    "titel | a member 'titel' | one of title, description, keywords, license, attribution, revision, sources, attributes, identity, consolidation, gone, quality, checks, group_by, serving, compare, calculator, prices, schedule, owner, tests | title
    attributes.name.filterble | a member 'filterble' | one of type, unit, currency, description, label, example, public, filterable, searchable, search_weight, key, values, range, round, jump, group_jump, tolerance, sla, weight, volatile, once, aliases, vocabulary, better, editable, published_entries | filterable
    attributes.weight.type | 'nubmer' | one of string, text, url, enum, boolean, integer, number, date, datetime, strings, geo, price | number
    license.link | a member 'link' | one of name, url
    sources.tower.trsut | a member 'trsut' | one of title, url, license, trust, pins, newest, crawl, from, complete, max_drop, tolerate, timeout_minutes | trust
    group_by | 'nmae' | the name of an attribute | name"
  `);
});

test('missing members are all reported together', () => {
  expect(
    wrong({ title: undefined, license: undefined, 'prices/get': undefined, schedule: undefined, identity: undefined }),
  ).toMatchInlineSnapshot(`
    "title | nothing | a short title
    license | nothing | an object with name, url
    identity | nothing | an object with attributes, key, slug, name, same
    prices.get | nothing | a price in EUR above 0, at most 100
    schedule | nothing | a cron expression in UTC, such as 0 3 * * *"
  `);
  expect(wrong({ attributes: undefined, sources: {} })).toMatchInlineSnapshot(`
    "attributes | nothing | an object of attributes by name
    sources | no source | at least one source"
  `);
});

test('values of the wrong kind are quoted', () => {
  expect(
    wrong({
      title: '  ',
      revision: 1.5,
      keywords: 'bells',
      'license/url': 'ftp://tower.example/',
      'sources/tower/trust': 90,
      'attributes/name/public': 'yes',
      'attributes/name/sla': '1 day',
      'identity/slug': 'name',
      'serving/showcase/per_group': 0,
      schedule: '61 3 * * *',
    }),
  ).toMatchInlineSnapshot(`
    "attributes.name.public | 'yes' | true or false
    attributes.name.sla | '1 day' | hours until a value is out of date: a number, or {warn, error}
    title | ' ' | a short title
    keywords | 'bells' | a list of keywords
    license.url | 'ftp://tower.example/' | an http or https address
    revision | 1.5 | a whole number of at least 1
    sources.tower.trust | 90 | a trust from 0 to 1
    identity.slug | 'name' | a function (identity, values) => text
    serving.showcase.per_group | 0 | a whole number from 1 to 20
    schedule | '61 3 * * *' | a cron expression in UTC: minute 0 to 59, such as *, 0, 0-59 or */2"
  `);
});

test('a pin has package, exact version, hash, time and the source of the time', () => {
  const pin = {
    package: 'Tower',
    version: '^1.0.0',
    integrity: 'sha1-abc',
    observed_at: '2026-01-01',
    date_source: 'git',
  };
  expect(wrong({ 'sources/tower/pins': [pin] })).toMatchInlineSnapshot(`
    "sources.tower.pins.0.package | 'Tower' | the name of an npm package
    sources.tower.pins.0.version | '^1.0.0' | an exact version such as 1.2.3
    sources.tower.pins.0.integrity | 'sha1-abc' | a hash 'sha512-…', or '' for a folder under fixtures
    sources.tower.pins.0.observed_at | '2026-01-01' | a time in UTC such as 2026-09-16T00:00:00Z
    sources.tower.pins.0.date_source | 'git' | one of data, tag, pin, registry"
  `);
  const right = {
    package: 'tower',
    version: '1.0.0',
    integrity: '',
    observed_at: '2026-01-01T00:00:00Z',
    date_source: 'tag',
  };
  expect(wrong({ 'sources/tower/pins': [right, right] })).toMatchInlineSnapshot(
    `"sources.tower.pins.1 | tower@1.0.0 twice | each version once"`,
  );
  const { newest: _, ...source } = least().sources['tower']!;
  expect(wrong({ sources: { owner: source, 'Tower 1': { ...source, newest: 'tower' } } })).toMatchInlineSnapshot(`
    "sources.owner | the id 'owner' | another id: owner names edits by owners
    sources.owner.from | no from, no pins, no newest, no crawl | at least one of from, pins, newest and crawl
    sources.Tower 1 | the id 'Tower 1' | lower-case letters, digits and -, starting with a letter"
  `);
});

test('each type of attribute has its own members', () => {
  expect(
    wrong({
      'attributes/name/unit': 'letters',
      'attributes/name/values': ['a'],
      'attributes/name/jump': 2,
      'attributes/weight/searchable': true,
      'attributes/weight/range': { min: 5, max: 1 },
      'attributes/weight/sla': { warn: 3, error: 2 },
      'attributes/price.hire/currency': undefined,
      'attributes/price.hire/unit': undefined,
    }),
  ).toMatchInlineSnapshot(`
    "attributes.name.unit | 'letters' | nothing: unit belongs to type integer, number, price, geo, and this attribute is of type string
    attributes.name.values | ["a"] | nothing: values belongs to type enum, and this attribute is of type string
    attributes.name.jump | 2 | nothing: jump belongs to type integer, number, price, and this attribute is of type string
    attributes.weight.searchable | true | false: only string, text, url, enum, strings attributes have words to search
    attributes.weight.range | {"min":5,"max":1} | a min that is not above the max
    attributes.weight.sla | {"warn":3,"error":2} | a warn that is not above the error
    attributes.weight.example | 2.000000000049 | a number of at least 5
    attributes.price.hire.unit | nothing | a unit such as 'USD/1M tokens': a price needs one
    attributes.price.hire.currency | nothing | a currency code such as USD: a price needs one"
  `);
});

test('group_jump is true or false, and only with jump', () => {
  expect(wrong({ 'attributes/weight/group_jump': false })).toMatchInlineSnapshot(
    `"attributes.weight.group_jump | false | nothing: group_jump requires \`jump\`, which this attribute does not have"`,
  );
  expect(wrong({ 'attributes/weight/jump': 5, 'attributes/weight/group_jump': 'no' })).toMatchInlineSnapshot(
    `"attributes.weight.group_jump | 'no' | true or false"`,
  );
  expect(wrong({ 'attributes/name/group_jump': true })).toMatchInlineSnapshot(
    `"attributes.name.group_jump | true | nothing: group_jump belongs to type integer, number, price, and this attribute is of type string"`,
  );
});

test('an example must be a value of its attribute', () => {
  expect(
    wrong({
      'attributes/name/example': 7,
      'attributes/weight/range': { max: 3 },
      'attributes/price.hire/example': { min: 3, max: 2, currency: 'EUR' },
    }),
  ).toMatchInlineSnapshot(`
    "attributes.name.example | 7 | a text
    attributes.price.hire.example | {"min":3,"max":2,"currency":"EUR"} | a price range whose min is not above its max"
  `);
});

test('names that clash with filters, parameters or groups are rejected', () => {
  const column = { type: 'integer', description: 'A number', example: 1, sla: 1 };
  expect(
    wrong({
      'attributes/limit': column,
      'attributes/constructor': column,
      'attributes/quality': column,
      'attributes/max_weight': column,
      'attributes/weight.net': column,
      'attributes/Größe': column,
    }),
  ).toMatchInlineSnapshot(`
    "attributes.limit | the name 'limit' | another name: this one is a search parameter, a sort key or a member of every object
    attributes.constructor | the name 'constructor' | another name: this one is a search parameter, a sort key or a member of every object
    attributes.quality | the name 'quality' | another name: this one is a search parameter, a sort key or a member of every object
    attributes.max_weight | the name 'max_weight' | a name that is not the filter max_ of the attribute 'weight'
    attributes.weight.net | the name 'weight.net' | a name outside 'weight', which is an attribute and cannot be a group
    attributes.Größe | the name 'Größe' | lower-case letters, digits and _, with dots for groups, such as 'price.input'"
  `);
});

test.each(['bbox', 'buckets', 'direction', 'filter', 'type', 'entity', 'offset', 'since', 'as_of', 'by_day'])(
  'a later parameter, %s, is still a name of an attribute, and is_%s beside it is not',
  (name) => {
    const column = { type: 'integer' as const, description: 'A number', example: 1, sla: 1 };
    const input = least();
    input.attributes[name] = { ...column };
    expect(definePack(input).mistakes).toEqual([]);
    expect(wrong({ [`attributes/${name}`]: column, [`attributes/is_${name}`]: column })).toContain(
      `| a name that is not the filter is_ of the attribute '${name}'`,
    );
  },
);

test('bounds of dates are dates or now, bounds of numbers are numbers', () => {
  const date = { type: 'date', description: 'A day', example: '2026-01-01', sla: 1 };
  const found = wrong({
    'attributes/cast': { ...date, range: { min: 'now', max: 'then' } },
    'attributes/hung': { ...date, range: { min: '2026-02-01', max: '2026-01-01' } },
    'attributes/weight/range': { max: 'now' },
  });
  expect(found).toMatchInlineSnapshot(`
    "attributes.weight.range.max | 'now' | a number
    attributes.cast.range.min | 'now' | a date, YYYY-MM-DD
    attributes.cast.range.max | 'then' | a date, YYYY-MM-DD, or 'now'
    attributes.hung.range | {"min":"2026-02-01","max":"2026-01-01"} | a min that is not above the max
    attributes.hung.example | '2026-01-01' | a date from 2026-02-01 on"
  `);
  const changes = { ...least(), attributes: { ...least().attributes, cast: { ...date, range: { max: 'now' } } } };
  expect(definePack(changes as PackInput).attributes.find(({ name }) => name === 'cast')).toMatchObject({
    range: { min: null, max: null },
    date_range: { min: null, max: 'now' },
  });
});

test('a member that breaks two rules of one message is one mistake', () => {
  expect(wrong({ 'prices/search': -1 })).toBe('prices.search | -1 | a price in EUR above 0, at most 100');
});
