// Statements that end the process, wait or never stop: what their callers are told, and that others are not concerned.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { openDuckdb } from '../../../api/compose.ts';
import { paths } from '../../../data/model/layout.ts';
import { currentRelease } from '../../../data/model/manifest.ts';
import { SqlStatements } from '../../../data/sql/engine.ts';
import { makeTables } from '../../../data/sql/make-tables.ts';
import { sqlSource } from '../../../data/sql/tables.ts';
import { loadPack } from '../../../packs/define/load.ts';
import { appOfAll } from '../../support/app.ts';
import { openWorld } from '../../support/overlay-world.ts';

const app = await appOfAll({ nights: true });
const lines: string[] = [];
const settings = { dataDir: app.dataDir, question_process: true, sql_memory: 256 * 2 ** 20 };
const { engines, questions, sql } = openDuckdb({ ...settings, log: (line: string) => void lines.push(line) });
const pack = await loadPack('tests/packs/harbours');
const folder = paths.release(app.dataDir, 'harbours', (await currentRelease(app.dataDir, 'harbours'))!);
const engine = engines!.open({ pack, folder, indexed: false });
afterAll(() => {
  sql!.close();
  questions!.kill();
});

/** Bounded by a function of the allow-list alone: it ends the process by the memory that it reserves. */
const ENDS = 'SELECT reservoir_quantile(a, 0.5, 1000000000) FROM range(10) t(a)';

async function run(text: string, { keyed = false, seconds = 120, caller = 'a test' } = {}) {
  const sources = [sqlSource(app.register.current('harbours')!, 'public')];
  const query = { sql: text, parameters: [], max_rows: 10, form: 'json', tier: 'public', seconds, sources } as const;
  return sql!.run({ query, caller, alone: false, keyed }, new AbortController().signal);
}

const plan = { where: [], sort: { key: 'quality', descending: true }, after: null, limit: 3, total: true };

test('a statement that ends the process is refused, and the questions of the register go on', {
  timeout: 240_000,
}, async () => {
  expect(await run('SELECT count(*) > 0 FROM harbours')).toHaveProperty('answer');
  const before = await engine.search(plan);
  const { pid } = questions!.start().child;
  const outcome = await run(ENDS);
  expect(outcome).toMatchObject({ error: { code: 'invalid_sql' } });
  // Where the allocator refuses in time, DuckDB reports it, and the process goes on.
  if ('ended' in outcome) {
    expect(lines.join('\n')).toMatch(/the process ended while it ran [0-9a-f]{16}/);
    // Refused without another end.
    const ends = lines.length;
    expect(await run(ENDS)).toMatchObject({ ms: 0, ended: true, error: { code: 'invalid_sql' } });
    expect(lines).toHaveLength(ends);
  }
  expect(await run('SELECT count(*) > 0 FROM harbours')).toHaveProperty('answer');
  expect(await engine.search(plan)).toEqual(before);
  expect(questions!.start().child.pid).toBe(pid);
});

test('questions are answered again after the end of their process', { timeout: 240_000 }, async () => {
  const before = await engine.stats({ where: [], attribute: 'depth', by: [], groups: 1 });
  questions!.kill();
  await expect
    .poll(() => engine.stats({ where: [], attribute: 'depth', by: [], groups: 1 }).catch(() => null))
    .toEqual(before);
  expect(await run('SELECT count(*) > 0 FROM harbours')).toHaveProperty('answer');
});

test('the process answers as of a moment while an edit waits for its build', { timeout: 240_000 }, async () => {
  const world = await openWorld(mkdtempSync(join(app.dataDir, 'edited-')), pack, '2026-11-20T00:00:00Z');
  const [id] = (await world.records()).keys();
  await world.say(id!, { depth: 99 }, '2026-11-21T00:00:00Z');
  const { folder, applied } = world.release();
  const edited = engines!.open({ pack, folder, indexed: true }).withOverlay(applied!);
  const at = (time: string) =>
    edited
      .stats({ where: [{ kind: 'as_of', at: Date.parse(time) }], attribute: 'depth', by: [], groups: 1 })
      .then(({ groups }) => groups[0]!.figures.max);
  expect(await at('2026-11-22T00:00:00Z')).toBe(99);
  expect(await at('2026-11-20T12:00:00Z')).toBeLessThan(99);
  await world.close();
});

test('waiting counts: each statement is answered within its time, and a key goes first', {
  timeout: 240_000,
}, async () => {
  const slow = 'SELECT count(*) FROM range(100000000000)';
  const running = run(slow, { seconds: 3 });
  const begin = performance.now();
  const waiting = Array.from({ length: 7 }, (_, i) => run('SELECT 1', { seconds: 1, caller: `${i}` }));
  const keyed = run('SELECT 2', { keyed: true });
  const outcomes = await Promise.all(waiting);
  for (const outcome of outcomes.filter((one) => 'error' in one))
    expect(outcome).toMatchObject({ error: { code: 'unavailable' } });
  expect(await running).toMatchObject({ error: { code: 'query_timeout' } });
  expect(await keyed).toHaveProperty('answer');
  expect(performance.now() - begin).toBeLessThan(120_000);
});

test('a statement that is nested too deeply is refused before it runs', { timeout: 240_000 }, async () => {
  const deep = `SELECT ${'('.repeat(400)}1${' + 1)'.repeat(400)}`;
  for (const text of [deep, `SELECT ${'1 + '.repeat(2000)}1`, `SELECT ${'['.repeat(900)}1${']'.repeat(900)}`])
    expect(await run(text)).toMatchObject({ error: { code: 'invalid_sql' } });
  expect(await run(`SELECT ${'1 + '.repeat(100)}1`)).toHaveProperty('answer');
});

test('a file of tables that is removed while statements open it is made again', { timeout: 240_000 }, async () => {
  const source = sqlSource(app.register.current('harbours')!, 'public');
  const made = join(app.dataDir, 'made.duckdb');
  await makeTables(source, made, 256 * 2 ** 20, false);
  const statements = await SqlStatements.open(256 * 2 ** 20);
  const { dataset, table, columns, past } = source;
  const query = { sql: 'SELECT count(*) > 0 FROM harbours', parameters: [], max_rows: 10, form: 'json' } as const;
  const ask = (path: string) =>
    statements.run(
      {
        query: { ...query, tier: 'public', seconds: 60 },
        left: 60_000,
        tables: [{ dataset, table, columns, past, path }],
      },
      new AbortController().signal,
      () => {},
    );
  const answers = new Set<string>();
  for (let turn = 0; turn < 40; turn += 1) {
    const path = join(app.dataDir, `made-${turn}.duckdb`);
    copyFileSync(made, path);
    const running = ask(path);
    await sleep(turn / 8);
    rmSync(path);
    answers.add(Object.keys(await running).join());
  }
  expect([...answers].filter((answer) => !['answer', 'lacks'].includes(answer))).toEqual([]);
  expect(await ask(made)).toHaveProperty('answer');
});
