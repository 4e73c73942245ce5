// Every operation that changes something runs once for an Idempotency-Key, on both stores: the cases are compared with
// the table of operations, so an operation without one fails.
import { randomBytes } from 'node:crypto';
import type { CompiledQuery } from 'kysely';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { isChange } from '../../../api/contract/operation.ts';
import { OPERATIONS } from '../../../api/operations/table.ts';
import { auditEntries } from '../../../data/state/audit.ts';
import { newClaim } from '../../../data/state/owners/claims.ts';
import { type Answer, NOW, type TestApp } from '../../support/app.ts';
import { ownedParts, type PathParts } from '../../support/every-call.ts';
import { balance, callStatus, describeApps, type MoneyStage, newKey } from '../../support/money-on-stores.ts';
import { SERVED } from '../../support/owners-stage.ts';
import { startDouble } from '../../support/stripe-double.ts';
import { verifies } from '../../support/verifies.ts';

verifies('charge.idempotency', 'charge.idempotency-conflict', 'charge.idempotency-length');

const double = await startDouble();
afterAll(() => double.close());
const options = {
  ...SERVED,
  get stripe() {
    return double.stripe;
  },
};

interface Case {
  path: string;
  body?: Record<string, unknown>;
  /** Another valid body, for which the same Idempotency-Key is a conflict. */
  other?: Record<string, unknown>;
  headers?: Record<string, string>;
  admin?: true;
}

const EDITOR = {
  dataset: 'harbours',
  email: 'office@null.example',
  email_normal: 'office@null.example',
  domain: 'null.example',
};
const withKey = async (app: TestApp, path: string, body?: Case['body'], other?: Case['other']): Promise<Case> => {
  const { headers } = await newKey(app);
  return { path, headers, ...(body && { body }), ...(other && { other }) };
};

/** A request to a new child key of a new key. */
async function withChild(app: TestApp, body?: Case['body'], other?: Case['other']): Promise<Case> {
  const { path, headers = {} } = await withKey(app, '/v1/keys/me/children');
  const child = await app.json(path, { method: 'POST', headers, body: '{"name":"agent"}' });
  return { path: `${path}/${child.body['id']}`, headers, ...(body && { body }), ...(other && { other }) };
}

const SUBSCRIPTIONS = '/v1/keys/me/subscriptions';
const HOOK = 'https://hook.example.org/';

/** A request about a new subscription of a new key, or about its delivery. */
async function withSubscription(app: TestApp, pathOf: (parts: PathParts) => string): Promise<Case> {
  const { headers, key } = await newKey(app);
  return { path: `${SUBSCRIPTIONS}/${pathOf(await ownedParts(app, key))}`, headers };
}

/** A request of each operation that changes something. */
const CASES: Record<string, (app: TestApp) => Promise<Case>> = {
  keys_create: async () => ({ path: '/v1/keys', body: { email: 'once@example.org' } }),
  keys_rotate: (app) => withKey(app, '/v1/keys/me/rotate'),
  keys_email: (app) => withKey(app, '/v1/keys/me/email', { email: 'attached@example.org' }),
  keys_limits: (app) => withKey(app, '/v1/keys/me/limits', { per_day_eur: 1 }, { per_day_eur: 2 }),
  keys_child_create: (app) => withKey(app, '/v1/keys/me/children', { name: 'one' }, { name: 'two' }),
  keys_child_change: (app) => withChild(app, { name: 'one' }, { name: 'two' }),
  keys_child_revoke: (app) => withChild(app),
  keys_subscriptions_add: (app) =>
    withKey(app, SUBSCRIPTIONS, { dataset: 'tools', url: HOOK }, { dataset: 'harbours', url: HOOK }),
  keys_subscriptions_remove: (app) => withSubscription(app, ({ subscription }) => subscription),
  keys_deliveries_repeat: (app) =>
    withSubscription(app, ({ subscription, delivery }) => `${subscription}/deliveries/${delivery}/repeat`),
  keys_close: (app) => withKey(app, '/v1/keys/me'),
  keys_topup: (app) => withKey(app, '/v1/keys/topup', { amount_eur: 20 }, { amount_eur: 30 }),
  keys_subscribe: (app) => withKey(app, '/v1/keys/subscribe', { plan: 'pro' }, { plan: 'scale' }),
  keys_recover: async () => ({ path: '/v1/keys/recover', body: { email: 'once@example.org' } }),
  keys_grant: async (app) => {
    const { id: key_id } = await newKey(app);
    return { path: '/v1/keys/grant', body: { key_id, amount_eur: 1 }, other: { key_id, amount_eur: 2 }, admin: true };
  },
  keys_revoke: async (app) => ({ path: `/v1/keys/${(await newKey(app)).id}`, admin: true }),
  optout: async () => ({
    path: '/v1/optout',
    body: { dataset: 'harbours', entity_id: 'harbour-13', contact: 'office@neu.example' },
  }),
  optout_post: async () => ({
    path: '/v1/optout',
    body: { dataset: 'harbours', entity_id: 'harbour-3', contact: 'a@aether.example' },
  }),
  claim_request: async () => ({
    path: '/v1/claim',
    body: { dataset: 'harbours', entity_id: 'harbour-8', email: 'once@null.example' },
  }),
  claim_update: async (app) => {
    const entity_id = app.records['harbours']!.find(({ slug }) => slug === 'harbour-8')!.id;
    const token = await newClaim(app.state, { ...EDITOR, entity_id }, NOW.getTime(), true);
    await app.json(`/v1/claim/verify?token=${token}`);
    return { path: '/v1/claim', body: { token, values: { languages: ['de'] } } };
  },
  entity_report: async () => ({ path: '/v1/harbours/entities/harbour-8/reports', body: { message: 'It moved.' } }),
};

/** The sale of a key is paid by x402 (tests/process/x402/prepaid.test.ts). */
const changes = OPERATIONS.filter((operation) => isChange(operation) && !operation.charge.amount);
let turn = 0;
const secret = () => randomBytes(24).toString('base64url');

/** Sends the request of a case from an address of its own. */
function ask(app: TestApp, method: string, { path, body, headers, admin }: Case, key?: string): Promise<Answer> {
  turn += 1;
  return app.json(path, {
    method,
    ...(body && { body: JSON.stringify(body) }),
    ...(admin && { admin }),
    headers: { ...headers, ...(key !== undefined && { 'Idempotency-Key': key }) },
    address: `2001:db9:${turn.toString(16)}::1`,
  });
}

const isReplayed = ({ headers }: Answer) => headers.get('idempotency-replayed') === 'true';

describe('the cases', () => {
  it('are all operations that change something, and documents name the header on each', () => {
    expect(Object.keys(CASES).sort()).toEqual(changes.map(({ name }) => name).sort());
  });
});

describeApps('a change with an Idempotency-Key', options, (stage: MoneyStage) => {
  it.each(changes.map(({ name, rest }) => [name, rest.method]))(
    '%s runs once, for requests at the same moment and later, in all processes',
    async (name, method) => {
      const { app, other } = stage;
      const [request, key] = [await CASES[name]!(app), secret()];
      const all = await Promise.all([app, other, app, other].map((at) => ask(at, method, request, key)));
      const [first] = all;
      expect(first!.status, JSON.stringify(first!.body)).toBeLessThan(300);
      expect(all.map(({ status }) => status)).toEqual(all.map(() => first!.status));
      for (const { body } of all) expect(body).toEqual(first!.body);
      expect(all.filter(isReplayed)).toHaveLength(3);
      const later = await ask(other, method, request, key);
      expect([later.status, later.body, isReplayed(later)]).toEqual([first!.status, first!.body, true]);
      expect(later.headers.get('cache-control')).toContain('no-store');
      const rows = JSON.stringify(await app.state.db.selectFrom('idempotency').selectAll().execute());
      for (const text of [
        key,
        'Dataset register',
        ...Object.values(first!.body)
          .map(String)
          .filter((s) => s.length > 20),
      ])
        expect(rows).not.toContain(text);
      if (request.other)
        expect((await ask(app, method, { ...request, body: request.other }, key)).body['error']).toBe(
          'idempotency_conflict',
        );
      const short = await ask(app, method, request, 'too-short');
      expect(short.status).toBe(request.headers && /rotate|close/.test(name) ? 401 : 422);
    },
  );

  it.each([
    ['POST', '/v1/keys/me/rotate'],
    ['DELETE', '/v1/keys/me'],
  ])('%s %s: the old secret gets the stored answer of this request and nothing else', async (method, path) => {
    const { app, other } = stage;
    const [{ headers }, key] = [await newKey(app), secret()];
    const request = { path, headers };
    const first = await ask(app, method, request, key);
    expect(isReplayed(await ask(other, method, request, key))).toBe(true);
    const next = method === 'POST' ? 'DELETE' : 'POST';
    const paths = { POST: '/v1/keys/me/rotate', DELETE: '/v1/keys/me' };
    const attempts = [
      ask(other, method, request),
      ask(other, method, request, secret()),
      ask(other, method, { path, headers: (await newKey(app)).headers, body: { x: 1 } }, 'x'),
      ask(other, next, { path: paths[next], headers }, key),
      ask(other, 'POST', { path: '/v1/keys/topup', headers, body: { amount_eur: 20 } }, key),
      ask(other, 'GET', { path: '/v1/keys/me', headers }, key),
      ask(other, 'GET', { path: '/v1/harbours/entities/harbour-8', headers }, key),
    ];
    const states = (await Promise.all(attempts)).map(({ status, body }) => `${status} ${body['error']}`);
    expect(states.filter((state) => state !== '401 invalid_key')).toEqual(['422 validation_failed']);
    if (method === 'POST') {
      const fresh = { Authorization: `Bearer ${first.body['key']}` };
      expect(await balance(app, fresh)).toBe(0.5);
      // Another rotation with the same value and the new secret is another request of another secret.
      expect(isReplayed(await ask(app, method, { path, headers: fresh }, key))).toBe(false);
    }
    const rotations = (await auditEntries(app.state, { limit: 5 })).filter(({ action }) => action === 'rotate');
    expect(rotations.length).toBe(method === 'POST' ? 2 : rotations.length);
  });

  it('without a credential belongs to one request: another body is another request', async () => {
    const { app, other } = stage;
    const key = 'order-0001-of-2026';
    const create = (email: string, at = app) => ask(at, 'POST', { path: '/v1/keys', body: { email } }, key);
    const [one, two] = [await create('one@example.org'), await create('two@example.org', other)];
    expect([one.status, two.status, one.body['key'] === two.body['key']]).toEqual([201, 201, false]);
    expect((await create('one@example.org', other)).body).toEqual(one.body);
  });

  it('that failed may be repeated', async () => {
    const { app } = stage;
    const key = secret();
    const create = (email: string) => ask(app, 'POST', { path: '/v1/keys', body: { email } }, key);
    const { body } = await ask(app, 'POST', { path: '/v1/keys', body: { email: 'taken@example.org' } });
    expect((await create('taken@example.org')).body['error']).toBe('key_exists');
    const headers = { Authorization: `Bearer ${body['key']}` };
    await app.json('/v1/keys/me', { method: 'DELETE', headers });
    expect((await create('taken@example.org')).status).toBe(201);
  });

  it('whose client is gone is stored for the repeat', async () => {
    const { app } = stage;
    const [key, gone] = [secret(), new AbortController()];
    const body = JSON.stringify({ email: 'gone@example.org' });
    const init = { method: 'POST', body, headers: { 'Idempotency-Key': key }, address: '192.0.2.77' };
    const lost = app.ask('/v1/keys', { ...init, signal: gone.signal }).catch(() => null);
    gone.abort();
    await lost;
    await expect.poll(async () => (await app.json('/v1/keys', init)).headers.get('idempotency-replayed')).toBe('true');
    expect(await callStatus(app, '/v1/keys', { ...init, headers: {} })).toBe('409 key_exists');
  });

  it('that moved money moves it once, although its answer was lost', async () => {
    const { app } = stage;
    const { id: key_id } = await newKey(app);
    const request: Case = { path: '/v1/keys/grant', body: { key_id, amount_eur: 3 }, admin: true };
    const key = secret();
    const granted = await ask(app, 'POST', request, key);
    await app.state.db.deleteFrom('idempotency').execute();
    expect((await ask(app, 'POST', request, key)).body['balance_eur']).toBe(granted.body['balance_eur']);
    const other = await ask(app, 'POST', request, secret());
    expect(other.body['balance_eur']).toBe(Number(granted.body['balance_eur']) + 3);
  });

  it.each([
    ['keys_create', 'POST'],
    ['keys_rotate', 'POST'],
    ['keys_close', 'DELETE'],
    ['keys_child_create', 'POST'],
    ['entity_report', 'POST'],
  ])('%s keeps its answer, although its process ended right after the change', async (name, method) => {
    const { app } = stage;
    const [request, key] = [await CASES[name]!(app), secret()];
    if (request.body?.['email']) request.body['email'] = 'ended@example.org';
    // Nothing is stored outside the transaction of the change.
    const { db } = app.state;
    const execute = db.executeQuery.bind(db);
    const ended = vi.spyOn(db, 'executeQuery').mockImplementation(((query: CompiledQuery) => {
      if (query.sql.startsWith('update "idempotency"')) throw new Error('The process ended.');
      return execute(query);
    }) as typeof db.executeQuery);
    const lost = await ask(app, method, request, key);
    ended.mockRestore();
    expect(lost.status).toBe(500);
    app.faults.length = 0;
    const repeat = await ask(app, method, request, key);
    expect([repeat.status < 300, isReplayed(repeat)], JSON.stringify(repeat.body)).toEqual([true, true]);
    if (typeof repeat.body['key'] === 'string')
      expect(await balance(app, { Authorization: `Bearer ${repeat.body['key']}` })).toBe(0.5);
  });

  it('expires after a day', async () => {
    const { app } = stage;
    const [{ headers }, key] = [await newKey(app), secret()];
    const request = { path: '/v1/keys/me/rotate', headers };
    await ask(app, 'POST', request, key);
    await app.state.db
      .updateTable('idempotency')
      .set({ created_at: NOW.getTime() - 86_400_001 })
      .execute();
    expect((await ask(app, 'POST', request, key)).status).toBe(401);
  });

  it('is named by OpenAPI on each operation', async () => {
    const { body } = await stage.app.json('/openapi.json');
    const paths = body['paths'] as Record<
      string,
      Record<string, { parameters?: { $ref?: string }[]; responses: object }>
    >;
    for (const { name, rest } of changes) {
      const described = paths[rest.path.replace(/:(\w+)/g, '{$1}')]?.[rest.method.toLowerCase()];
      expect(JSON.stringify(described?.parameters), name).toContain('IdempotencyKey');
      expect(Object.keys(described?.responses ?? {}), name).toContain('409');
    }
  });

  it('leaves no internal error', () => expect([...stage.app.faults, ...stage.other.faults]).toEqual([]));
});
