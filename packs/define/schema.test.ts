// Values of each type: normalisation and rejected values with their reasons; properties for arbitrary input;
// the JSON Schema.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { loadPack } from './load.ts';
import { ATTRIBUTE_TYPES, type Attribute, type AttributeType } from './model.ts';
import { recordSchema } from './record-schema.ts';
import { checkValue } from './schema.ts';

/** An attribute of a type with defaults. */
function attribute(type: AttributeType, more: Partial<Attribute> = {}): Attribute {
  const open = { unit: null, currency: type === 'price' ? 'EUR' : null, values: null, range: { min: null, max: null } };
  const flags = { public: true, filterable: true, searchable: false, search_weight: 1, once: false, editable: false };
  const rest = {
    aliases: [],
    vocabulary: null,
    description: 'x',
    example: 'x',
    jump: null,
    group_jump: true,
    published_entries: null,
    tolerance: 0,
    sla: { warn: 1, error: 2 },
    weight: 1,
  };
  return { name: 'x', type, ...open, ...flags, ...rest, ...more };
}

const value = (type: AttributeType, input: unknown, more?: Partial<Attribute>) => {
  const checked = checkValue(attribute(type, more), input);
  return checked.ok ? checked.value : `expected ${checked.reason}`;
};

describe('checkValue', () => {
  test('text is trimmed, composed, and keeps tabs and line feeds of the control characters', () => {
    expect(value('string', '  a \n\t b\u0000\u00a0c\u2028d\u0007 ')).toBe('a \n\t b\ufffd\u00a0c\u2028d');
    expect(value('text', 'a\r\nb\rc\n')).toBe('a\nb\nc');
    expect(value('enum', 'Line one\r\nline two', { values: ['line one\nLine two'] })).toBe('line one\nLine two');
    expect(value('text', 'Zu\u0308rich')).toBe('Zürich');
    expect(value('string', ' \n ')).toBe('expected a text');
    expect(value('text', 5)).toBe('expected a text');
  });

  test('direction marks, zero-width characters and joiners stay in texts and lists', () => {
    expect(value('string', 'a\u202eb\u2066c\u2069\u200bd')).toBe('a\u202eb\u2066c\u2069\u200bd');
    expect(value('strings', ['a\u200b', 'a', '\u202a'])).toEqual(['a\u200b', 'a']);
    expect(value('string', '\u200b')).toBe('expected a text');
    expect(value('text', 'می\u200cخواهم')).toBe('می\u200cخواهم');
    const kept = ['क्\u200dष', '👩\u200d🔧', '❤\ufe0f', '🏴\u{e0067}\u{e0062}\u{e007f}', '\ue000'];
    for (const each of kept) expect(value('string', each)).toBe(each);
  });

  test.each(['\u00ad', '\u061c', '\u200e', '\u200f', '\u2060', '\u2069', '\u206a'])(
    '%j counts nothing in a closed list',
    (mark) => {
      expect(value('string', `a${mark}b`)).toBe(`a${mark}b`);
      expect(value('enum', `lis${mark}ted`, { values: ['listed'] })).toBe('listed');
    },
  );

  test.each(['\u200e', '\u200d', '\u200c \ufe0f', '\u3164'])('%j alone is no text', (mark) => {
    expect(value('string', mark)).toBe('expected a text');
    expect(value('strings', ['a', mark])).toEqual(['a']);
  });

  test('a text has a maximum length', () => {
    for (const type of ['string', 'text'] as const) {
      expect(value(type, 'a'.repeat(1_000_000)) === 'a'.repeat(1_000_000)).toBe(true);
      expect(value(type, 'a'.repeat(1_000_001))).toBe('expected a text of at most 1,000,000 bytes');
      expect(value(type, 'é'.repeat(500_001))).toBe('expected a text of at most 1,000,000 bytes');
    }
    expect(value('enum', 'a'.repeat(999))).toHaveLength(999);
    expect(value('enum', '😀'.repeat(1_000))).toHaveLength(2_000);
    expect(value('enum', 'a'.repeat(1_001))).toBe('expected a text of at most 1,000 characters');
    expect(value('strings', ['a', 'a'.repeat(1_000_000)])).toBe('expected a list of texts of at most 1,000,000 bytes');
    expect(value('url', `https://a.example/${'a'.repeat(1_000_000)}`)).toBe(
      'expected an http or https address of at most 1,000,000 bytes',
    );
  });

  test('an enum gets the spelling of its closed list', () => {
    const values = ['listed', 'außer Dienst'];
    expect(value('enum', ' LISTED ', { values })).toBe('listed');
    expect(value('enum', 'Ausser dienst', { values })).toBe('außer Dienst');
    expect(value('enum', 'lost', { values })).toBe('expected one of listed, außer Dienst');
    expect(value('enum', 'Anything')).toBe('Anything');
  });

  test('links are http or https, normalised, without credentials', () => {
    expect(value('url', ' https://a.example ')).toBe('https://a.example/');
    expect(value('url', 'https://a.example/ü (1)')).toBe('https://a.example/%C3%BC%20(1)');
    const wrong = [
      'javascript:alert(1)',
      'ftp://a.example/',
      'a.example',
      'https://me:pw@a.example/',
      'https://',
      '',
      7,
    ];
    for (const each of wrong) expect(value('url', each)).toBe('expected an http or https address');
  });

  test('numbers keep their digits and are in range; integers are exact', () => {
    expect(value('number', 0.14 / 0.7)).toBe(0.20000000000000004);
    expect(value('number', 12345678901.55)).toBe(12345678901.55);
    expect(value('price', { min: 0.1234567890123, max: 123456789012345 })).toEqual({
      min: 0.1234567890123,
      max: 123456789012345,
      currency: 'EUR',
    });
    expect(Object.is(value('number', -0), 0)).toBe(true);
    expect(value('integer', 9007199254740991)).toBe(9007199254740991);
    expect(value('integer', 1.5)).toBe('expected a whole number');
    expect(value('number', Number.NaN)).toBe('expected a number');
    expect(value('number', Number.POSITIVE_INFINITY)).toBe('expected a number');
    expect(value('number', '5')).toBe('expected a number');
    expect(value('number', 4, { range: { min: 5, max: null } })).toBe('expected a number of at least 5');
    expect(value('integer', 6, { range: { min: null, max: 5 } })).toBe('expected a whole number of at most 5');
  });

  test('a text of more digits than a double has is rejected, or rounded; a point is always rounded', () => {
    const tooMany =
      'of at most 15 significant digits, or the shortest text of a double; the pack can allow more with `round: true`';
    expect(value('number', '12345678901234567')).toBe(`expected a number ${tooMany}`);
    expect(value('price', '0.12345678901234567890')).toBe(`expected a price ${tooMany}`);
    expect(value('price', { min: 1, max: '12345678901234567' })).toBe(`expected a price ${tooMany}`);
    expect(value('number', '12345678901234567', { round: true })).toBe(12345678901234600);
    expect(value('price', { min: 1, max: '2.00000000000000001' }, { round: true })).toEqual({
      min: 1,
      max: 2,
      currency: 'EUR',
    });
    expect(value('geo', { lat: 52.520008123456, lng: '13.404954000000000123' })).toEqual({
      lat: 52.5200081,
      lng: 13.404954,
    });
  });

  test('dates exist', () => {
    expect(value('date', '2028-02-29')).toBe('2028-02-29');
    for (const wrong of ['2026-02-29', '2026-2-1', '2026-01-01T00:00:00Z', 20260101]) {
      expect(value('date', wrong)).toBe('expected a date, YYYY-MM-DD');
    }
  });

  test('dates are within their bounds; now is the date of the place that is furthest ahead', () => {
    const now = new Date('2026-11-20T09:00:00Z');
    const dated = (text: string, min: string | null, max: string | null) => {
      const checked = checkValue(attribute('date', { date_range: { min, max } }), text, now);
      return checked.ok ? checked.value : checked.reason;
    };
    expect(dated('2026-11-20', null, 'now')).toBe('2026-11-20');
    expect(dated('2026-11-21', null, 'now')).toBe('a date that is not in the future (today is 2026-11-20)');
    const evening = new Date('2026-11-20T11:00:00Z');
    const ahead = checkValue(attribute('date', { date_range: { min: null, max: 'now' } }), '2026-11-21', evening);
    expect(ahead.ok).toBe(true);
    expect(dated('2019-12-31', '2020-01-01', null)).toBe('a date from 2020-01-01 on');
    expect(dated('2020-01-02', null, '2020-01-01')).toBe('a date until 2020-01-01');
    expect(dated('2020-01-01', '2020-01-01', '2020-01-01')).toBe('2020-01-01');
  });

  test('lists keep their order and lose empty and repeated entries', () => {
    expect(value('strings', [' b', 'a', 'b ', ''])).toEqual(['b', 'a']);
    expect(value('strings', ['', ' '])).toBe('expected a list of at least one text');
    expect(value('strings', 'a')).toBe('expected a list of texts');
    expect(value('strings', ['a', 1])).toBe('expected a list of texts');
  });

  test('points lie on earth', () => {
    expect(value('geo', { lat: -90, lng: 180 })).toEqual({ lat: -90, lng: 180 });
    expect(value('geo', { lat: 90.1, lng: 0 })).toBe('expected a latitude in degrees, -90 to 90');
    expect(value('geo', { lat: 0, lng: -180.1 })).toBe('expected a longitude in degrees, -180 to 180');
    expect(value('geo', [1, 2])).toBe('expected a point {lat, lng} in degrees');
    expect(value('geo', { lat: 1, lng: 2, alt: 3 })).toBe('expected a point {lat, lng} in degrees');
  });

  test('prices are a number or a range of the attribute’s currency', () => {
    expect(value('price', 0)).toBe(0);
    expect(value('price', { min: 1, max: 2 })).toEqual({ min: 1, max: 2, currency: 'EUR' });
    expect(value('price', { min: 2, max: 2, currency: 'EUR' })).toBe(2);
    expect(value('price', { min: 1, max: 2, currency: 'USD' })).toBe('expected the currency EUR');
    expect(value('price', { min: 3, max: 2 })).toBe('expected a price range whose min is not above its max');
    expect(value('price', -1)).toBe('expected a price of at least 0');
    expect(value('price', { min: 1, max: 9 }, { range: { min: 0, max: 5 } })).toBe('expected a price of at most 5');
    for (const wrong of ['5', null, [1, 2], { min: 1 }, { min: 1, max: 2, tiers: [] }]) {
      expect(value('price', wrong)).toMatch(/^expected a price/);
    }
  });

  test('true and false are not texts', () => {
    expect(value('boolean', false)).toBe(false);
    expect(value('boolean', 'true')).toBe('expected true or false');
  });
});

const anything = fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true, withSparseArray: true });
const likely = fc.oneof(
  { arbitrary: anything, weight: 3 },
  fc.boolean(),
  fc.integer(),
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.webUrl(),
  fc.array(fc.string()),
  fc.record({ lat: fc.double(), lng: fc.double() }),
  fc.record({ min: fc.double(), max: fc.double() }),
);

describe.each(ATTRIBUTE_TYPES)('any input as %s', (type) => {
  test('never throws; an accepted value is accepted again unchanged, also after JSON', () => {
    const at = attribute(type);
    fc.assert(
      fc.property(likely, (input) => {
        const first = checkValue(at, input);
        if (!first.ok) {
          expect(first.reason).not.toBe('');
          return;
        }
        expect(checkValue(at, first.value)).toEqual(first);
        expect(JSON.parse(JSON.stringify(first.value))).toEqual(first.value);
      }),
      { numRuns: 500 },
    );
  });
});

describe('recordSchema', () => {
  const provenance = {
    source_url: 'https://workbench.example/issues/2.0.0',
    observed_at: '2026-11-01T08:00:00Z',
    confidence: 0.9,
    evidence: '',
    source: { kind: 'collector' },
  };

  async function record(values: Record<string, unknown>) {
    const names = Object.keys(values);
    return {
      id: 'r-0123456789abcdef',
      slug: 'sample',
      name: 'Sample',
      dataset: 'tools',
      url: 'https://register.example/datasets/tools/sample',
      updated_at: '2026-11-01T08:00:00Z',
      attributes: values,
      provenance: Object.fromEntries(names.map((name) => [name, provenance])),
      freshness: Object.fromEntries(names.map((name) => [name, 456])),
      quality_score: 0.9,
      completeness: 1,
      verified_owner: false,
      license: 'CC0',
      attribution: 'Tools',
    };
  }

  test('every sample and example is a value of it; a wrong value, name or member is not', async () => {
    const tools = await loadPack('tests/packs/tools');
    const schema = z.fromJSONSchema(recordSchema(tools) as z.core.JSONSchema.JSONSchema);
    for (const { values } of tools.samples) expect(schema.safeParse(await record(values)).error).toBeUndefined();
    const examples = Object.fromEntries(tools.attributes.map((each) => [each.name, each.example]));
    expect(schema.safeParse(await record(examples)).error).toBeUndefined();
    expect(schema.safeParse({ ...(await record(examples)), sample: true }).success).toBe(true);
    for (const wrong of [{ 'price.list': '5' }, { 'price.list': { min: 1, max: 2, currency: 'USD' } }, { prise: 5 }]) {
      expect(schema.safeParse(await record({ ...examples, ...wrong })).success).toBe(false);
    }
    expect(schema.safeParse({ ...(await record(examples)), sample: false }).success).toBe(false);
    expect(schema.safeParse({ ...(await record(examples)), id: undefined }).success).toBe(false);
  });

  test('attributes carry type, unit, description, bounds and example', async () => {
    const tools = await loadPack('tests/packs/tools');
    const { properties, required, $defs } = recordSchema(tools) as Record<string, Record<string, never>>;
    const attributes = (properties as unknown as Record<string, { properties: Record<string, unknown> }>)['attributes'];
    expect(Object.keys(attributes?.properties ?? {})).toEqual(tools.attributes.map((each) => each.name));
    expect(attributes?.properties['mass']).toEqual({
      description: 'Mass, ready for use. Unit: kg.',
      type: 'number',
      minimum: 0,
      maximum: 500,
      examples: [1.25],
    });
    const bound = { type: 'number', minimum: 0 };
    expect(attributes?.properties['price.rental']).toEqual({
      anyOf: [
        bound,
        {
          type: 'object',
          properties: { min: bound, max: bound, currency: { const: 'EUR' } },
          required: ['min', 'max', 'currency'],
          additionalProperties: false,
        },
      ],
      description: 'Rental for a day; a range from low to high season. Unit: EUR/day.',
      examples: [{ currency: 'EUR', max: 9, min: 4 }],
    });
    expect(required).toContain('verified_owner');
    expect(required).not.toContain('preview');
    expect($defs).toHaveProperty('provenance');
  });
});
