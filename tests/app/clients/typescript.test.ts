// The TypeScript client against the service: every operation, and what the client adds.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { OPERATIONS } from '../../../api/operations/table.ts';
import {
  ConnectionError,
  CredentialError,
  datasetTypes,
  InvalidRequestError,
  LimitError,
  memoryCache,
  NotFoundError,
  PaymentError,
  RateLimitError,
  type Receipt,
  Register,
  type RegisterOptions,
  UnavailableError,
} from '../../../clients/typescript/index.ts';
import type { Inputs } from '../../../clients/typescript/operations.ts';
import type { OperationName } from '../../../clients/typescript/register.ts';
import { secondsOf } from '../../../clients/typescript/transport.ts';
import { ADMIN, appOfAll } from '../../support/app.ts';
import { callsOfClients, X402_ONLY } from '../../support/client-calls.ts';
import { listenerOfAll } from '../../support/listening.ts';
import { newKey } from '../../support/money-on-stores.ts';

const app = await appOfAll({ nights: true, base: 'http://localhost:8787' });
const { base: url } = await listenerOfAll(app);
const { key } = await newKey(app, 10);
const register = new Register({ url, key });
const tools = register.dataset('tools');
const slugs = app.records['tools']!.map(({ slug }) => slug);

describe('every operation', () => {
  test('is called by its name, and answers as its URL does', { timeout: 240_000 }, async () => {
    const seen = new Set<string>();
    for (const { call, credential, input, compared } of await callsOfClients(app)) {
      const name = call.operation.name as OperationName;
      // A machine with other load ends a statement of SQL late.
      const client = new Register({ url, retries: 40, ...(credential === undefined ? {} : { key: credential }) });
      const { body, receipt } = await client.request(name, input as never);
      expect([call.name, receipt.status]).toEqual([call.name, call.operation.docs.statuses?.[0] ?? 200]);
      if (compared) {
        const expected = await (await app.ask(call.path, call.init)).text();
        expect(body, call.name).toEqual(call.operation.output ? JSON.parse(expected) : expected);
      }
      seen.add(name);
    }
    expect(OPERATIONS.filter(({ name }) => !seen.has(name)).map(({ name }) => name)).toEqual([X402_ONLY]);
  });

  test('has a method where it is about a dataset', async () => {
    const admin = new Register({ url, key: ADMIN }).dataset('tools');
    const [first = '', second = ''] = slugs;
    expect((await tools.get(first)).slug).toBe(first);
    expect((await tools.batch([second, first, 'nothing'])).items.map(({ slug }) => slug)).toEqual([second, first]);
    expect((await tools.similar(first)).items.length).toBeGreaterThan(0);
    expect((await tools.facts(first)).facts.length).toBeGreaterThan(0);
    expect((await tools.prices(first)).entity_id).toMatch(/^r-/);
    expect(await tools.audit(first)).toContain('#');
    expect((await tools.compare([first, second])).items).toHaveLength(2);
    expect((await tools.facets({ by: 'kind' })).values?.length).toBeGreaterThan(1);
    expect((await tools.stats({ attribute: 'price.list' })).rows).toHaveLength(1);
    expect((await tools.timeseries({ attribute: 'price.list' })).series).toBeDefined();
    expect((await tools.changelog({ days: 365 })).total).toBeGreaterThan(0);
    expect((await admin.export('jsonl')).format).toBe('jsonl');
    expect((await tools.sql('SELECT count(*) AS records FROM tools WHERE kind = ?', ['drill'])).row_count).toBe(1);
    expect((await tools.schema()).dataset).toBe('tools');
    expect((await tools.status()).records).toBe(slugs.length);
    expect((await tools.profile()).attributes.length).toBeGreaterThan(1);
    expect((await tools.examples()).items.length).toBeGreaterThan(0);
    expect((await tools.samples()).items[0]?.sample).toBe(true);
    expect(await tools.guide()).toContain('tools');
    expect((await tools.report(first, 'The maker is misspelt.')).status).toBe('received');
    const changes = await Array.fromAsync(admin.changes('2020-01-01T00:00:00Z', { limit: 7 }));
    const whole = await new Register({ url, key: ADMIN }).call('dataset_changes', {
      dataset: 'tools',
      since: '2020-01-01T00:00:00Z',
    });
    expect(changes).toEqual(whole.items);
  });

  test('answers in other formats, as text or bytes', async () => {
    const input: Inputs['entity_search'] = { dataset: 'tools', limit: 2, fields: ['maker'] };
    expect(await register.text('entity_search', input, 'csv')).toMatch(/^id,/);
    expect(await register.text('entity_search', input, 'md')).toContain('|slug|maker|');
    expect((await register.arrow('entity_search', input)).byteLength).toBeGreaterThan(100);
  });
});

describe('a search', () => {
  test('reads page after page, and no page after the last record that is used', async () => {
    const receipts: Receipt[] = [];
    const client = new Register({ url, key, onCall: (receipt) => receipts.push(receipt) });
    const search = client.dataset('tools').search({ limit: 4, sort: 'name' });
    const records = await Array.fromAsync(search);
    expect(new Set(records.map(({ slug }) => slug)).size).toBe(slugs.length);
    expect(receipts).toHaveLength(Math.ceil(slugs.length / 4));
    receipts.length = 0;
    expect((await search.first(5)).map(({ slug }) => slug)).toEqual(records.slice(0, 5).map(({ slug }) => slug));
    expect(receipts).toHaveLength(2);
    const page = await search.page();
    const [next] = await client.dataset('tools').search({ limit: 4, sort: 'name', cursor: page.next_cursor! }).first(1);
    expect(next?.slug).toBe(records[4]?.slug);
  });

  test('takes lists, objects and absent values', async () => {
    const listed = await tools.search({ kind: ['drill', 'saw'], maker: undefined, total: true }).page();
    const raw = await app.json('/v1/tools/entities?kind=drill,saw&total=true', { admin: true });
    expect(listed.total).toBe(raw.body['total']);
    const filter = { op: '=', args: [{ property: 'kind' }, 'drill'] };
    const expressed = await tools.search({ filter: filter as never, 'filter-lang': 'cql2-json', total: true }).page();
    expect(expressed.total).toBe((await tools.search({ kind: 'drill', total: true }).page()).total);
  });
});

describe('values', () => {
  test('a date is sent as its ISO text, in a query, a list and a body', async () => {
    const { requests, url: at } = await scripted([{ status: 200, body: '{"next_cursor":null}' }]);
    const moment = new Date('2026-01-31T12:30:00Z');
    const client = new Register({ url: at });
    await client
      .dataset('tools')
      .search({ updated_since: moment, min_opened: moment, opened: [moment] })
      .page();
    const query = new URL(requests[0]!.path!, at).searchParams;
    expect([query.get('updated_since'), query.get('min_opened'), query.get('opened')]).toEqual(
      Array.from({ length: 3 }, () => '2026-01-31T12:30:00.000Z'),
    );
    await client.sql('SELECT ?', [moment] as never);
    expect(JSON.parse(requests[1]!.body)).toEqual({ sql: 'SELECT ?', parameters: ['2026-01-31T12:30:00.000Z'] });
  });

  test('every other value is refused before the call, at compile time too', async () => {
    const client = new Register({ url: 'http://127.0.0.1:9', retries: 0 });
    const refused = [
      ...[Number.NaN, Infinity, 5n, Symbol('s'), () => 1, new Map(), new Set([1]), /x/, new URL('http://h.example')],
      ...[new Date('never'), [[1]], [null], [{}], new (class Point {})(), [undefined]],
    ];
    for (const value of refused) {
      await expect(
        client
          .dataset('tools')
          .search({ value: value as string })
          .page(),
      ).rejects.toThrow(TypeError);
      if (!Array.isArray(value))
        await expect(client.sql('SELECT $a', { a: value as string })).rejects.toThrow(TypeError);
    }
    // @ts-expect-error: a Map has no form in a query
    const map = () => client.dataset('tools').search({ value: new Map() });
    // @ts-expect-error: nor has a bigint
    const bigint = () => client.dataset('tools').search({ value: 5n });
    expect([map, bigint]).toHaveLength(2);
  });
});

describe('money', () => {
  test('adds up the charges of a session, and states that of a call', async () => {
    const client = new Register({ url, key });
    const record = await client.dataset('tools').get(slugs[0]!);
    const { charge_eur, balance_eur } = client.receiptOf(record)!;
    expect(charge_eur).toBe(0.004);
    await client.dataset('tools').get(slugs[1]!);
    expect(client.cost).toEqual({ calls: 2, charge_eur: 0.008, balance_eur: expect.closeTo(balance_eur! - 0.004, 6) });
  });

  test('does not pay more than maxPrice', async () => {
    const client = new Register({ url, key, maxPrice: 0.001 });
    const failure = await client
      .dataset('tools')
      .get(slugs[0]!)
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(LimitError);
    expect(failure).toMatchObject({ status: 403, code: 'limit_exceeded', bound: 'max_price' });
    expect(client.cost).toEqual({ calls: 0, charge_eur: 0, balance_eur: undefined });
    await client.dataset('tools').get(slugs[0]!, {}, { maxPrice: 0.01 });
  });

  test('an answer that did not change is read from the cache and costs nothing', async () => {
    const client = new Register({ url, key, cache: memoryCache() });
    const first = await client.dataset('tools').get(slugs[0]!);
    const again = await client.dataset('tools').get(slugs[0]!);
    expect(again).toEqual(first);
    expect(client.receiptOf(again)).toMatchObject({ status: 304, cached: true, charge_eur: 0 });
    expect(client.cost.charge_eur).toBe(0.004);
  });

  test('the cache separates credentials, and drops the oldest answers', async () => {
    const cache = memoryCache({ characters: 10 });
    cache.set('a', { etag: '1', body: 'aaaa', content_type: '' });
    cache.set('b', { etag: '1', body: 'bbbb', content_type: '' });
    await cache.get('a');
    cache.set('c', { etag: '1', body: 'cccc', content_type: '' });
    expect(['a', 'b', 'c'].map((name) => cache.get(name) !== undefined)).toEqual([true, false, true]);
    cache.set('d', { etag: '1', body: 'longer than all', content_type: '' });
    expect(cache.get('d')).toBeUndefined();
    const shared = memoryCache();
    await new Register({ url, key, cache: shared }).dataset('tools').get(slugs[0]!);
    const anonymous = new Register({ url, cache: shared }).dataset('tools').get(slugs[0]!);
    await expect(anonymous).rejects.toThrow(PaymentError);
  });
});

describe('errors', () => {
  test('are classes, with the advice of the service', async () => {
    const anonymous = new Register({ url }).dataset('tools');
    const failures: [() => Promise<unknown>, new (...args: never[]) => Error][] = [
      [() => tools.search({ colour: 'red' }).page(), InvalidRequestError],
      [() => new Register({ url, key: 'dsr_wrong' }).keys.me(), CredentialError],
      [() => anonymous.get(slugs[0]!), PaymentError],
      [() => tools.get('nowhere'), NotFoundError],
      [() => register.dataset('nothing').status(), NotFoundError],
    ];
    for (const [call, type] of failures) await expect(call()).rejects.toThrow(type);
    const failure = (await anonymous.get(slugs[0]!).catch((error: unknown) => error)) as PaymentError;
    expect(failure).toMatchObject({ name: 'PaymentError', code: 'payment_required', status: 402, retriable: false });
    expect(failure.advice).toContain('/v1/keys');
    expect(failure.message).toContain(failure.advice);
    expect(failure.request_id).toMatch(/\S/);
    const misspelt = (await tools.get(slugs[0]!.slice(0, -1)).catch((error: unknown) => error)) as NotFoundError;
    expect(misspelt.nearest.map(({ slug }) => slug)).toContain(slugs[0]);
  });

  test('a part of the path that is missing is an error before the call', async () => {
    await expect(tools.get('')).rejects.toThrow('entity_get needs entity_id');
    expect(() => new Register({ url: 'ftp://h.example' })).toThrow('http:// or https://');
  });

  test('a part of the path is one part, whatever its characters, and never names another path', async () => {
    for (const id of ['w1.md', 'a/b', 'x?y#z', '%2e%2e', 'w1.md/facts', 'é', ' ', '.w1', '....'])
      await expect(tools.get(id), id).rejects.toThrow(NotFoundError);
    for (const id of ['.', '..']) await expect(tools.get(id), id).rejects.toThrow('must not be');
    await expect(register.dataset('..').status()).rejects.toThrow("dataset must not be '..'");
  });

  test('an answer that is no JSON object is a ConnectionError, and so is one that ends early', async () => {
    for (const body of ['<h1>Sign in to this network</h1>', '', 'null', '[1]', '"text"', '{"datasets":'])
      await expect(new Register({ url: (await scripted([{ status: 200, body }])).url }).datasets()).rejects.toThrow(
        ConnectionError,
      );
    const cut = await scripted([{ status: 200, headers: { 'Content-Length': '9' }, body: '{}' }]);
    await expect(new Register({ url: cut.url, retries: 0, timeout: 2 }).datasets()).rejects.toThrow(ConnectionError);
    const terms = { status: 402, headers: { 'PAYMENT-REQUIRED': 'no base64!' }, body: '{}' };
    const signer = { createPaymentPayload: async () => ({}) };
    await expect(new Register({ url: (await scripted([terms])).url, signer }).datasets()).rejects.toThrow(PaymentError);
  });
});

/** A server whose answers are listed, in their order; the requests that it got. */
async function scripted(answers: { status: number; headers?: Record<string, string>; body?: string }[]) {
  const requests: { path: string | undefined; headers: NodeJS.Dict<string | string[]>; body: string }[] = [];
  const server = createServer(async (request, response) => {
    requests.push({ path: request.url, headers: request.headers, body: await text(request) });
    const { status, headers = {}, body = '{}' } = answers[Math.min(requests.length, answers.length) - 1]!;
    if (status === 0) return void request.socket.destroy();
    response.writeHead(status, headers).end(body);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  return { requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const busy = (seconds: string) => ({
  status: 429,
  headers: { 'Retry-After': seconds },
  body: '{"error":"rate_limited","message":"Too many calls.","is_retriable":true}',
});

describe('retries', () => {
  test('wait as long as Retry-After, and repeat with the same Idempotency-Key', async () => {
    const { requests, url: at } = await scripted([busy('1'), { status: 0 }, { status: 201, body: '{"key":"k"}' }]);
    const started = performance.now();
    expect(await new Register({ url: at }).keys.create('reader@example.org')).toEqual({ key: 'k' });
    expect(performance.now() - started).toBeGreaterThan(990);
    expect(requests).toHaveLength(3);
    const keys = new Set(requests.map(({ headers }) => headers['idempotency-key']));
    expect([...keys]).toEqual([expect.stringMatching(/^[\w-]{36}$/)]);
  });

  test('end with the error after the last one, and at once where the wait is too long', async () => {
    const options: Omit<RegisterOptions, 'url'> = { retries: 1 };
    const { requests, url: at } = await scripted([busy('0')]);
    await expect(new Register({ ...options, url: at }).datasets()).rejects.toThrow(RateLimitError);
    expect(requests).toHaveLength(2);
    const patient = await scripted([busy('3600')]);
    await expect(new Register({ url: patient.url }).datasets()).rejects.toMatchObject({ status: 429 });
    expect(patient.requests).toHaveLength(1);
  });

  test('are not made for errors that stay, and a page of a proxy is an error too', async () => {
    const wrong = await scripted([{ status: 404, body: '<h1>Not here</h1>' }]);
    await expect(new Register({ url: wrong.url }).datasets()).rejects.toThrow(
      'The server answered 404: <h1>Not here</h1>',
    );
    expect(wrong.requests).toHaveLength(1);
    const gateway = await scripted([{ status: 502, body: 'Bad gateway' }]);
    await expect(new Register({ url: gateway.url, retries: 0 }).datasets()).rejects.toThrow(UnavailableError);
    const closed = await scripted([{ status: 0 }]);
    await expect(new Register({ url: closed.url, retries: 0 }).datasets()).rejects.toThrow(ConnectionError);
  });

  test('stop when the caller stops', async () => {
    const { url: at } = await scripted([busy('30')]);
    const controller = new AbortController();
    const call = new Register({ url: at }).datasets({ signal: controller.signal });
    setTimeout(() => controller.abort(new Error('no longer needed')), 50);
    await expect(call).rejects.toThrow('no longer needed');
  });

  test('Retry-After is a number of seconds or a date', () => {
    expect(secondsOf('7')).toBe(7);
    expect(secondsOf('Fri, 20 Nov 2026 12:00:30 GMT', Date.UTC(2026, 10, 20, 12))).toBe(30);
    expect(secondsOf('Fri, 20 Nov 2026 11:00:00 GMT', Date.UTC(2026, 10, 20, 12))).toBe(0);
    expect([secondsOf(null), secondsOf('soon')]).toEqual([undefined, undefined]);
  });
});

test('a signer pays the terms of a 402 once', async () => {
  const terms = { x402Version: 2, accepts: [{ scheme: 'exact', amount: '4400' }] };
  const offer = {
    status: 402,
    headers: { 'PAYMENT-REQUIRED': Buffer.from(JSON.stringify(terms)).toString('base64') },
    body: '{"error":"payment_required","message":"This costs 0.004 EUR.","is_retriable":false,"price_eur":0.004}',
  };
  const { requests, url: at } = await scripted([
    offer,
    { status: 200, headers: { 'X-Charge-EUR': '0.004' }, body: '{"slug":"é"}' },
  ]);
  const asked: unknown[] = [];
  const signer = {
    createPaymentPayload: async (required: unknown) => {
      asked.push(required);
      return { payload: 'ü' };
    },
  };
  const client = new Register({ url: at, signer });
  await client.dataset('tools').get('one');
  expect(asked).toEqual([terms]);
  const [, paid] = requests;
  expect(JSON.parse(Buffer.from(String(paid!.headers['payment-signature']), 'base64').toString())).toEqual({
    payload: 'ü',
  });
  expect(client.cost.charge_eur).toBe(0.004);

  const refused = await scripted([offer]);
  await expect(new Register({ url: refused.url, signer }).dataset('tools').get('one')).rejects.toThrow(PaymentError);
  expect(refused.requests).toHaveLength(2);
  const dear = await scripted([offer]);
  await expect(new Register({ url: dear.url, signer, maxPrice: 0.003 }).dataset('tools').get('one')).rejects.toThrow(
    PaymentError,
  );
  expect([dear.requests.length, asked.length]).toEqual([1, 2]);
});

test('types of datasets name every attribute and filter', async () => {
  const text = await datasetTypes(register, ['tools']);
  expect(text).toContain("declare module 'dataset-register-client'");
  for (const { name } of (await tools.schema()).filters) expect(text).toContain(name);
  expect(text).toContain('min_mass?: number;');
  expect(text).toContain('materials?: string | readonly string[];');
});
