// The checkout in child processes: killed between our row and Stripe's answer, and two of them on one
// database.
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { verify } from '../../data/state/money/ledger.ts';
import { openStore, type Store } from '../../data/state/store.ts';
import { type Api, type Got, smallData, startApi } from '../support/money-processes.ts';
import { type Double, eventOf, invoiceOf, paidSession, signatureOf, startDouble } from '../support/stripe-double.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const COMPLETED = 'checkout.session.completed';
const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });
const parsed = ({ body }: Got) => JSON.parse(body) as Record<string, unknown>;

interface Ground {
  double: Double;
  store: Store;
  start(): Promise<Api>;
}

/**
 * A small register, a double of Stripe, and access to the store; on SQLite or in a new schema on PostgreSQL.
 */
async function ground(databaseUrl?: string): Promise<Ground> {
  const { dataDir, remove } = await smallData();
  cleanups.push(remove);
  const double = await startDouble();
  cleanups.push(() => double.close());
  const schema = `test_${randomBytes(6).toString('hex')}`;
  const store = await openStore(databaseUrl ? { dataDir, databaseUrl, schema } : { dataDir });
  cleanups.push(() => store.close());
  if (databaseUrl) cleanups.push(() => sql`drop schema ${sql.id(schema)} cascade`.execute(store.db));
  const { secretKey, webhookSecret, apiBase } = double.stripe;
  const env: Record<string, string> = {
    STRIPE_SECRET_KEY: secretKey,
    STRIPE_WEBHOOK_SECRET: webhookSecret,
    STRIPE_API_BASE: apiBase,
  };
  const options = encodeURIComponent(`-c search_path=${schema}`);
  if (databaseUrl) env['DATABASE_URL'] = `${databaseUrl}?options=${options}`;
  const start = async () => {
    const api = await startApi(dataDir, env);
    cleanups.push(() => api.kill('SIGKILL'));
    return api;
  };
  return { double, store, start };
}

async function newKey(api: Api, email: string): Promise<string> {
  return String(parsed(await api.ask('/v1/keys', {}, 'POST', JSON.stringify({ email })))['key']);
}

const topup = (api: Api, key: string) =>
  api.ask('/v1/keys/topup', bearer(key), 'POST', JSON.stringify({ amount_eur: 20 }));
const balance = async (api: Api, key: string) => parsed(await api.ask('/v1/keys/me', bearer(key)))['balance_eur'];

async function deliver(api: Api, type: string, object: Record<string, unknown>, at = Date.now()): Promise<string> {
  const body = eventOf(type, object, at);
  const got = await api.ask('/webhooks/stripe', { 'Stripe-Signature': signatureOf(body, at) }, 'POST', body);
  return `${got.status} ${parsed(got)['outcome'] ?? parsed(got)['error']}`;
}

const asked = async ({ requests: asked }: Double, count: number) => {
  while (asked.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
};

const url = process.env['TEST_DATABASE_URL'];
describe.each([
  ['SQLite', ''],
  ['PostgreSQL', url],
])('killed at the checkout, on %s', (_, databaseUrl) => {
  test('between our row and an answer of Stripe: the row stays, nothing is credited, and a payment that arrived later is', async (context) => {
    if (databaseUrl === undefined) return context.skip('TEST_DATABASE_URL is not set');
    const { double, store, start } = await ground(databaseUrl);
    let api = await start();
    const key = await newKey(api, 'killed@example.org');

    // Stripe never gets the request.
    double.faults.push('hang');
    const first = topup(api, key).catch(() => null);
    await asked(double, 1);
    await api.kill('SIGKILL');
    expect(await first).toBeNull();
    api = await start();

    // Stripe opens a session, but we never get its answer.
    double.before = () => new Promise(() => {});
    const second = topup(api, key).catch(() => null);
    await asked(double, 2);
    while (double.sessions.size === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await api.kill('SIGKILL');
    expect(await second).toBeNull();
    double.before = null;
    api = await start();
    const rows = await store.db.selectFrom('checkouts').select(['state', 'session', 'amount']).execute();
    expect(rows).toEqual(Array(2).fill({ state: 'made', session: null, amount: 20_000_000 }));
    expect(await balance(api, key)).toBe(0.5);

    // A person pays it all the same, and requests another.
    const [session = {}] = double.sessions.values();
    expect(await deliver(api, COMPLETED, paidSession(session))).toBe('200 booked');
    expect(await deliver(api, COMPLETED, paidSession(session))).toBe('200 known');
    expect((await topup(api, key)).status).toBe(200);
    expect(await balance(api, key)).toBe(20.5);
    expect(await verify(store)).toMatchObject({ sum: 0, unbalanced: [], wrong: [] });
  }, 120_000);
});

test('two processes on PostgreSQL agree: a session opened in one and reported to both in parallel gives one credit, one plan', async (context) => {
  if (url === undefined) return context.skip('TEST_DATABASE_URL is not set');
  const { double, store, start } = await ground(url);
  const [one, two] = await Promise.all([start(), start()]);
  const key = await newKey(one, 'both@example.org');
  await topup(one, key);
  const [session = {}] = double.sessions.values();
  const paid = paidSession(session);
  const told = await Promise.all(Array.from({ length: 20 }, (_, i) => deliver(i % 2 ? one : two, COMPLETED, paid)));
  expect(told.filter((each) => each === '200 booked')).toHaveLength(1);
  expect(told.filter((each) => each === '200 known')).toHaveLength(19);
  expect([await balance(one, key), await balance(two, key)]).toEqual([20.5, 20.5]);

  await one.ask('/v1/keys/subscribe', bearer(key), 'POST', JSON.stringify({ plan: 'pro' }));
  const plan = paidSession([...double.sessions.values()][1] ?? {});
  const month = invoiceOf(plan, { start: Date.now(), end: Date.now() + 30 * 86_400_000 });
  const months = await Promise.all(
    Array.from({ length: 10 }, (_, i) => deliver(i % 2 ? one : two, 'invoice.paid', month)),
  );
  expect(months.filter((each) => each === '200 booked')).toHaveLength(1);
  for (const api of [one, two]) {
    const me = parsed(await api.ask('/v1/keys/me', bearer(key)));
    expect([me['plan'], me['balance_eur'], (me['ledger'] as object[]).length]).toEqual(['pro', 20.5, 4]);
    expect(api.output()).not.toContain(double.stripe.secretKey);
  }
  expect(await verify(store)).toMatchObject({ sum: 0, unbalanced: [], wrong: [] });
}, 120_000);
