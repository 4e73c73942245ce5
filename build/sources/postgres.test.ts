// Reading PostgreSQL: types, newer rows by a cursor column, read-only, and messages without secrets.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, onTestFinished, type TestContext, test } from 'vitest';
import { postgres } from '../../packs/define/sources.ts';
import { declaredAs, objectsOf, readAll, sourceContext } from '../../tests/support/source-context.ts';
import type { Mark, SourceContext } from './reader.ts';
import { READERS } from './readers.ts';

type Options = Parameters<typeof postgres>[0];
const URL_OF_TESTS = process.env['TEST_DATABASE_URL'];

/** A schema of its own, made by SQL; `name` replaces `{s}`. Skips the test without a database. */
async function schema(
  context: TestContext,
  sql: string,
): Promise<{ name: string; run: (sql: string) => Promise<unknown> }> {
  if (!URL_OF_TESTS) context.skip('TEST_DATABASE_URL is not set');
  const name = `read_${randomBytes(6).toString('hex')}`;
  const client = new pg.Client(URL_OF_TESTS!);
  await client.connect();
  const run = (text: string) => client.query(text.replaceAll('{s}', name));
  await run('CREATE SCHEMA {s}');
  onTestFinished(async () => {
    await run('DROP SCHEMA {s} CASCADE');
    await client.end();
  });
  await run(sql);
  return { name, run };
}

const read = (options: Options, known: Mark[] = [], given: Partial<SourceContext> = {}) =>
  readAll(
    READERS.postgres(
      declaredAs('postgres', postgres(options)),
      sourceContext('', { environment: () => URL_OF_TESTS!, marks: known, ...given }).context,
    ),
  );

test('types as JSON values', async (context) => {
  await schema(context, 'SELECT 1');
  const query = `SELECT true AS bool, 7::int2 AS small, 9007199254740993 AS big, 12 ::int8 AS int8, 1.500 AS num,
    12345678901234567.89 AS wide, 0.1::float4 AS single, date '2026-01-02' AS date,
    timestamp '2026-01-02 03:04:05.678' AS stamp, timestamptz '2026-01-02 03:04:05.123456+02' AS zoned,
    '{"a": [9007199254740993]}'::jsonb AS json, '{a,NULL,"b,c"}'::text[] AS texts, '{1,2}'::int8[] AS ints,
    '\\x0102'::bytea AS bytes, NULL AS none, 'infinity'::timestamptz AS never, 'NaN'::numeric AS nan, 'Infinity'::float8 AS infinite;`;
  const [version] = await read({ query });
  expect(version!.name).toBe('query');
  expect(objectsOf(version!)).toEqual([
    {
      bool: true,
      small: 7,
      big: '9007199254740993',
      int8: 12,
      num: 1.5,
      wide: '12345678901234567.89',
      single: 0.1,
      date: '2026-01-02',
      stamp: '2026-01-02T03:04:05.678',
      zoned: '2026-01-02T01:04:05.123456Z',
      json: { a: ['9007199254740993'] },
      texts: ['a', null, 'b,c'],
      ints: [1, 2],
      bytes: new Uint8Array([1, 2]),
      none: null,
      never: 'infinity',
      nan: 'NaN',
      infinite: 'Infinity',
    },
  ]);
  expect(Math.abs(Date.parse(version!.observed_at) - Date.now())).toBeLessThan(600_000);
});

test('more rows than one round trip, in one state of the database', async (context) => {
  const { name, run } = await schema(context, 'CREATE TABLE {s}.t AS SELECT generate_series(1, 12000) AS n');
  const { context: source, progress } = sourceContext('', { environment: () => URL_OF_TESTS! });
  const rows: unknown[] = [];
  const query = `SELECT n FROM ${name}.t ORDER BY n -- all of them`;
  for await (const version of READERS.postgres(declaredAs('postgres', postgres({ query })), source))
    for await (const { line, cells } of version.rows) {
      if (line === 1) await run('INSERT INTO {s}.t SELECT generate_series(12001, 13000)');
      rows.push(cells[0]);
    }
  expect(rows).toEqual(Array.from({ length: 12_000 }, (_, i) => i + 1));
  expect(progress.at(-1)).toEqual([12_000, null, 'rows of the query']);
});

test.for([
  ['timestamptz', "'2026-01-0' || n || ' 00:00:00.000001+00'"],
  ['timestamp', "'2026-01-0' || n || ' 00:00:00.5'"],
  ['date', "'2026-01-0' || n"],
  ['int8', '9007199254740990 + n'],
  ['numeric(12, 3)', 'n * 1.5'],
  ['text', "'it''s ' || n"],
])('a cursor column of type %s: later runs read newer rows', async ([type, value], context) => {
  const { name, run } = await schema(context, `CREATE TABLE {s}.t (n int, "At" ${type})`);
  const insert = (from: number, to: number) =>
    run(`INSERT INTO {s}.t SELECT n, (${value})::${type} FROM generate_series(${from}, ${to}) AS n`);
  await insert(1, 3);
  await run('INSERT INTO {s}.t VALUES (9, NULL)');
  const options = { query: `SELECT * FROM ${name}.t`, cursor: 'At' };
  const ids = (rows: readonly { cells: readonly unknown[] }[]) => rows.map(({ cells }) => cells[0]);
  const [first] = await read(options);
  expect(ids(first!.rows)).toEqual([1, 2, 3, 9]);
  const known = [JSON.parse(JSON.stringify(first!.mark)) as Mark];
  expect(await read(options, known)).toEqual([]);
  await insert(4, 5);
  const [second] = await read(options, known);
  expect(ids(second!.rows)).toEqual([4, 5]);
  expect(await read(options, [...known, second!.mark])).toEqual([]);
  // Another query is read from the start.
  const other = { ...options, query: `SELECT * FROM ${name}.t WHERE true` };
  expect((await read(other, known))[0]!.rows).toHaveLength(6);
});

test('the query cannot write', async (context) => {
  const { name, run } = await schema(context, 'CREATE TABLE {s}.t (n int)');
  await run("CREATE FUNCTION {s}.f() RETURNS int LANGUAGE sql AS 'INSERT INTO {s}.t VALUES (1) RETURNING n'");
  await expect(read({ query: `SELECT ${name}.f()` })).rejects.toThrow(
    'cannot execute INSERT in a read-only transaction (25006)',
  );
  await expect(read({ query: `DELETE FROM ${name}.t` })).rejects.toThrow(/^query line 1, column 8: syntax error/);
});

test('errors: position in the query, hint, nearest column', async (context) => {
  const { name } = await schema(context, 'CREATE TABLE {s}.t (updated_at int, n int)');
  const from = `FROM ${name}.t`;
  await expect(read({ query: `SELECT n,\n  update_at\n${from}` })).rejects.toThrow(
    /^query line 2, column 3: column "update_at" does not exist \(42703\); Perhaps you meant .*updated_at/,
  );
  await expect(read({ query: `SELECT 1/(n - 1) FROM (VALUES (1)) AS v(n)` })).rejects.toThrow(
    /^PostgreSQL at SOURCE_DATABASE_URL: division by zero \(22012\)$/,
  );
  await expect(read({ query: `SELECT n, n ${from}` })).rejects.toThrow("the query returns two columns 'n'");
  await expect(read({ query: `SELECT * ${from}`, cursor: 'updatedat' })).rejects.toThrow(
    'the query returns no column updatedat (cursor): its columns are updated_at, n; nearest: updated_at',
  );
});

const readAt = (address: string) =>
  read({ query: 'SELECT 1', url_env: 'PRICES_URL' }, [], { environment: () => address });

test('no message contains the password', async () => {
  await expect(readAt('postgres://user:geheim@127.0.0.1:1/x')).rejects.toThrow(
    'PostgreSQL at PRICES_URL (127.0.0.1:1) cannot be reached: connect ECONNREFUSED 127.0.0.1:1',
  );
  for (const address of ['postgres://user:geheim@[::1', 'mysql://user:geheim@host/x', 'host=x password=geheim'])
    await expect(readAt(address)).rejects.toThrow(
      /^PRICES_URL must be an address like postgres:\/\/user:password@host:5432\/database$/,
    );
});

test('no message of the server contains the password', async (context) => {
  if (!URL_OF_TESTS) return context.skip('TEST_DATABASE_URL is not set');
  const wrong = new URL(URL_OF_TESTS);
  wrong.pathname = '/no-geheim-database';
  wrong.password = 'geheim';
  await expect(readAt(wrong.href)).rejects.toThrow(
    /^PostgreSQL at PRICES_URL \(.*\) cannot be reached: .*no-\*\*\*-database/,
  );
});
