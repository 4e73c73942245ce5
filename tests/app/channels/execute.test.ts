// The gate's order, step by step, through the real app (contract section 3).
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Caller, Credential } from '../../../api/access/caller.ts';
import { operation } from '../../../api/contract/operation.ts';
import type { Price } from '../../../api/contract/pricing.ts';
import { DATASET_OPERATIONS } from '../../../api/operations/table.ts';
import type { Payments } from '../../../api/payments/payments.ts';
import { validationError } from '../../../data/model/errors.ts';
import { ADMIN, appOfAll, BASE, type TestApp, testApp } from '../../support/app.ts';
import { verifies } from '../../support/verifies.ts';

verifies('limit.previews');

/** A paid operation of the plans, to test steps that no present operation reaches. */
const bulk = operation<null, { attribution: string; license: string }>({
  name: 'dataset_bulk',
  title: 'Bulk',
  description: 'Needs a plan and costs a search.',
  rest: { method: 'GET', path: '/v1/:ds/bulk' },
  charge: { access: 'plan', price: { of: 'search' } },
  tool: {},
  docs: { group: 'dataset' },
  formats: ['json'],
  input: () => z.object({}),
  parse: (raw) => {
    if (raw['days'] !== undefined) throw validationError('days', 'must be a whole number', 'int_parsing');
    return null;
  },
  run: async () => ({ body: { attribution: 'a', license: 'l' } }),
  markdown: () => '',
});

const key = (secret: string, plan: string) => ({ headers: { Authorization: `Bearer ${secret}` }, plan });
const KEYS: Record<string, Caller> = {
  'key-payg': { kind: 'key', id: '1', plan: 'payg' },
  'key-pro': { kind: 'key', id: '2', plan: 'pro' },
};
const payg = key('key-payg', 'payg');
const pro = key('key-pro', 'pro');

/** Counted credits for keys: the account `2` can pay, `1` cannot. */
function purse(): Payments & { log: string[] } {
  const log: string[] = [];
  const quote = (_: Caller, { micros, resource }: Price) => ({
    price_eur: micros / 1e6,
    price_usd: micros / 1e6,
    how_to_pay: {},
    x402Version: 2 as const,
    resource,
    accepts: [],
  });
  return {
    log,
    quote,
    async reserve(caller, price) {
      const { paymentError } = await import('../../../api/payments/payments.ts');
      if (caller.kind === 'key' && caller.id === '1')
        throw paymentError('insufficient_credits', 'Too little.', quote(caller, price));
      log.push(`reserve ${price.micros}`);
      return {
        micros: price.micros,
        commit: async () => {
          log.push('commit');
          return { 'X-Charge-EUR': '0.008' };
        },
        release: async () => void log.push('release'),
      };
    },
  };
}

const payments = purse();
const app = await appOfAll({
  known: ({ secret }: Credential) => KEYS[secret] ?? null,
  gate: { payments, operations: [...DATASET_OPERATIONS, bulk] },
  calls: { free: 40, paid: 30 },
});

const code = async (path: string, init: Parameters<TestApp['ask']>[1] = {}) => {
  const { status, body } = await app.json(path, init);
  return `${status} ${body['error'] ?? ''}`.trim();
};
/** An address for each test, so that buckets and quotas do not interfere. */
let last = 0;
function fresh() {
  last += 1;
  return { address: `198.51.100.${last}` };
}

describe('identify, then limit', () => {
  verifies('gate.identify', 'gate.rate-limit', 'credential.admin-free');
  test('a bad credential is 401 even where the record does not exist or the operation is free', async () => {
    const bad = { headers: { 'X-API-Key': 'nonsense' } };
    expect(await code('/v1/nowhere/entities/x', { ...bad, ...fresh() })).toBe('401 invalid_key');
    expect(await code('/v1/tools/schema', { ...bad, ...fresh() })).toBe('401 invalid_key');
    expect(await code('/v1/no/such/path', { ...bad, ...fresh() })).toBe('401 invalid_key');
  });

  test('bad credentials spend the bucket of the address; past it they are 429, and so is everybody there', async () => {
    const from = fresh();
    const seen = [];
    for (let call = 0; call < 41; call++)
      seen.push(await code('/v1/tools/schema', { headers: { 'X-API-Key': `guess-${call}` }, ...from }));
    expect(seen.slice(0, 40)).toEqual(Array(40).fill('401 invalid_key'));
    expect(seen[40]).toBe('429 rate_limited');
    expect(await code('/v1/tools/schema', from)).toBe('429 rate_limited');
    expect(await code('/v1/tools/schema', fresh())).toBe('200');
  });

  test('the limit comes before 404; free and paid calls have buckets of their own; every answer has the rest', async () => {
    const from = fresh();
    for (let call = 0; call < 30; call++) await app.ask('/v1/nowhere/entities', from);
    const refused = await app.json('/v1/nowhere/entities', from);
    expect(refused.body).toMatchObject({ error: 'rate_limited', is_retriable: true });
    expect(refused.headers.get('retry-after')).toBe(String(refused.body['retry_after_seconds']));
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
    expect(refused.headers.get('ratelimit-policy')).toBe('"paid";q=30;w=60');
    const free = await app.ask('/v1/tools/schema', from);
    expect(free.status).toBe(200);
    expect(free.headers.get('x-ratelimit-limit')).toBe('40');
    expect(free.headers.get('ratelimit')).toMatch(/^"free";r=39;t=\d+$/);
  });

  test('addresses of one IPv6 /64 share a bucket; a key has its own wherever it comes from', async () => {
    for (let call = 0; call < 30; call++) await app.ask('/v1/tools/entities', { address: `2001:db8:5::${call + 1}` });
    expect(await code('/v1/tools/entities', { address: '2001:db8:5::ffff' })).toBe('429 rate_limited');
    expect(await code('/v1/tools/entities', { address: '2001:db8:6::1' })).toBe('200');
    expect(await code('/v1/tools/entities', { ...pro, address: '2001:db8:5::ffff' })).toBe('200');
  });

  test('operators are never limited', async () => {
    const from = fresh();
    for (let call = 0; call < 45; call++)
      expect((await app.ask('/v1/tools/schema', { admin: true, ...from })).headers.get('ratelimit')).toBeNull();
  });
});

describe('exists, unchanged, unpaid', () => {
  verifies('gate.exists', 'gate.conditional', 'gate.unpaid', 'preview.others-402');
  test('404 comes before any price', async () => {
    expect(await code('/v1/nowhere/entities/x', fresh())).toBe('404 unknown_dataset');
    expect(await code('/v1/tools/entities/nobody', fresh())).toBe('404 unknown_entity');
    expect(await code('/v1/nowhere/entities/batch?ids=a', fresh())).toBe('404 unknown_dataset');
  });

  test('304 comes before payment, for anyone who has the right tag', async () => {
    const first = await app.ask('/v1/tools/entities/record-1', { headers: { Authorization: `Bearer ${ADMIN}` } });
    const tag = first.headers.get('etag') ?? '';
    const before = payments.log.length;
    const again = await app.ask('/v1/tools/entities/record-1', {
      headers: { Authorization: `Bearer ${ADMIN}`, 'If-None-Match': tag },
    });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe('');
    const broke = await app.ask('/v1/tools/entities/record-1', {
      headers: { ...payg.headers, 'If-None-Match': '*' },
    });
    expect(broke.status).toBe(304);
    expect(payments.log.length).toBe(before);
  });

  test('an unpaid call without previews is 402 before validation, at the price of its parameters', async () => {
    expect(await code('/v1/tools/entities/batch', fresh())).toBe('402 payment_required');
    expect(await code('/v1/tools/entities/record-1?nonsense=1', fresh())).toBe('402 payment_required');
    const { body } = await app.json('/v1/tools/entities/batch?ids=a,b,c', fresh());
    expect(body).toMatchObject({ error: 'payment_required', price_eur: 0.012 });
  });
});

describe('validate, permit, pay, run', () => {
  verifies('gate.validate', 'gate.permit', 'gate.no-charge', 'format.key-required');
  test('parameters are validated before plan and payment', async () => {
    expect(await code('/v1/tools/entities?limit=0', payg)).toBe('422 validation_failed');
    expect(await code('/v1/tools/entities?nonsense=1', payg)).toBe('400 unknown_filter');
    expect(await code('/v1/tools/bulk?days=x', payg)).toBe('422 validation_failed');
  });

  test('a missing plan is 403 before an empty balance is 402', async () => {
    expect(await code('/v1/tools/bulk', payg)).toBe('403 plan_required');
    expect(await code('/v1/tools/bulk', fresh())).toBe('403 plan_required');
    expect(await code('/v1/tools/entities', payg)).toBe('402 insufficient_credits');
    expect(await code('/v1/tools/bulk', pro)).toBe('200');
  });

  test('bulk formats without a key are 401, before any quota is spent', async () => {
    const from = fresh();
    expect(await code('/v1/tools/entities?format=csv', from)).toBe('401 key_required');
    expect((await app.json('/v1/tools/entities?limit=20', from)).body['items']).toHaveLength(20);
  });

  test('what is charged is 2xx; an error after the reservation releases it; HEAD reserves nothing', async () => {
    payments.log.length = 0;
    const paid = await app.ask('/v1/tools/entities?limit=1', pro);
    expect(paid.headers.get('x-charge-eur')).toBe('0.008');
    expect(payments.log).toEqual(['reserve 8000', 'commit']);
    payments.log.length = 0;
    expect(await code('/v1/tools/entities/batch?ids=record-1,record-2', pro)).toBe('200');
    expect(payments.log).toEqual(['reserve 8000', 'commit']);
    payments.log.length = 0;
    const head = await app.ask('/v1/tools/entities?limit=1', { ...pro, method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(head.headers.get('x-charge-eur')).toBeNull();
    expect(payments.log).toEqual([]);
  });

  test('every lease was returned', () => {
    expect(app.lent()).toBe(0);
    expect(app.faults).toEqual([]);
  });
});

describe('a run that fails', () => {
  test('is not charged and reveals nothing', async () => {
    const broken = { ...bulk, run: async () => Promise.reject(new Error(`secret at ${import.meta.filename}`)) };
    const own = purse();
    const other = await testApp({
      known: ({ secret }) => KEYS[secret] ?? null,
      gate: { payments: own, operations: [broken] },
      records: 3,
    });
    const { status, body } = await other.json('/v1/tools/bulk', pro);
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain('secret');
    expect(own.log).toEqual(['reserve 8000', 'release']);
    expect(other.faults).toHaveLength(1);
    expect(other.lent()).toBe(0);
    await other.close();
  });
});

describe('previews', () => {
  verifies('preview.unit', 'preview.shortened', 'preview.exhausted', 'preview.public-only', 'preview.non-public');
  test('show public values only and are marked', async () => {
    const { body } = await app.json('/v1/tools/entities?limit=5', fresh());
    const items = body['items'] as { attributes: object; provenance: object; freshness: object; preview: boolean }[];
    expect(items).toHaveLength(5);
    for (const item of items) {
      expect(item.preview).toBe(true);
      for (const hidden of ['runtime', 'summary', 'tested_on', 'domain', 'price.rental'])
        expect(Object.keys({ ...item.attributes, ...item.provenance, ...item.freshness })).not.toContain(hidden);
    }
  });

  test('spend one a record; the last page is shortened; then 402; another dataset and address have their own', async () => {
    const from = fresh();
    const shown = async (path: string) => ((await app.json(path, from)).body['items'] as unknown[]).length;
    expect(await shown('/v1/tools/entities?limit=12')).toBe(12);
    expect(await shown('/v1/tools/entities?q=nothinglikethis')).toBe(0);
    expect(await shown('/v1/tools/entities?limit=100')).toBe(8);
    const refused = await app.json('/v1/tools/entities?limit=1', from);
    expect(refused.status).toBe(402);
    expect(refused.body).toMatchObject({ error: 'quota_exceeded', price_eur: 0.008, accepts: [], x402Version: 2 });
    expect(await shown('/v1/harbours/entities?limit=3')).toBe(3);
    expect(await code('/v1/tools/entities?limit=1', fresh())).toBe('200');
  });

  test('the shortened page goes on where it ended', async () => {
    const from = fresh();
    await app.ask('/v1/tools/entities?limit=17', from);
    const short = (await app.json('/v1/tools/entities?limit=10', from)).body;
    expect(short['items']).toHaveLength(3);
    const next = await app.json(`/v1/tools/entities?limit=1&cursor=${short['next_cursor']}`, { admin: true });
    expect(next.body['items']).toMatchObject([{ id: app.records['tools']?.[3]?.id }]);
  });

  test('refused requests and HEAD spend nothing', async () => {
    const from = fresh();
    expect(await code('/v1/tools/entities?limit=0', from)).toBe('422 validation_failed');
    expect((await app.ask('/v1/tools/entities', { ...from, method: 'HEAD' })).status).toBe(200);
    expect((await app.json('/v1/tools/entities', from)).body['items']).toHaveLength(20);
  });

  test('parallel calls cannot share a quota', async () => {
    const from = fresh();
    const all = await Promise.all(Array.from({ length: 6 }, () => app.json('/v1/tools/entities?limit=7', from)));
    const shown = all.flatMap(({ body }) => (body['items'] as unknown[] | undefined) ?? []);
    expect(shown).toHaveLength(20);
  });

  test.each([
    'fields=runtime',
    'fields=name,domain',
    'sort=runtime',
    'min_runtime=1',
    'like_domain=x',
    'has_summary=true',
  ])('naming a non-public attribute is 402: %s', async (query) => {
    expect(await code(`/v1/tools/entities?${query}`, fresh())).toBe('402 payment_required');
    expect(await code(`/v1/tools/entities?${query}`, { admin: true })).toBe('200');
  });

  test('resource of a 402 is the requested address, without a credential', async () => {
    const { body } = await app.json('/v1/tools/entities?sort=runtime', fresh());
    expect(body['resource']).toMatchObject({ url: `${BASE}/v1/tools/entities?sort=runtime` });
  });
});
