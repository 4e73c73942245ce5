// Facets: free for public attributes, the price of a search for everything that would reveal a paid value, in
// every channel.
import { expect, it } from 'vitest';
import { type Answer, BASE, type TestApp } from '../../support/app.ts';
import { balance, describeApps, newKey } from '../../support/money-on-stores.ts';
import { verifies } from '../../support/verifies.ts';

verifies('leak.facets-priced', 'leak.facets-words', 'leak.facets-anonymous', 'leak.facets-floor');

const FREE = [
  'by=maker',
  'by=runtime',
  'by=maker&kind=saw&q=a&min_quality=0&ids=record-1,record-2&near=47,8,20020&updated_since=2020-01-01',
  'by=maker&provenance_status=held',
  'by=maker&filter=mass>1 OR kind IS NULL',
];
const PRICED = [
  'by=maker&min_runtime=1',
  'by=maker&model=x&has_domain=true',
  'by=runtime&ids=record-1',
  'by=runtime&filter=mass>1',
  'by=maker&filter=mass>1 OR runtime>1',
  'by=runtime&q=a',
  'by=runtime&min_quality=0',
  'by=runtime&updated_since=2020-01-01',
  'by=runtime&near=47,8,20020',
  'by=runtime&provenance_status=held',
  'by=domain&like_summary=a',
];
const MCP = {
  'Content-Type': 'application/json',
  Accept: 'application/json, text/event-stream',
  Host: new URL(BASE).host,
};
const label = 'free; one search where a paid field is used';

/** The tool's result over MCP: its structured content, or the error body. */
async function tool(app: TestApp, given: Record<string, unknown>, headers: Record<string, string> = {}) {
  const params = { name: 'dataset_facets', arguments: { dataset: 'tools', ...given } };
  const { body } = await app.json('/mcp', {
    method: 'POST',
    headers: { ...MCP, ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
  const { isError, content, structuredContent } = body['result'] as {
    isError?: boolean;
    content: [{ text: string }];
    structuredContent?: Answer['body'];
  };
  return { failed: isError === true, body: structuredContent ?? (JSON.parse(content[0].text) as Answer['body']) };
}

describeApps('facets', {}, (stage) => {
  const facets = (query: string, headers: Record<string, string> = {}, suffix = '') =>
    stage.app.ask(`/v1/tools/facets${suffix}?${query}`, { headers });

  it.each(FREE)('are free: %s', async (query) => {
    const { headers } = await newKey(stage.app);
    for (const suffix of ['', '.md']) {
      expect((await facets(query, {}, suffix)).status).toBe(200);
      const keyed = await facets(query, headers, suffix);
      expect([keyed.status, keyed.headers.get('x-charge-eur')]).toEqual([200, null]);
      expect(keyed.headers.get('etag')).not.toBeNull();
    }
    expect(await balance(stage.app, headers)).toBe(0.5);
  });

  it.each(PRICED)('cost a search: %s', async (query) => {
    const { app } = stage;
    for (const suffix of ['', '.md']) {
      const anonymous = await facets(query, {}, suffix);
      const body = (await anonymous.json()) as Answer['body'];
      expect([anonymous.status, body['error'], body['price_eur']]).toEqual([402, 'payment_required', 0.008]);
      expect(anonymous.headers.get('payment-required')).not.toBeNull();
    }
    const { headers } = await newKey(app);
    const paid = await facets(query, headers);
    expect([paid.status, paid.headers.get('x-charge-eur'), paid.headers.get('etag')]).toEqual([200, '0.008', null]);
    expect(await paid.json()).not.toHaveProperty('withheld');
    expect(await balance(app, headers)).toBe(0.492);
    const operator = await app.json(`/v1/tools/facets?${query}`, { admin: true });
    expect([operator.status, operator.headers.get('x-charge-eur')]).toEqual([200, null]);
    const refused = await facets(query, { ...headers, 'X-Max-Price-EUR': '0.001' });
    expect(refused.status).toBe(403);
  });

  it('cost an empty key nothing and return nothing', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    for (let i = 0; i < 33; i += 1) await facets('by=maker&min_runtime=1', { ...headers, 'X-Request-Id': `${i}` });
    const left = (await balance(app, headers)) as number;
    expect(left).toBeGreaterThanOrEqual(0);
    while (((await balance(app, headers)) as number) >= 0.008) await facets('by=maker&min_runtime=1', headers);
    const bodies = await Promise.all(
      ['-1000', '1', '1000000'].map(async (bound) => {
        const answer = await facets(`by=maker&min_runtime=${bound}`, headers);
        const { request_id, resource, ...body } = (await answer.json()) as Answer['body'];
        expect(answer.status).toBe(402);
        return { ...body, accepts: [] };
      }),
    );
    expect(bodies[1]).toEqual(bodies[0]);
    expect(bodies[2]).toEqual(bodies[0]);
    expect((await facets('by=maker&kind=saw', headers)).status).toBe(200);
  });

  it('are charged once for an Idempotency-Key, which the free form does not spend', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    const repeated = { ...headers, 'Idempotency-Key': 'one-and-the-same-key' };
    expect((await facets('by=kind', repeated)).status).toBe(200);
    const first = await facets('by=kind&min_runtime=1', repeated);
    const again = await facets('by=kind&min_runtime=1', repeated);
    expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 200, 'true']);
    expect(await again.text()).toBe(await first.text());
    expect(await balance(app, headers)).toBe(0.492);
    expect((await facets('by=kind&min_runtime=2', repeated)).status).toBe(409);
  });

  it('of several attributes cost one search where one of them does', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    expect((await facets('by=kind,runtime', headers)).headers.get('x-charge-eur')).toBeNull();
    expect((await facets('by=kind,runtime&kind=saw')).status).toBe(402);
    expect((await facets('by=kind,runtime&kind=saw', headers)).status).toBe(200);
    expect(await balance(app, headers)).toBe(0.492);
    expect((await facets('by=kind,maker&kind=saw', headers)).status).toBe(200);
    expect(await balance(app, headers)).toBe(0.492);
  });

  it('have the same price over MCP and A2A', async () => {
    const { app } = stage;
    const { headers } = await newKey(app);
    expect((await tool(app, { by: 'kind' })).body).toHaveProperty('values');
    expect((await tool(app, { by: 'kind', filters: { min_runtime: 1 } })).body).toMatchObject({
      error: 'payment_required',
      price_eur: 0.008,
    });
    expect((await tool(app, { by: 'kind', filters: { min_runtime: 1 } }, headers)).body).toHaveProperty('values');
    expect(await balance(app, headers)).toBe(0.492);
    const data = { skill: 'dataset_facets', dataset: 'tools', by: 'kind', min_runtime: 1 };
    const sent = await app.json('/a2a/v1/message:send', {
      method: 'POST',
      headers: { 'Content-Type': 'application/a2a+json', 'A2A-Version': '1.0' },
      body: JSON.stringify({ message: { messageId: '1', role: 'ROLE_USER', parts: [{ data }] } }),
    });
    expect(JSON.stringify(sent.body)).toContain('payment_required');
  });

  it('have their price in the catalogue, tools, OpenAPI, the terms of x402 and the guides', async () => {
    const { app } = stage;
    const { body } = await app.json('/v1/datasets');
    const [{ prices } = { prices: {} }] = body['datasets'] as { id: string; prices: Record<string, unknown> }[];
    expect(prices).toMatchObject({ facets: { eur: expect.any(Number), usd: expect.any(Number), condition: label } });
    for (const path of [
      '/v1/datasets.md',
      '/v1/tools/llms.txt',
      '/llms.txt',
      '/openapi.json',
      '/.well-known/x402.json',
      '/.well-known/agent-card.json',
    ])
      expect((await (await app.ask(path)).text()).toLowerCase(), path).toContain(label);
    const listed = await app.json('/mcp', {
      method: 'POST',
      headers: MCP,
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    });
    const { tools } = listed.body['result'] as { tools: { name: string; description: string }[] };
    expect(tools.find(({ name }) => name === 'dataset_facets')?.description).toMatch(/one search where a paid/);
  });
});
