// WORKERS: several threads behave as one: the same answers, one set of limits, exact charges; a thread that
// crashes is replaced.
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { datasetNight } from '../../build/night/dataset.ts';
import { loadPack } from '../../packs/define/load.ts';
import { addressOf } from '../support/agent-questions.ts';
import { ADMIN } from '../support/app.ts';
import { everyCall } from '../support/every-call.ts';
import { type Api, type Got, smallData, startApi } from '../support/money-processes.ts';
import { still } from '../support/night-pack.ts';
import { QUESTIONS } from '../support/question-table.ts';
import { randomRecords } from '../support/random-records.ts';
import { writeRelease } from '../support/write-release.ts';

let data: Awaited<ReturnType<typeof smallData>>;
const running: Api[] = [];
beforeEach(async () => {
  data = await smallData();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((api) => api.kill('SIGKILL')));
  data.remove();
});

const start = async (env: Record<string, string>): Promise<Api> => {
  const api = await startApi(data.dataDir, env);
  running.push(api);
  return api;
};
const operator = { authorization: `Bearer ${ADMIN}` };

/** A new key with its welcome credit in EUR. */
async function newKey(api: Api): Promise<{ welcome: number; headers: Record<string, string> }> {
  const body = JSON.stringify({ email: 'reader@example.org' });
  const made = JSON.parse((await api.ask('/v1/keys', { 'content-type': 'application/json' }, 'POST', body)).body);
  return { welcome: made.balance_eur, headers: { authorization: `Bearer ${made.key}` } };
}

/** Price of a get of the pack tools, and calls that a key may make in a minute. */
const PRICE = 0.004;
const LIMIT = 60;

/** Charged calls of a key, from its balance. */
async function chargedCalls(api: Api, { welcome, headers }: Awaited<ReturnType<typeof newKey>>): Promise<number> {
  const { balance_eur } = JSON.parse((await api.ask('/v1/keys/me', headers)).body);
  return Math.round((welcome - balance_eur) / PRICE);
}

/** Parts of an answer that depend on the moment: ages change several times an hour, links to exports each minute. */
const MOMENT =
  /"(?:request_id|age_hours|started_at|median_age_hours|expires_at)":(?:"[^"]*"|[\d.]+)|"freshness":\{[^}]*\}|expires=\d+&signature=[\w-]+/g;

const steady = ({ status, body }: Got, base: string) => ({
  status,
  body: body.replaceAll(base, '').replace(MOMENT, ''),
});

test('every read of the table has the answer of a single thread, on each thread', async () => {
  // Both have the same DATA_DIR, and with it the same secrets of cursors and links.
  const [one, several] = [await start({}), await start({ WORKERS: '3' })];
  const pack = await loadPack('tests/packs/tools');
  const found = JSON.parse((await one.ask('/v1/tools/entities?limit=3', operator)).body);
  const slugs = { tools: found.items.map(({ slug }: { slug: string }) => slug) };
  const calls = everyCall([pack], slugs, { id: 'none', key: 'none', token: 'none' }).filter(
    ({ operation, dataset, path }) =>
      dataset !== null && operation.rest.method === 'GET' && !/format=parquet|llms-full/.test(path),
  );
  expect(calls.length).toBeGreaterThan(20);
  const different: string[] = [];
  for (const { path } of calls) {
    const expected = steady(await one.ask(path, operator), one.base);
    // More connections than threads, so that most get a call.
    const got = await Promise.all(Array.from({ length: 9 }, () => several.ask(path, operator)));
    if (got.some((each) => JSON.stringify(steady(each, several.base)) !== JSON.stringify(expected)))
      different.push(path);
  }
  expect(different).toEqual([]);
}, 120_000);

test('each question of the table has the answer of a single thread, on each of two', async () => {
  const folder = join(data.dataDir, 'nights');
  for (const name of ['tools', 'harbours'])
    await datasetNight(await loadPack(`tests/packs/${name}`), folder, still(), { accept: true });
  const one = await startApi(folder);
  running.push(one);
  const several = await startApi(folder, { WORKERS: '2' });
  running.push(several);
  const different: string[] = [];
  for (const question of QUESTIONS) {
    const path = addressOf(question);
    const expected = steady(await one.ask(path, operator), one.base);
    expect([question.name, expected.status]).toEqual([question.name, 200]);
    const answers = await Promise.all(Array.from({ length: 6 }, () => several.ask(path, operator)));
    if (answers.some((answer) => JSON.stringify(steady(answer, several.base)) !== JSON.stringify(expected)))
      different.push(question.name);
  }
  expect(different).toEqual([]);
}, 120_000);

test('limits, charges and metrics are those of one process', async () => {
  const api = await start({ WORKERS: '3' });
  // Before the free calls of this address are used up.
  const key = await newKey(api);
  const free = await Promise.all(Array.from({ length: 330 }, () => api.ask('/v1/tools/status')));
  expect(free.filter(({ status }) => status === 429)).toHaveLength(31);
  const left = free.map(({ header }) => Number(header('x-ratelimit-remaining'))).sort((a, b) => b - a);
  expect(left.slice(0, 299)).toEqual(Array.from({ length: 299 }, (_, i) => 298 - i));

  const search = JSON.parse((await api.ask('/v1/tools/entities?limit=1', operator)).body);
  const path = `/v1/tools/entities/${search.items[0].slug}`;
  const paid = await Promise.all(Array.from({ length: LIMIT + 15 }, () => api.ask(path, key.headers)));
  const count = (status: number) => paid.filter((each) => each.status === status).length;
  expect([count(200), count(429)]).toEqual([LIMIT, 15]);
  expect(await chargedCalls(api, key)).toBe(LIMIT);

  const { body: metrics } = await api.ask('/ops/metrics', operator);
  const sum = (name: RegExp) =>
    metrics
      .split('\n')
      .filter((line) => name.test(line))
      .reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
  expect(sum(/^register_charges_total\{.*entity_get/)).toBe(LIMIT);
  expect(sum(/^register_call_seconds_count\{.*dataset_status.*ok/)).toBe(299);
  expect(sum(/^register_release_records\{/)).toBe(12);
}, 120_000);

test('all threads serve a new release', async () => {
  const api = await start({ WORKERS: '3' });
  const pack = await loadPack('tests/packs/tools');
  const { release } = await writeRelease(data.dataDir, pack, randomRecords(pack, 20, 8));
  await expect
    .poll(
      async () => {
        const got = await Promise.all(
          Array.from({ length: 12 }, () => api.ask('/v1/tools/entities?limit=1', operator)),
        );
        return got.every(({ header }) => header('x-dataset-version') === release);
      },
      { timeout: 10_000 },
    )
    .toBe(true);
}, 60_000);

/** Loaded into every thread: `/crash` ends the thread that gets it, as an error that nothing catches. */
const CRASH = `data:text/javascript,${encodeURIComponent(`
  import http from 'node:http';
  import { isMainThread } from 'node:worker_threads';
  const { emit } = http.Server.prototype;
  if (!isMainThread)
    http.Server.prototype.emit = function (name, request, ...rest) {
      if (name === 'request' && request.url === '/crash') setImmediate(() => { throw new Error('a crash'); });
      return emit.call(this, name, request, ...rest);
    };`)}`;

const crashes = (api: Api) => (api.output().match(/a thread ended/g) ?? []).length;

/** Crashes one thread. A request on a connection of a thread that has ended reaches none, and is repeated. */
async function crash(api: Api): Promise<void> {
  const before = crashes(api);
  await expect
    .poll(
      async () => {
        await api.ask('/crash').catch(() => null);
        return crashes(api);
      },
      { timeout: 40_000, interval: 300 },
    )
    .toBeGreaterThan(before);
}

test('a thread that crashes is replaced, and no charge is lost or doubled', async () => {
  const api = await start({ WORKERS: '2', NODE_OPTIONS: `--import ${CRASH}` });
  const key = await newKey(api);
  const search = JSON.parse((await api.ask('/v1/tools/entities?limit=1', operator)).body);
  const path = `/v1/tools/entities/${search.items[0].slug}`;
  let answered = 0;
  let failed = 0;
  const call = () =>
    api.ask(path, key.headers).then(
      ({ status }) => (status === 200 ? answered++ : failed++),
      () => failed++,
    );
  for (let round = 0; round < 6; round += 1) {
    const calls = Array.from({ length: 9 }, call);
    if (round % 2 === 1) await crash(api);
    await Promise.all(calls);
  }
  await expect.poll(async () => (await api.ask('/readyz')).status, { timeout: 10_000 }).toBe(200);
  await api.kill('SIGTERM');
  const again = await start({ WORKERS: '2' });
  const charged = await chargedCalls(again, key);
  // A call whose thread crashed after its charge was committed is charged, as when a process dies.
  expect(charged).toBeGreaterThanOrEqual(answered);
  expect(charged).toBeLessThanOrEqual(answered + failed);
  // The calls of the first round, in which no thread crashes.
  expect(answered).toBeGreaterThanOrEqual(9);
}, 120_000);
