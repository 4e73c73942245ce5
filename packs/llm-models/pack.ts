// AI model prices: prices of models at each provider, limits and abilities, from three open catalogues.
import { definePack } from 'dataset-register/pack';
import { ATTRIBUTES } from './attributes.ts';
import { isAggregator, recordKey, recordSlug } from './identity.ts';
import { GENAI_PINS, PACKAGES, PI_PINS, TOKENLENS_PINS } from './pins.ts';
import { leafOf } from './same-model.ts';

export default definePack({
  title: 'AI model prices',
  description:
    'Prices, limits and abilities of language, embedding and image models at each provider that sells them, with the source, date and confidence of every value and the history of its changes since August 2025.',
  keywords: ['AI models', 'LLM', 'prices', 'tokens', 'context window', 'API', 'providers', 'inference'],
  license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
  attribution:
    'Model prices: genai-prices © Pydantic Services Inc. (MIT); pi-ai © Mario Zechner and contributors (MIT); models.dev via TokenLens © Nicklas Scharpff (MIT). Compiled with per-value provenance; check the provider’s price page before relying on it.',
  revision: 4,
  sources: {
    'genai-prices': {
      title: 'genai-prices',
      url: 'https://github.com/pydantic/genai-prices',
      license: 'MIT',
      trust: 0.9,
      pins: GENAI_PINS,
      newest: PACKAGES['genai-prices'],
      complete: true,
    },
    'pi-ai': {
      title: 'pi-ai',
      url: 'https://github.com/earendil-works/pi',
      license: 'MIT',
      trust: 0.75,
      pins: PI_PINS,
      newest: PACKAGES['pi-ai'],
      complete: true,
    },
    tokenlens: {
      title: 'models.dev via TokenLens',
      url: 'https://models.dev/',
      license: 'MIT',
      trust: 0.65,
      pins: TOKENLENS_PINS,
      newest: PACKAGES.tokenlens,
      complete: false,
    },
  },
  attributes: ATTRIBUTES,
  identity: {
    attributes: ['provider', 'model_id'],
    key: recordKey,
    slug: recordSlug,
    name: (identity, values) => String(values['name'] ?? identity['model_id']),
    same: (identity) => leafOf(String(identity['model_id'])),
  },
  consolidation: {
    floor: 0.3,
    apart_days: 30,
    penalty: 0.2,
    // People copy lists of makers and clouds carefully; daily prices of resellers are better read by machine.
    rule: (identity) =>
      isAggregator(String(identity['provider']))
        ? { prefer: 'newest', trust: { 'pi-ai': 0.8, 'genai-prices': 0.7 } }
        : { prefer: 'trust' },
  },
  gone: { attribute: 'status', value: 'delisted', confidence: 0.8 },
  group_by: 'provider',
  serving: {
    showcase: { per_group: 2 },
    distinguish_by: ['provider', 'model_id'],
    similar_differ_by: 'provider',
    similar_by: ['name', 'model_id', 'vendor', 'description'],
    prominence: 'prominence',
  },
  compare: [
    'price.input',
    'price.output',
    'price.cache_read',
    'context_window',
    'max_output_tokens',
    'input_modalities',
    'reasoning',
    'status',
  ],
  calculator: {
    title: 'Cost of a month',
    unit: 'USD',
    better: 'low',
    inputs: {
      input_tokens: { label: 'Input', unit: 'million tokens a month', default: 10 },
      cached_tokens: { label: 'Input read from a cache', unit: 'million tokens a month', default: 0 },
      output_tokens: { label: 'Output', unit: 'million tokens a month', default: 2 },
    },
    sum: [
      { attribute: 'price.input', input: 'input_tokens' },
      // A provider without a price for cached tokens bills them as input.
      { attribute: 'price.cache_read', otherwise: 'price.input', input: 'cached_tokens' },
      { attribute: 'price.output', input: 'output_tokens' },
    ],
  },
  prices: { search: 0.008, get: 0.004, facts: 0.01, prices: 0.004, compare: 0.012, stats: 0.015 },
  schedule: '0 3 * * *',
  tests: [
    { kind: 'rows', min: 2500, max: 20000 },
    { kind: 'fill', attribute: 'provider', min: 1 },
    { kind: 'fill', attribute: 'model_id', min: 1 },
    { kind: 'fill', attribute: 'status', min: 0.99 },
    { kind: 'fill', attribute: 'first_observed', min: 0.99 },
    { kind: 'fill', attribute: 'name', min: 0.75 },
    { kind: 'fill', attribute: 'price.input', min: 0.8 },
    { kind: 'fill', attribute: 'price.output', min: 0.75 },
    { kind: 'fill', attribute: 'context_window', min: 0.6 },
    { kind: 'accepted', attribute: 'status', values: ['listed', 'deprecated', 'delisted'] },
    { kind: 'accepted', attribute: 'kind', values: ['chat', 'embedding', 'image', 'classifier', 'other'] },
  ],
});
