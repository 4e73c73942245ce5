// The quality formula of docs/releases.md, computed by hand.
import { expect, test } from 'vitest';
import type { Attribute, Pack } from '../../packs/define/model.ts';
import { price } from '../../tests/support/night-consolidation.ts';
import { verifies } from '../../tests/support/verifies.ts';
import { scoreRecord } from './quality.ts';

verifies('record.scores');

const attribute = (weight: number): Attribute => ({ ...price, weight, sla: { warn: 100, error: 200 } });
const [heavy, light, free] = [attribute(3), attribute(1), attribute(0)];
const pack = { attributes: [heavy, light, free], quality: { completeness: 5, confidence: 3, freshness: 2 } } as Pack;

test('all values present, certain and fresh', () => {
  const present = [heavy, light].map((each) => ({ attribute: each, confidence: 1, age: 0 }));
  expect(scoreRecord(pack, present)).toEqual({ quality: 1, completeness: 1 });
});

test('only the attribute with the largest weight: completeness 3/4, confidence 0.8, freshness 1/2', () => {
  const present = [{ attribute: heavy, confidence: 0.8, age: 150 }];
  // (5 × 0.75 + 3 × 0.8 + 2 × 0.5) / 10
  expect(scoreRecord(pack, present)).toEqual({ quality: 0.715, completeness: 0.75 });
});

test('freshness is 1 up to the warning age and 0 from the error age on', () => {
  const at = (age: number) => scoreRecord(pack, [{ attribute: heavy, confidence: 0, age }]).quality;
  expect([at(0), at(100), at(125), at(200), at(1e6)]).toEqual([0.575, 0.575, 0.525, 0.375, 0.375]);
});

test('an attribute without weight adds nothing, and an empty record is valid', () => {
  expect(scoreRecord(pack, [{ attribute: free, confidence: 1, age: 0 }])).toEqual({ quality: 0, completeness: 0 });
  expect(scoreRecord(pack, [])).toEqual({ quality: 0, completeness: 0 });
  const weightless = { ...pack, attributes: [free], quality: { completeness: 0, confidence: 0, freshness: 0 } };
  expect(scoreRecord(weightless, [])).toEqual({ quality: 0, completeness: 0 });
});

test('a warning and an error at the same age', () => {
  const sudden = { ...heavy, sla: { warn: 10, error: 10 } };
  const at = (age: number) => scoreRecord(pack, [{ attribute: sudden, confidence: 0, age }]).quality;
  expect([at(10), at(11)]).toEqual([0.575, 0.375]);
});
