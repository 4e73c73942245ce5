// Labels of attributes.
import { expect, test } from 'vitest';
import { attributeLabel } from './labels.ts';

test.each([
  ['price.output', 'Output price'],
  ['context_window', 'Context window'],
  ['iata', 'IATA'],
  ['model_id', 'Model ID'],
  ['price.cache_read', 'Cache read price'],
])('%s is %s', (name, label) => {
  expect(attributeLabel({ name })).toBe(label);
});

test('the label of the pack wins', () => {
  expect(attributeLabel({ name: 'admin1', label: 'Region' })).toBe('Region');
});
