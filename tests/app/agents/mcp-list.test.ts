// Tokens of tools/list for a model: with few datasets, with many, and with one of very many attributes.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OWN_TOOLS } from '../../../api/channels/mcp/scope.ts';
import { OPERATIONS } from '../../../api/operations/table.ts';
import { callable, toolsOf } from '../../../api/render/tools.ts';
import { loadPack } from '../../../packs/define/load.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { type Listener, startListener } from '../../support/listening.ts';
import { connectMcp, type ListedTool } from '../../support/mcp-clients.ts';
import { newKey } from '../../support/money-on-stores.ts';

const TESTS = join(import.meta.dirname, '../..');

/** Tokens (o200k_base) of the tools as a model receives them. */
const tokensOf = (tools: readonly ListedTool[]) =>
  encode(JSON.stringify(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))))
    .length;

/** Most tokens of a list: for the three real datasets (tests/live), for many, and of the core tools. */
const [MOST, MANY, CORE] = [7080, 5500, 2000];

async function list(base: string, query = ''): Promise<ListedTool[]> {
  const client = await connectMcp('2026-07-28', `${base}/mcp${query}`);
  const tools = await client.tools();
  await client.close();
  return tools;
}

describe.each([10, 30])('%i datasets', (number) => {
  let folder: string;
  let app: TestApp;
  let at: Listener;
  const ids = Array.from({ length: number - 2 }, (_, index) => `tools-${index + 1}`);
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'packs-'));
    for (const id of ids) cpSync(join(TESTS, 'packs/tools'), join(folder, id), { recursive: true });
    app = await testApp({ records: 4, packs: ids.map((id) => relative(TESTS, join(folder, id))) });
    at = await startListener(app);
  }, 120_000);
  afterAll(async () => {
    await at.stop();
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are offered by the shared tools alone, in few tokens', async () => {
    const tools = await list(at.base);
    const listed = callable(OPERATIONS).filter(({ tool }) => !tool?.account);
    expect(tools.map(({ name }) => name)).toEqual(listed.map(({ name }) => name));
    expect(tokensOf(tools)).toBeLessThanOrEqual(MANY);
  });

  it('have a few core tools, which answer most questions', async () => {
    const tools = await list(at.base, '?tools=core');
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['datasets_list', 'dataset_guide', 'entity_search', 'entity_get']),
    );
    expect(tokensOf(tools)).toBeLessThan(CORE);
    const more = (await list(at.base, '?tools=core,dataset_facets')).map(({ name }) => name);
    expect(more).toHaveLength(tools.length + 1);
  });

  it('have their own tools, which can be called, and are listed at the address of the dataset', async () => {
    const { key } = await newKey(app, 10);
    const client = await connectMcp('2026-07-28', `${at.base}/mcp`, { Authorization: `Bearer ${key}` });
    const { structuredContent } = await client.call('tools_3_search', { limit: 1, fields: ['kind'], format: 'json' });
    expect(structuredContent['items']).toHaveLength(1);
    await client.close();
    const names = (await list(at.base, '?datasets=tools-3')).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['entity_search', 'tools_3_search', 'tools_3_get']));
    expect(names).not.toContain('tools_search');
    expect((await list(at.base, '?tools=tools_3_search')).map(({ name }) => name)).toEqual(['tools_3_search']);
  });
});

it(`lists the tools of up to ${OWN_TOOLS} datasets, each in about a thousand tokens`, async () => {
  const pack = await loadPack(join(TESTS, 'packs/tools'));
  const made = await toolsOf(OPERATIONS, [pack]);
  const tools = made.map(({ input, ...tool }) => ({ ...tool, inputSchema: input }) as ListedTool);
  const own = tools.filter(({ name }) => name.startsWith('tools_'));
  expect(own.map(({ name }) => name)).toEqual(['tools_search', 'tools_get', 'tools_prices', 'tools_compare']);
  expect(tokensOf(own)).toBeLessThanOrEqual(1250);
  const listed = tools.filter((_, index) => !made[index]!.operation.tool?.account);
  expect(tokensOf(listed)).toBeLessThanOrEqual(MOST - 2 * 1250);
});

it('a dataset of very many attributes has a short search, whose description names the others', async () => {
  const pack = await loadPack(join(TESTS, 'packs/tools'));
  const [first] = pack.attributes.filter(({ type }) => type === 'string');
  const many = Array.from({ length: 300 }, (_, index) => ({
    ...first!,
    name: `field_${index}`,
    description: 'word '.repeat(200),
  }));
  const wide = { ...pack, attributes: [...pack.attributes, ...many] };
  const search = (await toolsOf(OPERATIONS, [wide])).find(({ name }) => name === 'tools_search')!;
  expect(encode(JSON.stringify([search.name, search.description, search.input])).length).toBeLessThanOrEqual(1500);
  expect(search.description).toMatch(/and of .*field_3\b.*, \.\.\.: see dataset_guide/);
});

it('describes an attribute once, at the first of its filters, and bounds where values have an order', async () => {
  const pack = await loadPack(join(TESTS, 'packs/tools'));
  const search = (await toolsOf(OPERATIONS, [pack])).find(({ name }) => name === 'tools_search')!;
  const properties = search.input['properties'] as Record<string, Record<string, unknown>>;
  expect(properties['min_mass']).toEqual({ type: 'number', description: expect.stringMatching(/\(kg\)$/) });
  expect(properties['max_mass']).toEqual({ type: 'number' });
  expect(properties).not.toHaveProperty('mass');
  expect(properties['maker']).toEqual({
    type: 'array',
    items: { type: 'string' },
    description: 'Who makes the tool, e.g. Nordwerk',
  });
  expect(properties['limit']).toMatchObject({ maximum: 100 });
  expect(properties['q']?.['description']).toBe('Words, at most 16, each a prefix');
});
