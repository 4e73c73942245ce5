// A plain request is answered without the SDK and exactly like the SDK; the SDK handles all others.
import { afterAll, describe, expect, it } from 'vitest';
import { appOfAll } from '../../support/app.ts';
import { listenerOfAll } from '../../support/listening.ts';
import { newKey } from '../../support/money-on-stores.ts';

const app = await appOfAll();
const at = await listenerOfAll(app);
const { key } = await newKey(app, 50);
afterAll(async () => {
  expect(app.faults).toEqual([]);
  expect(app.lent()).toBe(0);
});

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'tests', version: '1' },
};
type Json = Record<string, unknown>;

interface Sent {
  era: 'modern' | 'legacy';
  name: string;
  given: Json;
  paying?: boolean;
  /** Variations of a plain call. */
  params?: Json;
  envelope?: Json;
  headers?: Record<string, string | undefined>;
  meta?: Json;
}

async function send({ era, name, given, paying = true, params = {}, envelope = {}, headers = {}, meta = {} }: Sent) {
  const modern = era === 'modern';
  const known = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    // Only compressible answers of the SDK are buffered and then have a length.
    'Accept-Encoding': 'identity',
    'MCP-Protocol-Version': modern ? '2026-07-28' : '2025-11-25',
    ...(modern ? { 'Mcp-Method': 'tools/call', 'Mcp-Name': name } : {}),
    ...(paying ? { Authorization: `Bearer ${key}` } : {}),
    ...headers,
  };
  const whole = { ...(modern ? META : {}), ...meta };
  const response = await fetch(`${at.base}/mcp`, {
    method: 'POST',
    headers: Object.entries(known).filter((each): each is [string, string] => each[1] !== undefined),
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/call',
      params: { name, arguments: given, ...(Object.keys(whole).length > 0 ? { _meta: whole } : {}), ...params },
      ...envelope,
    }),
  });
  const text = await response.text();
  // The SDK streams; a plain answer has a length.
  const plain = response.headers.get('content-length') !== null && response.status === 200;
  return { status: response.status, type: response.headers.get('content-type'), body: JSON.parse(text) as Json, plain };
}

/** An answer without the parts that differ between two equal calls. */
const steady = (body: unknown) =>
  JSON.parse(JSON.stringify(body), (name, value: unknown) => {
    if (name === 'text' && typeof value === 'string' && value.startsWith('{'))
      return JSON.parse(value, (inner, each: unknown) => (inner === 'request_id' ? null : each)) as unknown;
    return name === 'request_id' || name === 'balance_eur' ? null : value;
  }) as unknown;

const CALLS: [what: string, Omit<Sent, 'era'>][] = [
  ['bytes of a record', { name: 'entity_get', given: { dataset: 'tools', entity_id: 'record-1', format: 'json' } }],
  ['Markdown', { name: 'tools_search', given: { limit: 3 } }],
  ['a list', { name: 'tools_search', given: { limit: 30, format: 'json' } }],
  ['a price of nothing', { name: 'harbours_prices', given: { entity_id: 'record-1', format: 'md' } }],
  ['a list cut to its budget', { name: 'dataset_examples', given: { dataset: 'tools' } }],
  ['a text', { name: 'dataset_guide', given: { dataset: 'tools' } }],
  ['a price', { name: 'tools_get', given: { entity_id: 'record-1' }, paying: false }],
  ['a refusal', { name: 'tools_search', given: { nonsense: '"\\ \u2028 é' } }],
];

describe.each(['modern', 'legacy'] as const)('a plain call of the %s era', (era) => {
  it.each(CALLS)('is answered as the SDK answers it: %s', async (_, call) => {
    const plain = await send({ era, ...call });
    // Unknown members are not part of a plain call, and the SDK ignores them.
    const judged = await send({ era, ...call, params: { unheard_of: 1 } });
    expect([plain.plain, judged.plain]).toEqual([true, false]);
    expect([plain.status, plain.type]).toEqual([judged.status, judged.type]);
    expect(steady(plain.body)).toEqual(steady(judged.body));
  });

  it('is answered with the list of tools as by the SDK', async () => {
    const list = (params: Json | undefined) =>
      send({
        era,
        ...{ name: '', given: {}, envelope: { method: 'tools/list', params } },
        headers: era === 'modern' ? { 'Mcp-Method': 'tools/list', 'Mcp-Name': undefined } : {},
      });
    const params = era === 'modern' ? { _meta: META } : undefined;
    const [plain, judged] = [await list(params), await list({ ...params, unheard_of: 1 })];
    expect([plain.plain, judged.plain]).toEqual([true, false]);
    expect((plain.body['result'] as { tools: unknown[] }).tools.length).toBeGreaterThan(10);
    expect([plain.status, plain.type, plain.body]).toEqual([judged.status, judged.type, judged.body]);
  });

  it('charges once for its key', async () => {
    const call = { era, name: 'tools_get', given: { entity_id: 'record-4' } };
    const meta = { idempotency_key: `plain-and-again-${era}` };
    const charged = async (more: Partial<Sent>) =>
      ((await send({ ...call, meta, ...more })).body['result'] as { _meta: Json })._meta;
    expect(await charged({})).not.toHaveProperty('replayed');
    expect(await charged({})).toHaveProperty('replayed', true);
    expect(await charged({ params: { unheard_of: 1 } })).toHaveProperty('replayed', true);
  });

  it('is refused at once with a bad credential, as a request', async () => {
    const { status } = await send({
      era,
      name: 'tools_get',
      given: { entity_id: 'record-1' },
      headers: { Authorization: 'Bearer dsr_nobody' },
    });
    expect(status).toBe(401);
  });
});

describe.each(['legacy', 'modern'] as const)('in the %s era', (era) => {
  it.each([undefined, '*/*', 'application/*', 'application/json', 'application/json;q=0.5, text/*', ''])(
    'answers JSON to Accept: %s',
    async (Accept) => {
      const call = { era, name: 'dataset_schema', given: { dataset: 'tools' }, headers: { Accept } };
      const [plain, judged] = [await send(call), await send({ ...call, params: { unheard_of: 1 } })];
      expect([plain.status, plain.type, plain.plain]).toEqual([200, 'application/json', true]);
      expect([judged.status, judged.type, judged.plain]).toEqual([200, 'application/json', false]);
      expect(plain.body).toHaveProperty('result.structuredContent');
    },
  );
});

/** The SDK reports everything that is wrong with a request. */
const ODD: [what: string, Partial<Sent>, status: number][] = [
  ['another version of JSON-RPC', { envelope: { jsonrpc: '1.0' } }, 400],
  ['no name', { params: { name: undefined } }, 200],
  ['a list of arguments', { params: { arguments: [] } }, 200],
  ['a name in the header that is another', { era: 'modern', headers: { 'Mcp-Name': 'entity_search' } }, 400],
  ['no name in the header', { era: 'modern', headers: { 'Mcp-Name': undefined } }, 400],
  ['a method in the header that is another', { era: 'modern', headers: { 'Mcp-Method': 'tools/list' } }, 400],
  ['no capabilities', { era: 'modern', meta: { 'io.modelcontextprotocol/clientCapabilities': undefined } }, 400],
  ['an era that differs', { era: 'modern', meta: { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' } }, 400],
  ['a revision nobody knows', { era: 'legacy', headers: { 'MCP-Protocol-Version': '2099-01-01' } }, 400],
  ['an answer of another type', { era: 'legacy', headers: { Accept: 'text/html' } }, 406],
  ['an answer in events alone', { era: 'legacy', headers: { Accept: 'text/event-stream' } }, 406],
  ['another type', { era: 'legacy', headers: { 'Content-Type': 'text/plain' } }, 415],
];
it.each(ODD)('is not plain with %s', async (_, odd, status) => {
  const before = await app.state.db.selectFrom('entries').select('id').execute();
  const call: Sent = { era: 'legacy', name: 'tools_get', given: { entity_id: 'record-5' }, ...odd };
  const answer = await send(call);
  expect([answer.status, answer.plain], JSON.stringify(answer.body).slice(0, 300)).toEqual([status, false]);
  expect(answer.body).toHaveProperty('error');
  expect(await app.state.db.selectFrom('entries').select('id').execute()).toEqual(before);
});
