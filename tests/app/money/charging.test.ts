// What is charged, on both stores: only answers, once, never more than the balance (contract section 3).
import { expect, it } from 'vitest';
import { z } from 'zod';
import { type Operation, operation } from '../../../api/contract/operation.ts';
import { OPERATIONS } from '../../../api/operations/table.ts';
import { dropAnswersWith } from '../../../data/state/idempotency.ts';
import { setPlan } from '../../../data/state/keys/keys.ts';
import { move, verify } from '../../../data/state/money/ledger.ts';
import { NOW, type TestApp } from '../../support/app.ts';
import { balance, callStatus, describeApps, grant, newKey } from '../../support/money-on-stores.ts';
import { verifies } from '../../support/verifies.ts';

verifies(
  'charge.transaction',
  'charge.never-negative',
  'charge.refund-negative',
  'charge.idempotency',
  'charge.idempotency-length',
  'charge.idempotency-conflict',
  'charge.idempotency-optout',
  'charge.headers',
  'charge.max-price',
  'code.idempotency-conflict',
  'auth.unknown-key',
  'limit.paid-rate',
  'limit.free-rate',
  'plan.free-rate',
  'error.402-body',
  'plan.fallback',
);

/** An operation that runs the test's function at the price of a search. */
let runs = 0;
let during: (signal: AbortSignal) => Promise<void> = async () => {};
const slow = operation<null, { n: number; attribution: string; license: string }>({
  name: 'slow',
  title: 'Slow',
  description: 'Does what a test says.',
  rest: { method: 'GET', path: '/v1/:ds/slow' },
  charge: { access: 'paid', price: { of: 'search' } },
  tool: {},
  docs: { group: 'dataset' },
  formats: ['json'],
  input: () => z.object({}),
  parse: () => null,
  async run(_input, { signal }) {
    runs += 1;
    const n = runs;
    await during(signal);
    return { body: { n, attribution: 'a', license: 'l' } };
  },
  markdown: () => '',
});

/** The same with 10 MiB of text. */
const large: Operation = {
  ...slow,
  name: 'large',
  rest: { ...slow.rest, method: 'GET', path: '/v1/:ds/large' },
  run: async () => ({ body: { n: 0, attribution: 'a'.repeat(10 * 1024 * 1024), license: 'l' } }),
};

let clock = NOW;
const options = {
  now: () => clock,
  gate: { operations: [slow, large, ...OPERATIONS] },
  calls: { paid: 60 },
  repeat_patience: 4_000,
};

describeApps('charging', options, (stage) => {
  it('charges the price of an answer, returns it, and books it with its request', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const answer = await app.ask('/v1/tools/entities?limit=3', { headers: { ...headers, 'X-Request-Id': 'mine-1' } });
    expect([answer.status, answer.headers.get('x-charge-eur'), answer.headers.get('x-balance-eur')]).toEqual([
      200,
      '0.008',
      '0.492',
    ]);
    const { body } = await app.json('/v1/keys/me', { headers });
    expect(body['ledger']).toMatchObject([
      { kind: 'charge', amount_eur: -0.008, operation: 'entity_search', dataset: 'tools', request_id: 'mine-1' },
      { kind: 'welcome' },
    ]);
    const batch = await app.ask('/v1/tools/entities/batch?ids=record-1,record-2,nobody', { headers });
    expect(batch.headers.get('x-charge-eur')).toBe('0.012');
    const free = await app.ask('/v1/tools/schema', { headers });
    expect([free.status, free.headers.get('x-charge-eur')]).toEqual([200, null]);
  });

  it('charges the pack’s price for each operation, and nothing for the free ones', async () => {
    verifies('price.derived', 'limit.pricing', 'overview.tiers', 'error.402');
    const { app } = stage;
    const { headers } = await newKey(app);
    const asked: [string, string | null][] = [
      ['entities?limit=1', '0.008'],
      ['entities?group_by=materials&group_limit=5', '0.008'],
      ['entities/record-1', '0.004'],
      ['entities/batch?ids=record-1,record-2,nobody,record-3', '0.016'],
      ['entities/record-1/similar', '0.008'],
      ['entities/record-1/facts', '0.01'],
      ['entities/record-1/prices', '0.004'],
      ['compare?ids=record-1,record-2', '0.012'],
      ['stats?attribute=mass', '0.015'],
      ['timeseries?attribute=mass', '0.015'],
      ...['schema', 'status', 'samples', 'examples', 'facets?by=maker', 'changelog', 'llms.txt'].map(
        (path): [string, null] => [path, null],
      ),
    ];
    for (const [path, price] of asked) {
      const answer = await app.ask(`/v1/tools/${path}`, { headers });
      await answer.body?.cancel();
      expect([answer.status, answer.headers.get('x-charge-eur')], path).toEqual([200, price]);
      if (path.startsWith('entities?') || price === null) continue;
      const unpaid = await app.json(`/v1/tools/${path}`, { address: '192.0.2.77' });
      expect([unpaid.status, unpaid.body['price_eur']], path).toEqual([402, Number(price)]);
    }
    expect(await callStatus(app, '/v1/tools/export', { headers })).toBe('403 plan_required');
    expect(await callStatus(app, '/v1/keys', { headers })).toBe('403 admin_required');
  });

  it('takes nothing for what is not a 2xx, for HEAD, for 304, nor for a client that disconnected', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const first = await app.ask('/v1/tools/entities/record-1', { headers });
    const tag = first.headers.get('etag') ?? '';
    expect(await balance(app, headers)).toBe(0.496);
    const refused: [string, RequestInit?][] = [
      ['/v1/tools/entities/record-1', { headers: { 'If-None-Match': tag } }],
      ['/v1/tools/entities/record-1', { method: 'HEAD' }],
      ['/v1/tools/entities/nobody'],
      ['/v1/nowhere/entities'],
      ['/v1/tools/entities?limit=0'],
      ['/v1/tools/entities?nonsense=1'],
      ['/v1/tools/changes?since=2026-01-01T00:00:00Z'],
    ];
    for (const [path, init] of refused) {
      const response = await app.ask(path, { ...init, headers: { ...headers, ...(init?.headers as object) } });
      expect(response.headers.get('x-charge-eur'), path).toBeNull();
    }
    during = () => Promise.reject(new Error('broken'));
    expect(await callStatus(app, '/v1/tools/slow', { headers })).toBe('500 internal');
    app.faults.length = 0;
    const client = new AbortController();
    during = async () => client.abort();
    await app.ask('/v1/tools/slow', { headers, signal: client.signal }).catch(() => {});
    during = async () => {};
    expect(await balance(app, headers)).toBe(0.496);
  });

  it('withholds an answer that cannot be paid any more, and one whose key was revoked while it ran', async () => {
    const { app, other } = stage;
    const { headers, id } = await newKey(app);
    // Another process spends the money during this call.
    during = async () => {
      await move(other.state, { key_id: id, amount: -499_000, kind: 'refund', against: 'refund', now: NOW.getTime() });
    };
    const short = await app.json('/v1/tools/slow', { headers });
    expect([short.status, short.body['error'], short.body['n']]).toEqual([402, 'insufficient_credits', undefined]);
    // No checkout is configured, so none is offered.
    expect(short.body['how_to_pay']).toEqual({});
    await grant(app, { key_id: id, amount_eur: 1 });
    during = async () => void (await other.ask(`/v1/keys/${id}`, { method: 'DELETE', admin: true }));
    const revoked = await app.json('/v1/tools/slow', { headers });
    expect([revoked.status, revoked.body['error'], revoked.body['n']]).toEqual([401, 'invalid_key', undefined]);
    during = async () => {};
    const rows = await app.state.db.selectFrom('entries').selectAll().where('account', '=', `key:${id}`).execute();
    expect(rows.map(({ kind }) => kind)).toEqual(['welcome', 'refund', 'grant']);
  });

  it('lets a dispute take a balance below zero, and then answers 402 until it is paid', async () => {
    const { app } = stage;
    const { headers, id } = await newKey(app);
    await move(app.state, { key_id: id, amount: -600_000, kind: 'dispute', against: 'dispute', now: NOW.getTime() });
    expect(await balance(app, headers)).toBe(-0.1);
    expect(await callStatus(app, '/v1/tools/entities', { headers })).toBe('402 insufficient_credits');
    expect(await callStatus(app, '/v1/tools/schema', { headers })).toBe('200');
    await grant(app, { key_id: id, amount_eur: 0.2 });
    expect(await callStatus(app, '/v1/tools/entities', { headers })).toBe('200');
  });

  it('keeps to X-Max-Price-EUR', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const ask = (max: string) =>
      callStatus(app, '/v1/tools/entities', { headers: { ...headers, 'X-Max-Price-EUR': max } });
    expect(await ask('0.007999')).toBe('403 limit_exceeded');
    expect(await ask('0')).toBe('403 limit_exceeded');
    expect(await balance(app, headers)).toBe(0.5);
    expect([await ask('0.008'), await ask('1')]).toEqual(['200', '200']);
    for (const wrong of ['-1', 'NaN', '1e3', 'Infinity', '0.0000001', ''])
      expect(await ask(wrong)).toBe('422 validation_failed');
    expect(await callStatus(app, '/v1/tools/entities', { admin: true, headers: { 'X-Max-Price-EUR': '0' } })).toBe(
      '200',
    );
  });

  it('repeats the answer of an Idempotency-Key, charged once; another request with it is a conflict', async () => {
    const { app, other } = stage;
    const { headers } = await newKey(app);
    const once = { ...headers, 'Idempotency-Key': 'idem-key-00000001' };
    const first = await app.ask('/v1/tools/entities?limit=2', { headers: once });
    const text = await first.text();
    for (const at of [app, other]) {
      const again = await at.ask('/v1/tools/entities?limit=2', { headers: once });
      expect(await again.text()).toBe(text);
      for (const name of ['content-type', 'link', 'x-charge-eur', 'x-balance-eur', 'x-dataset-version'])
        expect(again.headers.get(name)).toBe(first.headers.get(name));
      expect(again.headers.get('idempotency-replayed')).toBe('true');
    }
    for (const path of ['/v1/tools/entities?limit=3', '/v1/harbours/entities?limit=2', '/v1/tools/entities.md?limit=2'])
      expect(await callStatus(app, path, { headers: once })).toBe('409 idempotency_conflict');
    expect(await balance(app, headers)).toBe(0.492);
    for (const key of ['short', 'a'.repeat(15), 'a'.repeat(129), 'spaces are not here'])
      expect(await callStatus(app, '/v1/tools/entities', { headers: { ...headers, 'Idempotency-Key': key } })).toBe(
        '422 validation_failed',
      );
    // The same text under another API key is another Idempotency-Key.
    const stranger = await newKey(app);
    const own = await app.ask('/v1/tools/entities?limit=3', {
      headers: { ...stranger.headers, 'Idempotency-Key': 'idem-key-00000001' },
    });
    expect([own.status, own.headers.get('idempotency-replayed')]).toEqual([200, null]);
    clock = new Date(NOW.getTime() + 25 * 3_600_000);
    expect(
      (await app.ask('/v1/tools/entities?limit=2', { headers: once })).headers.get('idempotency-replayed'),
    ).toBeNull();
    clock = NOW;
    expect(await balance(app, headers)).toBe(0.484);
  });

  it('runs one of many requests that come at once with one Idempotency-Key', async () => {
    const { app, other } = stage;
    const { headers } = await newKey(app);
    runs = 0;
    during = () => new Promise((resolve) => setTimeout(resolve, 100));
    const once = { ...headers, 'Idempotency-Key': 'idem-key-00000002' };
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => (i % 2 ? app : other).json('/v1/tools/slow', { headers: once })),
    );
    during = async () => {};
    expect(answers.map(({ status, body }) => [status, body['n']])).toEqual(Array(8).fill([200, 1]));
    expect(runs).toBe(1);
    expect(await balance(app, headers)).toBe(0.492);
  });

  it('may be tried again with the same Idempotency-Key after a failure, and after the process was killed', async () => {
    const { app } = stage;
    const { headers, id } = await newKey(app);
    const once = { ...headers, 'Idempotency-Key': 'idem-key-00000003' };
    during = () => Promise.reject(new Error('broken'));
    expect(await callStatus(app, '/v1/tools/slow', { headers: once })).toBe('500 internal');
    app.faults.length = 0;
    during = async () => {};
    expect(await callStatus(app, '/v1/tools/slow', { headers: once })).toBe('200');
    expect(await balance(app, headers)).toBe(0.492);
    // The state after a process was killed before the charge: a claim without an answer.
    await app.state.db
      .updateTable('idempotency')
      .set({ answer: null, leased_until: NOW.getTime() - 1 })
      .where('key_id', '=', id)
      .execute();
    expect(await callStatus(app, '/v1/tools/slow', { headers: once })).toBe('200');
  });

  it('refuses a repeat while another process holds the claim, with the end of its lease', async () => {
    const { app } = stage;
    const { headers, id } = await newKey(app);
    const once = { ...headers, 'Idempotency-Key': 'idem-key-00000005' };
    await callStatus(app, '/v1/tools/slow', { headers: once });
    await app.state.db
      .updateTable('idempotency')
      .set({ answer: null, leased_until: NOW.getTime() + 11_500 })
      .where('key_id', '=', id)
      .execute();
    const busy = await app.json('/v1/tools/slow', { headers: once });
    expect([busy.status, busy.body['error'], busy.body['retry_after_seconds']]).toEqual([
      409,
      'payment_in_progress',
      12,
    ]);
    expect(busy.headers.get('retry-after')).toBe('12');
  });

  it('keeps large answers of an API key up to a bound a day, and charges nothing past it', async () => {
    const { app, other } = stage;
    const { headers, id } = await newKey(app);
    const stranger = await newKey(app);
    const keep = async (at: TestApp, key: string, who = headers) =>
      callStatus(at, '/v1/tools/large', { headers: { ...who, 'Idempotency-Key': key } });
    // 10 MiB each: one fits in 16 MiB.
    expect(await keep(app, 'large-answer-0001')).toBe('200');
    expect(await keep(other, 'large-answer-0001')).toBe('200');
    const refused = await other.json('/v1/tools/large', {
      headers: { ...headers, 'Idempotency-Key': 'large-answer-0002' },
    });
    expect([refused.status, refused.body['error'], refused.body['message']]).toEqual([
      429,
      'rate_limited',
      expect.stringContaining('not charged'),
    ]);
    expect(await balance(app, headers)).toBe(0.492);
    // Small answers, calls without an Idempotency-Key, other keys and the next day are not affected.
    expect(
      await callStatus(app, '/v1/tools/slow', { headers: { ...headers, 'Idempotency-Key': 'small-answer-0001' } }),
    ).toBe('200');
    expect(await callStatus(app, '/v1/tools/large', { headers })).toBe('200');
    expect(await keep(app, 'large-answer-0002', stranger.headers)).toBe('200');
    clock = new Date(NOW.getTime() + 24 * 3_600_000);
    expect(await keep(app, 'large-answer-0002')).toBe('200');
    clock = NOW;
    const rows = await app.state.db.selectFrom('idempotency').select('answer').where('key_id', '=', id).execute();
    expect(rows.every(({ answer }) => answer !== null)).toBe(true);
  });

  it('drops a kept answer when a record of it is opted out', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const once = { ...headers, 'Idempotency-Key': 'idem-key-00000004' };
    const { body } = await app.json('/v1/tools/entities/batch?ids=record-1,record-2', { headers: once });
    const [, second] = body['items'] as { id: string }[];
    await dropAnswersWith(app.state, 'r-0000000000000000');
    const replayed = async () =>
      (await app.ask('/v1/tools/entities/batch?ids=record-1,record-2', { headers: once })).headers.get(
        'idempotency-replayed',
      );
    expect(await replayed()).toBe('true');
    await dropAnswersWith(app.state, second?.id ?? '');
    expect(await replayed()).toBeNull();
  });

  it('is limited by the plan, which falls back when it expires; an internal key is neither limited nor charged', async () => {
    const { app } = stage;
    const { headers, id } = await newKey(app, 10);
    const limit = async () => (await app.ask('/v1/tools/slow', { headers })).headers.get('x-ratelimit-limit');
    expect(await limit()).toBe('60');
    const until = NOW.getTime() + 60_000;
    for (const [plan, calls] of [
      ['pro', '300'],
      ['scale', '1200'],
    ]) {
      await setPlan(app.state, id, plan ?? '', until);
      expect(await limit()).toBe(calls);
    }
    expect((await app.ask('/v1/tools/schema', { headers })).headers.get('ratelimit-policy')).toMatch(/^"free"/);
    clock = new Date(until);
    expect((await app.json('/v1/keys/me', { headers })).body['plan']).toBe('payg');
    expect(await limit()).toBe('60');
    clock = NOW;
    await grant(app, { key_id: id, amount_eur: 0, plan: 'internal' });
    const before = await balance(app, headers);
    const inside = await app.ask('/v1/tools/slow', { headers });
    expect([inside.status, inside.headers.get('x-charge-eur'), inside.headers.get('ratelimit')]).toEqual([
      200,
      null,
      null,
    ]);
    expect(await balance(app, headers)).toBe(before);
  });

  it('leaves correct books and no internal error', async () => {
    const { app, other } = stage;
    expect(await verify(app.state)).toMatchObject({ sum: 0, unbalanced: [], wrong: [] });
    expect([...app.faults, ...other.faults]).toEqual([]);
    expect([app.lent(), other.lent()]).toEqual([0, 0]);
  });
});
