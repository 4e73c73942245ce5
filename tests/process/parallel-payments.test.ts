// Parallel calls and killed processes: exactly the paid calls are answered, and the books stay correct.
import { randomBytes } from 'node:crypto';
import { type AddressInfo, connect } from 'node:net';
import { serve } from '@hono/node-server';
import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import type { Operation } from '../../api/contract/operation.ts';
import { ACCOUNT_OPERATIONS, DATASET_OPERATIONS } from '../../api/operations/table.ts';
import { move, verify } from '../../data/state/money/ledger.ts';
import { openStore, type Store } from '../../data/state/store.ts';
import { testApp } from '../support/app.ts';
import { newKey } from '../support/money-on-stores.ts';
import { type Api, type Got, richKey, smallData, startApi } from '../support/money-processes.ts';
import { verifies } from '../support/verifies.ts';

verifies('charge.never-negative', 'charge.transaction', 'setting.database-url', 'keys.revoke');

const RECORD = '/v1/tools/entities/record-1';
const PRICE = 4000;
const RIGHT = { sum: 0, unbalanced: [], wrong: [] };

const running: Api[] = [];
const stores: Store[] = [];
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const api of running.splice(0)) await api.kill('SIGKILL');
  for (const cleanup of cleanups.splice(0)) await cleanup();
  for (const store of stores.splice(0)) await store.close();
});

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

describe('a key that can pay for 100', () => {
  test('1,000 calls at once on SQLite: exactly 100 answers', async () => {
    const app = await testApp({ records: 5 });
    const { headers, id } = await newKey(app);
    await move(app.state, { key_id: id, amount: 100 * PRICE - 500_000, kind: 'refund', against: 'refund', now: 0 });
    const answers = await Promise.all(Array.from({ length: 1000 }, () => app.json(RECORD, { headers })));
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([count(200), count(402)]).toEqual([100, 900]);
    expect((await app.json('/v1/keys/me', { headers })).body['balance_eur']).toBe(0);
    expect(await verify(app.state)).toMatchObject(RIGHT);
    expect([app.lent(), app.faults]).toEqual([0, []]);
    await app.close();
  }, 60_000);

  const url = process.env['TEST_DATABASE_URL'];
  test('1,000 calls at once on two processes over PostgreSQL: exactly 100; revoked in one, refused in the other', async (context) => {
    if (!url) return context.skip('TEST_DATABASE_URL is not set');
    const { dataDir, remove } = await smallData();
    cleanups.push(remove);
    const schema = `test_${randomBytes(6).toString('hex')}`;
    const options = encodeURIComponent(`-c search_path=${schema}`);
    const store = await openStore({ dataDir, databaseUrl: url, schema });
    stores.push(store);
    cleanups.unshift(() => sql`drop schema ${sql.id(schema)} cascade`.execute(store.db));
    const env = { DATABASE_URL: `${url}?options=${options}` };
    const apis = await Promise.all([startApi(dataDir, env), startApi(dataDir, env)]);
    running.push(...apis);
    const [one, two] = apis as [Api, Api];
    const { id, key } = await richKey(one, 'many@example.org', 'scale', 1);
    await move(store, { key_id: id, amount: 100 * PRICE - 1_500_000, kind: 'refund', against: 'refund', now: 0 });
    const answers = await Promise.all(
      Array.from({ length: 1000 }, (_, i) => (i % 2 ? one : two).ask(RECORD, bearer(key))),
    );
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([count(200), count(402)]).toEqual([100, 900]);
    expect(await verify(store)).toMatchObject(RIGHT);
    const ids = await store.db.selectFrom('entries').select('request_id').where('kind', '=', 'charge').execute();
    const paid = new Set(ids.map(({ request_id }) => request_id));
    expect(
      answers.filter(({ status }) => status === 200).every((each) => paid.has(each.header('x-request-id') ?? '')),
    ).toBe(true);
    const admin = { Authorization: 'Bearer an-admin-key-of-the-tests-0123456789' };
    expect((await two.ask('/v1/keys/me', bearer(key))).status).toBe(200);
    expect((await one.ask(`/v1/keys/${id}`, admin, 'DELETE')).status).toBe(200);
    expect((await two.ask('/v1/keys/me', bearer(key))).status).toBe(401);
    for (const api of apis) expect(api.output()).not.toContain(key);
  }, 120_000);
});

describe('a child key with room for 37 calls, of a key with room for 50', () => {
  const CAP = (37 * PRICE) / 1e6;
  const BOUND = JSON.stringify({ name: 'agent', cap_eur: CAP });
  const count = (answers: readonly { status: number }[], status: number) =>
    answers.filter((answer) => answer.status === status).length;

  test('1,000 calls at once on SQLite: exactly 37 answers, and 13 of the key itself', async () => {
    const app = await testApp({ records: 5 });
    const { headers, id } = await newKey(app);
    await move(app.state, { key_id: id, amount: 50 * PRICE - 500_000, kind: 'refund', against: 'refund', now: 0 });
    const child = await app.json('/v1/keys/me/children', { method: 'POST', body: BOUND, headers });
    const calls = (key: unknown, length: number) =>
      Promise.all(Array.from({ length }, () => app.json(RECORD, { headers: bearer(String(key)) })));
    const answers = await calls(child.body['key'], 1000);
    expect([count(answers, 200), count(answers, 403)]).toEqual([37, 963]);
    const others = await Promise.all(Array.from({ length: 20 }, () => app.json(RECORD, { headers })));
    expect([count(others, 200), count(others, 402)]).toEqual([13, 7]);
    expect(await verify(app.state)).toMatchObject(RIGHT);
    expect([app.lent(), app.faults]).toEqual([0, []]);
    await app.close();
  }, 120_000);

  /** 1,000 calls over these services, and then those of the key itself. */
  async function race(apis: readonly Api[], store: Store): Promise<void> {
    const [one] = apis as [Api];
    const { id, key } = await richKey(one, 'parent@example.org', 'scale', 1);
    await move(store, { key_id: id, amount: 50 * PRICE - 1_500_000, kind: 'refund', against: 'refund', now: 0 });
    const json = { ...bearer(key), 'content-type': 'application/json' };
    const child = JSON.parse((await one.ask('/v1/keys/me/children', json, 'POST', BOUND)).body) as { key: string };
    const calls = (secret: string, length: number) =>
      Promise.all(Array.from({ length }, (_, i) => apis[i % apis.length]!.ask(RECORD, bearer(secret))));
    const answers = await calls(child.key, 1000);
    expect([count(answers, 200), count(answers, 403)]).toEqual([37, 963]);
    const others = await calls(key, 20);
    expect([count(others, 200), count(others, 402)]).toEqual([13, 7]);
    expect(await verify(store)).toMatchObject(RIGHT);
  }

  test('with WORKERS=2 on SQLite', async () => {
    const { dataDir, remove } = await smallData();
    cleanups.push(remove);
    const api = await startApi(dataDir, { WORKERS: '2' });
    running.push(api);
    const store = await openStore({ dataDir });
    stores.push(store);
    await race([api], store);
  }, 180_000);

  const url = process.env['TEST_DATABASE_URL'];
  test('on two processes over PostgreSQL', async (context) => {
    if (!url) return context.skip('TEST_DATABASE_URL is not set');
    const { dataDir, remove } = await smallData();
    cleanups.push(remove);
    const schema = `test_${randomBytes(6).toString('hex')}`;
    const options = encodeURIComponent(`-c search_path=${schema}`);
    const store = await openStore({ dataDir, databaseUrl: url, schema });
    stores.push(store);
    cleanups.unshift(() => sql`drop schema ${sql.id(schema)} cascade`.execute(store.db));
    const env = { DATABASE_URL: `${url}?options=${options}` };
    const apis = await Promise.all([startApi(dataDir, env), startApi(dataDir, env)]);
    running.push(...apis);
    await race(apis, store);
  }, 180_000);
});

test('killed ten times: every answer was paid for, every payment is booked, no money is created or lost', async () => {
  const { dataDir, remove } = await smallData();
  cleanups.push(remove);
  let api = await startApi(dataDir);
  running.push(api);
  const { id, key } = await richKey(api, 'killed@example.org', 'scale', 1000);
  const answered: string[] = [];
  let sent = 0;
  for (let round = 0; round < 10; round++) {
    let alive = true;
    const target = api;
    const load = Promise.all(
      Array.from({ length: 8 }, async () => {
        while (alive) {
          sent += 1;
          const got: Got | null = await target.ask(RECORD, bearer(key)).catch(() => null);
          if (got?.status === 200) answered.push(got.header('x-request-id') ?? '');
        }
      }),
    );
    // A slow machine gets enough time to be in the middle of some calls.
    const before = answered.length;
    while (answered.length < before + 12) await new Promise((resolve) => setTimeout(resolve, 20));
    await new Promise((resolve) => setTimeout(resolve, 17 * round));
    await target.kill('SIGKILL');
    alive = false;
    await load;
    running.length = 0;
    // Each start resets the counts of the minute: rate limits are not tested here.
    api = await startApi(dataDir);
    running.push(api);
  }
  const { body } = await api.ask('/v1/keys/me?limit=1', bearer(key));
  await api.kill('SIGTERM');
  running.length = 0;
  const store = await openStore({ dataDir });
  stores.push(store);
  expect(await verify(store)).toMatchObject(RIGHT);
  const rows = await store.db.selectFrom('entries').selectAll().where('account', '=', `key:${id}`).execute();
  const charged = rows.filter(({ kind }) => kind === 'charge').map(({ request_id }) => request_id ?? '');
  expect(new Set(charged).size).toBe(charged.length);
  expect(answered.length).toBeGreaterThan(100);
  const paid = new Set(charged);
  expect(answered.filter((request) => !paid.has(request))).toEqual([]);
  // Answers that were charged but not received were on their way when the process died: at most one per
  // connection.
  expect(charged.length - answered.length).toBeLessThanOrEqual(80);
  expect(sent).toBeGreaterThan(answered.length);
  const balance = (JSON.parse(body) as { balance_eur: number }).balance_eur;
  expect(Math.round(balance * 1e6)).toBe(1_000_500_000 - charged.length * PRICE);
}, 180_000);

test('a client that hangs up over a real socket while its call runs pays nothing', async () => {
  let began = () => {};
  const ended: boolean[] = [];
  const record = DATASET_OPERATIONS.find(({ name }) => name === 'entity_get')!;
  const waiting: Operation = {
    ...record,
    run: async (input, ctx) => {
      began();
      await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve(), { once: true }));
      ended.push(ctx.signal.aborted);
      return record.run(input, ctx);
    },
  };
  const app = await testApp({ records: 5, gate: { operations: [waiting, ...ACCOUNT_OPERATIONS] } });
  const { key, headers } = await newKey(app);
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  for (let i = 0; i < 3; i++) {
    const running = new Promise<void>((resolve) => (began = resolve));
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET ${RECORD} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    await running;
    socket.destroy();
    while (ended.length <= i) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
  const { body } = await app.json('/v1/keys/me', { headers });
  expect([body['balance_eur'], (body['ledger'] as object[]).length, ended]).toEqual([0.5, 1, [true, true, true]]);
  expect([app.faults, app.lent()]).toEqual([[], 0]);
  await new Promise((resolve) => server.close(resolve));
  await app.close();
}, 30_000);
