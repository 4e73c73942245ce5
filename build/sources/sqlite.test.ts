// Reading SQLite files: tables, views and queries, types, and a write-ahead log.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { type SourceRow, sqlite } from '../../packs/define/sources.ts';
import { scratch } from '../../tests/support/night-pack.ts';
import { declaredAs, objectsOf, readAll, sourceContext } from '../../tests/support/source-context.ts';
import type { SourceContext } from './reader.ts';
import { READERS } from './readers.ts';

type Options = Parameters<typeof sqlite>[1];

/** A folder with `stones.db`, made by SQL. */
function database(sql: string): { folder: string; open: DatabaseSync } {
  const folder = scratch();
  const open = new DatabaseSync(join(folder, 'stones.db'));
  open.exec(sql);
  onTestFinished(() => {
    if (open.isOpen) open.close();
  });
  return { folder, open };
}

const read = (folder: string, options: Options, given: Partial<SourceContext> = {}) =>
  readAll(READERS.sqlite(declaredAs('sqlite', sqlite('stones.db', options)), sourceContext(folder, given).context));

const STONES = `CREATE TABLE Stones (id TEXT, mass REAL, count INTEGER, big INTEGER, image BLOB, seen DATETIME);
  INSERT INTO Stones VALUES ('a', 1.5, 7, 9007199254740993, x'0102', '2026-01-02 03:04:05'), ('b', NULL, -1, -5, NULL, 9e999);
  CREATE VIEW Heavy AS SELECT * FROM Stones WHERE mass > 1`;

test('a table, by its name in any case: types, wide numbers, bytes', async () => {
  const { folder } = database(STONES);
  const [version] = await read(folder, { table: 'stones' });
  expect(version!.columns).toEqual(['id', 'mass', 'count', 'big', 'image', 'seen']);
  expect(version!.rows).toEqual([
    { line: 1, cells: ['a', 1.5, 7, '9007199254740993', new Uint8Array([1, 2]), '2026-01-02 03:04:05'] },
    { line: 2, cells: ['b', null, -1, -5, null, 'Infinity'] },
  ]);
});

test('a view and a query; only wanted columns have cells', async () => {
  const { folder } = database(STONES);
  expect((await read(folder, { table: 'Heavy' }))[0]!.rows).toHaveLength(1);
  const query = 'SELECT id, count * 2 AS "twice ""it""", image FROM Stones ORDER BY id DESC; ';
  const [version] = await read(folder, { query }, { wanted: new Set(['twice "it"', 'id', 'other']) });
  expect(objectsOf(version!)).toEqual<SourceRow[]>([
    { id: 'b', 'twice "it"': -2, image: undefined },
    { id: 'a', 'twice "it"': 14, image: undefined },
  ]);
});

test('rows in a write-ahead log are read, and make a new version', async () => {
  const { folder, open } = database(`PRAGMA journal_mode = wal; ${STONES}`);
  const [first] = await read(folder, { table: 'Stones' });
  expect(first!.rows).toHaveLength(2);
  expect(await read(folder, { table: 'Stones' }, { marks: [first!.mark] })).toEqual([]);
  open.exec("INSERT INTO Stones (id) VALUES ('c')");
  const [second] = await read(folder, { table: 'Stones' }, { marks: [first!.mark] });
  expect(second!.rows.map(({ cells }) => cells[0])).toEqual(['a', 'b', 'c']);
});

test('rows are read in one state, in bounded memory, while another process writes', async () => {
  const { folder, open } = database('PRAGMA journal_mode = wal; CREATE TABLE t (n INTEGER)');
  open.exec(
    'WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s LIMIT 20000) INSERT INTO t SELECT n FROM s',
  );
  const { context, progress } = sourceContext(folder);
  let rows = 0;
  for await (const version of READERS.sqlite(declaredAs('sqlite', sqlite('stones.db', { table: 't' })), context))
    for await (const row of version.rows) {
      rows++;
      if (row.line === 1) open.exec('INSERT INTO t SELECT n FROM t LIMIT 100');
    }
  expect(rows).toBe(20_000);
  expect(progress.at(-1)).toEqual([20_000, null, 'rows of stones.db']);
});

test.each<[string, Options, string]>([
  ['both', { table: 'a', query: 'SELECT 1' }, 'a SQLite source needs table or query (it has both)'],
  ['none', {}, 'a SQLite source needs table or query (it has none)'],
  [
    'a missing table',
    { table: 'Stone' },
    'stones.db has no table Stone: its tables are Heavy, Stones; nearest: Stones',
  ],
  ['a wrong query', { query: 'SELECT x FROM Stones' }, 'the query on stones.db: no such column: x'],
  ['no SELECT', { query: 'DELETE FROM Stones' }, 'the query on stones.db returns no columns; expected a SELECT'],
  ['a repeated column', { query: 'SELECT id, 1 AS id FROM Stones' }, "the query on stones.db returns two columns 'id'"],
  ['a writing query', { query: 'INSERT INTO Stones (id) VALUES (1) RETURNING id' }, 'near "INSERT": syntax error'],
])('%s is an error', async (_name, options, message) => {
  const { folder } = database(STONES);
  await expect(read(folder, options)).rejects.toThrow(message);
});

test('a file that is not SQLite', async () => {
  const folder = scratch();
  writeFileSync(join(folder, 'stones.db'), 'id,n\na,1\n'.repeat(200));
  await expect(read(folder, { table: 'a' })).rejects.toThrow(
    'stones.db cannot be read as a SQLite file: file is not a database',
  );
});
