// Inference of packs from dirty, realistic columns.
import { describe, expect, test } from 'vitest';
import { ProposalError } from './choices.ts';
import { inferPack } from './infer.ts';
import { readName } from './names.ts';
import { cursorOf, packText } from './pack-text.ts';
import { flattened, type RowSample } from './sample.ts';

const NOTHING = { identity: null, currency: null };

/** A sample with one column for each member; shorter columns repeat. */
function columnsOf(columns: Record<string, readonly unknown[]>, count?: number): RowSample {
  const rows = count ?? Math.max(...Object.values(columns).map((values) => values.length));
  const lists = Object.values(columns);
  return {
    name: 'file.csv',
    columns: Object.keys(columns),
    rows: Array.from({ length: rows }, (_, i) => lists.map((values) => values[i % values.length])),
    // A source that was read completely gets a status attribute.
    whole: false,
  };
}

const ids = (count: number) => Array.from({ length: count }, (_, i) => `K-${i}x`);

/** The proposal of one column next to an id. */
function typeOf(name: string, values: readonly unknown[], count = Math.max(40, values.length)) {
  const proposal = inferPack(columnsOf({ code: ids(count), [name]: values }, count), NOTHING);
  const { counts, ...attribute } = proposal.attributes.find((each) => each.columns.includes(name))!;
  return attribute;
}

describe('numbers', () => {
  test.each([
    ['whole numbers', ['1', '20', '-300'], 'integer', {}],
    ['a decimal point', ['1.5', '20', '300.25'], 'number', { decimal: '.' }],
    ['a decimal comma', ['1,5', '20', '300,25'], 'number', { decimal: ',' }],
    [
      'decimal comma and points between thousands',
      ['1.200,50', '3,5', '12.345.678,9'],
      'number',
      { decimal: ',', thousands: '.' },
    ],
    ['commas between thousands', ['1,200', '35', '12,345,678'], 'integer', { decimal: '.', thousands: ',' }],
    ['apostrophes between thousands', ["1'200.50", '3.5'], 'number', { decimal: '.', thousands: "'" }],
    ['spaces between thousands', ['1 200,50', '3,5'], 'number', { decimal: ',', thousands: ' ' }],
    ['three decimals below one', ['0,125', '1,234', '17,5'], 'number', { decimal: ',' }],
    ['exponents', ['1e3', '2.5E-4'], 'number', { decimal: '.' }],
  ])('%s', (_, values, type, reading) => {
    expect(typeOf('amount', values)).toMatchObject({ type, reading });
  });

  test('a point before three digits is a decimal sign with a note, unless another column has decimal commas', () => {
    const alone = inferPack(columnsOf({ code: ids(30), people: ['1.234', '5.678'] }), NOTHING);
    expect(alone.attributes[1]).toMatchObject({ type: 'number', reading: { decimal: '.' } });
    expect(alone.notes).toContain('people: 1.234 is read as decimals: no other value decides it');
    const german = inferPack(
      columnsOf({ code: ids(30), people: ['1.234', '5.678'], share: ['0,5', '12,25'] }),
      NOTHING,
    );
    expect(german.attributes[1]).toMatchObject({ type: 'integer', reading: { decimal: ',', thousands: '.' } });
    expect(german.notes.join()).not.toContain('people');
  });

  test('codes with leading zeros, postal codes and long digits are texts', () => {
    expect(typeOf('plant', ['007', '010', '123']).type).toMatch(/string|enum/);
    expect(typeOf('PLZ', ['50667', '10115', '80331']).type).toMatch(/string|enum/);
    expect(typeOf('serial', ['92233720368547758071', '92233720368547758072']).type).toMatch(/string|enum/);
  });

  test('rare junk in a column of numbers is left out; frequent junk makes it a text', () => {
    const numbers = Array.from({ length: 100 }, (_, i) => String(i * 7));
    expect(typeOf('stock', [...numbers.slice(1), 'see note'])).toMatchObject({ type: 'integer' });
    expect(typeOf('stock', [...numbers.slice(10), ...Array(10).fill('see note')])).toMatchObject({ type: 'string' });
  });

  test('white space in a column of numbers means "no value"', () => {
    expect(typeOf('stock', ['1', ' ', '3', '4'])).toMatchObject({ type: 'integer', reading: { missing: [''] } });
  });
});

describe('units and money', () => {
  test.each([
    ['height_m', ['1', '2'], { type: 'integer', unit: 'm', name: 'height_m' }],
    ['Weight (kg)', ['1.5', '2'], { type: 'number', unit: 'kg', name: 'weight', description: 'Weight, in kg' }],
    ['duration_min', ['90', '120'], { type: 'integer', unit: 'min', description: 'Duration, in min' }],
    ['page.min', ['3', '5'], { type: 'integer', description: 'Page min' }],
    ['temperature_min', ['-3', '5'], { type: 'integer', description: 'Temperature min' }],
    ['price_eur', ['9.99', '12'], { type: 'price', unit: 'EUR', currency: 'EUR' }],
    ['price_per_night_usd', ['90', '120'], { type: 'price', unit: 'USD/night', currency: 'USD' }],
    [
      'Preis',
      ['9,99 €', '1.299,00 €'],
      { type: 'price', unit: 'EUR', currency: 'EUR', reading: { affix: '€', decimal: ',', thousands: '.' } },
    ],
    ['Load', ['12 kg', '300 kg'], { type: 'integer', unit: 'kg', reading: { affix: 'kg' } }],
    ['balance_eur', ['-9.99', '12'], { type: 'number', unit: 'EUR' }],
  ])('%s', (name, values, expected) => {
    const attribute = typeOf(name, values);
    expect(attribute).toMatchObject(expected);
    if (!('unit' in expected)) expect(attribute.unit).toBeUndefined();
  });

  test('a price takes the only currency of the file, or that of --currency, else it is a number with a note', () => {
    const values = ['9.99', '12.50'];
    const sample = columnsOf({ code: ids(30), price: values });
    const plain = inferPack(sample, NOTHING);
    expect(plain.attributes[1]!.type).toBe('number');
    expect(plain.notes.join()).toContain('--currency');
    expect(inferPack(sample, { ...NOTHING, currency: 'CHF' }).attributes[1]).toMatchObject({
      type: 'price',
      currency: 'CHF',
    });
    const named = inferPack(columnsOf({ code: ids(30), price: values, currency: ['SEK'] }), NOTHING);
    expect(named.attributes[1]).toMatchObject({ type: 'price', currency: 'SEK' });
    const mixed = inferPack(columnsOf({ code: ids(30), price: values, currency: ['SEK', 'NOK'] }), NOTHING);
    expect(mixed.attributes[1]!.type).toBe('number');
  });

  test('letters before digits are codes, and M is no metre', () => {
    expect(typeOf('bay', ['T1000', 'T1001']).type).toMatch(/string|enum/);
    expect(typeOf('sales', ['12M', '30M']).type).toMatch(/string|enum/);
  });

  test('two units in one column are texts', () => {
    expect(typeOf('mass', ['12 kg', '300 g', '5 kg']).type).toMatch(/string|enum/);
  });
});

describe('dates', () => {
  test.each([
    ['2024-01-31', {}],
    ['31.01.2024', { date: 'DD.MM.YYYY' }],
    ['1/31/2024', { date: 'MM/DD/YYYY' }],
    ['2024/01/31', { date: 'YYYY/MM/DD' }],
  ])('%s', (text, reading) => {
    expect(typeOf('opened', [text, text.replace('31', '17')])).toMatchObject({ type: 'date', reading });
  });

  test.each([
    ['2024-01-31T12:30:00Z', {}],
    ['2024-01-31T12:30:00.25+02:00', {}],
    ['2024-01-31 12:30:00', { zoneless: true }],
    ['31/01/2024 18:05', { date: 'DD/MM/YYYY HH:mm', zoneless: true }],
    ['1/31/2024 6:05 PM', { date: 'MM/DD/YYYY HH:mm A', zoneless: true }],
  ])('%s is a time', (text, reading) => {
    const { type, reading: proposed, notes } = typeOf('opened', [text, text.replace('31', '17')]);
    expect({ type, reading: proposed }).toEqual({ type: 'datetime', reading });
    expect(notes.join().includes('`timezone`')).toBe('zoneless' in reading);
  });

  test('midnights are days; zones that cannot be read are texts; two patterns are listed', () => {
    expect(typeOf('opened', ['2024-01-31 00:00:00', '2024-02-01 00:00:00']).type).toBe('date');
    expect(typeOf('opened', ['2024-01-31T12:00:00 CEST', '2024-02-01T12:00:00 CEST']).type).toMatch(/string|enum/);
    const mixed = ['2024-01-31', '2024-02-17', '2024-02-18', '17.03.2024'];
    expect(typeOf('opened', mixed)).toMatchObject({ type: 'date', reading: { date: ['YYYY-MM-DD', 'DD.MM.YYYY'] } });
    expect(typeOf('opened', ['31/12/2024', '12/31/2024', '1/2/2024']).type).toMatch(/string|enum/);
  });

  test('day and month are ambiguous up to 12, unless another column decides', () => {
    const unclear = ['03/04/2024', '05/06/2024'];
    const alone = inferPack(columnsOf({ code: ids(30), seen: unclear }), NOTHING);
    expect(alone.attributes[1]!.reading.date).toBe('DD/MM/YYYY');
    expect(alone.notes.join()).toContain('day and month may be exchanged');
    const decided = inferPack(
      columnsOf({ code: ids(30), seen: unclear, opened: ['12/31/2023', '01/15/2024'] }),
      NOTHING,
    );
    expect(decided.attributes[1]!.reading.date).toBe('MM/DD/YYYY');
    expect(decided.notes.join()).not.toContain('seen');
  });

  test('seconds since 1970 only in columns of times', () => {
    expect(typeOf('updated_at', ['1700000000', '1710000000'])).toMatchObject({
      type: 'datetime',
      reading: { date: 'unix' },
    });
    expect(typeOf('updated_at', [1700000000000])).toMatchObject({ type: 'datetime', reading: { date: 'unix_ms' } });
    expect(typeOf('budget', ['1700000000', '1710000000']).type).toBe('integer');
  });

  test('days that do not exist are no dates', () => {
    expect(typeOf('opened', ['2024-02-31', '2024-13-01', '2023-02-29']).type).not.toBe('date');
  });
});

describe('texts, lists and flags', () => {
  test('enum: few values, each repeated; the most frequent spelling; closed when new ones are improbable', () => {
    const valuesOf = (name: string, count: number, tried = true) => {
      const sample = columnsOf({ code: ids(count), [name]: ['red', 'Red', 'red', 'blue'] }, count);
      const { attributes } = inferPack(sample, { ...NOTHING, tried });
      const attribute = attributes.find((attribute) => attribute.name === name)!;
      expect(attribute.type).toBe('enum');
      return attribute.values;
    };
    expect(valuesOf('color', 100)).toEqual(['red', 'blue']);
    // Too few records of one, a name of what grows, and rows that nothing has read.
    expect(valuesOf('color', 76)).toBeUndefined();
    expect(valuesOf('brand', 100)).toBeUndefined();
    expect(valuesOf('color', 100, false)).toBeUndefined();
    const open = typeOf(
      'town',
      Array.from({ length: 30 }, (_, i) => `Town ${i}`),
      60,
    );
    expect([open.type, open.values]).toEqual(['enum', undefined]);
    expect(
      typeOf(
        'town',
        Array.from({ length: 60 }, (_, i) => `Town ${i}`),
        120,
      ).type,
    ).toBe('string');
  });

  test('missing texts are those that occur; NA next to country codes is a value', () => {
    const attribute = typeOf('note', ['oak', 'n/a', 'elm', '-', 'ash', 'NULL'], 60);
    expect(attribute.reading.missing?.sort()).toEqual(['-', 'NULL', 'n/a']);
    expect(attribute.filled).toBe(30);
    expect(typeOf('town', ['Nan', 'Null', 'Ulm'], 60).reading.missing).toBeUndefined();
    expect(typeOf('country', ['NA', 'DE', 'FR', 'NA'], 40).reading.missing).toBeUndefined();
    expect(typeOf('depth', ['1', 'none', '3'], 60)).toMatchObject({ type: 'integer', reading: { missing: ['none'] } });
  });

  test('flags: words for true and false, 0 and 1 by name only', () => {
    expect(typeOf('open', ['yes', 'no'])).toMatchObject({ type: 'boolean', reading: {} });
    expect(typeOf('offen', ['ja', 'Nein'])).toMatchObject({
      type: 'boolean',
      reading: { truths: { true: ['ja'], false: ['nein'] } },
    });
    expect(typeOf('is_open', ['1', '0']).type).toBe('boolean');
    expect(typeOf('doors', ['1', '0']).type).toBe('integer');
    expect(typeOf('done', [true, false]).type).toBe('boolean');
  });

  test('lists: a separator and entries that repeat; commas in names are no lists', () => {
    expect(typeOf('tags', ['a b;c', 'c;d', 'a b;d'])).toMatchObject({ type: 'strings', reading: {} });
    expect(typeOf('tags', ['a b|c', 'c|d', 'a b|d'])).toMatchObject({ type: 'strings', reading: { separator: '|' } });
    expect(typeOf('tags', [['a', 'b'], ['c']])).toMatchObject({ type: 'strings' });
    const people = Array.from({ length: 50 }, (_, i) => `Family${i}, Given${i}`);
    expect(typeOf('person', people).type).toBe('string');
  });

  test('sentences are texts; addresses on the web are urls', () => {
    const long = Array.from({ length: 40 }, (_, i) => `${i} ${'word '.repeat(40)}`);
    expect(typeOf('remarks', long).type).toBe('text');
    expect(
      typeOf(
        'link',
        ids(40).map((id) => `https://example.org/${id}`),
      ).type,
    ).toBe('url');
  });

  test('addresses among other texts are a text, with a note', () => {
    const links = ids(40).map((id, i) => (i === 7 ? 'www.example.org' : `https://example.org/${id}`));
    expect(typeOf('link', links)).toMatchObject({
      type: 'string',
      notes: ["a text, not a url: 97.5 % are web addresses, and others are not, such as 'www.example.org'"],
    });
    expect(typeOf('label', [...ids(40), 'https://example.org/']).notes).toEqual([]);
  });
});

describe('names', () => {
  test('are valid, unique, not reserved and no filters of each other', () => {
    const headers = [
      'Größe',
      'limit',
      'min_price',
      'price',
      'price.list',
      'Ürün Adı',
      '名前',
      '2024 sales',
      'Weight (kg)',
      'Weight (lb)',
      'price!',
    ];
    const sample = columnsOf({ code: ids(30), ...Object.fromEntries(headers.map((name) => [name, ['1', '2', '3']])) });
    const names = inferPack(sample, NOTHING).attributes.map(({ name }) => name);
    expect(names).toEqual([
      ...[
        'code',
        'groesse',
        'limit_value',
        'price_min',
        'price',
        'price_list',
        'ueruen_adi',
        'column_8',
        'value_2024_sales',
      ],
      ...['weight', 'weight_lb', 'price_2'],
    ]);
  });

  test('a unit in the middle of a name is one word, and the unit of a price', () => {
    const prices = ids(30).map((_, i) => `0,${30 + (i % 40)}`);
    const sample = columnsOf({
      code: ids(30),
      'Preis pro kWh (CHF)': prices,
      'Kapazität mAh': ids(30).map((_, i) => i + 0.5),
    });
    const [, price, capacity] = inferPack(sample, NOTHING).attributes;
    expect(price).toMatchObject({ name: 'preis_pro_kwh', type: 'price', unit: 'CHF/kWh', currency: 'CHF' });
    expect(capacity).toMatchObject({ name: 'kapazitaet_mah', unit: 'mAh' });
  });

  test('a second column of one name, one without a name and an empty one are not read', () => {
    const sample: RowSample = {
      ...columnsOf({ code: ids(30), a: ['x'], b: ['y'], c: [''] }),
      columns: ['code', 'code', '', 'empty'],
    };
    expect(inferPack(sample, NOTHING).unread).toEqual([
      { column: 'code', reason: 'an earlier column has the same name' },
      { column: 'column 3', reason: 'it has no name' },
      { column: 'empty', reason: 'it has no values' },
    ]);
  });

  test('nested objects become columns with dots', () => {
    const sample = flattened(
      columnsOf({
        id: ids(4),
        at: [
          { town: 'A', geo: { lat: 1, lng: 2 } },
          { town: 'B', geo: { lat: 3, lng: 4 } },
        ],
      }),
    );
    const { attributes } = inferPack(sample, NOTHING);
    expect(attributes.map(({ name, type }) => `${name} ${type}`)).toEqual(['id string', 'at.town enum', 'at_geo geo']);
    expect(attributes[2]!.columns).toEqual(['at.geo.lat', 'at.geo.lng']);
  });
});

test('a query whose removed rows stay has the time of the last change as its cursor', () => {
  const changed = Array.from({ length: 40 }, (_, i) => `2026-0${1 + (i % 9)}-10T08:30:00Z`);
  const columns = { id: ids(40), town: ids(40).map((_, i) => `Town ${i % 4}`), updated_at: changed };
  const marked = inferPack(columnsOf({ ...columns, deleted_at: changed }), NOTHING);
  expect(cursorOf(marked, 'postgres')).toBe('updated_at');
  expect(cursorOf(marked, 'csv')).toBeUndefined();
  expect(cursorOf(inferPack(columnsOf(columns), NOTHING), 'postgres')).toBeUndefined();
  const source = { kind: 'postgres', target: null, options: { query: 'SELECT 1' }, complete: false } as const;
  const facts = { id: 'x', title: 'X', license: { name: 'CC0-1.0', url: 'https://x.example/' }, attribution: 'X' };
  const more = { homepage: 'https://x.example/', source, unique: true, tolerate: null, max_drop: null };
  const text = packText(marked, { ...facts, ...more });
  expect(text).toContain("cursor: 'updated_at'");
  expect(text).not.toContain('// cursor');
});

test('a header that may be a record is named; years and positions are headers', () => {
  const numbers = Array.from({ length: 40 }, (_, i) => `${20_000 + i * 7}`);
  const notes = (columns: Record<string, readonly unknown[]>) => inferPack(columnsOf(columns), NOTHING).notes.join();
  expect(notes({ K1: ids(40), 13335: numbers })).toContain("the header may be a record, as '13335' has");
  expect(notes({ id: ids(40), 2019: numbers, 12: numbers })).not.toContain('the header may be');
  const days = ids(40).map((_, i) => `2026-01-${10 + (i % 20)}`);
  expect(notes({ K1: ids(40), '2026-01-09': days })).toContain('the header may be a record');
});

test('the dot of an abbreviation makes no group', () => {
  expect(readName('No. of rooms').snake).toBe('no_of_rooms');
  expect(readName('price.list').snake).toBe('price.list');
});

describe('identity', () => {
  test('prefers an id, then a code, then a name', () => {
    const unique = ids(40);
    const pick = (columns: Record<string, readonly unknown[]>) =>
      inferPack(columnsOf(columns), NOTHING).identity.attributes;
    expect(pick({ name: unique, sku: unique, id: unique })).toEqual(['id']);
    expect(pick({ name: unique, sku: unique })).toEqual(['sku']);
    expect(pick({ other: unique, name: unique })).toEqual(['name']);
    // Addresses make long slugs.
    const links = ids(40).map((text) => `https://shop.example/${text}`);
    expect(pick({ link: links, product: unique })).toEqual(['product']);
    expect(pick({ link: links, remark: unique })).toEqual(['link']);
    expect(pick({ population: Array.from({ length: 40 }, (_, i) => i * 3), town: unique })).toEqual(['town']);
  });

  test('takes a pair when no column is unique', () => {
    const sample = columnsOf({ town: ['A', 'B'], name: ['x', 'x', 'y', 'y'] }, 4);
    const { identity } = inferPack(sample, NOTHING);
    expect(identity.attributes.sort()).toEqual(['name', 'town']);
    expect(identity.repeated).toBe(0);
  });

  test('counts duplicates when there is none, and accepts a wanted one', () => {
    const sample = columnsOf({
      code: ['a', 'a', 'b', 'b', 'c'],
      size: ['1', '1', '2', '2', '3'],
      when: ['x', 'x', 'y', 'y', 'z'],
      n: [1, 2, 3, 3, 5].map(String),
    });
    const odd = { ...sample, rows: [...sample.rows, ['a', '1', 'x', '1'], ['b', '', '', '']], total: 7 };
    expect(() => inferPack(odd, NOTHING)).toThrow(ProposalError);
    expect(() => inferPack(odd, NOTHING)).toThrow(
      /identifies each of the 7 rows: .*code \(\d rows repeat a value\).*--identity/,
    );
    const wanted = inferPack(odd, { ...NOTHING, identity: ['code'] });
    expect(wanted.identity).toMatchObject({ attributes: ['code'], repeated: 2, records: 3 });
    expect(wanted.notes.join()).toContain('2 rows repeat the code of an earlier row');
    expect(() => inferPack(odd, { ...NOTHING, identity: ['kode'] })).toThrow(
      "there is no column 'kode'; possible are code",
    );
  });

  test('ids that differ in letter case only stay different records', () => {
    const mixed = [...ids(20), ...ids(20).map((id) => id.toLowerCase())];
    expect(inferPack(columnsOf({ id: mixed }), NOTHING).identity).toMatchObject({ attributes: ['id'], exact: true });
    expect(inferPack(columnsOf({ id: ids(40) }), NOTHING).identity.exact).toBe(false);
  });

  test('a last line without an id is left out', () => {
    const rows = Array.from({ length: 99 }, (_, i) => `id-${i}`);
    const { identity, notes } = inferPack(
      columnsOf({ id: [...rows, ''], n: rows.map((_, i) => i).concat(7) }),
      NOTHING,
    );
    expect(identity).toMatchObject({ attributes: ['id'], incomplete: 1 });
    expect(notes.join()).toContain('1 row have no id');
  });
});

describe('choices', () => {
  test('group, name, geography, prominence, comparison, public columns', () => {
    const proposal = inferPack(
      columnsOf({
        id: ids(100),
        title: ids(100).map((id) => `Tower ${id}`),
        country: ['DE', 'FR', 'IT'],
        colour: ['red', 'blue'],
        population: Array.from({ length: 100 }, (_, i) => i * 31),
        Latitude: ['48,5', '49,25'],
        Longitude: ['8,5', '9,25'],
        price_eur: ['1,5', '2,5'],
      }),
      NOTHING,
    );
    expect(proposal.choices).toMatchObject({
      name: 'title',
      group: 'country',
      prominence: 'population',
      compare: ['population', 'price_eur', 'country', 'colour'],
    });
    expect(proposal.choices.public).toEqual(['id', 'title', 'country', 'colour', 'population', 'location']);
    expect(proposal.choices.searchable).toEqual(['title']);
    expect(proposal.decimal).toBe(',');
    expect(proposal.attributes.at(-1)).toMatchObject({
      name: 'location',
      type: 'geo',
      columns: ['Latitude', 'Longitude'],
    });
  });

  test('a complete source gets an attribute for records that it no longer lists', () => {
    const whole = (columns: Record<string, readonly unknown[]>) =>
      inferPack({ ...columnsOf(columns), whole: true }, NOTHING);
    const { listed, attributes, choices } = whole({ id: ids(40), kind: ['a', 'b'] });
    expect([listed, choices.group, choices.public]).toEqual(['status', 'kind', ['id', 'kind', 'status']]);
    expect(attributes.at(-1)!.values).toEqual(['listed', 'gone']);
    expect(whole({ id: ids(40), status: ['new', 'old'] }).listed).toBe('listing');
  });

  test('a file of one column is grouped by its first letter', () => {
    const { choices, initialOf, attributes } = inferPack(columnsOf({ Name: ids(40) }), NOTHING);
    expect([choices.group, initialOf, choices.compare]).toEqual(['initial', 'name', ['initial']]);
    expect(attributes.map(({ name }) => name)).toEqual(['name', 'initial']);
  });

  test('300 columns', () => {
    const wide = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`Column ${i}`, ['1', '2', '3']]));
    const { attributes, choices } = inferPack(columnsOf({ id: ids(50), ...wide }), NOTHING);
    expect(attributes.length).toBe(301);
    expect(choices.compare.length).toBe(8);
    expect(choices.public.length).toBeLessThanOrEqual(8);
  });

  test('no rows, no columns and no values are errors', () => {
    expect(() => inferPack({ ...columnsOf({ a: ['1'] }), rows: [] }, NOTHING)).toThrow(
      'file.csv has a header and no rows',
    );
    expect(() => inferPack({ ...columnsOf({ a: ['1'] }), columns: [] }, NOTHING)).toThrow('has no columns');
    expect(() => inferPack(columnsOf({ a: ['', ' ', 'n/a'] }), NOTHING)).toThrow('no column of file.csv has a value');
  });
});
