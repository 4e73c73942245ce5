// Prominence of models: who sells them, how many do, and which readings have it.
import { rm } from 'node:fs/promises';
import { afterAll, expect, test } from 'vitest';
import { loadPack } from '../define/load.ts';
import type { Observed } from '../define/model.ts';
import { readings } from './fixtures-test/folders.ts';
import { countListings, modelProminence } from './prominence.ts';

const at: Awaited<ReturnType<typeof readings>> = await readings();
afterAll(() => rm(at.root, { recursive: true }));

const LISTED = [
  ['openai', 'gpt-9'],
  ['openai', 'gpt-9-mini'],
  ['azure', 'gpt-9'],
  ['openrouter', 'openai/gpt-9'],
  ['openrouter', 'openai/gpt-9:free'],
  ['aws', 'openai.gpt-9-v1:0'],
  ['aws', 'us.openai.gpt-9-v1:0'],
].map(([provider = '', model_id = '']) => ({ provider, model_id }));

const NONE = countListings([]);
const prominence = (provider: string, model_id: string, vendor?: string, pinned = countListings(LISTED), own = NONE) =>
  modelProminence({ provider, model_id }, vendor, pinned, own);

test('the maker comes first, then its other services, then resellers', () => {
  expect(prominence('openai', 'gpt-9', 'openai')).toEqual({
    value: 710,
    evidence: 'derived: maker; 4 providers of the model; 2 models at openai',
  });
  expect(prominence('openai-codex', 'gpt-9', 'openai').value).toBe(600);
  expect(prominence('azure', 'gpt-9', 'openai').value).toBe(200);
});

test('a model of more providers comes first; aliases, variants and routes count as one provider', () => {
  expect(prominence('openai', 'gpt-9-mini', 'openai').value).toBe(510);
  expect(prominence('openrouter', 'openai/gpt-9', 'openai').value).toBe(210);
  expect(prominence('openrouter', 'openai/gpt-9:free', 'openai').value).toBe(10);
  expect(prominence('openai', 'gpt-latest', 'openai').value).toBe(510);
  expect(prominence('aws', 'openai.gpt-9-v1:0', 'openai').value).toBe(210);
  expect(prominence('aws', 'us.openai.gpt-9-v1:0', 'openai').value).toBe(10);
});

test('counts are those of the pinned versions, else those of the reading, up to a bound', () => {
  const many = Array.from({ length: 5000 }, (_, i) => ({ provider: `p${i}`, model_id: 'gpt-10' }));
  const own = countListings([...many, { provider: 'azure', model_id: 'gpt-9' }]);
  expect(prominence('openai', 'gpt-9', 'openai', countListings(LISTED), own).value).toBe(710);
  expect(prominence('openai', 'gpt-10', 'openai', countListings(LISTED), own).value).toBe(910);
  expect(prominence('zz', 'gpt-10', 'zz', countListings(LISTED.concat(many)), own).value).toBeLessThanOrEqual(1000);
});

test('only the newest versions have it, the same for both sources', async () => {
  const pack = await loadPack(import.meta.dirname);
  const of = async (source: 'genai-prices' | 'pi-ai', version: string) => {
    const found = new Map<string, Observed>();
    for await (const each of pack.collector.read(await at.reading(source, version), at.context))
      found.set(String(each.identity['model_id']).toLowerCase().replace('.', '-'), each);
    return found.get('orion-2-mini');
  };
  expect((await of('genai-prices', '0.0.72'))?.values).not.toHaveProperty('prominence');
  expect((await of('pi-ai', '1.3.0'))?.values).not.toHaveProperty('prominence');
  const [genai, pi] = [await of('genai-prices', '9.9.9'), await of('pi-ai', '1.5.2')];
  expect(genai).toMatchObject({ values: { prominence: 33 }, confidence: { prominence: 0.6, vendor: 0.7 } });
  expect(genai?.evidence).toMatchObject({
    '*': expect.stringContaining('genai-prices'),
    prominence: expect.stringContaining('1 provider of the model'),
  });
  expect(pi?.values['prominence']).toBe(genai?.values['prominence']);
});
