// The process is killed during payments; the same requests, sent again, are paid once and delivered once.
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { PaymentRequired } from '@x402/core/types';
import { sql } from 'kysely';
import { afterEach, expect, test } from 'vitest';
import { verify } from '../../../data/state/money/ledger.ts';
import { openStore } from '../../../data/state/store.ts';
import { decoded, encodePayload, pay } from '../../chain/buyer.ts';
import { noChain, ROLES, startChain } from '../../chain/chain.ts';
import { startFacilitator } from '../../chain/facilitator.ts';
import { LONG } from '../../support/draws.ts';
import { type Api, type Got, smallData, startApi } from '../../support/money-processes.ts';
import { verifies } from '../../support/verifies.ts';
import { PRICE } from '../../support/x402-stage.ts';

const BASE = 'https://register.example';
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** The parts that survive a killed process. */
async function surroundings(databaseUrl: string | null) {
  const chain = await startChain();
  cleanups.push(chain.stop);
  const facilitator = await startFacilitator(chain.url, { patience: 60_000 });
  cleanups.push(facilitator.stop);
  const { dataDir, remove } = await smallData();
  cleanups.push(remove);
  const schema = `test_${randomBytes(6).toString('hex')}`;
  const store = databaseUrl === null ? null : await openStore({ dataDir, databaseUrl, schema });
  if (store) cleanups.push(() => sql`drop schema ${sql.id(schema)} cascade`.execute(store.db).finally(store.close));
  const env = {
    BASE_URL: BASE,
    X402_PAY_TO: ROLES.merchant.address,
    X402_FACILITATOR_URL: facilitator.url,
    X402_RPC_URL: chain.url,
    ...(databaseUrl === null
      ? {}
      : { DATABASE_URL: `${databaseUrl}?options=${encodeURIComponent(`-c search_path=${schema}`)}` }),
  };
  const start = async (): Promise<Api> => {
    const api = await startApi(dataDir, env);
    cleanups.push(() => api.kill('SIGKILL'));
    return api;
  };
  return { chain, facilitator, dataDir, store, start };
}

/** One paid call, and the headers with which it can be repeated. */
async function order(api: Api, path: string): Promise<{ path: string; headers: Record<string, string> }> {
  const refused = await api.ask(path);
  const required = decoded(refused.header('payment-required') ?? null) as unknown as PaymentRequired;
  return { path, headers: { 'PAYMENT-SIGNATURE': encodePayload(await pay(required, ROLES.payer)) } };
}

/** Repeats until the lease of the killed process has expired. */
async function settledAnswer(
  api: Api,
  { path, headers }: { path: string; headers: Record<string, string> },
): Promise<Got> {
  for (let tries = 0; ; tries++) {
    const got = await api.ask(path, headers);
    if (got.status === 200 || tries > 40) return got;
    // Never a 402, at which a client would sign again.
    expect([409, 503], got.body).toContain(got.status);
    expect(Number(got.header('retry-after'))).toBeGreaterThan(0);
    await wait(1_000);
  }
}

/** Kills a process at each stage of the purchase of a key; the same request gets exactly one key for one payment. */
async function killedPurchase(databaseUrl: string | null): Promise<void> {
  const { chain, facilitator, dataDir, store, start } = await surroundings(databaseUrl);
  const path = '/v1/keys/prepaid';
  const body = JSON.stringify({ amount_eur: 0.5 });
  const table: string[] = [];
  let api = await start();
  for (const stage of ['verifying', 'verified', 'sent', 'settled'] as const) {
    const before = await chain.balance('usdc', ROLES.payer);
    const json = { 'content-type': 'application/json', 'Idempotency-Key': randomUUID() };
    const refused = await api.ask(path, json, 'POST', body);
    const required = decoded(refused.header('payment-required') ?? null) as unknown as PaymentRequired;
    const headers = { ...json, 'PAYMENT-SIGNATURE': encodePayload(await pay(required, ROLES.payer)) };
    const never = new Promise<null>(() => {});
    const reached = new Promise<void>((resolve) => {
      facilitator.between = async (task, _request, work) => {
        if (stage === 'verifying' || (stage === 'verified' && task === 'settle')) {
          resolve();
          return never;
        }
        if (task === 'verify') return work();
        const done = work();
        if (stage === 'sent') setTimeout(resolve, 1_000);
        else void done.then(() => resolve());
        return never;
      };
    });
    if (stage === 'sent') await chain.node.setAutomine(false);
    void api.ask(path, headers, 'POST', body).catch(() => {});
    await reached;
    await api.kill('SIGKILL');
    facilitator.plain();
    await chain.node.setAutomine(true);
    await chain.node.mine({ blocks: 1 });
    const next = await start();
    let sold = await next.ask(path, headers, 'POST', body);
    for (let tries = 0; sold.status !== 201 && tries < 40; tries += 1) {
      expect([409, 503], sold.body).toContain(sold.status);
      await wait(1_000);
      sold = await next.ask(path, headers, 'POST', body);
    }
    const { id, key } = JSON.parse(sold.body) as { id: string; key: string };
    const again = await next.ask(path, json, 'POST', body);
    const { key: repeated } = JSON.parse(again.body) as { key: string };
    const mine = JSON.parse((await next.ask('/v1/keys/me', { Authorization: `Bearer ${key}` })).body);
    expect([sold.status, repeated, mine.id, mine.balance_eur], stage).toEqual([201, key, id, 0.5]);
    table.push(`${stage}: ${before - (await chain.balance('usdc', ROLES.payer))}`);
    api = next;
  }
  expect(table).toEqual(['verifying: 550000', 'verified: 550000', 'sent: 550000', 'settled: 550000']);
  const state = store ?? (await openStore({ dataDir }));
  const keys = await state.db.selectFrom('keys').select('id').where('email_normal', 'like', 'prepaid:%').execute();
  expect(keys).toHaveLength(4);
  expect(await verify(state)).toMatchObject({ sum: 0, unbalanced: [], wrong: [] });
  if (!store) await state.close();
}

if (LONG)
  test('killed during the purchase of a key on SQLite: one payment, one key', async (context) => {
    const why = noChain();
    if (why !== null) return context.skip(why);
    await killedPurchase(null);
  }, 300_000);

test('killed during the purchase of a key on PostgreSQL: one payment, one key', async (context) => {
  const url = process.env['TEST_DATABASE_URL'];
  const why = noChain() ?? (url ? null : 'TEST_DATABASE_URL is not set');
  if (why !== null) return context.skip(why);
  await killedPurchase(url ?? null);
}, 300_000);

/** Kills a process during four payments; another one, or the restarted one, gets them all again. */
async function killed(databaseUrl: string | null): Promise<void> {
  const { chain, facilitator, dataDir, store, start } = await surroundings(databaseUrl);
  const api = await start();
  const before = await chain.balance('usdc', ROLES.payer);
  const [claimed, sent, settled, named] = await Promise.all(
    [1, 2, 3, 4].map((i) => order(api, `/v1/tools/entities/record-${i}`)),
  );
  const once = { 'Idempotency-Key': randomUUID() };
  Object.assign(named!.headers, once);
  const reached = new Map<string, () => void>();
  const until = (nonce: string) => new Promise<void>((resolve) => reached.set(nonce, resolve));
  const nonceOf = ({ headers }: { headers: Record<string, string> }) =>
    (decoded(headers['PAYMENT-SIGNATURE'] ?? null) as { payload: { authorization: { nonce: string } } }).payload
      .authorization.nonce;
  const never = new Promise<null>(() => {});
  facilitator.between = async (task, { paymentPayload }, work) => {
    const { nonce } = paymentPayload.payload['authorization'] as { nonce: string };
    const tell = () => reached.get(nonce)?.();
    if (nonce === nonceOf(claimed!)) {
      tell();
      return never;
    }
    if (task === 'verify') return work();
    // Each is sent to the chain, but the client gets no answer.
    const done = work();
    if (nonce === nonceOf(sent!)) setTimeout(tell, 1_000);
    else void done.then(tell);
    return never;
  };
  const ask = (one: typeof claimed) => {
    const there = until(nonceOf(one!));
    void api.ask(one!.path, one!.headers).catch(() => {});
    return there;
  };
  await Promise.all([ask(claimed), ask(settled), ask(named)]);
  await chain.node.setAutomine(false);
  await ask(sent);
  const next = store ? await start() : api;
  await api.kill('SIGKILL');
  facilitator.plain();
  await chain.node.setAutomine(true);
  await chain.node.mine({ blocks: 1 });

  const again = store ? next : await start();
  for (const one of [claimed, sent, settled]) {
    const got = await settledAnswer(again, one!);
    expect([got.status, JSON.parse(got.body)]).toMatchObject([200, { slug: one!.path.split('/').at(-1) }]);
    expect(decoded(got.header('payment-response') ?? null)).toMatchObject({ success: true });
    const twice = await again.ask(one!.path, one!.headers);
    expect([twice.status, JSON.parse(twice.body)]).toMatchObject([409, { error: 'payment_already_used' }]);
  }
  // With the Idempotency-Key only, before a payment is signed.
  for (let i = 0; i < 2; i++)
    expect((await settledAnswer(again, { path: named!.path, headers: once })).status).toBe(200);
  expect(before - (await chain.balance('usdc', ROLES.payer))).toBe(4n * PRICE);
  expect(await chain.balance('usdc', ROLES.merchant)).toBe(4n * PRICE);
  await again.kill('SIGTERM');
  const books = store ?? (await openStore({ dataDir }));
  expect(await verify(books)).toMatchObject({ entries: 8, sum: 0, unbalanced: [], wrong: [] });
  if (!store) await books.close();
}

const url = process.env['TEST_DATABASE_URL'];

test('kill -9 of the one process on SQLite, which is started again', async (context) => {
  verifies('x402.one-delivery', 'x402.unclear');
  const why = noChain();
  if (why !== null) return context.skip(why);
  await killed(null);
}, 180_000);

test('kill -9 of one of two processes on PostgreSQL, and the other goes on', async (context) => {
  const why = url ? noChain() : 'TEST_DATABASE_URL is not set';
  if (why !== null) return context.skip(why);
  await killed(url!);
}, 180_000);
