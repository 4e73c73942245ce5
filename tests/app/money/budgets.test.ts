// Child keys and limits of keys, on both stores (contract section 9, "Budgets").
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { move, verify } from '../../../data/state/money/ledger.ts';
import { confirmAddress } from '../../../data/state/sends.ts';
import { NOW, type TestApp } from '../../support/app.ts';
import { balance, callStatus, describeApps, grant, newKey } from '../../support/money-on-stores.ts';

const RECORD = '/v1/tools/entities/record-1';
const PRICE = 4000;
const bearer = (key: unknown) => ({ Authorization: `Bearer ${key}` });
const sent = (method: string, body: unknown, headers: Record<string, string>) => ({
  method,
  body: JSON.stringify(body),
  headers,
});

/** Creates a child key; its id and headers. */
async function newChild(app: TestApp, headers: Record<string, string>, bounds: Record<string, unknown> = {}) {
  const { status, body } = await app.json('/v1/keys/me/children', sent('POST', { name: 'agent', ...bounds }, headers));
  expect(status, JSON.stringify(body)).toBe(201);
  return { id: String(body['id']), headers: bearer(body['key']), body };
}

let clock = NOW;

describeApps('budgets', { now: () => clock }, (stage) => {
  it('a child key spends from its parent within its cap and its day, and sees only its own ledger', async () => {
    const { app, other } = stage;
    const { headers } = await newKey(app);
    const child = await newChild(app, headers, { cap_eur: 0.014, per_day_eur: 0.008 });
    expect(child.body).toMatchObject({
      name: 'agent',
      cap_eur: 0.014,
      per_day_eur: 0.008,
      datasets: null,
      spent_eur: 0,
    });
    const first = await app.ask(RECORD, { headers: child.headers });
    expect([first.status, first.headers.get('x-charge-eur'), first.headers.get('x-balance-eur')]).toEqual([
      200,
      '0.004',
      '0.004',
    ]);
    await other.ask(RECORD, { headers: child.headers });
    expect(await callStatus(app, RECORD, { headers: child.headers })).toBe('403 limit_exceeded');
    const refused = await app.json(RECORD, { headers: child.headers });
    expect(refused.body).toMatchObject({
      detail: { bound: 'per_day', limit_eur: 0.008, resets_at: '2026-11-21T00:00:00.000Z' },
      is_retriable: false,
    });
    clock = new Date(NOW.getTime() + 86_400_000);
    expect(await callStatus(other, RECORD, { headers: child.headers })).toBe('200');
    expect((await app.json(RECORD, { headers: child.headers })).body['detail']).toEqual({
      bound: 'cap',
      limit_eur: 0.014,
    });
    expect(await balance(app, headers)).toBe(0.488);
    const own = await app.json('/v1/keys/me', { headers: child.headers });
    expect(own.body).toMatchObject({ id: child.id, email: null, plan: 'payg' });
    expect(own.body['ledger']).toHaveLength(3);
    expect(JSON.stringify(own.body)).not.toMatch(/0\.49|0\.5\b/);
    const listed = await other.json('/v1/keys/me/children', { headers });
    expect(listed.body['children']).toMatchObject([{ id: child.id, spent_eur: 0.012 }]);
    const usage = await app.json('/v1/keys/me/usage', { headers });
    expect(usage.body['days']).toMatchObject([
      { operation: 'entity_get', child_id: child.id, calls: 2, amount_eur: 0.008 },
      { child_id: child.id },
    ]);
    clock = NOW;
    expect(await verify(app.state)).toMatchObject({ sum: 0, unbalanced: [], wrong: [] });
  });

  it('1,000 calls at once on a child with room for 37, of a key with room for 50: exactly 37, then 13', async () => {
    const { app, other } = stage;
    const { id, headers } = await newKey(app);
    await move(app.state, { key_id: id, amount: 50 * PRICE - 500_000, kind: 'refund', against: 'refund', now: 0 });
    const child = await newChild(app, headers, { cap_eur: (37 * PRICE) / 1e6 });
    const race = async (length: number, key: Record<string, string>) => {
      const calls = Array.from({ length }, (_, i) => callStatus(i % 2 ? app : other, RECORD, { headers: key }));
      const counts = Map.groupBy(await Promise.all(calls), (status) => status);
      return Object.fromEntries([...counts].map(([status, equal]) => [status, equal.length]));
    };
    expect(await race(1000, child.headers)).toEqual({ 200: 37, '403 limit_exceeded': 963 });
    expect(await race(20, headers)).toEqual({ 200: 13, '402 insufficient_credits': 7 });
    expect(await verify(app.state)).toMatchObject({ sum: 0, unbalanced: [], wrong: [] });
  });

  it('a child key pays for its datasets and operations only, and free calls are open to it', async () => {
    const { app } = stage;
    const { headers, id } = await newKey(app);
    await grant(app, { key_id: id, amount_eur: 1, plan: 'pro' });
    const child = await newChild(app, headers, { datasets: ['tools'], operations: ['entity_get', 'dataset_export'] });
    const ask = (path: string, init = {}) => callStatus(app, path, { headers: child.headers, ...init });
    expect(await ask(RECORD)).toBe('200');
    expect(await ask('/v1/tools/schema')).toBe('200');
    expect(await ask('/v1/tools/facets?by=kind')).toBe('200');
    expect(await ask('/v1/tools/entities?limit=1')).toBe('403 limit_exceeded');
    expect(await ask('/v1/tools/facets?by=kind&min_runtime=1')).toBe('403 limit_exceeded');
    const harbour = app.records['harbours']![0]!.slug;
    expect(await ask(`/v1/harbours/entities/${harbour}`)).toBe('403 limit_exceeded');
    expect(await ask('/v1/sql', { method: 'POST', body: '{"sql":"SELECT 1"}' })).toBe('403 limit_exceeded');
    const quoted = { operation: 'entity_search', dataset: 'tools' };
    const { body } = await app.json('/v1/quote', sent('POST', quoted, child.headers));
    expect(body).toMatchObject({
      possible: false,
      reason: expect.stringMatching(/^limit_exceeded: .*"agent".*entity_get/),
    });
  });

  it('changes and revocations of a child key hold at once, in every process', async () => {
    const { app, other } = stage;
    const { headers } = await newKey(app);
    const child = await newChild(app, headers, { cap_eur: 0 });
    const path = `/v1/keys/me/children/${child.id}`;
    expect(await callStatus(app, RECORD, { headers: child.headers })).toBe('403 limit_exceeded');
    const changed = await app.json(path, sent('PATCH', { cap_eur: null, name: 'other' }, headers));
    expect([changed.status, changed.body]).toMatchObject([
      200,
      { id: child.id, name: 'other', cap_eur: null, spent_eur: 0 },
    ]);
    expect(await callStatus(other, RECORD, { headers: child.headers })).toBe('200');
    await app.json(path, sent('PATCH', { expires_at: '2026-11-20T12:00:01Z' }, headers));
    clock = new Date(NOW.getTime() + 1000);
    expect(await callStatus(other, RECORD, { headers: child.headers })).toBe('401 invalid_key');
    clock = NOW;
    expect(await callStatus(app, path, { ...sent('PATCH', { expires_at: '2026-11-20T11:00:00Z' }, headers) })).toBe(
      '422 validation_failed',
    );
    expect(await callStatus(app, path, { method: 'DELETE', headers })).toBe('200');
    expect(await callStatus(other, RECORD, { headers: child.headers })).toBe('401 invalid_key');
    expect(await callStatus(app, path, { method: 'DELETE', headers })).toBe('404 not_found');
    const stranger = await newKey(app);
    const second = await newChild(app, headers);
    expect(await callStatus(app, `/v1/keys/me/children/${second.id}`, { method: 'DELETE', ...stranger })).toBe(
      '404 not_found',
    );
    expect(await callStatus(app, '/v1/keys/me', { method: 'DELETE', headers })).toBe('200');
    expect(await callStatus(other, RECORD, { headers: second.headers })).toBe('401 invalid_key');
  });

  it('a child key manages nothing: no child, top-up, rotation, plan, limits or sign-in', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const child = await newChild(app, headers);
    const calls = [
      ['POST', '/v1/keys/me/children', { name: 'grandchild' }],
      ['GET', '/v1/keys/me/children'],
      ['POST', '/v1/keys/topup', { amount_eur: 20 }],
      ['POST', '/v1/keys/subscribe', { plan: 'pro' }],
      ['POST', '/v1/keys/me/rotate'],
      ['DELETE', '/v1/keys/me'],
      ['PUT', '/v1/keys/me/limits', { per_day_eur: 1 }],
      ['GET', '/v1/keys/me/usage'],
    ] as const;
    for (const [method, path, body] of calls) {
      const init = { method, headers: child.headers, ...(body ? { body: JSON.stringify(body) } : {}) };
      expect(await callStatus(app, path, init), path).toBe('401 invalid_key');
    }
    const register = sent('POST', { redirect_uris: ['https://client.example/back'] }, child.headers);
    expect((await app.ask('/oauth/register', register)).status).toBe(401);
  });

  it('has at most 100 child keys, and repeats the creation of one for its Idempotency-Key', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const once = sent('POST', { name: 'one' }, { ...headers, 'Idempotency-Key': 'child-0001-of-2026-11' });
    const [first, again] = [await app.json('/v1/keys/me/children', once), await app.json('/v1/keys/me/children', once)];
    expect([again.status, again.body['key']]).toEqual([201, first.body['key']]);
    const made = Array.from({ length: 120 }, () =>
      callStatus(app, '/v1/keys/me/children', sent('POST', { name: 'n' }, headers)),
    );
    const statuses = await Promise.all(made);
    expect(statuses.filter((status) => status === '201')).toHaveLength(99);
    expect(new Set(statuses)).toEqual(new Set(['201', '422 validation_failed']));
  });

  it('limits of a day and a month count what was spent before, and what children spend', async () => {
    const { app, other } = stage;
    const { headers } = await newKey(app);
    await app.ask(RECORD, { headers });
    const child = await newChild(app, headers);
    const set = await app.json(
      '/v1/keys/me/limits',
      sent('PUT', { per_day_eur: 0.008, per_month_eur: 0.012 }, headers),
    );
    expect([set.status, set.body]).toMatchObject([
      200,
      { per_day_eur: 0.008, spent_today_eur: 0.004, spent_this_month_eur: 0.004 },
    ]);
    expect(await callStatus(other, RECORD, { headers: child.headers })).toBe('200');
    expect((await app.json(RECORD, { headers })).body).toMatchObject({
      error: 'limit_exceeded',
      detail: { bound: 'per_day', limit_eur: 0.008 },
    });
    clock = new Date(NOW.getTime() + 86_400_000);
    expect(await callStatus(app, RECORD, { headers })).toBe('200');
    expect((await app.json(RECORD, { headers: child.headers })).body).toMatchObject({
      detail: { bound: 'per_month', limit_eur: 0.012, resets_at: '2026-12-01T00:00:00.000Z' },
    });
    clock = NOW;
    await app.json('/v1/keys/me/limits', sent('PUT', {}, headers));
    expect(await callStatus(app, RECORD, { headers })).toBe('200');
  });

  it.each([
    ['day', '2026-11-20T23:59:59Z', '2026-11-21T00:00:01Z'],
    ['month', '2026-11-30T23:59:59Z', '2026-12-01T00:00:01Z'],
  ])('a clock that goes back and forth over the end of a %s resets no bound', async (period, before, after) => {
    const { app, other } = stage;
    const moments = [before, after].map((text) => new Date(text));
    const { headers } = await newKey(app);
    const bound = period === 'day' ? { per_day_eur: 0.008 } : { per_month_eur: 0.008 };
    await app.json('/v1/keys/me/limits', sent('PUT', bound, headers));
    const child = await newChild(app, headers, { per_day_eur: 0.008 });
    const statuses: string[] = [];
    // Two machines on both sides of midnight.
    for (let call = 0; call < 10; call += 1) {
      clock = moments[call % 2]!;
      statuses.push(await callStatus(call % 3 ? app : other, RECORD, { headers: child.headers }));
    }
    expect(statuses.filter((status) => status === '200')).toHaveLength(3);
    clock = moments[0]!;
    const { body } = await app.json('/v1/keys/me/limits', sent('PUT', bound, headers));
    expect(body[period === 'day' ? 'spent_today_eur' : 'spent_this_month_eur']).toBe(0.008);
    expect(await callStatus(app, RECORD, { headers })).toBe('403 limit_exceeded');
    clock = NOW;
  });

  it('refuses beyond a bound before the input and the payment, and repeats a stored answer all the same', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const child = await newChild(app, headers, { cap_eur: 0.004 });
    const once = { headers: { ...child.headers, 'Idempotency-Key': 'the-last-call-of-it-1' } };
    expect(await callStatus(app, RECORD, once)).toBe('200');
    expect(await callStatus(app, RECORD, once)).toBe('200');
    const calls = [RECORD, '/v1/tools/entities?limit=0', '/v1/tools/entities?nonsense=1', '/v1/tools/stats'];
    for (const path of calls) {
      const { status, body, headers: sentHeaders } = await app.json(path, { headers: child.headers });
      expect([status, body['error'], body['detail']]).toEqual([
        403,
        'limit_exceeded',
        { bound: 'cap', limit_eur: 0.004 },
      ]);
      for (const name of ['accepts', 'how_to_pay', 'price_eur']) expect(body).not.toHaveProperty(name);
      expect(sentHeaders.get('payment-required')).toBeNull();
      expect((await app.ask(path, { method: 'HEAD', headers: child.headers })).status).toBe(403);
    }
    expect(await callStatus(app, '/v1/tools/entities/nobody', { headers: child.headers })).toBe('404 unknown_entity');
    const ceiling = { headers: { 'X-Max-Price-EUR': '0.001' }, address: '203.0.113.9' };
    for (const path of [RECORD, '/v1/tools/entities/batch?ids=record-1'])
      expect(await callStatus(app, path, ceiling)).toBe('403 limit_exceeded');
    // A preview is free.
    expect(await callStatus(app, '/v1/tools/entities?limit=1', ceiling)).toBe('200');
  });

  it('mails once when the balance falls below the mark, and again after it was above', async () => {
    const { app } = stage;
    const { headers, id } = await newKey(app);
    const mails = () => {
      const box = join(app.dataDir, 'outbox');
      return readdirSync(box).filter((file) => readFileSync(join(box, file), 'utf8').includes('Low balance')).length;
    };
    const email = (await app.json('/v1/keys/me', { headers })).body['email'] as string;
    await app.json('/v1/keys/me/limits', sent('PUT', { alert_below_eur: 0.4985 }, headers));
    await app.ask(RECORD, { headers });
    const unconfirmed = existingMails(mails);
    await confirmAddress(app.state, email, NOW.getTime());
    await move(app.state, { key_id: id, amount: PRICE, kind: 'grant', against: 'grant', now: 0 });
    await app.json('/v1/keys/me/limits', sent('PUT', { alert_below_eur: 0.4945 }, headers));
    const counts: number[] = [];
    for (let call = 0; call < 3; call += 1) {
      await app.ask(RECORD, { headers });
      counts.push(existingMails(mails));
    }
    await move(app.state, { key_id: id, amount: 3 * PRICE, kind: 'grant', against: 'grant', now: 0 });
    for (let call = 0; call < 2; call += 1) {
      await app.ask(RECORD, { headers });
      counts.push(existingMails(mails));
    }
    expect(counts.map((count) => count - unconfirmed)).toEqual([0, 1, 1, 1, 2]);
    // Setting the limits again arms no alert.
    for (const mark of [0.4945, 0.6, null, 0.4945]) {
      await app.json('/v1/keys/me/limits', sent('PUT', mark === null ? {} : { alert_below_eur: mark }, headers));
      await app.ask(RECORD, { headers });
    }
    expect(existingMails(mails) - counts[0]!).toBe(2);
  });
});

/** 0 while there is no outbox. */
function existingMails(count: () => number): number {
  try {
    return count();
  } catch {
    return 0;
  }
}
