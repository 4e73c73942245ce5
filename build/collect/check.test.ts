// The fast check of values returns the same results as the full check.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Attribute, AttributeType } from '../../packs/define/model.ts';
import { ATTRIBUTE_TYPES } from '../../packs/define/model.ts';
import { checkValue } from '../../packs/define/schema.ts';
import { storedText } from '../../packs/define/text.ts';
import { price } from '../../tests/support/night-consolidation.ts';
import { checker } from './check.ts';

const number = fc.oneof(
  fc.integer({ min: -1000, max: 1000 }),
  fc.double(),
  fc.constantFrom(0, -0, 0.1 + 0.2, 1e9, 1e21, 47.3769, -179.99999, 12.345678901, Number.NaN, Number.POSITIVE_INFINITY),
);
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '',
    ' ',
    'a',
    ' a',
    'a  b',
    'a\u00a0b',
    'é',
    'e\u0301',
    '\ud800',
    'caf\ufffd',
    '2026-01-01',
    'listed',
    'Listed',
    'https://a.example',
    'javascript:1',
  ),
);
const anything = fc.oneof(
  number,
  text,
  fc.boolean(),
  fc.constant(null),
  fc.array(text, { maxLength: 4 }),
  fc.record({ lat: number, lng: number }),
  fc.record({ lat: number, lng: number, more: number }),
  fc.record({ min: number, max: number }),
  fc.record({ min: number, max: number, currency: fc.constantFrom('EUR', 'USD') }),
);

const DAMAGED = 'a text without U+FFFD, which bytes become that are not valid in the encoding';

const NOW = new Date('2026-11-20T00:00:00Z');

describe.each(ATTRIBUTE_TYPES.map((type) => [type]))('%s', (type: AttributeType) => {
  const shapes: Partial<Attribute>[] = [{}, { range: { min: -5, max: 500 } }, { range: { min: 1, max: null } }];
  if (type === 'date') shapes.push({ date_range: { min: '2020-01-01', max: 'now' } });
  if (type === 'enum') shapes.push({ values: ['listed', 'gone'] });
  test.each(shapes)('%j', (shape) => {
    const attribute: Attribute = { ...price, range: { min: null, max: null }, ...shape, type };
    const check = checker(attribute, NOW);
    fc.assert(
      fc.property(anything, (raw) => {
        const damaged = [raw].flat().some((value) => typeof value === 'string' && value.includes('\ufffd'));
        const expected = damaged ? { ok: false, reason: DAMAGED } : checkValue(attribute, raw, NOW);
        expect(check(raw)).toEqual(expected);
        expect(check(raw)).toEqual(expected);
      }),
      { numRuns: 300, seed: 5 },
    );
  });
});

test('letters that the fast check passes are those that cleaning leaves unchanged', () => {
  const check = checker({ ...price, type: 'string', range: { min: null, max: null } }, NOW);
  const wrong: string[] = [];
  for (const [first, last] of [
    [0x20, 0x24f],
    [0x400, 0x52f],
    [0x4e00, 0x9fff],
  ] as const) {
    for (let code = first; code <= last; code++) {
      const raw = `a${String.fromCharCode(code)}b`;
      const checked = check(raw);
      if (!checked.ok || checked.value !== storedText(raw)) wrong.push(code.toString(16));
    }
  }
  expect(wrong).toEqual([]);
});
