// The dataset of the fleet test: every value of every release follows from the number of the record and of the release,
// so that any answer can be checked.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const RECORDS = 240;
/** The last records: each may be removed by its owner once. */
export const REMOVABLE = 40;
export const KINDS = ['red', 'green', 'blue', 'grey'] as const;
const FIRST_DAY = Date.parse('2026-01-01T00:00:00Z');

export const slugOf = (record: number): string => `part-${String(record).padStart(3, '0')}`;
export const kindOf = (record: number): string => KINDS[record % KINDS.length]!;
export const domainOf = (record: number): string => `maker-${record}.example`;
/** Values of a record in a release; no two of the first thousand releases share one. */
export const stockOf = (record: number, release: number): number => 1000 + ((record * 7 + release * 13) % 1000);
const priceOf = (record: number, release: number): number => 50 + ((record * 31 + release * 17) % 500) / 10;

/** Numbers of the records of a kind, in the order of their codes. */
export const recordsOf = (kind: string): number[] =>
  Array.from({ length: RECORDS }, (_, record) => record).filter((record) => kindOf(record) === kind);

/** The release whose values a record has; null: those of none. */
export function releaseOf(record: number, stock: unknown, price: unknown): number | null {
  // 77 is the inverse of 13 modulo 1000.
  const release = ((((Number(stock) - 1000 - record * 7) * 77) % 1000) + 1000) % 1000;
  const isOfRelease =
    stockOf(record, release) === stock && (price ?? priceOf(record, release)) === priceOf(record, release);
  return isOfRelease ? release : null;
}

const attribute = (type: string, description: string, example: unknown, more = '') =>
  `{ type: '${type}', description: '${description}', example: ${JSON.stringify(example)}, sla: 87600, ${more} }`;

const PACK = `// Parts of a fictional machine, for the fleet test.
import { definePack, jsonl } from 'dataset-register/pack';

export default definePack({
  title: 'Parts',
  description: 'Fictional parts of a machine; their values follow from the number of the release.',
  license: { name: 'CC0-1.0', url: 'https://creativecommons.org/publicdomain/zero/1.0/' },
  attribution: 'Fictional data of the fleet test',
  sources: {
    store: {
      title: 'The store', url: 'https://store.example/', license: 'CC0-1.0', trust: 0.9, complete: true,
      from: jsonl('data/parts.jsonl', { observed_at: { column: 'read_at' } }),
    },
  },
  attributes: {
    code: ${attribute('string', 'Code of the part', 'part-001', 'public: true, filterable: true, searchable: true')},
    kind: ${attribute('enum', 'Colour of the part', 'red', 'public: true, filterable: true')},
    stock: ${attribute('integer', 'Parts in stock', 1200, "unit: 'pieces', public: true, filterable: true, volatile: true")},
    'price.list': ${attribute('price', 'List price', 60, "unit: 'EUR/piece', currency: 'EUR', filterable: true, volatile: true")},
    domain: ${attribute('string', 'Domain of the maker', 'maker-1.example', 'filterable: true, weight: 0')},
    note: ${attribute('text', 'A note of the maker', 'Keep dry.', 'public: true, editable: true')},
  },
  identity: { attributes: ['code'], slug: (id) => String(id['code']) },
  gone: { attribute: 'kind', value: 'gone' },
  group_by: 'kind',
  serving: { showcase: { per_group: 1 } },
  compare: ['price.list', 'stock'],
  prices: { search: 0.008, get: 0.004, facts: 0.01, compare: 0.012, stats: 0.015 },
  schedule: '0 3 * * *',
  owner: { domain: 'domain' },
});
`;

/** Writes the pack into the folder of packs; its first release needs `writeRelease`. */
export function writePack(packs: string): void {
  const folder = join(packs, 'parts');
  mkdirSync(join(folder, 'data'), { recursive: true });
  writeFileSync(join(folder, 'pack.ts'), PACK);
  writeFileSync(join(folder, 'record.md'), '# {{ record.name }}\n');
  writeFileSync(join(folder, 'guide.md'), 'Parts have a stock and a price.\n');
  const sample = {
    identity: { code: 'sample' },
    values: { code: 'sample', kind: 'red', stock: 1000, 'price.list': 50, note: 'Keep dry.' },
    evidence: 'invented',
  };
  writeFileSync(join(folder, 'samples.json'), JSON.stringify([sample, { ...sample, identity: { code: 'other' } }]));
}

/** Changes the source, so that the next night builds this release. */
export function writeRelease(packs: string, release: number): void {
  const read_at = new Date(FIRST_DAY + release * 3_600_000).toISOString();
  const lines = Array.from({ length: RECORDS }, (_, record) =>
    JSON.stringify({
      code: slugOf(record),
      kind: kindOf(record),
      stock: stockOf(record, release),
      'price.list': priceOf(record, release),
      domain: domainOf(record),
      note: 'As delivered.',
      read_at,
    }),
  );
  const file = join(packs, 'parts/data/parts.jsonl');
  writeFileSync(`${file}.draft`, `${lines.join('\n')}\n`);
  // At once: a night may be reading it.
  renameSync(`${file}.draft`, file);
}
