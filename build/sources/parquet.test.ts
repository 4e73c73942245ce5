// Reading Parquet files: types of every kind as JSON values, paths, and wanted columns.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Duck } from '../../data/duckdb/duck.ts';
import { parquet } from '../../packs/define/sources.ts';
import { scratch } from '../../tests/support/night-pack.ts';
import { declaredAs, objectsOf, readAll, sourceContext } from '../../tests/support/source-context.ts';
import { READERS } from './readers.ts';

async function read(query: string, wanted: string[] = [], name = 'stones.parquet') {
  const folder = scratch();
  const duck = await Duck.open(folder);
  await duck.parquet(query, join(folder, name));
  duck.close();
  const { context, progress } = sourceContext(folder, { wanted: new Set(wanted) });
  const [version] = await readAll(READERS.parquet(declaredAs('parquet', parquet(name)), context));
  return { version: version!, progress };
}

test.each([
  ['true', true],
  ['7::UTINYINT', 7],
  ['-7::INTEGER', -7],
  ['7::BIGINT', 7],
  ['9007199254740993::BIGINT', '9007199254740993'],
  ['1.500::DECIMAL(18, 3)', 1.5],
  ['12345678901234567.89::DECIMAL(30, 2)', '12345678901234567.89'],
  ['0.1::FLOAT', 0.1],
  ['0.1::DOUBLE', 0.1],
  ["'nan'::DOUBLE", 'NaN'],
  ["'-inf'::FLOAT", '-Infinity'],
  ["['nan'::DOUBLE]", '[NaN]'],
  ["'Zürich'", 'Zürich'],
  ["DATE '2026-01-02'", '2026-01-02'],
  ["TIMESTAMP '2026-01-02 03:04:05'", '2026-01-02T03:04:05'],
  ["TIMESTAMP_MS '2026-01-02 03:04:05.25'", '2026-01-02T03:04:05.25'],
  ["TIMESTAMPTZ '2026-01-02 03:04:05+02'", '2026-01-02T01:04:05Z'],
  ["TIME '03:04:05'", '03:04:05'],
  ['[1, 2]', [1, 2]],
  ["{city: 'Bonn', place: {lat: 1.5}}", { city: 'Bonn', place: { lat: 1.5 } }],
  ["MAP {'a': 1}", { a: 1 }],
  ["'\\x01\\x02'::BLOB", new Uint8Array([1, 2])],
  ['NULL::INTEGER', null],
  ["'dd3b1f8a-0d4f-4a53-9d1c-000000000001'::UUID", 'dd3b1f8a-0d4f-4a53-9d1c-000000000001'],
])('%s', async (sql, value) => {
  const { version } = await read(`SELECT ${sql} AS "a ""cell"""`);
  expect(version.columns).toEqual(['a "cell"']);
  expect(version.rows[0]!.cells[0]).toEqual(value);
});

test('only wanted columns and paths have cells; all have names', async () => {
  const query = "SELECT range AS id, 'x' AS unused, {city: 'Bonn', place: {lat: range}} AS address FROM range(3)";
  const { version } = await read(query, ['id', 'address.place.lat', 'no.such']);
  expect(version.columns).toEqual(['id', 'unused', 'address', 'address.place.lat']);
  expect(objectsOf(version).map((row) => [row['id'], row['unused'], row['address.place.lat']])).toEqual([
    [0, undefined, 0],
    [1, undefined, 1],
    [2, undefined, 2],
  ]);
});

test('many rows in order, with progress; the file name is no pattern', async () => {
  const { version, progress } = await read('SELECT range AS id FROM range(50000)', ['id'], 'a[1]=2.parquet');
  expect(version.rows.map(({ line, cells }) => Number(cells[0]) - line)).toEqual(new Array(50_000).fill(-1));
  expect(progress.at(-1)).toEqual([50_000, 50_000, 'rows of a[1]=2.parquet']);
});

test('a file that is not Parquet', async () => {
  const folder = scratch();
  writeFileSync(join(folder, 'stones.parquet'), 'id,n\na,1');
  const reading = readAll(
    READERS.parquet(declaredAs('parquet', parquet('stones.parquet')), sourceContext(folder).context),
  );
  await expect(reading).rejects.toThrow(/^stones\.parquet cannot be read as a Parquet file: /);
});
