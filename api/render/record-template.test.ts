// Record pages: every variable of the template, missing values, and values that try to forge markup.
import { describe, expect, test } from 'vitest';
import type { PublicRecord } from '../../data/model/record.ts';
import { loadPack } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';
import { verifies } from '../../tests/support/verifies.ts';
import { parseTemplate, recordMarkdown, recordScope, recordsMarkdown } from './record-template.ts';

verifies('overview.markdown-record');

const tools = await loadPack('tests/packs/tools');
const withTemplate = (template: string): Pack => ({
  ...tools,
  template: `${template}{% comment %}record.license{% endcomment %}`,
});

const provenance = {
  source_url: 'https://workbench.example/a(1)',
  observed_at: '2026-11-01T08:00:00Z',
  confidence: 0.9,
  evidence: 'page 3',
  source: { kind: 'collector' as const },
};

const record: PublicRecord = {
  id: 'r-0123456789abcdef',
  slug: 'nordwerk-fs-210',
  name: 'Folding saw 210',
  dataset: 'tools',
  url: 'https://h.example/datasets/tools/nordwerk-fs-210',
  updated_at: '2026-11-01T08:00:00Z',
  attributes: {
    name: 'Folding saw 210',
    maker: 'Nordwerk',
    manual: 'https://nordwerk.example/manuals/fs_210?(a)',
    materials: ['steel', 'be|ech'],
    'price.list': 39.5,
    'price.rental': { min: 4, max: 9, currency: 'EUR' },
  },
  provenance: {
    name: provenance,
    maker: provenance,
    manual: provenance,
    materials: provenance,
    'price.list': provenance,
    'price.rental': { ...provenance, source: { kind: 'owner' } },
  },
  freshness: { name: 456, maker: 456, manual: 456, materials: 456, 'price.list': 456, 'price.rental': 1 },
  quality_score: 0.8,
  completeness: 0.5,
  verified_owner: false,
  license: 'CC0-1.0 (https://creativecommons.org/publicdomain/zero/1.0/)',
  attribution: 'Folding saw 210. Tools of nowhere. https://h.example/datasets/tools/nordwerk-fs-210',
};

const page = (template: string, changes: Partial<PublicRecord> = {}) =>
  recordMarkdown({ ...record, ...changes }, withTemplate(template));

describe('recordMarkdown', () => {
  test('values are printed with their unit; a missing one is nil', () => {
    const template =
      "{{ values['price.list'] }}; {{ values['price.rental'] }}; {{ values.materials }}; {% if values.mass %}mass{% endif %}{{ record.attribution }}";
    expect(page(template)).toBe(
      '39.5 EUR/piece; 4 to 9 EUR/day; steel, be\\|ech; Folding saw 210. Tools of nowhere. https://h.example/datasets/tools/nordwerk-fs-210\n',
    );
  });

  test('rows follow the pack and carry the provenance', () => {
    const template =
      '{% for row in rows %}|{{ row.attribute }}|[source]({{ row.source_url }})|{{ row.observed_at }}|{{ row.age }}|{{ row.confidence }}|{{ row.kind }}|\n{% endfor %}{{ record.attribution }}';
    const lines = page(template).split('\n');
    expect(lines[0]).toBe(
      '|name|[source](https://workbench.example/a%281%29)|2026-11-01T08:00:00Z|19 days|0.9|collector|',
    );
    expect(lines.map((line) => line.split('|')[1])).toEqual(
      expect.arrayContaining(['name', 'maker', 'materials', 'manual', 'price.list', 'price.rental']),
    );
    expect(lines[5]).toContain('|1 hour|0.9|owner|');
  });

  test('web addresses stay addresses, safe as link destinations', () => {
    expect(page('[manual]({{ values.manual }}) {{ record.attribution }}')).toContain(
      '[manual](https://nordwerk.example/manuals/fs_210?%28a%29)',
    );
  });

  test('a value cannot forge a cell, a link or a heading', () => {
    const hostile = 'x|y\n# Free money\n[click](https://evil.example) {{ record.id }} <b>';
    const text = page('# {{ record.name }}\n\n{{ record.attribution }}', { name: hostile });
    expect(text.split('\n')[0]).toBe('# x\\|y # Free money \\[click\\](https://evil.example) {{ record.id }} \\<b\\>');
  });

  test('a citation and the licence follow where the template has none', () => {
    expect(recordMarkdown(record, { ...tools, template: '# {{ record.name }}' })).toBe(
      `# Folding saw 210\n\n${record.attribution} License: CC0-1.0 (https://creativecommons.org/publicdomain/zero/1.0/)\n`,
    );
  });

  test('a sample says that it is fictional', () => {
    expect(page('{{ record.attribution }}', { sample: true })).toMatch(/^Fictional sample/);
  });
});

test('of several records each heading has the slug and the group, and the citation is left to the whole', () => {
  const template = '# {{ record.name }}\n\n{{ record.attribution }} License: {{ record.license }}';
  const other = { ...record, slug: 'sudwerk-fs-210', attributes: {}, provenance: {}, freshness: {} };
  const [first, second] = recordsMarkdown([record, other], withTemplate(template));
  expect(first).toMatch(/^# Folding saw 210 \(nordwerk-fs-210, Nordwerk\)\n/);
  expect(second).toMatch(/^# Folding saw 210 \(sudwerk-fs-210\)\n/);
  expect(first).not.toContain('Tools of nowhere');
  expect(first).toContain('https://h.example/datasets/tools/nordwerk-fs-210');
});

test('the scope names nothing that the record lacks', () => {
  expect(Object.keys(recordScope(record, tools).values as object)).toEqual([
    'name',
    'maker',
    'materials',
    'manual',
    'price.list',
    'price.rental',
  ]);
});

test('a template reads no file and no unknown filter', () => {
  expect(() => parseTemplate('{% include "package.json" %}')({})).toThrow(/ENOENT|not found/i);
  expect(() => parseTemplate('{{ "a" | nonsense }}')({})).toThrow(/undefined filter/);
});
