// The table of many records: the cell for a missing value.
import { expect, test } from 'vitest';
import type { Provenance, PublicRecord } from '../../data/model/record.ts';
import { loadPack } from '../../packs/define/load.ts';
import type { Value } from '../../packs/define/model.ts';
import { recordTable, selectedColumns, sourceLine } from './record-table.ts';

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

test('selected attributes are the only columns besides the slug; one that is named and not known has a line', () => {
  const saw = record('saw-1', 'Saw one', { maker: 'Nordwerk', mass: 2 });
  const url = new URL('https://h.example/v1/tools/entities.md?fields=maker,mass,runtime,price');
  const fields = ['maker', 'mass', 'runtime', 'price.list'];
  expect(recordTable([saw], tools, selectedColumns(fields, url))).toBe(
    '|slug|maker|mass (kg)|\n|-|-|-|\n|saw-1|Nordwerk|2|\n\nNot known: runtime.',
  );
});

const observed = (source_url: string, day: string, kind: 'collector' | 'owner' = 'collector') => ({
  ...{ source_url, observed_at: `${day}T08:00:00Z`, confidence: 1, evidence: '', source: { kind } },
});

test.each([
  [[{}], ''],
  [[{ maker: observed('https://www.lists.example/a', '2026-01-02') }], 'Source: lists.example 2026-01-02.'],
  [
    [
      {
        maker: observed('https://lists.example/a', '2026-01-03'),
        mass: observed('https://lists.example/a', '2026-01-03'),
      },
      { maker: observed('https://lists.example/b', '2026-01-01'), mass: observed('', '2026-01-01', 'owner') },
    ],
    'Sources: mass: lists.example 2026-01-03, owner 2026-01-01; maker: lists.example 2026-01-01 to 2026-01-03.',
  ],
  [
    ['a', 'b', 'c', 'd'].map((host) => ({ maker: observed(`https://${host}.example/`, '2026-01-03') })),
    'Source: 4 sources 2026-01-03.',
  ],
])('%# the line below a table names the source of each column, and when', (provenances, line) => {
  expect(sourceLine(tools, ['maker', 'mass'], provenances as Record<string, Provenance>[])).toBe(line);
});
