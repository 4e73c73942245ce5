// Statements that read files, show settings, paths or hidden values, or take too much: none of them does.
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { makeTables } from '../../../data/sql/make-tables.ts';
import { SqlProcess } from '../../../data/sql/process.ts';
import { sqlSource, type Tier } from '../../../data/sql/tables.ts';
import { appOfAll } from '../../support/app.ts';
import { drawn } from '../../support/draws.ts';
import { hostileStatements } from './hostile.ts';

const app = await appOfAll({ nights: true });
const MEMORY = 256 * 2 ** 20;
const lines: string[] = [];
const process = new SqlProcess({
  ...{ folder: join(app.dataDir, 'sql'), memory: MEMORY, make: makeTables },
  log: (line) => void lines.push(line),
});
afterAll(() => process.close());

async function run(sql: string, seconds = 5, tier: Tier = 'public') {
  const sources = ['harbours', 'tools'].map((dataset) => sqlSource(app.register.current(dataset)!, tier));
  const query = { sql, parameters: [], max_rows: 1_000, form: 'json', tier, seconds, sources } as const;
  const { ms, ...outcome } = await process.run(
    { query, caller: 'a test', alone: true, keyed: false },
    new AbortController().signal,
  );
  const text = 'answer' in outcome ? Buffer.from(outcome.answer.rows).toString() : JSON.stringify(outcome.error);
  return { ms, text, code: 'answer' in outcome ? 'ok' : outcome.error.code };
}

/** Texts of the records that are not public, and those of all records. */
const harbours = app.records['harbours']!;
const tools = app.records['tools']!;
const hidden = [
  ...harbours.flatMap(({ attributes }) => (attributes['languages'] as string[] | undefined) ?? []),
  ...tools.flatMap(({ attributes }) => [attributes['summary'] ?? [], attributes['domain'] ?? []].flat() as string[]),
].filter(
  (text) => text.length > 3 && !tools.some(({ attributes }) => String(attributes['manual'] ?? '').includes(text)),
);
const values = harbours.flatMap(({ name, attributes }) => [
  name,
  ...(attributes['site'] ? [String(attributes['site'])] : []),
]);

const statements = hostileStatements(true);
/** Kinds whose statements are all refused before they run. */
const REFUSED = ['references', 'expressions', 'statements'];

/** What the first two free stays with the allocator, so that the last one, and then even small ones, get no memory. */
const USE_UP_MEMORY = [
  "SELECT list(repeat('y', 10000)) FROM range(1000000)",
  "WITH RECURSIVE r AS (SELECT 'x' AS s UNION ALL SELECT s || s FROM r) SELECT max(length(s)) FROM r",
  "SELECT replace(repeat('x', 100000), 'x', repeat('y', 100000))",
];

test('there are more than 1,000 statements of every kind', () => {
  expect(hidden.length).toBeGreaterThan(10);
  expect(Object.values(statements).flat().length).toBeGreaterThan(1_000);
});

describe.each(Object.entries(statements))('%s', (kind, list) => {
  test('no file is read, no path and no hidden value is shown', { timeout: 600_000 }, async () => {
    const seconds = kind === 'heavy' || kind === 'deep' ? 1 : 5;
    for (const sql of drawn(list)) {
      const { text, code, ms } = await run(sql, seconds);
      const about = `${sql.slice(0, 200)}: ${text.slice(0, 200)}`;
      if (REFUSED.includes(kind)) expect(code, about).toBe('invalid_sql');
      expect(ms, about).toBeLessThan(seconds * 1000 + 3_000);
      expect(text, about).not.toMatch(/root:|PATH=|\/tmp\/|\.duckdb|\.parquet|file_harbours|internal\.|v1\.\d+\.\d/);
      expect(
        hidden.filter((value) => text.includes(value)),
        about,
      ).toEqual([]);
      if (code !== 'ok')
        expect(
          values.filter((value) => text.includes(value)),
          about,
        ).toEqual([]);
    }
    // The process goes on, or has been replaced by another one.
    expect(await run('SELECT count(*) > 0 FROM harbours', 20)).toMatchObject({ code: 'ok', text: '[[true]]' });
  });
});

test('statements that use up the memory of the process harm no later one', async () => {
  for (const tier of ['public', 'all', 'public'] as const) {
    for (const sql of USE_UP_MEMORY) expect((await run(sql)).code).not.toBe('ok');
    const { code, text } = await run('SELECT count(*) > 0 FROM harbours', 20, tier);
    expect(code, text).toBe('ok');
  }
});

test('a statement of the other tier shows what is hidden here', async () => {
  const { text } = await run('SELECT languages, depth FROM harbours', 5, 'all');
  expect(hidden.some((value) => text.includes(value))).toBe(true);
});
