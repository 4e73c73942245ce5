// Finding files: patterns, dates in names, files that were read before, and messages.
import { appendFileSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { csv } from '../../packs/define/sources.ts';
import { scratch } from '../../tests/support/night-pack.ts';
import { declaredAs, readAll, sourceContext } from '../../tests/support/source-context.ts';
import { dateInName } from './files.ts';
import type { Mark } from './reader.ts';
import { READERS } from './readers.ts';

/** Writes a file that was changed at a time. */
function put(folder: string, name: string, text: string, time: string): void {
  mkdirSync(join(folder, name, '..'), { recursive: true });
  writeFileSync(join(folder, name), text);
  utimesSync(join(folder, name), new Date(time), new Date(time));
}

const read = (folder: string, file: string, known: Mark[] = [], options: Parameters<typeof csv>[1] = {}) =>
  readAll(READERS.csv(declaredAs('csv', csv(file, options)), sourceContext(folder, { marks: known }).context));

test('a pattern: files by time then name, each read once, again after a change', async () => {
  const folder = scratch();
  put(folder, 'in/b.csv', 'id\nb', '2026-01-02T00:00:00Z');
  put(folder, 'in/deep/a.csv', 'id\na', '2026-01-02T00:00:00Z');
  put(folder, 'in/z.csv', 'id\nz', '2026-01-01T00:00:00Z');
  put(folder, 'in/other.txt', 'id\nz', '2026-01-01T00:00:00Z');
  mkdirSync(join(folder, 'in/folder.csv'));
  const first = await read(folder, 'in/**/*.csv');
  expect(first.map(({ name, observed_at }) => [name, observed_at])).toEqual([
    ['in/z.csv', '2026-01-01T00:00:00.000Z'],
    ['in/b.csv', '2026-01-02T00:00:00.000Z'],
    ['in/deep/a.csv', '2026-01-02T00:00:00.000Z'],
  ]);
  const known = first.map(({ mark }) => mark);
  expect(known[0]).toEqual({ path: 'in/z.csv', size: 4, mtime: Date.parse('2026-01-01T00:00:00Z') });
  expect(await read(folder, 'in/**/*.csv', known)).toEqual([]);
  // The same size, another time; then the first time again: the newest mark decides.
  put(folder, 'in/z.csv', 'id\ny', '2026-01-03T00:00:00Z');
  const [changed, ...others] = await read(folder, 'in/**/*.csv', known);
  expect(others).toEqual([]);
  expect(changed).toMatchObject({ name: 'in/z.csv', rows: [{ line: 2, cells: ['y'] }] });
  put(folder, 'in/z.csv', 'id\nz', '2026-01-01T00:00:00Z');
  expect(await read(folder, 'in/**/*.csv', [...known, changed!.mark])).toHaveLength(1);
});

test('a name with brackets is a file before it is a pattern', async () => {
  const folder = scratch();
  put(folder, 'a[1].csv', 'id\na', '2026-01-02T00:00:00Z');
  expect(await read(folder, 'a[1].csv')).toHaveLength(1);
});

test('the date in a file name orders the files', async () => {
  const folder = scratch();
  put(folder, 'p_20260201.csv', 'id\nb', '2026-09-02T00:00:00Z');
  put(folder, 'p_20260102.csv', 'id\na', '2026-09-03T00:00:00Z');
  const versions = await read(folder, 'p_*.csv', [], { observed_at: { file_name: 'YYYYMMDD' } });
  expect(versions.map(({ observed_at }) => observed_at)).toEqual([
    '2026-01-02T00:00:00.000Z',
    '2026-02-01T00:00:00.000Z',
  ]);
  await expect(read(folder, 'p_*.csv', [], { observed_at: { file_name: 'YYYY-MM-DD' } })).rejects.toThrow(
    /^the file name p_2026\d{4}\.csv contains no date like YYYY-MM-DD \(observed_at\.file_name\)$/,
  );
});

test.each([
  ['a-2026-11-05.csv', 'YYYY-MM-DD', '2026-11-05T00:00:00.000Z'],
  ['05.11.2026 export.csv', 'DD.MM.YYYY', '2026-11-05T00:00:00.000Z'],
  ['x20261105T070809Z.csv.gz', 'YYYYMMDDTHHmmss', '2026-11-05T07:08:09.000Z'],
  ['prices_2026.csv', 'YYYY', '2026-01-01T00:00:00.000Z'],
  ['prices_2026.csv', 'prices_YYYY', '2026-01-01T00:00:00.000Z'],
])('%s by %s', (name, pattern, time) => {
  expect(dateInName(name, pattern).toISOString()).toBe(time);
});

test.each([
  ['a-2026-02-30.csv', 'YYYY-MM-DD'],
  ['a-2026-13-01.csv', 'YYYY-MM-DD'],
  ['a-2026-1-01.csv', 'YYYY-MM-DD'],
  ['a-120261105.csv', 'YYYYMMDD'],
  ['a-20261105.csv', 'MMDD'],
])('%s by %s is refused', (name, pattern) => {
  expect(() => dateInName(name, pattern)).toThrow(`the file name ${name} contains no date like ${pattern}`);
});

test('no such file: the folder, its names and the nearest one', async () => {
  const folder = scratch();
  put(folder, 'stones.csv', 'id\na', '2026-01-02T00:00:00Z');
  put(folder, 'notes.txt', '', '2026-01-02T00:00:00Z');
  await expect(read(folder, 'stone.csv')).rejects.toThrow(
    `no file stone.csv in ${folder}: the folder contains notes.txt, stones.csv; nearest: stones.csv`,
  );
  await expect(read(folder, 'in/*.csv')).rejects.toThrow(
    `no file in/*.csv in ${folder}: the folder contains notes.txt`,
  );
  rmSync(join(folder, 'stones.csv'));
  rmSync(join(folder, 'notes.txt'));
  await expect(read(folder, '*.csv')).rejects.toThrow('the folder is empty');
});

test('a file that changes while it is read is an error', async () => {
  const folder = scratch();
  put(folder, 'a.csv', `id\n${'a\n'.repeat(300_000)}`, '2026-01-02T00:00:00Z');
  const { context } = sourceContext(folder);
  const reading = async () => {
    for await (const version of READERS.csv(declaredAs('csv', csv('a.csv')), context))
      for await (const row of version.rows) if (row.line === 2) appendFileSync(join(folder, 'a.csv'), 'b\n');
  };
  await expect(reading()).rejects.toThrow('a.csv: the file was changed while it was read');
});
