// The cap of a grant, enforced by the gate: exactly its amount, with two real processes on each database.
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { verify } from '../../../data/state/money/ledger.ts';
import { openStore } from '../../../data/state/store.ts';
import { newKey } from '../../support/money-on-stores.ts';
import { type Api, richKey, smallData, startApi } from '../../support/money-processes.ts';
import { allowCode, bearer, connectClient, token } from '../../support/oauth-client.ts';
import { listen } from '../../support/oauth-server.ts';

const RECORD = '/v1/tools/entities/record-1';
const PRICE = 4000;

/** Output of the processes, for a failed test. */
const outputs: (() => string)[] = [];
const cleanups: (() => unknown)[] = [];
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') process.stdout.write(outputs.map((output) => output()).join(''));
  outputs.length = 0;
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Pair {
  one: Api;
  two: Api;
  base: string;
  state: Awaited<ReturnType<typeof openStore>>;
}

/** Two processes with one database and one base URL. */
async function pair(url: string | undefined): Promise<Pair> {
  const { dataDir, remove } = await smallData();
  cleanups.push(remove);
  const schema = `test_${randomBytes(6).toString('hex')}`;
  const state = await openStore({ dataDir, ...(url ? { databaseUrl: url, schema } : {}) });
  cleanups.push(() => state.close());
  if (url) cleanups.push(() => sql`drop schema ${sql.id(schema)} cascade`.execute(state.db));
  const options = encodeURIComponent(`-c search_path=${schema}`);
  const env = url ? { DATABASE_URL: `${url}?options=${options}` } : {};
  const one = await startApi(dataDir, env);
  outputs.push(one.output);
  cleanups.push(() => one.kill('SIGKILL'));
  const two = await startApi(dataDir, { ...env, BASE_URL: one.base });
  outputs.push(two.output);
  cleanups.push(() => two.kill('SIGKILL'));
  return { one, two, base: one.base, state };
}

describe.each([
  ['SQLite', false],
  ['PostgreSQL', true],
] as const)('two processes on %s', (_, shared) => {
  const url = shared ? process.env['TEST_DATABASE_URL'] : undefined;

  test('let a grant spend its cap and not a call more, and the key goes on', async (context) => {
    if (shared && !url) return context.skip('TEST_DATABASE_URL is not set');
    const { one, two, base, state } = await pair(url);
    const { key, id } = await richKey(one, 'capped@example.org', 'scale', 10);
    const { access_token, refresh_token, client_id } = await connectClient(base, key, { cap: '0.101' });
    const ask = (api: Api, credential = access_token) => api.ask(RECORD, bearer(credential));
    const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => ask(i % 2 ? one : two)));
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([count(200), count(403)]).toEqual([25, 35]);
    const [refusal] = answers.filter(({ status }) => status === 403);
    expect(JSON.parse(refusal?.body ?? '')).toMatchObject({
      error: 'limit_exceeded',
      detail: { bound: 'cap', limit_eur: 0.101 },
      alternative_action: expect.stringContaining('connecting the client again'),
    });
    // A token of the same grant has the same cap; the person's own key and another grant do not.
    const renewed = await token(base, { grant_type: 'refresh_token', client_id, refresh_token });
    expect((await ask(two, renewed.body['access_token'])).status).toBe(403);
    expect((await ask(two, key)).status).toBe(200);
    expect((await ask(one, (await connectClient(base, key)).access_token)).status).toBe(200);
    expect(await verify(state)).toMatchObject({ sum: 0, unbalanced: [], wrong: [] });
    const charges = await state.db
      .selectFrom('entries')
      .select('amount')
      .where('account', '=', `key:${id}`)
      .where('kind', '=', 'charge')
      .execute();
    expect(charges.map(({ amount }) => amount)).toEqual(Array(27).fill(-PRICE));
    const grants = await state.db.selectFrom('grants').select(['cap', 'spent']).orderBy('created_at').execute();
    expect(grants).toEqual([
      { cap: 101_000, spent: 25 * PRICE },
      { cap: null, spent: PRICE },
    ]);
  }, 120_000);

  test('exchange one code at most once, though both receive it', async (context) => {
    if (shared && !url) return context.skip('TEST_DATABASE_URL is not set');
    const { one, two, base } = await pair(url);
    const { key } = await richKey(one, 'raced@example.org', 'scale', 1);
    const exchange = await allowCode(base, key);
    const answers = await Promise.all(Array.from({ length: 6 }, (_, i) => token((i % 2 ? one : two).base, exchange)));
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    for (const { body } of answers)
      if (body['access_token']) expect((await two.ask(RECORD, bearer(body['access_token']))).status).toBe(401);
    // Each process accepts sessions, codes and signing keys of the other.
    const next = await token(two.base, await allowCode(base, key));
    expect([next.status, (await one.ask(RECORD, bearer(next.body['access_token'] ?? ''))).status]).toEqual([200, 200]);
  }, 120_000);
});

test('a cap is checked before a call runs, and does not affect free calls', async () => {
  const { base, app, close } = await listen();
  const { key } = await newKey(app);
  const { access_token } = await connectClient(base, key, { cap: '0.005' });
  const headers = bearer(access_token);
  expect((await app.json(RECORD, { headers })).status).toBe(200);
  const refused = await app.json(RECORD, { headers });
  expect([refused.status, refused.body['detail']]).toEqual([403, { bound: 'cap', limit_eur: 0.005 }]);
  expect(refused.body['message']).toContain('0.001 EUR is left of the cap of this client');
  for (const path of ['/v1/datasets', '/v1/tools/facets?by=kind', '/v1/keys/me'])
    expect((await app.json(path, { headers })).status, path).toBe(200);
  expect((await app.ask(RECORD, { method: 'HEAD', headers })).status).toBe(403);
  expect(app.faults).toEqual([]);
  await close();
});
