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
    "6 mistakes in pack bells

    bells/pack.ts: titel
      found     a member 'titel'
      expected  one of title, description, keywords, license, attribution, revision, sources, attributes, identity, consolidation, gone, quality, checks, group_by, serving, compare, calculator, prices, schedule, owner, tests
      nearest   'title'

    bells/pack.ts: attributes.name.filterble
      found     a member 'filterble'
      expected  one of type, unit, currency, description, example, public, filterable, searchable, search_weight, values, range, round, jump, group_jump, tolerance, sla, weight, volatile, once, aliases, vocabulary, better, editable, published_entries
      nearest   'filterable'

    bells/pack.ts: attributes.weight.type
      found     'nubmer'
      expected  one of string, text, url, enum, boolean, integer, number, date, datetime, strings, geo, price
      nearest   'number'

    bells/pack.ts: license.link
      found     a member 'link'
      expected  one of name, url

    bells/pack.ts: sources.tower.trsut
      found     a member 'trsut'
      expected  one of title, url, license, trust, pins, newest, crawl, from, complete, max_drop, tolerate, timeout_minutes
      nearest   'trust'

    bells/pack.ts: group_by
      found     'nmae'
      expected  the name of an attribute
      nearest   'name'"
  `);
});

test('missing members are all reported together', () => {
  expect(
    wrong({ title: undefined, license: undefined, 'prices/get': undefined, schedule: undefined, identity: undefined }),
  ).toMatchInlineSnapshot(`
    "5 mistakes in pack bells

    bells/pack.ts: title
      found     nothing
      expected  a short title

    bells/pack.ts: license
      found     nothing
      expected  an object with name, url

    bells/pack.ts: identity
      found     nothing
      expected  an object with attributes, key, slug, name, same

    bells/pack.ts: prices.get
      found     nothing
      expected  a price in EUR above 0, at most 100

    bells/pack.ts: schedule
      found     nothing
      expected  a cron expression in UTC, such as 0 3 * * *"
  `);
  expect(wrong({ attributes: undefined, sources: {} })).toMatchInlineSnapshot(`
    "2 mistakes in pack bells

    bells/pack.ts: attributes
      found     nothing
      expected  an object of attributes by name

    bells/pack.ts: sources
      found     no source
      expected  at least one source"
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
    "10 mistakes in pack bells

    bells/pack.ts: attributes.name.public
      found     'yes'
      expected  true or false

    bells/pack.ts: attributes.name.sla
      found     '1 day'
      expected  hours until a value is out of date: a number, or {warn, error}

    bells/pack.ts: title
      found     ' '
      expected  a short title

    bells/pack.ts: keywords
      found     'bells'
      expected  a list of keywords

    bells/pack.ts: license.url
      found     'ftp://tower.example/'
      expected  an http or https address

    bells/pack.ts: revision
      found     1.5
      expected  a whole number of at least 1

    bells/pack.ts: sources.tower.trust
      found     90
      expected  a trust from 0 to 1

    bells/pack.ts: identity.slug
      found     'name'
      expected  a function (identity, values) => text

    bells/pack.ts: serving.showcase.per_group
      found     0
      expected  a whole number from 1 to 20

    bells/pack.ts: schedule
      found     '61 3 * * *'
      expected  a cron expression in UTC: minute 0 to 59, such as *, 0, 0-59 or */2"
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
    "5 mistakes in pack bells

    bells/pack.ts: sources.tower.pins.0.package
      found     'Tower'
      expected  the name of an npm package

    bells/pack.ts: sources.tower.pins.0.version
      found     '^1.0.0'
      expected  an exact version such as 1.2.3

    bells/pack.ts: sources.tower.pins.0.integrity
      found     'sha1-abc'
      expected  a hash 'sha512-…', or '' for a folder under fixtures

    bells/pack.ts: sources.tower.pins.0.observed_at
      found     '2026-01-01'
      expected  a time in UTC such as 2026-09-16T00:00:00Z

    bells/pack.ts: sources.tower.pins.0.date_source
      found     'git'
      expected  one of data, tag, pin, registry"
  `);
  const right = {
    package: 'tower',
    version: '1.0.0',
    integrity: '',
    observed_at: '2026-01-01T00:00:00Z',
    date_source: 'tag',
  };
  expect(wrong({ 'sources/tower/pins': [right, right] })).toMatchInlineSnapshot(`
    "1 mistake in pack bells

    bells/pack.ts: sources.tower.pins.1
      found     tower@1.0.0 twice
      expected  each version once"
  `);
  const { newest: _, ...source } = least().sources['tower']!;
  expect(wrong({ sources: { owner: source, 'Tower 1': { ...source, newest: 'tower' } } })).toMatchInlineSnapshot(`
    "3 mistakes in pack bells

    bells/pack.ts: sources.owner
      found     the id 'owner'
      expected  another id: owner names edits by owners

    bells/pack.ts: sources.owner.from
      found     no from, no pins, no newest, no crawl
      expected  at least one of from, pins, newest and crawl

    bells/pack.ts: sources.Tower 1
      found     the id 'Tower 1'
      expected  lower-case letters, digits and -, starting with a letter"
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
    "9 mistakes in pack bells

    bells/pack.ts: attributes.name.unit
      found     'letters'
      expected  nothing: unit belongs to type integer, number, price, geo, and this attribute is of type string

    bells/pack.ts: attributes.name.values
      found     ["a"]
      expected  nothing: values belongs to type enum, and this attribute is of type string

    bells/pack.ts: attributes.name.jump
      found     2
      expected  nothing: jump belongs to type integer, number, price, and this attribute is of type string

    bells/pack.ts: attributes.weight.searchable
      found     true
      expected  false: only string, text, url, enum, strings attributes have words to search

    bells/pack.ts: attributes.weight.range
      found     {"min":5,"max":1}
      expected  a min that is not above the max

    bells/pack.ts: attributes.weight.sla
      found     {"warn":3,"error":2}
      expected  a warn that is not above the error

    bells/pack.ts: attributes.weight.example
      found     2.000000000049
      expected  a number of at least 5

    bells/pack.ts: attributes.price.hire.unit
      found     nothing
      expected  a unit such as 'USD/1M tokens': a price needs one

    bells/pack.ts: attributes.price.hire.currency
      found     nothing
      expected  a currency code such as USD: a price needs one"
  `);
});

test('group_jump is true or false, and only with jump', () => {
  expect(wrong({ 'attributes/weight/group_jump': false })).toMatchInlineSnapshot(`
    "1 mistake in pack bells

    bells/pack.ts: attributes.weight.group_jump
      found     false
      expected  nothing: group_jump requires \`jump\`, which this attribute does not have"
  `);
  expect(wrong({ 'attributes/weight/jump': 5, 'attributes/weight/group_jump': 'no' })).toMatchInlineSnapshot(`
    "1 mistake in pack bells

    bells/pack.ts: attributes.weight.group_jump
      found     'no'
      expected  true or false"
  `);
  expect(wrong({ 'attributes/name/group_jump': true })).toMatchInlineSnapshot(`
    "1 mistake in pack bells

    bells/pack.ts: attributes.name.group_jump
      found     true
      expected  nothing: group_jump belongs to type integer, number, price, and this attribute is of type string"
  `);
});

test('an example must be a value of its attribute', () => {
  expect(
    wrong({
      'attributes/name/example': 7,
      'attributes/weight/range': { max: 3 },
      'attributes/price.hire/example': { min: 3, max: 2, currency: 'EUR' },
    }),
  ).toMatchInlineSnapshot(`
    "2 mistakes in pack bells

    bells/pack.ts: attributes.name.example
      found     7
      expected  a text

    bells/pack.ts: attributes.price.hire.example
      found     {"min":3,"max":2,"currency":"EUR"}
      expected  a price range whose min is not above its max"
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
    "6 mistakes in pack bells

    bells/pack.ts: attributes.limit
      found     the name 'limit'
      expected  another name: this one is a search parameter, a sort key or a member of every object

    bells/pack.ts: attributes.constructor
      found     the name 'constructor'
      expected  another name: this one is a search parameter, a sort key or a member of every object

    bells/pack.ts: attributes.quality
      found     the name 'quality'
      expected  another name: this one is a search parameter, a sort key or a member of every object

    bells/pack.ts: attributes.max_weight
      found     the name 'max_weight'
      expected  a name that is not the filter max_ of the attribute 'weight'

    bells/pack.ts: attributes.weight.net
      found     the name 'weight.net'
      expected  a name outside 'weight', which is an attribute and cannot be a group

    bells/pack.ts: attributes.Größe
      found     the name 'Größe'
      expected  lower-case letters, digits and _, with dots for groups, such as 'price.input'"
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
      `expected  a name that is not the filter is_ of the attribute '${name}'`,
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
    "5 mistakes in pack bells

    bells/pack.ts: attributes.weight.range.max
      found     'now'
      expected  a number

    bells/pack.ts: attributes.cast.range.min
      found     'now'
      expected  a date, YYYY-MM-DD

    bells/pack.ts: attributes.cast.range.max
      found     'then'
      expected  a date, YYYY-MM-DD, or 'now'

    bells/pack.ts: attributes.hung.range
      found     {"min":"2026-02-01","max":"2026-01-01"}
      expected  a min that is not above the max

    bells/pack.ts: attributes.hung.example
      found     '2026-01-01'
      expected  a date from 2026-02-01 on"
  `);
  const changes = { ...least(), attributes: { ...least().attributes, cast: { ...date, range: { max: 'now' } } } };
  expect(definePack(changes as PackInput).attributes.find(({ name }) => name === 'cast')).toMatchObject({
    range: { min: null, max: null },
    date_range: { min: null, max: 'now' },
  });
});

test('a member that breaks two rules of one message is one mistake', () => {
  expect(wrong({ 'prices/search': -1 })).toMatch(/^1 mistake in pack bells\n/);
});
