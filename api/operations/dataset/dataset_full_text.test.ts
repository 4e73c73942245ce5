// Records of llms-full.txt are parsed up to their provenance only.
import { expect, test } from 'vitest';
import { parseTextRecord } from './dataset_full_text.ts';

const value = { source_url: 'https://a.example/', confidence: 1 };

test.each([
  ['a plain record', { name: 'A', attributes: { size: 1 }, provenance: { size: value } }],
  [
    'a value that looks like the mark',
    { name: 'B', attributes: { text: '},"provenance":{"' }, provenance: { text: value } },
  ],
  [
    'an attribute named provenance',
    { name: 'C', attributes: { size: 1, provenance: { lat: 1, lng: 2 } }, provenance: {} },
  ],
  ['no attributes', { name: 'D', attributes: {}, provenance: {} }],
  ['provenance first', { name: 'E', provenance: { size: value }, attributes: { size: 1 } }],
])('values are read of %s', (_, record) => {
  const stored = { id: 'r-1', slug: 'a', ...record };
  expect(parseTextRecord(JSON.stringify({ ...stored, quality_score: 1 }))).toMatchObject({
    id: 'r-1',
    slug: 'a',
    name: record.name,
    attributes: record.attributes,
  });
});

test('provenance is not read', () => {
  const body = JSON.stringify({
    id: 'r-1',
    slug: 'a',
    name: 'A',
    attributes: { size: 1 },
    provenance: { size: value },
  });
  expect(parseTextRecord(body)).not.toHaveProperty('provenance');
});
