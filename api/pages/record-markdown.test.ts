// The free page of a record: public values with provenance and links, and no paid values.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { StoredRecord } from '../../data/model/record.ts';
import { loadPack } from '../../packs/define/load.ts';
import { recordPage } from './record-markdown.ts';

const BASE = 'https://register.example';
const pack = await loadPack(join(import.meta.dirname, '../../tests/packs/tools'));

/** A record with every attribute of the pack set to its example; paid values contain a mark. */
function record(): StoredRecord {
  const mark = (name: string) => `PAID-${name}`;
  const values = pack.attributes.map(({ name, public: open, type, example }) => {
    return [name, open ? example : type === 'strings' ? [mark(name)] : mark(name)] as const;
  });
  const provenance = pack.attributes.map(({ name, public: open }) => {
    const source_url = open ? `https://source.example/${name}` : `https://source.example/PAID-${name}`;
    const evidence = `PAID-evidence of ${name}`;
    return [
      name,
      { source_url, observed_at: '2026-11-01T08:00:00Z', confidence: 0.9, evidence, source: { kind: 'collector' } },
    ];
  });
  return {
    id: 'r-0123456789abcdef',
    slug: 'example-1',
    name: 'An | example',
    dataset: pack.id,
    updated_at: '2026-11-20T00:00:00Z',
    attributes: Object.fromEntries(values),
    provenance: Object.fromEntries(provenance),
    quality_score: 0.9,
    completeness: 1,
    verified_owner: false,
  } as StoredRecord;
}

test('shows every public value with its source and date, and no paid one', () => {
  const page = recordPage(record(), pack, BASE);
  const open = pack.attributes.filter((attribute) => attribute.public);
  expect(open.length).toBeGreaterThan(3);
  for (const { name } of open) expect(page).toContain(`https://source.example/${name}`);
  expect(page).toContain('2026-11-01T08:00:00Z');
  expect(page).not.toContain('PAID');
});

test('leads on: dataset, guide, the paid record by id, and the citation', () => {
  const page = recordPage(record(), pack, BASE);
  for (const address of [
    `${BASE}/datasets/tools/`,
    `${BASE}/v1/tools/llms.txt`,
    `${BASE}/v1/tools/entities/r-0123456789abcdef`,
    `${BASE}/datasets/tools/example-1`,
  ])
    expect(page).toContain(address);
  expect(page).toContain('changed 2026-11-20T00:00:00Z');
  expect(page.endsWith('\n') && !page.endsWith('\n\n')).toBe(true);
});

test('a template without provenance gets a table of it', () => {
  const bare = { ...pack, template: '# {{ record.name }}\n\n{{ record.attribution }}' };
  const page = recordPage(record(), bare, BASE);
  expect(page).toContain('# An \\| example');
  expect(page).toMatch(/^\|attribute\|source\|observed\|confidence\|$/m);
  expect(page).toContain('|[source](https://source.example/name)|2026-11-01T08:00:00Z|0.9|');
  expect(page).not.toContain('PAID');
});

test('ages are left out, so that a page stays true', () => {
  const aged = { ...pack, template: '{% for row in rows %}{{ row.age }}{% endfor %}{{ record.attribution }}' };
  const [first = ''] = recordPage(record(), aged, BASE).split('\n');
  expect(first).toMatch(/^An \\\| example\./);
});
