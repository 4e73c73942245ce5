// SQL with several threads: one process runs all statements; its end affects no other request.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { availableParallelism, getPriority } from 'node:os';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { datasetNight } from '../../build/night/dataset.ts';
import { loadPack } from '../../packs/define/load.ts';
import { ADMIN } from '../support/app.ts';
import { LONG } from '../support/draws.ts';
import { type Api, startApi } from '../support/money-processes.ts';
import { scratchOfAll, still } from '../support/night-pack.ts';

const dataDir = scratchOfAll();
let api: Api;
beforeAll(async () => {
  await datasetNight(await loadPack('tests/packs/tools'), dataDir, still(), { accept: true });
});
afterEach(() => api.kill('SIGKILL'));

const operator = { authorization: `Bearer ${ADMIN}` };
const ask = (sql: string, headers: Record<string, string> = operator) =>
  api.ask('/v1/sql', { 'content-type': 'application/json', ...headers }, 'POST', JSON.stringify({ sql }));

/** Ids of the processes that run statements over files of this DATA_DIR. */
const sqlProcesses = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        if (!line.includes('data/sql/host') || !line.includes('"serves":"statements"')) return false;
        const files = readdirSync(`/proc/${pid}/fd`).map((file) => readlinkSync(`/proc/${pid}/fd/${file}`));
        return files.some((file) => file.startsWith(dataDir));
      } catch {
        return false;
      }
    })
    .map(Number);

const COUNT = 'SELECT count(*) FROM tools';
/** The first statement starts the process, which has the lowest priority on a busy machine. */
const answers = () => expect.poll(async () => (await ask(COUNT)).status, { timeout: 180_000, interval: 500 }).toBe(200);
const SLOW = 'SELECT count(*) FROM range(100000000000)';

if (LONG)
  test('with WORKERS=2 one process of low priority runs all statements, and is replaced when it ends', async () => {
    api = await startApi(dataDir, { WORKERS: '2' });
    await answers();
    // More connections than threads, so that both get a call.
    const counts = await Promise.all(Array.from({ length: 8 }, () => ask(COUNT)));
    expect(counts.map(({ status, body }) => [status, JSON.parse(body).rows])).toEqual(
      Array(8).fill([200, [[expect.any(Number)]]]),
    );
    const [pid, ...others] = sqlProcesses();
    expect(others).toEqual([]);
    expect(getPriority(pid)).toBe(10);
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain(ADMIN);

    const running = ask(SLOW);
    const gets = Array.from({ length: 20 }, () => api.ask('/v1/tools/entities?limit=1', operator));
    setTimeout(() => process.kill(pid!, 'SIGKILL'), 1_000);
    expect((await Promise.all(gets)).map(({ status }) => status)).toEqual(Array(20).fill(200));
    const ended = await running;
    // It ran alone when the process ended, so it is blamed.
    expect([ended.status, JSON.parse(ended.body).error]).toEqual([400, 'invalid_sql']);
    await answers();
    expect(sqlProcesses()).not.toContain(pid);
  }, 500_000);

test('8 statements wait, more are 503; with the service the process ends', async () => {
  api = await startApi(dataDir);
  await answers();
  const places = Math.max(1, Math.floor(availableParallelism() / 2)) + 8;
  const calls = Array.from({ length: places + 3 }, () => ask('SELECT max(hash(range)) FROM range(20000000)'));
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThanOrEqual(3);
  expect(statuses).toContain(200);
  expect(sqlProcesses()).toHaveLength(1);
  await api.kill('SIGKILL');
  await expect.poll(sqlProcesses, { timeout: 10_000 }).toEqual([]);
}, 300_000);

test('SQL=0: the paths are 404, and no process starts', async () => {
  api = await startApi(dataDir, { SQL: '0' });
  for (const path of ['/v1/sql', '/v1/tools/sql']) {
    const answer = await api.ask(path, { 'content-type': 'application/json' }, 'POST', JSON.stringify({ sql: COUNT }));
    expect([answer.status, JSON.parse(answer.body).error]).toEqual([404, 'not_found']);
  }
  expect(sqlProcesses()).toEqual([]);
}, 60_000);

test('without a key: 20 statements a minute for all threads, and headers of the limit', async () => {
  api = await startApi(dataDir, { WORKERS: '2' });
  const statuses: number[] = [];
  for (let i = 0; i < 22; i += 1) {
    const { status, header } = await ask('SELECT 1', {});
    statuses.push(status);
    if (i === 0) expect(header('ratelimit-policy')).toBe('"sql";q=20;w=60');
  }
  expect(statuses).toEqual([...Array(20).fill(200), 429, 429]);
}, 240_000);
