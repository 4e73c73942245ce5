// The collector on small hand-written packages in the formats of its three sources.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { verifies } from '../../tests/support/verifies.ts';
import { loadPack } from '../define/load.ts';
import type { Observed } from '../define/model.ts';
import { checkValue } from '../define/schema.ts';
import { readings } from './fixtures-test/folders.ts';
import { genaiUrl } from './genai.ts';

verifies('collect.source-url');

type At = Awaited<ReturnType<typeof readings>>;

const pack = await loadPack(import.meta.dirname);
const at: At = await readings();

afterAll(() => rm(at.root, { recursive: true }));

/** Values of a reading by model id; each must be valid in the pack. */
async function read(...args: Parameters<At['reading']>): Promise<Map<string, Observed>> {
  const found = new Map<string, Observed>();
  for await (const observed of pack.collector.read(await at.reading(...args), at.context)) {
    for (const [name, value] of Object.entries(observed.values)) {
      const attribute = pack.attributes.find((each) => each.name === name);
      if (value !== undefined) expect(attribute && checkValue(attribute, value), name).toMatchObject({ ok: true });
    }
    found.set(String(observed.identity['model_id']), observed);
  }
  return found;
}

/** The defined values. */
const said = (observed: Observed | undefined) =>
  Object.fromEntries(Object.entries(observed?.values ?? {}).filter(([, value]) => value !== undefined));

const evidence = (observed: Observed | undefined, name: string) =>
  (observed?.evidence as Record<string, string> | undefined)?.[name];

describe('genai-prices', () => {
  test('a complete model', async () => {
    const mini = (await read('genai-prices', '0.0.72')).get('orion-2-mini');
    expect(said(mini)).toEqual({
      provider: 'example-ai',
      model_id: 'orion-2-mini',
      name: 'Orion 2 mini',
      status: 'listed',
      first_observed: '2026-09-23',
      context_window: 200000,
      description: 'Small\tand  fast ("mini"), with [brackets] and a } in its text.',
      pricing_url: 'https://example-ai.example/pricing',
      'price.input': 0.4,
      'price.output': 1.6,
      'price.cache_read': 0.04,
    });
    expect(mini?.source_url).toBe('https://github.com/pydantic/genai-prices/tree/main/prices/providers');
    expect(evidence(mini, 'price.input')).toBe('input_mtok: 0.4; price page https://example-ai.example/pricing');
    expect(evidence(mini, 'context_window')).toBe('context_window: 200000');
  });

  test('an id copied from an address is decoded, and its prices are below the floor', async () => {
    const tern = (await read('genai-prices', '0.0.72')).get('example.tern-v1:0');
    expect(said(tern)).toMatchObject({ model_id: 'example.tern-v1:0', 'price.input': 220 });
    expect(tern?.confidence).toMatchObject({ 'price.input': 0.2, 'price.output': 0.2 });
    expect(0.2).toBeLessThan(pack.consolidation.floor);
    expect(evidence(tern, 'price.input')).toContain('its id example.tern-v1%3A0 was copied unread');
  });

  test('tiers and times of day are ranges, remarks and deprecation are kept', async () => {
    const models = await read('genai-prices', '0.0.72');
    expect(said(models.get('orion-long'))).toMatchObject({
      status: 'deprecated',
      pricing_note: 'The upper price holds for the whole request.',
      'price.input': { min: 1.25, max: 2.5, currency: 'USD' },
      'price.web_search': 8,
    });
    expect(said(models.get('grok-sample'))).toMatchObject({
      vendor: 'x-ai',
      'price.output': { min: 0.55, max: 1.1, currency: 'USD' },
    });
  });

  test('the price on the day of the reading, and no future one', async () => {
    const early = await read('genai-prices', '0.0.72', '2026-03-12T00:00:00Z');
    expect(said(early.get('orion-flash'))).toMatchObject({ 'price.input': 2, 'price.cache_read': 0.2 });
    const flash = (await read('genai-prices', '0.0.72')).get('orion-flash');
    expect(said(flash)).toMatchObject({ 'price.input': 1, 'price.output': 4 });
    expect(said(flash)).not.toHaveProperty('price.cache_read');
    expect(evidence(flash, 'price.input')).toMatch(/^input_mtok: 1 from 2026-03-13; 3 from 2027-01-01;/);
  });

  test('zero is a price only for free models; a missing one stays missing', async () => {
    const models = await read('genai-prices', '0.0.72');
    expect(said(models.get('orion-0:free'))).toMatchObject({ 'price.input': 0, 'price.output': 0 });
    expect(said(models.get('orion-embed_1'))).toMatchObject({ kind: 'embedding', 'price.input': 0.02 });
    expect(said(models.get('orion-embed_1'))).not.toHaveProperty('price.output');
    expect(Object.keys(said(models.get('orion-secret'))).filter((name) => name.startsWith('price.'))).toEqual([]);
  });

  test('two spellings are one model, and a price without attribute is logged', async () => {
    at.logged.length = 0;
    const models = await read('genai-prices', '0.0.72');
    expect([...models.keys()]).not.toContain('Orion.Embed-1');
    expect(models.size).toBe(8);
    expect(at.logged).toEqual([
      'genai-prices 0.0.72 has prices without attribute (add them to price-keys.ts): magic_kcount',
    ]);
  });

  test('links lead to the file at the tag of the version, after the last tag to the newest', () => {
    const file = 'https://github.com/pydantic/genai-prices/blob';
    expect(genaiUrl('0.0.22', 'openai')).toBe(`${file}/v0.0.22/prices/providers/openai.yml`);
    expect(genaiUrl('0.1.4', 'x-ai')).toBe(`${file}/v0.1.4/prices/providers/x_ai.yml`);
    expect(genaiUrl('0.1.8', 'github-copilot')).toBe(`${file}/main/prices/providers/github_copilot.yml`);
  });

  test('a package with a new layout throws', async () => {
    const reading = await at.reading('genai-prices', '0.0.72');
    await writeFile(join(reading.folder, 'dist', 'index.js'), 'export const providers = load();');
    const reader = pack.collector.read(reading, at.context);
    await expect(Array.fromAsync(reader)).rejects.toThrow('the package has a new layout');
  });
});

describe('pi-ai', () => {
  test('a model of the older layout, where all were chat models', async () => {
    const models = await read('pi-ai', '0.84.0', '2026-08-06T11:03:30Z');
    const mini = models.get('orion-2-mini');
    expect(said(mini)).toEqual({
      provider: 'example-ai',
      model_id: 'orion-2-mini',
      name: 'Orion 2 Mini',
      kind: 'chat',
      status: 'listed',
      first_observed: '2026-08-06',
      context_window: 200000,
      max_output_tokens: 200000,
      input_modalities: ['text', 'image'],
      reasoning: true,
      tool_call: true,
      'price.input': 0.4,
      'price.output': 1.6,
      'price.cache_read': 0.04,
    });
    expect(mini?.confidence).toEqual({ vendor: 0.7, tool_call: 0.7, max_output_tokens: 0.5 });
    expect(mini?.source_url).toBe('https://unpkg.com/@earendil-works/pi-ai@0.84.0/dist/providers/data/example-ai.json');
  });

  test('tiers are ranges; of two entries for one model the chat entry has precedence and the other fills gaps', async () => {
    const models = await read('pi-ai', '1.5.2');
    expect(models.size).toBe(5);
    const mini = models.get('orion.2-Mini');
    expect(said(mini)).toMatchObject({
      name: 'Orion 2 Mini',
      kind: 'chat',
      max_output_tokens: 16384,
      output_modalities: ['image'],
      'price.input': { min: 0.4, max: 0.8, currency: 'USD' },
    });
    expect(said(mini)).not.toHaveProperty('price.cache_write');
    expect(evidence(mini, 'price.input')).toBe('orion.2-Mini cost.input: 0.4, 0.8 above 100000 input tokens');
    expect(mini?.confidence).not.toHaveProperty('max_output_tokens');
  });

  test('a cost of zero is unknown unless the model is free, and below zero it varies', async () => {
    const models = await read('pi-ai', '1.5.2');
    const priced = (id: string) => Object.keys(said(models.get(id))).filter((name) => name.startsWith('price.'));
    expect(priced('orion-plan')).toEqual([]);
    expect(priced('auto')).toEqual([]);
    expect(priced('orion-0:free')).toEqual(['price.input', 'price.output']);
    expect(priced('sorter')).toEqual(['price.input']);
  });

  test('a kind other than chat, and a lab as maker', async () => {
    const models = await read('pi-ai', '1.5.2');
    expect(said(models.get('sorter'))).toMatchObject({ kind: 'other' });
    expect(said(models.get('sorter'))).not.toHaveProperty('tool_call');
    expect(said(models.get('auto'))).toMatchObject({ vendor: 'sample-works' });
  });
});

describe('tokenlens', () => {
  test('the same record: all values, months as their first day, zeros left out', async () => {
    const models = await read('tokenlens', '1.3.0', '2025-09-11T00:00:00Z');
    const mini = [...models.values()].find((one) => said(one)['name'] === 'Orion 2 Mini');
    expect(said(mini)).toEqual({
      name: 'Orion 2 Mini',
      first_observed: '2025-09-11',
      context_window: 200000,
      max_output_tokens: 200000,
      input_modalities: ['text', 'image', 'pdf'],
      output_modalities: ['text'],
      reasoning: true,
      tool_call: false,
      open_weights: false,
      release_date: '2025-07-01',
      knowledge_cutoff: '2025-03-01',
      'price.input': 0.5,
      'price.output': 2,
    });
    expect(mini?.confidence).toEqual({ max_output_tokens: 0.5 });
    expect(mini?.source_url).toBe('https://models.dev/?search=orion-2-mini');
    expect(evidence(mini, 'knowledge_cutoff')).toBe('knowledge: 2025-03');
  });

  test('a record that the others dropped: only permanent values', async () => {
    const old = (await read('tokenlens', '1.3.0', '2025-09-11T00:00:00Z')).get('orion-old');
    expect(said(old)).toEqual({
      first_observed: '2025-09-11',
      output_modalities: ['text'],
      open_weights: true,
      release_date: '2024-01-15',
    });
  });

  test('a record that only this source has is left out', async () => {
    const models = await read('tokenlens', '1.3.0');
    expect([...models.keys()]).not.toContain('sampleworks/nobody-else-knows');
    expect(models.size).toBe(2);
  });
});

describe('observedAt', () => {
  test('the date inside the data, if there is one', async () => {
    const dates = [];
    for (const [source, version] of [
      ['pi-ai', '1.5.2'],
      ['tokenlens', '1.3.0'],
      ['genai-prices', '0.1.8'],
    ] as const) {
      dates.push(await pack.collector.observedAt?.((await at.reading(source, version)).folder));
    }
    expect(dates).toEqual(['2026-11-10T12:05:37Z', '2025-09-11T00:00:00Z', null]);
  });
});
