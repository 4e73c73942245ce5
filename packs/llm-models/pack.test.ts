// Rules of the pack: trust, public attributes, readable pages.
import { expect, test } from 'vitest';
import { recordMarkdown } from '../../api/render/record-template.ts';
import type { PublicRecord } from '../../data/model/record.ts';
import { loadPack } from '../define/load.ts';
import type { Pack } from '../define/model.ts';

const pack = await loadPack(import.meta.dirname);

const rule = (provider: string) => pack.consolidation.rule({ provider, model_id: 'sample' });

test('prices of makers settle by trust, those of resellers by the newer reading', () => {
  expect(rule('openai')).toEqual({ prefer: 'trust' });
  expect(rule('aws')).toEqual({ prefer: 'trust' });
  const resold = { prefer: 'newest', trust: { 'pi-ai': 0.8, 'genai-prices': 0.7 } };
  expect(rule('openrouter')).toEqual(resold);
  expect(rule('huggingface_novita')).toEqual(resold);
});

test('only the input price is public; all prices are in USD, with bounds', () => {
  const prices = pack.attributes.filter(({ type }) => type === 'price');
  expect(prices.map(({ name }) => name)).toEqual(pack.price_attributes);
  expect(prices.filter((each) => each.public).map(({ name }) => name)).toEqual(['price.input']);
  for (const { currency, jump, tolerance, sla } of prices) {
    expect({ currency, jump, tolerance, sla }).toEqual({
      currency: 'USD',
      jump: 5,
      tolerance: 0.005,
      sla: { warn: 720, error: 1440 },
    });
  }
});

test('a search by name and provider finds the record of the provider, and similar models ignore providers', () => {
  const weights = pack.attributes.filter(({ searchable }) => searchable).map((each) => [each.name, each.search_weight]);
  expect(Object.fromEntries(weights)).toEqual({ name: 1, provider: 10, model_id: 10, vendor: 5, description: 1 });
  expect(pack.serving.similar_by).not.toContain('provider');
});

test('pins of a source ascend in time and have each version once', () => {
  for (const { pins } of pack.sources) {
    const times = pins.map(({ observed_at }) => observed_at);
    expect(times).toEqual([...times].sort());
    expect(new Set(pins.map(({ version }) => version)).size).toBe(pins.length);
  }
});

test('a record has its name, else its id', () => {
  expect(pack.samples.map(({ identity, values }) => pack.identity.name(identity, values))).toEqual([
    'Orion 2 mini',
    'Atlas Long',
    'Tern Embed 1',
  ]);
  expect(pack.identity.name({ provider: 'a', model_id: 'b-1' }, {})).toBe('b-1');
});

function page(sample: Pack['samples'][number]): string {
  const provenance = Object.fromEntries(
    Object.keys(sample.values).map((name) => [
      name,
      {
        source_url: 'https://source.example/prices',
        observed_at: '2026-11-01T08:00:00Z',
        confidence: 0.9,
        evidence: sample.evidence ?? '',
        source: { kind: 'collector' as const },
      },
    ]),
  );
  const record: PublicRecord = {
    id: 'r-0123456789abcdef',
    slug: pack.identity.slug(sample.identity, sample.values),
    name: pack.identity.name(sample.identity, sample.values),
    dataset: pack.id,
    url: 'https://h.example/datasets/llm-models/sample',
    updated_at: '2026-11-01T08:00:00Z',
    attributes: sample.values,
    provenance,
    freshness: {},
    quality_score: 0.8,
    completeness: 0.5,
    verified_owner: false,
    license: 'MIT',
    attribution: 'Sample. https://h.example/datasets/llm-models/sample',
  };
  return recordMarkdown(record, pack);
}

test('a page shows the price first, and the conditions of a range', () => {
  const [, atlas, tern] = pack.samples.map(page);
  expect(atlas?.split('\n').slice(0, 7)).toEqual([
    '# Atlas Long',
    '',
    'atlas-long at sampleworks, made by sampleworks · chat · listed',
    '',
    '- Input: 1.25 to 2.5 USD/1M tokens',
    '- Output: 10 to 15 USD/1M tokens',
    '- Context: 1,000,000 tokens',
  ]);
  expect(atlas).toContain(
    '- price.input: 1.25 to 2.5 USD/1M tokens ([2026-11-01](https://source.example/prices), 0.9): invented for the samples',
  );
  expect(tern).not.toContain('Output');
  expect(tern).toContain(
    '- price.input: 0.02 USD/1M tokens ([2026-11-01](https://source.example/prices), 0.9)\n- context_window',
  );
});

test('the guide contains only existing filters', () => {
  const names = new Set(pack.attributes.filter((each) => each.filterable).map(({ name }) => name));
  const used = [...pack.guide.matchAll(/[`&]((?:min_|max_|like_|not_|has_)?)([a-z_.]+)=/g)].map(([, , name]) => name!);
  const others = ['q', 'sort', 'by', 'attribute', 'days', 'direction'];
  expect(used.length).toBeGreaterThan(10);
  expect(used.filter((name) => !names.has(name) && !others.includes(name))).toEqual([]);
});
