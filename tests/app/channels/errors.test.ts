// Every possible error over the real app: one shape, the right status, the right headers.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../../api/contract/errors.ts';
import { type Operation, operation } from '../../../api/contract/operation.ts';
import { DATASET_OPERATIONS } from '../../../api/operations/table.ts';
import { DataError } from '../../../data/model/errors.ts';
import { appOfAll, BASE } from '../../support/app.ts';
import { verifies } from '../../support/verifies.ts';

verifies('code.unknown-filter', 'code.invalid-parameter', 'code.invalid-cursor', 'code.too-many-ids');
verifies('code.too-many-records', 'code.key-required', 'code.invalid-key', 'code.invalid-token');
verifies('code.payment-required', 'code.quota-exceeded', 'code.plan-required', 'code.admin-required');
verifies('code.unknown-dataset', 'code.unknown-entity', 'code.not-found', 'code.method-not-allowed');
verifies('code.validation-failed', 'code.rate-limited', 'code.internal', 'code.unavailable', 'code.query-timeout');
verifies('error.401', 'error.402', 'error.403', 'error.404', 'error.429', 'auth.unknown-key', 'auth.www-authenticate');
verifies('auth.plan-403', 'auth.quota-402', 'search.near-malformed', 'error.400-near');

/** An operation that throws, for errors that requests cannot provoke. */
function thrower(name: string, error: Error, access: Operation['charge']['access'] = 'free'): Operation {
  return operation<null, object>({
    name,
    title: name,
    description: 'Throws.',
    rest: { method: 'GET', path: `/v1/${name}` },
    charge: { access },
    tool: {},
    docs: { group: 'register' },
    formats: ['json', 'markdown'],
    input: () => z.object({}),
    parse: () => null,
    run: async () => Promise.reject(error),
    markdown: () => '',
  });
}

const secret = `connection refused at ${import.meta.filename}`;
const throwing = [
  thrower('broken', new Error(secret)),
  thrower('busy', new DataError('unavailable', 'The engine is busy.')),
  thrower('slow', new DataError('query_timeout', 'The question took longer than 2 s.')),
  thrower('planned', new Error('never run'), 'plan'),
  thrower('operators', new Error('never run'), 'admin'),
];

const app = await appOfAll({
  known: ({ secret: key }) => (key === 'a-key' ? { kind: 'key', id: '1', plan: 'payg' } : null),
  gate: { operations: [...DATASET_OPERATIONS, ...throwing] },
  calls: { paid: 60, free: 1000 },
});
const [model] = app.records['harbours'] ?? [];
const many = Array.from({ length: 5001 }, (_, index) => ({
  ...model!,
  id: `r-${index.toString(16).padStart(16, '0')}`,
  slug: `many-${index}`,
}));
await app.publish('harbours', many);

interface Case {
  /** As in contract section 4, independent of our table. */
  status: number;
  path: string;
  admin?: true;
  headers?: Record<string, string>;
  method?: string;
  /** Earlier calls from the same address. */
  before?: { path: string; times: number };
}

const hundred = Array.from({ length: 101 }, (_, index) => `r-${index}`).join(',');
const bearer = (key: string) => ({ headers: { Authorization: `Bearer ${key}` } });

/** How each code is provoked; the query is separate, so that `.md` can be put before it. */
const PROVOKED: Partial<Record<ErrorCode, Case>> = {
  unknown_filter: { status: 400, path: '/v1/tools/entities?makr=Nordwerk', admin: true },
  invalid_filter: { status: 400, path: '/v1/tools/entities?filter=mass>', admin: true },
  invalid_parameter: { status: 400, path: '/v1/tools/entities?near=somewhere', admin: true },
  invalid_cursor: { status: 400, path: '/v1/tools/entities?cursor=abc', admin: true },
  too_many_ids: { status: 400, path: `/v1/tools/entities/batch?ids=${hundred}`, admin: true },
  too_many_records: { status: 400, path: '/v1/harbours/timeseries?attribute=depth', admin: true },
  key_required: { status: 401, path: '/v1/operators' },
  invalid_key: { status: 401, path: '/v1/datasets', ...bearer('nobody') },
  invalid_token: { status: 401, path: '/v1/datasets', ...bearer('a.b.c') },
  payment_required: { status: 402, path: '/v1/tools/entities/record-1' },
  quota_exceeded: {
    status: 402,
    path: '/v1/tools/entities?limit=20',
    before: { path: '/v1/tools/entities?limit=20', times: 1 },
  },
  plan_required: { status: 403, path: '/v1/planned', ...bearer('a-key') },
  admin_required: { status: 403, path: '/v1/operators', ...bearer('a-key') },
  unknown_dataset: { status: 404, path: '/v1/nowhere/schema' },
  unknown_entity: { status: 404, path: '/v1/tools/entities/nobody', admin: true },
  not_found: { status: 404, path: '/v1/tools/no/such/path' },
  method_not_allowed: { status: 405, path: '/v1/datasets', method: 'DELETE' },
  validation_failed: { status: 422, path: '/v1/tools/entities?limit=0', admin: true },
  rate_limited: { status: 429, path: '/v1/tools/entities', before: { path: '/v1/nowhere/entities', times: 60 } },
  internal: { status: 500, path: '/v1/broken' },
  unavailable: { status: 503, path: '/v1/busy' },
  query_timeout: { status: 503, path: '/v1/slow' },
};

/** Codes of operations that do not exist yet. */
const WAITING = [
  'insufficient_credits',
  'limit_exceeded',
  'payment_invalid',
  'domain_mismatch',
  'not_owner',
  'key_exists',
  'idempotency_conflict',
  'invalid_sql',
  'payment_already_used',
  'payment_in_progress',
  'already_decided',
  'permit2_allowance_required',
  'payload_too_large',
  'unsupported_media_type',
];

let addresses = 0;
async function provoke(provocation: Case, form: 'json' | 'markdown', accept?: string) {
  const { path, admin, headers, method, before } = provocation;
  addresses += 1;
  const from = { address: `203.0.113.${addresses}` };
  for (let call = 0; call < (before?.times ?? 0); call++) await app.ask(before?.path ?? '', from);
  const [address = '', query] = path.split('?');
  const asked = `${address}${form === 'markdown' ? '.md' : ''}${query === undefined ? '' : `?${query}`}`;
  const wanted = accept === undefined ? headers : { ...headers, Accept: accept };
  return app.json(asked, {
    ...from,
    ...(admin ? { admin } : {}),
    ...(method ? { method } : {}),
    ...(wanted ? { headers: wanted } : {}),
  });
}

test('every code is provoked here, or waits for its operation', () => {
  expect([...Object.keys(PROVOKED), ...WAITING].sort()).toEqual(Object.keys(ERRORS).sort());
});

describe.each(Object.entries(PROVOKED) as [ErrorCode, Case][])('%s', (code, provocation) => {
  const { status } = provocation;

  test.each(['json', 'markdown'] as const)('has the same shape in %s', async (form) => {
    verifies('error.shape', 'error.json-for-markdown', 'error.content-type', 'error.documentation-always');
    verifies('error.retriable', 'error.401-header', 'error.503-retry-after', 'error.retry-after');
    verifies('error.documentation');
    const answer = await provoke(provocation, form);
    expect([answer.status, answer.body['error']]).toEqual([status, code]);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.body).toMatchObject({
      message: expect.stringMatching(/\w{3}/),
      is_retriable: [429, 500, 503].includes(status),
      documentation_url: expect.stringMatching(new RegExp(`^${BASE}/(v1/(tools|harbours)/)?llms.txt$`)),
    });
    const challenge = answer.headers.get('www-authenticate') ?? '';
    expect(challenge.startsWith(`Bearer resource_metadata="${BASE}/.well-known/oauth-protected-resource`)).toBe(
      status === 401,
    );
    const waits = status === 429 || status === 503;
    expect(answer.headers.has('retry-after')).toBe(waits);
    expect(Number.isInteger(answer.body['retry_after_seconds'])).toBe(waits);
    expect(answer.headers.has('allow')).toBe(status === 405);
    expect(JSON.stringify(answer.body)).not.toContain(secret);
  });

  test('has the same members as problem details, where they are preferred', async () => {
    const answer = await provoke(provocation, 'json', 'application/problem+json');
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.body).toMatchObject({ error: code, status, title: code.replaceAll('_', ' ') });
    expect(answer.body['type']).toContain(code);
  });
});

test('a 402 has price and payment methods, like the header', async () => {
  verifies('error.402-members');
  for (const code of ['payment_required', 'quota_exceeded'] as const) {
    const { body, headers } = await provoke(PROVOKED[code] as Case, 'json');
    expect(body).toMatchObject({ price_eur: expect.any(Number), price_usd: expect.any(Number), how_to_pay: {} });
    const header = JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString()) as Record<
      string,
      unknown
    >;
    for (const member of ['x402Version', 'resource', 'accepts']) {
      expect(header[member]).toBeDefined();
      expect(body[member]).toEqual(header[member]);
    }
  }
});

test('a refusal without key, plan or credit has next steps', async () => {
  const advice = async (code: ErrorCode) => (await provoke(PROVOKED[code] as Case, 'json')).body['alternative_action'];
  const key = `POST ${BASE}/v1/keys with {"email": "you@example.org"} creates a key`;
  expect(await advice('payment_required')).toMatch(new RegExp(`^${RegExp.escape(key)}.*/v1/tools/examples`));
  expect(await advice('quota_exceeded')).toContain(key);
  expect(await advice('key_required')).toBe('This is for operators of the service.');
  const table = await app.json('/v1/tools/entities?format=csv');
  expect(table.body['alternative_action']).toContain(key);
  expect(await advice('invalid_key')).toContain('/v1/keys/recover');
  expect(await advice('plan_required')).toContain(
    `49 EUR a month: POST ${BASE}/v1/keys/subscribe with {"plan": "pro"}`,
  );
});

test('an unknown dataset is refused with the list of datasets', async () => {
  const { body } = await app.json('/v1/nope/status');
  expect(body['message']).toMatch(/^There is no dataset "nope"\. Known, the nearest first: .*tools/);
});

test('a 422 lists each wrong parameter', async () => {
  verifies('body.validation-error', 'error.422', 'error.names-parameter');
  const { body } = await app.json('/v1/tools/entities?limit=0&total=maybe', { admin: true });
  const detail = body['detail'] as { loc: unknown[]; msg: string; type: string }[];
  expect(detail.map(({ loc }) => loc).sort()).toEqual([
    ['query', 'limit'],
    ['query', 'total'],
  ]);
  for (const line of detail) expect(line).toMatchObject({ msg: expect.any(String), type: expect.any(String) });
  expect(body['message']).toContain('limit');
});

test('a wrong language of filters is one issue, and an issue of a body names the body', async () => {
  const language = await app.json('/v1/tools/entities?filter=mass%3E1&filter-lang=cql-text', { admin: true });
  expect([language.status, language.body['detail']]).toMatchObject([422, [{ loc: ['query', 'filter-lang'] }]]);
  expect(language.body['detail']).toHaveLength(1);
  for (const [path, body, loc] of [
    ['/v1/sql', { max_rows: 0, sql: 'SELECT 1' }, ['body', 'max_rows']],
    ['/v1/sql?format=json', {}, ['body', 'sql']],
    ['/v1/quote', { operation: 'entity_search', dataset: 'tools', arguments: 3 }, ['body', 'arguments']],
  ] as const) {
    const answer = await app.json(path, { method: 'POST', body: JSON.stringify(body), admin: true });
    expect([path, answer.status, answer.body['detail']]).toMatchObject([path, 422, [{ loc }]]);
  }
});

test('an unknown filter is named, with the nearest known one', async () => {
  verifies('error.suggestion', 'error.400');
  const { body } = await app.json('/v1/tools/entities?makr=Nordwerk', { admin: true });
  expect(body['message']).toMatch(/"makr".*"maker"/);
});

test('internal errors are not revealed', async () => {
  const { body } = await provoke(PROVOKED.internal as Case, 'json');
  expect(body).not.toHaveProperty('stack');
  expect(body['message']).toBe('Something went wrong on our side; the request was not charged.');
});
