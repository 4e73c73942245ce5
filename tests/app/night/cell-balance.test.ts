// The balance of a night: what it prints is recomputed from the raw cells, for each kind of file.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DuckDBInstance } from '@duckdb/node-api';
import { writeXlsx } from 'hucre/xlsx';
import { expect, test } from 'vitest';
import { datasetNight } from '../../../build/night/dataset.ts';
import type { Pack } from '../../../packs/define/model.ts';
import { DeclaredSourceShape } from '../../../packs/define/sources.ts';
import { scratch, still, stonesPack } from '../../support/night-pack.ts';

const COLUMNS = ['code', 'Name', 'Mass', 'Price', 'Note', 'Kept'];

/** Rows with missing, wrong and dropped cells, and a row that a later one repeats. */
const ROWS = Array.from({ length: 40 }, (_, i) => [
  `c${String(i === 39 ? 38 : i).padStart(2, '0')}`,
  `Stone ${i === 39 ? 38 : i}`,
  i % 7 === 0 ? '' : i % 11 === 0 ? 'heavy' : String((i === 39 ? 38 : i) + 1),
  i % 5 === 0 ? '' : '3',
  'a note that nothing reads',
  i % 10 === 9 ? 'no' : 'yes',
]);

/** The balance that follows from the raw rows: code, Name, Mass and Price are read, Note and Kept are not. */
function expected(night: 'first' | 'second'): string {
  const kept = ROWS.filter((row) => row[5] === 'yes');
  const cells = kept.flatMap((row) => row.slice(0, 4));
  const missing = cells.filter((cell) => cell === '').length;
  const rejected = cells.filter((cell) => cell === 'heavy').length;
  const dropped = (ROWS.length - kept.length) * COLUMNS.length;
  const good = cells.length - missing - rejected;
  const taken = night === 'first' ? `${good} published` : `1 published + ${good - 1} confirmed unchanged`;
  const read = ROWS.length * COLUMNS.length;
  expect(good + missing + rejected + dropped + kept.length * 2).toBe(read);
  return `shop: ${read} cells read = ${taken} + ${missing} missing + ${rejected} rejected + ${dropped} dropped by rule + ${kept.length * 2} in columns not mapped`;
}

const objects = (rows: string[][]) =>
  rows.map((row) => Object.fromEntries(COLUMNS.map((column, i) => [column, row[i]])));
const literals = (rows: string[][]) => rows.map((row) => `(${row.map((cell) => `'${cell}'`).join(', ')})`).join(', ');

/** Writers of the rows as a file of each kind, and the members of its source. */
const KINDS: Record<string, { more?: object; write: (path: string, rows: string[][]) => Promise<void> | void }> = {
  csv: { write: (path, rows) => writeFileSync(path, [COLUMNS, ...rows].map((row) => row.join(',')).join('\n')) },
  jsonl: {
    write: (path, rows) =>
      writeFileSync(
        path,
        objects(rows)
          .map((row) => JSON.stringify(row))
          .join('\n'),
      ),
  },
  json: { write: (path, rows) => writeFileSync(path, JSON.stringify(objects(rows))) },
  xlsx: {
    async write(path, rows) {
      writeFileSync(path, await writeXlsx({ sheets: [{ name: 'S', rows: [COLUMNS, ...rows] }] }));
    },
  },
  parquet: {
    async write(path, rows) {
      const connection = await (await DuckDBInstance.create()).connect();
      await connection.run(`COPY (SELECT * FROM (VALUES ${literals(rows)}) AS t(${COLUMNS.join(', ')})) TO '${path}'`);
      connection.closeSync();
    },
  },
  sqlite: {
    more: { table: 'stones' },
    write(path, rows) {
      const database = new DatabaseSync(path);
      database.exec(`DROP TABLE IF EXISTS stones; CREATE TABLE stones (${COLUMNS.join(', ')})`);
      database.exec(`INSERT INTO stones VALUES ${literals(rows)}`);
      database.close();
    },
  },
};

function packOf(folder: string, kind: string, file: string, more: object): Pack {
  const base = stonesPack(folder, { shop: { '01-01': [] } });
  const attributes = { name: 'Name', mass: 'Mass', 'price.sale': 'Price' };
  const where = (row: Readonly<Record<string, unknown>>) => row['Kept'] === 'yes';
  const from = DeclaredSourceShape.parse({ kind, file, ...more, attributes, where });
  const tolerate = { values: 1, rows: 1 };
  return {
    ...base,
    collector: { read: ({ rows }) => rows! },
    sources: base.sources.map((source) => ({ ...source, pins: [], from, tolerate })),
  };
}

test.each(Object.keys(KINDS))('%s: each cell that was read has one outcome', async (kind) => {
  const folder = scratch();
  const { write, more = {} } = KINDS[kind]!;
  const file = join(folder, `stones.${kind}`);
  const night = (time: string) =>
    datasetNight(packOf(folder, kind, `stones.${kind}`, more), folder, still(time), { accept: true });
  await write(file, ROWS);
  expect((await night('2026-12-01T00:00:00Z')).balance).toEqual([expected('first')]);
  await write(
    file,
    ROWS.map((row) => (row[0] === 'c01' ? row.with(1, 'Another stone') : row)),
  );
  expect((await night('2026-12-02T00:00:00Z')).balance).toEqual([expected('second')]);
});

test('a value that a more trusted source has too is lost to it', async () => {
  const folder = scratch();
  writeFileSync(join(folder, 'a.csv'), 'code,Name,Mass\na,Agate,1\nb,Beryl,2\n');
  writeFileSync(join(folder, 'b.csv'), 'code,Name,Mass\na,Agate,5\nc,Citrine,\n');
  const base = packOf(folder, 'csv', 'a.csv', {});
  const [source] = base.sources;
  const declared = (id: string, trust: number): Pack['sources'][number] => ({
    ...source!,
    id,
    trust,
    from: DeclaredSourceShape.parse({ kind: 'csv', file: `${id}.csv`, attributes: { name: 'Name', mass: 'Mass' } }),
  });
  const pack = { ...base, sources: [declared('a', 0.9), declared('b', 0.5)] };
  const { balance } = await datasetNight(pack, folder, still('2026-12-01T00:00:00Z'), { accept: true });
  expect(balance).toEqual([
    'a: 6 cells read = 6 published',
    'b: 6 cells read = 4 published + 1 lost to another source or held + 1 missing',
  ]);
});
