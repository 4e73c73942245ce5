// Tokens for a model on the real packs: the list of tools, and the longest answers within every limit.
import { resolve } from 'node:path';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPERATIONS } from '../../api/operations/table.ts';
import { toolsOf } from '../../api/render/tools.ts';
import { loadPack } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';
import { expectWithin, LIMITS, someSlugs } from '../support/long-answers.ts';
import { connectMcp } from '../support/mcp-clients.ts';
import { DATASETS } from './release.ts';
import { KEY, type LiveServer, startServer } from './serve.ts';

let server: LiveServer;
let packs: Pack[];
beforeAll(async () => {
  server = await startServer();
  packs = await Promise.all(DATASETS.map((dataset) => loadPack(resolve('packs', dataset))));
}, 120_000);
afterAll(() => server?.stop());

test('names, descriptions and input schemas of all tools take at most 7,080 tokens', async () => {
  const client = await connectMcp('2026-07-28', `${server.base}/mcp`);
  const tools = await client.tools();
  await client.close();
  const read = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  expect(encode(JSON.stringify(read)).length).toBeLessThanOrEqual(7080);
});

test('forty searches of five records without fields take at most 20,000 tokens', async () => {
  const client = await connectMcp('2026-07-28', `${server.base}/mcp`, { 'X-API-Key': KEY });
  const conditions = [
    {},
    { q: 'new' },
    { total: true },
    { min_quality: 0.8 },
    { sort: '-updated' },
    { sort: 'quality' },
  ];
  const words = ['san', 'port', 'mini', 'pro', 'west', 'large', 'air', 'o'].map((q) => ({ q, sort: 'relevance' }));
  const calls = DATASETS.flatMap((dataset) => [...conditions, ...words].map((given) => ({ dataset, ...given })));
  const texts = [];
  for (const given of calls.slice(0, 40))
    texts.push((await client.call('entity_search', { ...given, limit: 5 })).content[0]?.text ?? '');
  await client.close();
  expect(texts.every((text) => text.startsWith('|slug|') || text.startsWith('0 records'))).toBe(true);
  expect(texts.reduce((sum, text) => sum + encode(text).length, 0)).toBeLessThanOrEqual(20_000);
});

/** Most tokens of a guide; that of llm-models describes 45 fields with values, and how prices are read. */
const GUIDES: Readonly<Record<string, number>> = { airports: 4900, places: 4400, 'llm-models': 5900 };

test('each guide is short', async () => {
  for (const { id } of packs) {
    const guide = await (await server.ask(`/v1/${id}/llms.txt`)).text();
    expect(encode(guide).length, id).toBeLessThanOrEqual(GUIDES[id] ?? 0);
  }
});

test.each(LIMITS)(
  'every tool answers within %i tokens, or is refused uncharged',
  async (tokens) => {
    const tools = await toolsOf(OPERATIONS, packs);
    for (const pack of packs) {
      const slugs = await someSlugs(server.base, KEY, pack);
      await expectWithin(server.base, KEY, { tokens, tools, pack, slugs });
    }
  },
  300_000,
);

test('a profile shows all attributes within the usual limit, its map in few cells', async () => {
  const client = await connectMcp('2026-07-28', `${server.base}/mcp`);
  for (const { id, attributes } of packs) {
    const { structuredContent } = await client.call('dataset_profile', { dataset: id });
    const profiles = structuredContent['attributes'] as { name: string; cells?: { counts: unknown[] } }[];
    expect(profiles.map(({ name }) => name)).toEqual(attributes.map(({ name }) => name));
    expect(structuredContent).not.toHaveProperty('left_out');
    for (const { cells } of profiles) expect(cells?.counts.length ?? 0).toBeLessThanOrEqual(50);
  }
  await client.close();
});
