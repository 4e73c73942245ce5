// A wide dataset from one CSV file, as a pack on disk: numbers, texts, lists of values, dates and switches.
import { once } from 'node:events';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadPack } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';
import { csv } from '../../packs/define/sources.ts';

/** The size that has to work with default settings. */
export const WIDE = { records: 20_000, attributes: 120 };

type Column = { type: string; example: unknown; values?: string[]; cell: (row: number, column: number) => string };

/** The columns repeat these kinds. */
const KINDS: readonly Column[] = [
  { type: 'number', example: 1.5, cell: (row, column) => `${((row * 7919 + column * 31) % 1_000_003) / 4}` },
  {
    type: 'string',
    example: 'a',
    cell: (row, column) => `Text ${(row * 104_729 + column) % 99_991} of column ${column}`,
  },
  { type: 'integer', example: 1, cell: (row, column) => `${(row * 31 + column) % 5000}` },
  {
    ...{ type: 'enum', example: 'v1', values: Array.from({ length: 12 }, (_, i) => `v${i}`) },
    cell: (row, column) => `v${(row + column) % 12}`,
  },
  { type: 'date', example: '2026-01-01', cell: (row, column) => `20${10 + (row % 16)}-0${1 + (column % 9)}-15` },
  { type: 'boolean', example: true, cell: (row, column) => String((row + column) % 3 === 0) },
];

/** The attributes: `id`, `name`, and numbered ones, of which every fourth is not public. */
const wideNames = (attributes: number = WIDE.attributes): string[] => [
  ...['id', 'name'],
  ...Array.from({ length: attributes - 2 }, (_, i) => `a${i}`),
];

const kindOf = (column: number) => KINDS[column % KINDS.length]!;

async function writeCsv(path: string, { records, attributes }: typeof WIDE): Promise<void> {
  const file = createWriteStream(path);
  const names = wideNames(attributes);
  file.write(`${names.join(',')}\n`);
  for (let row = 0; row < records; row += 1) {
    const cells = names.slice(2).map((_, column) => kindOf(column).cell(row, column));
    if (!file.write(`w${row},Wide ${row},${cells.join(',')}\n`)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
}

/**
 * Writes the file and the pack `wide` into `folder` and loads the pack. Its night is
 * `datasetNight(pack, folder, still(), { accept: false })`.
 *
 * @param size `records` and `attributes`; absent: WIDE
 */
export async function widePack(folder: string, size: typeof WIDE = WIDE): Promise<Pack> {
  const at = join(folder, 'packs', 'wide');
  mkdirSync(at, { recursive: true });
  await writeCsv(join(folder, 'wide.csv'), size);
  const attribute = { description: 'A column', sla: 8760, weight: 1 };
  const columns = wideNames(size.attributes).slice(2);
  const numbered = columns.map((name, column) => {
    const { cell: _, ...kind } = kindOf(column);
    return [name, { ...attribute, ...kind, public: column % 4 !== 3, filterable: column < 24 }];
  });
  const text = { ...attribute, type: 'string', public: true, example: 'w1' };
  const settings = {
    title: 'Wide',
    description: 'Fictional records with many attributes.',
    license: { name: 'CC0-1.0', url: 'https://creativecommons.org/publicdomain/zero/1.0/' },
    attribution: 'Example',
    sources: {
      wide: {
        ...{ title: 'Wide', url: 'https://wide.example/', license: 'CC0-1.0', trust: 0.9, complete: true },
        from: csv(join(folder, 'wide.csv'), {}),
      },
    },
    attributes: {
      id: { ...text, filterable: true },
      name: { ...text, searchable: true },
      ...Object.fromEntries(numbered),
    },
    identity: { attributes: ['id'] },
    group_by: 'a9',
    serving: { showcase: { per_group: 1 } },
    compare: ['a0'],
    prices: { search: 0.008, get: 0.004, facts: 0.01, compare: 0.012, stats: 0.015 },
    schedule: '0 3 * * *',
  };
  const definition = `import { definePack } from 'dataset-register/pack';\nexport default definePack(${JSON.stringify(settings)});\n`;
  writeFileSync(join(at, 'pack.ts'), definition);
  writeFileSync(join(at, 'samples.json'), JSON.stringify([{ identity: { id: 'w1' }, values: { name: 'Sample' } }]));
  writeFileSync(join(at, 'record.md'), '# {{ record.name }}\n');
  writeFileSync(join(at, 'guide.md'), 'Wide.\n');
  return loadPack(at);
}
