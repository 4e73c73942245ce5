// The table of many records: the cell for a missing value.
import { expect, test } from 'vitest';
import type { PublicRecord } from '../../data/model/record.ts';
import { loadPack } from '../../packs/define/load.ts';
import type { Value } from '../../packs/define/model.ts';
import { recordTable } from './record-table.ts';

const tools = await loadPack('tests/packs/tools');

const record = (slug: string, name: string, attributes: Record<string, Value>): PublicRecord => ({
  id: 'r-0123456789abcdef',
  slug,
  name,
  dataset: 'tools',
  url: `https://h.example/datasets/tools/${slug}`,
  updated_at: '2026-11-01T08:00:00Z',
  attributes,
  provenance: {},
  freshness: {},
  quality_score: 0.5,
  completeness: 0.5,
  verified_owner: false,
  license: 'CC0-1.0',
  attribution: 'Tools',
});

test('a record without the attribute name goes by the name that its identity gives; other gaps stay empty', () => {
  const named = record('saw-1', 'Saw one', { name: 'Saw one', maker: 'Nordwerk' });
  const nameless = record('saw-2', 'Nordwerk FS 2', {});
  expect(recordTable([named, nameless], tools).split('\n').slice(2, 4)).toEqual([
    expect.stringMatching(/^\|saw-1\|.*Saw one.*\|0\.5\|$/),
    expect.stringMatching(/^\|saw-2\|.*Nordwerk FS 2.*\|0\.5\|$/),
  ]);
  expect(recordTable([nameless, named], tools)).toContain('||');
});
