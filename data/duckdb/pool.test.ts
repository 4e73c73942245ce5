// Limits of one instance: time, memory, abort and close; a connection stays usable after each.
import { DuckDBInstance } from '@duckdb/node-api';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createQueryQueue } from '../plan/query-queue.ts';
import { sql } from '../plan/sql.ts';
import { Pool } from './pool.ts';

/** Runs for minutes unless it is interrupted. */
const ENDLESS = sql`SELECT count(*) FROM range(${1e12}::BIGINT) AS a WHERE a.range % 7 = 3`;

let pool: Pool;
let queue: ReturnType<typeof createQueryQueue>;

beforeEach(async () => {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1', memory_limit: '64MB', temp_directory: '' });
  queue = createQueryQueue({ running: 2, waiting: 5, patience: 5_000 });
  pool = new Pool(instance, queue, 200);
});
afterEach(() => pool.close());

const failure = (promise: Promise<unknown>) =>
  promise.then(() => 'answered').catch((error) => `${error.code}: ${error.message}`);
const answers = async () =>
  expect(await pool.ask(sql`SELECT ${1} + ${2.5}, ${'a'}, ${true}`)).toEqual([[3.5, 'a', true]]);

test('a statement over its time limit is interrupted, and the connection stays usable', async () => {
  const began = performance.now();
  expect(await failure(pool.ask(ENDLESS))).toMatch(/^query_timeout: The query took too long/u);
  expect(performance.now() - began).toBeLessThan(3_000);
  await answers();
  expect(queue.load().running).toBe(0);
});

test('an aborted query is interrupted', async () => {
  const giving = new AbortController();
  const asked = failure(pool.ask(ENDLESS, { signal: giving.signal }));
  setTimeout(() => giving.abort(), 20);
  expect(await asked).toMatch(/^unavailable: The query was aborted/u);
  await answers();
});

test('other queries are answered while a slow one runs', async () => {
  const slow = failure(pool.ask(ENDLESS));
  await answers();
  expect(await slow).toContain('query_timeout');
});

test('a statement that needs too much memory fails, and the next one works', async () => {
  const wide = sql`SELECT count(DISTINCT x) FROM (SELECT i || 'padding to fill memory' || i AS x FROM range(20000000) t(i))`;
  pool = new Pool(
    await DuckDBInstance.create(':memory:', { threads: '1', memory_limit: '32MB', temp_directory: '' }),
    queue,
    60_000,
  );
  expect(await failure(pool.ask(wide))).toMatch(/^unavailable: The query needs more memory/u);
  await answers();
});

test('other errors are thrown unchanged', async () => {
  await expect(pool.ask(sql`SELEKT 1`)).rejects.toThrow('Parser Error');
  await answers();
});

test('the cache of prepared statements is limited', async () => {
  for (let i = 0; i < 200; i++) expect(await pool.ask({ text: `SELECT ${i}`, values: [] })).toEqual([[i]]);
});

test('closing interrupts running queries and rejects later ones', async () => {
  const asked = failure(pool.ask(ENDLESS));
  await new Promise((resolve) => setTimeout(resolve, 20));
  await pool.close();
  expect(await asked).toMatch(/^unavailable/u);
  expect(await failure(pool.ask(sql`SELECT 1`))).toMatch(/^unavailable/u);
  pool.close = async () => {};
});
