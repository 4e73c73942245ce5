// MCP with the real clients of both SDK generations, over a socket.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATIONS } from '../../../api/operations/table.ts';
import { callable } from '../../../api/render/tools.ts';
import { ADMIN, appOfAll, BASE } from '../../support/app.ts';
import { listenerOfAll } from '../../support/listening.ts';
import { connectMcp, GENERATIONS, type McpClient } from '../../support/mcp-clients.ts';
import { newKey } from '../../support/money-on-stores.ts';
import { verifies } from '../../support/verifies.ts';

verifies('mcp.endpoint', 'mcp.datasets-list', 'mcp.dataset-guide', 'mcp.dataset-schema', 'mcp.dataset-status');
verifies('mcp.dataset-facets', 'mcp.dataset-examples', 'mcp.dataset-samples', 'mcp.dataset-changelog');
verifies('mcp.entity-search', 'mcp.entity-get', 'mcp.entity-batch', 'mcp.entity-similar', 'mcp.entity-history');
verifies('mcp.dataset-timeseries', 'mcp.pack-tools', 'mcp.resource-guide', 'mcp.resource-entity', 'mcp.tool-errors');
verifies('mcp.payment', 'pack.tool-names', 'table.mcp-resource');

/** The tools of the specification (section 4, "Agent protocols"). */
const FREE = [
  'datasets_list',
  'dataset_guide',
  'dataset_schema',
  'dataset_status',
  'dataset_facets',
  'dataset_examples',
  'dataset_samples',
  'dataset_changelog',
];
const PAID = ['entity_search', 'entity_get', 'entity_batch', 'entity_similar', 'entity_history', 'dataset_timeseries'];
const OWN = ['tools_search', 'tools_get', 'tools_prices', 'tools_compare', 'harbours_search', 'harbours_get'];

const app = await appOfAll();
const at = await listenerOfAll(app);
afterAll(async () => {
  expect(app.faults).toEqual([]);
  expect(app.lent()).toBe(0);
});

describe.each(GENERATIONS)('a client of %s', (generation) => {
  let anonymous: McpClient;
  let paying: McpClient;
  beforeAll(async () => {
    const { key } = await newKey(app, 10);
    anonymous = await connectMcp(generation, `${at.base}/mcp`);
    paying = await connectMcp(generation, `${at.base}/mcp`, { Authorization: `Bearer ${key}` });
  });
  afterAll(async () => {
    await anonymous.close();
    await paying.close();
  });

  it('agrees on a revision', () => {
    expect(anonymous.version).toBe(generation === '2026-07-28' ? '2026-07-28' : '2025-11-25');
  });

  it('lists every tool of the specification, in a fixed order, with descriptions, schemas and annotations', async () => {
    const tools = await anonymous.tools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([...FREE, ...PAID, ...OWN]));
    expect(await paying.tools()).toEqual(tools);
    for (const { name, title, description, inputSchema, outputSchema, annotations } of tools) {
      expect(name).toMatch(/^[a-z0-9_]{1,64}$/);
      expect(
        [title, description].every((text) => text !== undefined && text.length > 5),
        name,
      ).toBe(true);
      expect(inputSchema).toMatchObject({ type: 'object' });
      // Some hosts refuse alternatives, references and lists of types in the schema of arguments.
      expect(JSON.stringify(inputSchema), name).not.toMatch(
        /"(?:anyOf|oneOf|allOf|not|\$ref|\$defs|const)":|"type":\[/,
      );
      expect(outputSchema, name).toBeUndefined();
      expect(annotations).toEqual({
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      });
    }
  });

  it('gets prices, units and examples', async () => {
    const tools = new Map((await anonymous.tools()).map((tool) => [tool.name, tool]));
    expect(tools.get('entity_get')?.description).toContain('Costs EUR a call: harbours 0.001, tools 0.004.');
    expect(tools.get('entity_batch')?.description).toContain('for each id');
    expect(tools.get('tools_get')?.description).toContain('Costs 0.004 EUR a call.');
    expect(tools.get('dataset_export')?.description).toContain('Part of the plans pro and scale.');
    const { properties = {} } = tools.get('tools_search')?.inputSchema ?? {};
    expect(properties['min_mass']?.['description']).toContain('(kg)');
    expect(properties['maker']?.['description']).toContain(', e.g. Nordwerk');
    expect(properties['kind']).toMatchObject({ type: 'array', items: { enum: expect.arrayContaining(['saw']) } });
    expect(properties).toHaveProperty('fields');
    expect(tools.get('entity_search')?.inputSchema.properties?.['filters']).toMatchObject({ type: 'object' });
    expect(tools.get('entity_search')?.inputSchema.properties?.['dataset']).toEqual({
      type: 'string',
      enum: ['harbours', 'tools'],
    });
  });

  it.each(FREE)('calls %s without a credential', async (name) => {
    const given =
      name === 'datasets_list' ? {} : { dataset: 'tools', ...(name === 'dataset_facets' ? { by: 'kind' } : {}) };
    const result = await anonymous.call(name, given);
    expect(result.isError, JSON.stringify(result)).toBeFalsy();
    const isText = name === 'dataset_guide';
    const cited = { attribution: expect.any(String), license: expect.any(String) };
    if (isText) expect(result.content[0]?.text).toContain('License');
    else expect(result.structuredContent).toMatchObject(cited);
    expect(result).not.toHaveProperty(isText ? 'structuredContent' : 'nothing');
    expect(result._meta).toMatchObject({ request_id: expect.any(String) });
  });

  it.each([...PAID, ...OWN])('gets the price of %s without a credential, as over REST', async (name) => {
    const own = OWN.includes(name);
    const given = { ...(own ? {} : { dataset: 'tools' }), entity_id: 'record-1' };
    const { isError, structuredContent, content, _meta } = await anonymous.call(name, given);
    if (name === 'harbours_prices') return;
    expect(isError).toBe(true);
    expect(structuredContent).toMatchObject({
      error: 'payment_required',
      is_retriable: false,
      price_eur: expect.any(Number),
    });
    // The next steps are a tool, a resource, and the sign-in of this endpoint.
    expect(structuredContent['alternative_action']).toMatch(/dataset_examples .*service:\/\/\w+\/entity\/\{id\}/);
    expect(structuredContent['alternative_action']).not.toContain('GET ');
    expect(structuredContent['how_to_pay']).toMatchObject({
      oauth: { url: `${BASE}/.well-known/oauth-protected-resource/mcp` },
    });
    expect(JSON.parse(content[0]?.text ?? '')).toEqual(structuredContent);
    expect(_meta['mcp/www_authenticate']).toEqual([
      `Bearer resource_metadata="${BASE}/.well-known/oauth-protected-resource/mcp", scope="read"`,
    ]);
  });

  it('pays with its key, and gets the price', async () => {
    const { structuredContent, content, _meta } = await paying.call('tools_get', {
      entity_id: 'record-1',
      fields: ['kind'],
      format: 'json',
    });
    expect(structuredContent).toMatchObject({ slug: 'record-1', attributes: { kind: expect.any(String) } });
    expect(JSON.parse(content[0]?.text ?? '')).toEqual(structuredContent);
    expect(_meta).toMatchObject({
      charge_eur: 0.004,
      balance_eur: expect.any(Number),
      dataset_version: app.releases['tools'],
    });
  });

  it('gets lists as Markdown of the core attributes, whose last line is the charge', async () => {
    const { core } = app.register.packs.get('tools')!.serving;
    for (const [name, given] of [
      ['entity_search', { filters: { has_maker: true }, limit: 3 }],
      ['entity_similar', { entity_id: 'record-3', limit: 3 }],
      ['entity_batch', { ids: ['record-1', 'record-2', 'record-3', 'record-4'] }],
    ] as const) {
      const { content, ...result } = await paying.call(name, { dataset: 'tools', ...given });
      const text = content[0]?.text ?? '';
      expect(result, name).not.toHaveProperty('structuredContent');
      const [heading = ''] = text.split('\n');
      const columns = heading.slice(1, -1).split('|');
      const attributes = columns
        .map((title) => title.replace(/ \(.*/, ''))
        .filter((title) => !/^(slug|score)$/.test(title));
      expect(attributes, name).toEqual(core.filter((attribute) => attributes.includes(attribute)));
      expect(attributes.length, name).toBeGreaterThan(4);
      expect(text).toMatch(/\nSources?: .*\b20\d\d-\d\d-\d\d/);
      expect(text.endsWith(`\nCharged ${result._meta['charge_eur']} EUR.\n`), text.slice(-200)).toBe(true);
    }
  });

  it('gets the columns that it names, and which of them are not known', async () => {
    const given = { dataset: 'tools', filters: { has_maker: true, has_runtime: false }, limit: 3 };
    const { content } = await paying.call('entity_search', { ...given, fields: 'maker,runtime' });
    expect(content[0]?.text).toMatch(/^\|slug\|maker\|\n/);
    expect(content[0]?.text).toContain('\nNot known: runtime.\n');
    const batch = await paying.call('entity_batch', { dataset: 'tools', ids: 'record-1', fields: ['kind'] });
    expect(batch.content[0]?.text).toMatch(/^\|slug\|kind\|\n/);
    const compared = await paying.call('tools_compare', { ids: 'record-1,record-2', attribute: 'mass' });
    expect(compared.content[0]?.text).toMatch(/\nmass|\|mass \(kg\)\|/);
    expect(compared.content[0]?.text).toMatch(/\nCharged 0\.\d+ EUR\.\n$/);
    const whole = await paying.call('tools_get', { entity_id: 'record-1' });
    const page = await app.ask('/v1/tools/entities/record-1.md', { admin: true });
    expect(whole.content[0]?.text).toBe(`${await page.text()}\nCharged 0.004 EUR.\n`);
  });

  it('caps what a call may cost', async () => {
    const dear = await paying.call('entity_search', { dataset: 'tools', max_price_eur: 0.001 });
    expect(dear).toMatchObject({
      isError: true,
      structuredContent: { error: 'limit_exceeded', detail: { bound: 'max_price', limit_eur: 0.001 } },
    });
    expect(dear.structuredContent).not.toHaveProperty('accepts');
    const cheap = await paying.call('entity_search', { dataset: 'tools', limit: 1, max_price_eur: 0.008 });
    expect(cheap._meta['charge_eur']).toBe(0.008);
  });

  it('repeats a call by its key for the price of one', async () => {
    const meta = { idempotency_key: `repeat-${generation}-0123456789`.replaceAll(' ', '-') };
    const once = await paying.call('tools_get', { entity_id: 'record-2' }, meta);
    const twice = await paying.call('tools_get', { entity_id: 'record-2' }, meta);
    expect(twice.content).toEqual(once.content);
    expect(twice._meta).toMatchObject({ replayed: true, balance_eur: once._meta['balance_eur'] });
    const other = await paying.call('tools_get', { entity_id: 'record-3' }, meta);
    expect(other.structuredContent).toMatchObject({ error: 'idempotency_conflict' });
  });

  it('gets errors as structured bodies', async () => {
    const body = async (name: string, given: Record<string, unknown>) =>
      (await paying.call(name, given)).structuredContent;
    expect(await body('tools_search', { kinds: 'saw' })).toMatchObject({
      error: 'unknown_filter',
      is_retriable: false,
    });
    expect(await body('tools_search', { limit: 0 })).toMatchObject({
      error: 'validation_failed',
      detail: [{ loc: ['query', 'limit'], type: 'greater_than_equal' }],
    });
    expect(await body('entity_get', { dataset: 'tools' })).toMatchObject({ error: 'validation_failed' });
    expect(await body('entity_get', { dataset: 'toolz', entity_id: 'x' })).toMatchObject({ error: 'unknown_dataset' });
    expect(await body('tools_get', { entity_id: 'nothing' })).toMatchObject({ error: 'unknown_entity' });
    expect(await body('tools_search', { q: { $gt: '' } })).toMatchObject({ error: 'validation_failed' });
  });

  it('gets a protocol error for an unknown tool', async () => {
    await expect(anonymous.call('entity_delete', {})).rejects.toMatchObject({ code: -32602 });
  });

  it('reads guides and public pages as resources, free', async () => {
    expect((await anonymous.resources()).map(({ uri }) => uri)).toEqual([
      'service://harbours/llms.txt',
      'service://tools/llms.txt',
      'ui://dataset-register/record',
    ]);
    expect((await anonymous.templates()).map(({ uriTemplate }) => uriTemplate)).toEqual([
      'service://{dataset}/llms.txt',
      'service://{dataset}/entity/{id}',
    ]);
    const [guide] = await anonymous.read('service://tools/llms.txt');
    const rest = await app.ask('/v1/tools/llms.txt');
    expect(guide).toMatchObject({ mimeType: 'text/markdown', text: await rest.text() });
    const [page] = await anonymous.read('service://tools/entity/record-1');
    const public_page = await app.ask('/datasets/tools/record-1.md');
    expect(page?.text).toBe(await public_page.text());
    for (const uri of [
      'service://tools/entity/none',
      'service://nothing/llms.txt',
      'file:///etc/passwd',
      'service://tools/entity/%ff',
    ])
      await expect(anonymous.read(uri)).rejects.toMatchObject({ code: -32602 });
  });

  it('sees only the tools and datasets of its address', async () => {
    const narrow = await connectMcp(
      generation,
      `${at.base}/mcp?tools=dataset_facets,entity_search,tools_get&datasets=tools`,
    );
    const tools = await narrow.tools();
    expect(tools.map(({ name }) => name)).toEqual(['dataset_facets', 'entity_search', 'tools_get']);
    expect(tools[1]?.inputSchema.properties?.['dataset']).toEqual({ type: 'string', enum: ['tools'] });
    expect((await narrow.call('dataset_facets', { dataset: 'tools', by: 'kind' })).isError).toBeFalsy();
    const other = await narrow.call('dataset_facets', { dataset: 'harbours', by: 'name' });
    expect(other.structuredContent).toMatchObject({ error: 'unknown_dataset' });
    await expect(narrow.call('datasets_list')).rejects.toMatchObject({ code: -32602 });
    await narrow.close();
    await expect(
      connectMcp(generation, `${at.base}/mcp?tools=entity_serch`).then((client) => client.tools()),
    ).rejects.toThrow(/entity_serch/);
  });

  it('signs in at the address that asks for it', async () => {
    await expect(connectMcp(generation, `${at.base}/mcp/account`)).rejects.toThrow();
    const operator = await connectMcp(generation, `${at.base}/mcp/account`, { 'X-API-Key': ADMIN });
    expect((await operator.call('tools_get', { entity_id: 'record-1' })).isError).toBeFalsy();
    await operator.close();
  });
});

it('every operation that agents may call is a tool', async () => {
  const client = await connectMcp('2026-07-28', `${at.base}/mcp`);
  const names = new Set((await client.tools()).map(({ name }) => name));
  expect(callable(OPERATIONS).filter(({ name, tool }) => names.has(name) === (tool?.account === true))).toEqual([]);
  await client.close();
});
