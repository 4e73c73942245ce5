// Elevations: accepted, corrected and doubtful ones, by the values of all versions for one airport.
import { expect, test } from 'vitest';
import { judgeCut, judgeMixed } from './elevation.ts';

test.each([
  ['the thousands are gone', 355, 13_355, 13_355, undefined],
  ['nothing but thousands', 0, 4000, 4000, undefined],
  ['the sign is gone', 11, -11, -11, undefined],
  ['the sign is gone, of so little that it looks like a survey', 5, -5, -5, undefined],
  ['another figure', 600, 360, 360, 0.5],
  ['perhaps cut short after a new survey', 396, 4340, 4340, 0.5],
])('version 2: %s', (_, figure, whole, value, confidence) => {
  const verdict = judgeCut(figure, whole);
  expect([verdict?.value, verdict?.confidence]).toEqual([value, confidence]);
});

test('version 2 is truncated only when it is the remainder of version 1', () => {
  const reason = (figure: number, whole: number) => judgeCut(figure, whole)?.reason;
  expect(reason(355, 13_355)).toBe('355 ft, truncated; version 1.0.6 has 13355 ft');
  expect(reason(600, 360)).toBe('600 ft; version 1.0.6 has 360 ft');
});

test.each([
  ['as version 1 has it', 364, 364],
  ['a survey moved it', 334, 328],
  ['thousands that are there', 2270, null],
])('version 2 is believed: %s', (_, figure, whole) => {
  expect(judgeCut(figure, whole)).toBeNull();
});

test('version 2 without version 1 is doubtful below a thousand, and keeps its value', () => {
  expect(judgeCut(200, null)).toMatchObject({ confidence: 0.2 });
  expect(judgeCut(200, null)?.value).toBeUndefined();
});

const none = { whole: null, cut: null, mixed: null };

test.each([
  ['what replaces a count of flights', 5431, 'ZXA', { ...none, whole: 5431, mixed: 326_296 }],
  ['what version 1 said', 5600, 'ZXA', { whole: 5600, cut: 600, mixed: null }],
  ['thousands that version 2 kept', 2270, 'ZXA', { ...none, cut: 2270 }],
  ['an airfield without IATA code', 4777, '', none],
])('later versions are accepted: %s', (_, figure, iata, others) => {
  expect(judgeMixed(figure, iata, others)).toBeNull();
});

test.each([
  ['a count of flights', 8301, 'ZXA', { whole: 13_355, cut: 355, mixed: null }],
  ['a copy of the figure without its thousands', 600, 'ZXA', { whole: 5600, cut: 600, mixed: 600 }],
  ['a copy of the figure without its sign', 5, 'ZXA', { whole: -5, cut: 5, mixed: null }],
  ['a copy that only version 2 had, without thousands', 200, 'ZXA', { ...none, cut: 200 }],
  ['nobody else knows', 84, 'ZXA', none],
])('later versions are doubted: %s', (_, figure, iata, others) => {
  expect(judgeMixed(figure, iata, others)).toMatchObject({ confidence: 0.2 });
});
