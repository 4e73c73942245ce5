// The MCP endpoint over HTTP: hosts, origins, rate limits, versions, and the texts of refusals.
import { afterAll, describe, expect, it } from 'vitest';
import { appOfAll, BASE, type TestApp, testApp } from '../../support/app.ts';
import { newKey } from '../../support/money-on-stores.ts';

const VERSION = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'tests', version: '1.0.0' },
};
const PLAIN = {
  Host: 'register.example',
  Accept: 'application/json, text/event-stream',
  'Content-Type': 'application/json',
};

const app = await appOfAll({ records: 12, mcp_origins: ['https://agents.example'] });
afterAll(async () => {
  expect(app.faults).toEqual([]);
  expect(app.lent()).toBe(0);
});

interface Sent {
  path?: string;
  headers?: Record<string, string>;
  address?: string;
  to?: TestApp;
}

/** Posts a text, or a message of the current revision with its headers. */
async function post(body: unknown, { path = '/mcp', headers = {}, address = '192.0.2.1', to = app }: Sent = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await to.ask(path, { method: 'POST', headers: { ...PLAIN, ...headers }, body: text, address });
  const answer = (await response.text()) || 'null';
  return { status: response.status, headers: response.headers, body: JSON.parse(answer) };
}

const message = (method: string, params: Record<string, unknown> = {}) => ({ jsonrpc: '2.0', id: 7, method, params });

/** A request of 2026-07-28: version and method are in headers and in `_meta`. */
const modern = (method: string, params: Record<string, unknown> = {}, sent: Sent = {}) =>
  post(message(method, { ...params, _meta: { ...META, ...(params['_meta'] as object) } }), {
    ...sent,
    headers: {
      'MCP-Protocol-Version': VERSION,
      'Mcp-Method': method,
      ...(params['name'] ? { 'Mcp-Name': String(params['name']) } : {}),
      ...sent.headers,
    },
  });

describe('hosts and origins', () => {
  it.each(['register.example', 'localhost:8787', '127.0.0.1', '[::1]:80'])('answers for the host %s', async (Host) => {
    expect((await modern('tools/list', {}, { headers: { Host } })).status).toBe(200);
  });

  it.each(['evil.example', 'register.example.evil.example', '%', ''])('refuses the host %j', async (Host) => {
    const { status, body } = await modern('tools/list', {}, { headers: { Host } });
    expect([status, body.error.code]).toEqual([403, -32_000]);
  });

  it.each([BASE, 'http://localhost:6274', 'https://agents.example'])('lets pages of %s read', async (Origin) => {
    const { status, headers } = await modern('tools/list', {}, { headers: { Origin } });
    expect([status, headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual([200, Origin, 'Origin']);
    expect(headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
    const asked = await app.ask('/mcp', { method: 'OPTIONS', headers: { Host: 'register.example', Origin } });
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, Origin]);
    expect(asked.headers.get('access-control-allow-headers')).toMatch(/MCP-Protocol-Version, Mcp-Method, Mcp-Name/);
  });

  it.each(['https://evil.example', 'https://agents.example.evil.example', 'null', 'https://agents.example/'])(
    'refuses pages of %s',
    async (Origin) => {
      const { status, headers, body } = await modern('tools/list', {}, { headers: { Origin } });
      expect([status, body.error.message]).toEqual([403, `Invalid Origin: ${Origin}`]);
      expect(headers.get('access-control-allow-origin')).not.toBe(Origin);
      const asked = await app.ask('/mcp', { method: 'OPTIONS', headers: { Host: 'register.example', Origin } });
      expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([403, null]);
    },
  );
});

describe('requests', () => {
  it('are POSTs: there are no streams and no sessions', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const response = await app.ask('/mcp', { method, headers: PLAIN });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    }
  });

  it.each([
    ['no JSON', '{"jsonrpc":', 400, -32_700],
    ['nothing', '', 400, -32_700],
    ['no message', '{"id":1}', 400, -32_600],
    ['too much', JSON.stringify(message('tools/list', { x: 'a'.repeat(70_000) })), 413, -32_600],
  ])('with %s are refused', async (_, body, status, code) => {
    const answer = await post(body);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
  });

  it('of another type than JSON are refused', async () => {
    const { status } = await post('jsonrpc=2.0', { headers: { 'Content-Type': 'application/x-www-form-urlencoded' } });
    expect(status).toBe(415);
  });

  it('of an unsupported version get the supported ones', async () => {
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2030-01-01' };
    const { status, body } = await modern(
      'tools/list',
      { _meta: meta },
      { headers: { 'MCP-Protocol-Version': '2030-01-01' } },
    );
    expect([status, body.error.code, body.error.data.supported]).toEqual([400, -32_022, [VERSION]]);
    const old = await post(message('tools/list'), { headers: { 'MCP-Protocol-Version': '2020-01-01' } });
    expect([old.status, old.body.error.message]).toEqual([400, expect.stringContaining('2025-11-25')]);
  });

  it('whose headers contradict their body are refused', async () => {
    const named = { name: 'datasets_list', arguments: {} };
    for (const headers of [
      { 'Mcp-Method': 'tools/list' },
      { 'Mcp-Name': 'entity_get' },
      { 'MCP-Protocol-Version': '2025-11-25' },
    ]) {
      const { status, body } = await modern('tools/call', named, { headers });
      expect([status, body.error.code], JSON.stringify(headers)).toEqual([400, -32_020]);
    }
  });

  it('of an unknown method are an error', async () => {
    expect((await modern('prompts/list')).body.error.code).toBe(-32_601);
    expect((await post(message('logging/setLevel', { level: 'debug' }))).body.error.code).toBe(-32_601);
  });

  it('of the era before may hold several calls, each of them counted', async () => {
    const { key } = await newKey(app, 1);
    const call = (id: number, entity_id: string) => ({
      ...message('tools/call', { name: 'tools_get', arguments: { entity_id, format: 'json' } }),
      id,
    });
    const { status, body } = await post([call(1, 'record-1'), call(2, 'none')], { headers: { 'X-API-Key': key } });
    expect(status).toBe(200);
    const [one, two] = (body as { id: number; result: Record<string, never> }[]).sort((a, b) => a.id - b.id);
    expect(one?.result).toMatchObject({ structuredContent: { slug: 'record-1' }, _meta: { charge_eur: 0.004 } });
    expect(two?.result).toMatchObject({ isError: true, structuredContent: { error: 'unknown_entity' } });
    const own = await app.json('/v1/keys/me', { headers: { 'X-API-Key': key } });
    expect(own.body['ledger']).toHaveLength(3);
  });

  it('return the price of a call in headers', async () => {
    const { key } = await newKey(app, 1);
    const given = { name: 'tools_get', arguments: { entity_id: 'record-1' } };
    for (const speak of [
      modern,
      (method: string, params: object, sent: Sent) => post(message(method, { ...params }), sent),
    ]) {
      const { headers } = await speak('tools/call', given, { headers: { Authorization: `Bearer ${key}` } });
      expect(headers.get('x-charge-eur')).toBe('0.004');
      expect(headers.get('x-dataset-version')).toBe(app.releases['tools']);
      expect(headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
      expect(headers.get('ratelimit')).toContain('paid');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-type')).toBe('application/json');
    }
  });
});

describe('credentials', () => {
  const sent = { headers: { Authorization: 'Bearer dsr_wrong' } };

  it.each(['tools/list', 'initialize', 'resources/list'])('that are invalid are 401 for %s', async (method) => {
    const { status, headers, body } = await (method === 'initialize'
      ? post(
          message(method, { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } }),
          sent,
        )
      : modern(method, {}, sent));
    expect([status, body.error]).toEqual([401, 'invalid_key']);
    expect(headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${BASE}/.well-known/oauth-protected-resource/mcp", scope="read"`,
    );
  });

  it('that are invalid are 401 for calls and resources, free or paid', async () => {
    for (const name of ['datasets_list', 'tools_get', 'none_such']) {
      const { status } = await modern('tools/call', { name, arguments: { entity_id: 'record-1' } }, sent);
      expect([name, status]).toEqual([name, 401]);
    }
    const uri = 'service://tools/llms.txt';
    const read = await modern('resources/read', { uri }, { headers: { ...sent.headers, 'Mcp-Name': uri } });
    expect(read.status).toBe(401);
  });

  it('are required at /mcp/account, which names its own metadata', async () => {
    const { status, headers, body } = await modern('tools/list', {}, { path: '/mcp/account' });
    expect([status, body.error]).toEqual([401, 'key_required']);
    expect(headers.get('www-authenticate')).toContain('/.well-known/oauth-protected-resource/mcp/account"');
    const { key } = await newKey(app);
    const known = await modern('tools/list', {}, { path: '/mcp/account', headers: { 'X-API-Key': key } });
    expect(known.status).toBe(200);
  });

  it('do not work in the query', async () => {
    const { key } = await newKey(app, 1);
    const given = { name: 'tools_get', arguments: { entity_id: 'record-1' } };
    const { body } = await modern('tools/call', given, { path: `/mcp?api_key=${key}` });
    expect(body.result.structuredContent.error).toBe('payment_required');
  });
});

describe('limits', () => {
  it('count each message of a batch', async () => {
    const to = await testApp({ records: 1, calls: { free: 300 } });
    const batch = (count: number) => Array.from({ length: count }, (_, id) => ({ ...message('tools/list'), id }));
    const sent = { address: '192.0.2.77', to, headers: { 'MCP-Protocol-Version': '2025-03-26' } };
    const first = await post(batch(100), sent);
    expect([first.status, first.headers.get('x-ratelimit-remaining')]).toEqual([200, '200']);
    const call = { ...message('tools/call', { name: 'datasets_list', arguments: {} }), id: 1000 };
    const mixed = await post([...batch(3), call, call], sent);
    expect(mixed.status).toBe(200);
    expect((await post(batch(193), sent)).headers.get('x-ratelimit-remaining')).toBe('2');
    const refused = await post(batch(3), sent);
    expect([refused.status, refused.body.error]).toEqual([429, 'rate_limited']);
    await to.close();
  });

  it('count calls by their kind, and everything else as free calls', async () => {
    const small = await testApp({ records: 12, calls: { free: 2, paid: 1 } });
    const from = { to: small };
    const dear = { name: 'tools_get', arguments: { entity_id: 'record-1' } };
    expect((await modern('tools/call', dear, from)).body.result.structuredContent.error).toBe('payment_required');
    const late = await modern('tools/call', dear, from);
    expect(late.body.result).toMatchObject({
      isError: true,
      structuredContent: { error: 'rate_limited', is_retriable: true, retry_after_seconds: expect.any(Number) },
    });
    expect([(await modern('tools/list', {}, from)).status, (await modern('resources/list', {}, from)).status]).toEqual([
      200, 200,
    ]);
    const listed = await modern('tools/list', {}, from);
    expect([listed.status, listed.body.error, Number(listed.headers.get('retry-after')) > 0]).toEqual([
      429,
      'rate_limited',
      true,
    ]);
    await small.close();
  });
});

describe('malformed parameters', () => {
  const legacy = (method: string, params: Record<string, unknown>) =>
    post(message(method, params), { headers: { 'MCP-Protocol-Version': '2025-06-18' } });
  const uses: [string, typeof legacy][] = [
    ['a version with a handshake', legacy],
    ['the current version', (method, params) => modern(method, params)],
  ];

  it.each(uses)('are named in words, with the code of invalid parameters (%s)', async (_, send) => {
    for (const [method, params, text] of [
      ['tools/call', { name: 'datasets_list', arguments: 'x' }, 'arguments: must be an object (got string)'],
      ['tools/call', { name: 'datasets_list', arguments: [] }, 'arguments: must be an object (got array)'],
      ['tools/call', { name: 5 }, 'name: must be a text (got number)'],
      ['tools/call', {}, 'name: must be a text (got undefined)'],
      ['tools/list', { cursor: 'broken' }, 'Invalid cursor: this list has a single page.'],
      ['tools/list', { cursor: 5 }, 'Invalid cursor: this list has a single page.'],
      ['resources/list', { cursor: 'broken' }, 'Invalid cursor: this list has a single page.'],
      ['resources/templates/list', { cursor: 'broken' }, 'Invalid cursor: this list has a single page.'],
      ['resources/read', { uri: null }, 'uri: must be a text (got null)'],
    ] as const) {
      const { body } = await send(method, params);
      expect([method, body.error]).toEqual([method, { code: -32_602, message: expect.stringContaining(text) }]);
      expect(body.error.message).not.toMatch(/[[{]/);
    }
    const empty = await send('tools/call', { name: 'datasets_list', arguments: null });
    expect(empty.body.result.structuredContent.datasets).toHaveLength(2);
    const missing = await send('tools/call', { name: 'entity_get', arguments: null });
    expect(missing.body.result.structuredContent).toMatchObject({ error: 'validation_failed' });
  });

  it('of the handshake too', async () => {
    const { body } = await legacy('initialize', { protocolVersion: 5, capabilities: {}, clientInfo: null });
    expect(body.error).toEqual({
      code: -32_602,
      message:
        'Invalid parameters: protocolVersion: must be a text (got number); clientInfo: must be an object (got null)',
    });
  });

  it('of conditions are 422, and nothing is charged', async () => {
    const { key } = await newKey(app, 1);
    const headers = { 'X-API-Key': key };
    for (const [name, args] of [
      ['entity_search', { dataset: 'tools', filters: { kind: null } }],
      ['tools_search', { kind: null }],
      ['tools_search', { kind: [] }],
      ['tools_search', { 'price.list': { max: null } }],
    ] as const) {
      const { body } = await modern('tools/call', { name, arguments: args }, { headers });
      expect([name, body.result.structuredContent.error]).toEqual([name, 'validation_failed']);
    }
    const meta = { idempotency_key: 5 };
    const call = { name: 'tools_search', arguments: {}, _meta: meta };
    expect((await modern('tools/call', call, { headers })).body.result.structuredContent.error).toBe(
      'validation_failed',
    );
    expect((await app.json('/v1/keys/me', { headers })).body['balance_eur']).toBe(1.5);
  });
});

it('discovery, the server card and the handshake have the same versions', async () => {
  const { body } = await modern('server/discover');
  const { remotes } = (await app.json('/.well-known/mcp/server-card.json')).body as {
    remotes: { supportedProtocolVersions: string[] }[];
  };
  const versions = body.result.supportedVersions as string[];
  expect(versions).toEqual(['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26']);
  for (const { supportedProtocolVersions } of remotes) expect(supportedProtocolVersions).toEqual(versions);
  for (const protocolVersion of [...versions.slice(1), '2024-10-07']) {
    const shake = { protocolVersion, capabilities: {}, clientInfo: { name: 'tests', version: '1' } };
    const agreed = (await post(message('initialize', shake))).body.result.protocolVersion;
    expect(agreed).toBe(versions.includes(protocolVersion) ? protocolVersion : versions[1]);
  }
});

describe('the address', () => {
  it.each([
    ['?tools=entity_serch', /there is no "entity_serch"/],
    ['?datasets=toolz', /there is no "toolz"/],
    ['?max_tokens=10', /from 1000 to 200000/],
    ['?max_tokens=many', /from 1000 to 200000/],
  ])('%s is refused', async (query, told) => {
    const { status, body } = await modern('tools/list', {}, { path: `/mcp${query}` });
    expect([status, body.error.code]).toEqual([400, -32_600]);
    expect(body.error.message).toMatch(told);
    expect(body.error.data).toMatchObject({ error: 'invalid_parameter', is_retriable: false });
  });
});
