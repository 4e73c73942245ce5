// CSV: read back by an RFC 4180 parser and by DuckDB, without cells that spreadsheets execute.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadPack } from '../../packs/define/load.ts';
import { scratchOfAll } from '../../tests/support/night-pack.ts';
import { parseCsv } from '../../tests/support/parse-csv.ts';
import { verifies } from '../../tests/support/verifies.ts';
import { csvCell, csvHeader, csvRow, flatCells } from './csv.ts';

verifies('format.csv', 'format.csv-formula');

const folder = scratchOfAll();

/** Texts with special characters of CSV, spreadsheets and encodings. */
const text = fc.string({
  unit: fc.constantFrom(...'",\r\n\t =+-@|;\'a1é東🙂', '\u200b', '＝', '＋', '－', '＠', '\u00a0', '""', '\r\n'),
  maxLength: 12,
});
const cell = fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null));
const width = 4;
const rows = fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 5 });

/** Expected cell: empty for null, with an apostrophe when it is escaped. */
const read = (value: string | number | boolean | null, got: string) => {
  if (typeof value !== 'string') return got === (value === null ? '' : String(value));
  return got === value || got === `'${value}`;
};

const written = (table: (string | number | boolean | null)[][]) => table.map((row) => `${csvRow(row)}\r\n`).join('');

test('an RFC 4180 parser reads back every cell', () => {
  fc.assert(
    fc.property(rows, (table) => {
      const back = parseCsv(written(table));
      expect(back.map((row) => row.length)).toEqual(table.map(() => width));
      for (const [y, row] of table.entries())
        for (const [x, value] of row.entries()) expect(read(value, back[y]![x]!), JSON.stringify(value)).toBe(true);
    }),
    { seed: 20261120, numRuns: 3000 },
  );
});

test('no text begins like a formula, and other texts are unchanged', () => {
  fc.assert(
    fc.property(text, (value) => {
      const [[got = ''] = []] = parseCsv(`${csvCell(value)},x\r\n`);
      expect(got.trimStart()).not.toMatch(/^[=+\-@＝＋－＠]/u);
      expect(got).not.toMatch(/^[\t\r\n]/);
      if (/^[\p{L}\p{N}]/u.test(value)) expect(got).toBe(value);
    }),
    { seed: 20261120, numRuns: 3000 },
  );
});

test.each([
  ['=1+1', "'=1+1"],
  ['+49 30', "'+49 30"],
  ['-5 m', "'-5 m"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  [' =1', "' =1"],
  ['＝1', "'＝1"],
  ['=1,"x"', `"'=1,""x"""`],
  ["'=1", "'=1"],
  ['1=1', '1=1'],
  [-5, '-5'],
  [1e-9, '1e-9'],
  [true, 'true'],
  [null, ''],
])('%j is written as %s', (value, cell) => expect(csvCell(value)).toBe(cell));

test('DuckDB reads what we write', async () => {
  const table = fc.sample(fc.array(text, { minLength: width, maxLength: width }), { seed: 7, numRuns: 200 });
  const path = join(folder, 'x.csv');
  writeFileSync(path, `a,b,c,d\r\n${written(table)}`);
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const options = `header = true, all_varchar = true, quote = '"', escape = '"', delim = ',', new_line = '\\r\\n', nullstr = '\\0'`;
  const found = await connection.runAndReadAll(`SELECT * FROM read_csv('${path}', ${options}, auto_detect = false,
    columns = {a: 'VARCHAR', b: 'VARCHAR', c: 'VARCHAR', d: 'VARCHAR'}, parallel = false)`);
  const back = found.getRows() as string[][];
  expect(back).toHaveLength(table.length);
  for (const [y, row] of table.entries())
    for (const [x, value] of row.entries()) expect(read(value, back[y]![x] ?? ''), JSON.stringify(value)).toBe(true);
  instance.closeSync();
});

test('columns have dotted names; a price has two ends, a point two coordinates', async () => {
  const { attributes, ...pack } = await loadPack('tests/packs/tools');
  const header = csvHeader({ ...pack, attributes });
  expect(header).toEqual(expect.arrayContaining(['record.name', 'name', 'price.list.min', 'workshop.lat', 'mass']));
  expect(new Set(header).size).toBe(header.length);
  const price = attributes.find(({ name }) => name === 'price.list')!;
  expect(flatCells(price, { min: 1, max: 2, currency: 'EUR' })).toEqual([1, 2]);
  expect(flatCells(price, 3)).toEqual([3, 3]);
  expect(flatCells(price, undefined)).toEqual([null, null]);
});
