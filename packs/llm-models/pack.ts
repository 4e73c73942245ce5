// AI model prices: prices of models at each provider, limits and abilities, from three open catalogues.
import { definePack } from 'dataset-register/pack';
import { isAggregator, recordKey, recordSlug } from './identity.ts';
import { GENAI_PINS, PACKAGES, PI_PINS, TOKENLENS_PINS } from './pins.ts';
import { PRICES } from './price-keys.ts';
import { leafOf } from './same-model.ts';

type Attributes = Parameters<typeof definePack>[0]['attributes'];

/**
 * Hours until a value is outdated. The sources are read by version, so prices may be two months old, limits
 * three.
 */
const SLA = { price: 1440, limit: 2160, other: 8760 };

/** Flags of the two attributes that identify a model. */
const IN_KEY = {
  public: true,
  filterable: true,
  searchable: true,
  search_weight: 10,
  sla: SLA.other,
  weight: 0,
} as const;

const identifying: Attributes = {
  name: {
    type: 'string',
    description: 'Name of the model at the provider; its model_id if it has no name',
    example: 'Orion 2 mini',
    public: true,
    filterable: true,
    searchable: true,
    sla: SLA.other,
  },
  provider: {
    aliases: ['host', 'platform', 'seller', 'reseller'],
    type: 'enum',
    description:
      'Who sells access and sends the bill: a maker (anthropic), a cloud (aws, azure) or a reseller (openrouter)',
    example: 'example-ai',
    ...IN_KEY,
  },
  model_id: {
    aliases: ['model'],
    type: 'string',
    description:
      'Id to send in a request to this provider (openrouter needs the maker in it: openai/gpt-4.1). Ids that differ only in case, dots and underscores are one record',
    example: 'orion-2-mini',
    ...IN_KEY,
  },
  vendor: {
    aliases: ['company', 'maker', 'creator', 'developer', 'lab', 'organization', 'publisher'],
    type: 'string',
    description:
      'Maker of the model, derived from its id, in lower case: anthropic, meta, qwen. The seller is in provider',
    example: 'example-ai',
    public: true,
    filterable: true,
    searchable: true,
    search_weight: 5,
    sla: SLA.other,
    weight: 0.5,
  },
  kind: {
    aliases: ['task', 'type', 'category'],
    type: 'enum',
    description:
      'What the model does: chat answers in text, classifier in one of given labels. Derived below confidence 0.7',
    example: 'chat',
    values: ['chat', 'embedding', 'image', 'classifier', 'other'],
    public: true,
    filterable: true,
    sla: SLA.other,
  },
  status: {
    type: 'enum',
    description: 'listed; deprecated: by the provider; delisted: no source lists it any more, and the last values stay',
    example: 'listed',
    values: ['listed', 'deprecated', 'delisted'],
    public: true,
    filterable: true,
    sla: SLA.other,
    weight: 0,
  },
  first_observed: {
    aliases: ['first_seen'],
    type: 'date',
    description: 'Day of the first reading that named the model at this provider; readings begin in August 2025',
    example: '2026-02-11',
    public: true,
    filterable: true,
    sla: { warn: 87600, error: 876000 },
    once: true,
    weight: 0,
  },
  prominence: {
    aliases: ['popularity', 'rank'],
    type: 'integer',
    description:
      'How prominent the record is, 0 to 1000, to rank by: derived from who sells it (the maker first), how many providers sell the model, and how many models the provider sells',
    example: 690,
    public: true,
    filterable: true,
    range: { min: 0, max: 1000 },
    // Each source counts new models in its own list.
    tolerance: 1,
    sla: SLA.other,
    weight: 0,
  },
};

const abilities: Attributes = {
  context_window: {
    aliases: ['context_length', 'max_context', 'ctx', 'max_input_tokens'],
    type: 'integer',
    unit: 'tokens',
    description: 'Maximum tokens of prompt and answer together at this provider',
    example: 200000,
    public: true,
    filterable: true,
    range: { min: 1, max: 1000000000 },
    // 128 000 and 131 072 are the same window in decimal and binary.
    tolerance: 0.05,
    better: 'high',
    sla: SLA.limit,
    weight: 2,
  },
  max_output_tokens: {
    aliases: ['max_tokens', 'max_completion_tokens', 'output_limit'],
    type: 'integer',
    unit: 'tokens',
    description: 'Maximum tokens of one answer. Confidence 0.5 where a source repeats the context window',
    example: 16384,
    filterable: true,
    range: { min: 1, max: 1000000000 },
    tolerance: 0.05,
    better: 'high',
    sla: SLA.limit,
  },
  input_modalities: {
    aliases: ['modality', 'modalities'],
    type: 'strings',
    description: 'Accepted input: text, image, audio, video, pdf. Most sources list only text and image',
    example: ['text', 'image'],
    public: true,
    filterable: true,
    sla: SLA.other,
  },
  output_modalities: {
    type: 'strings',
    description: 'Generated output: text, image, audio. Missing for most chat models, which generate text',
    example: ['text'],
    filterable: true,
    sla: SLA.other,
    weight: 0.5,
  },
  reasoning: {
    type: 'boolean',
    description: 'Whether the model can think before it answers; those tokens are billed as output',
    example: true,
    public: true,
    filterable: true,
    sla: SLA.other,
  },
  tool_call: {
    aliases: ['tools', 'tool_calling', 'tool_use', 'function_calling', 'functions'],
    type: 'boolean',
    description:
      'Whether the model can call tools (functions). Confidence 0.7 where it is derived from a catalogue of such models',
    example: true,
    filterable: true,
    sla: SLA.other,
    weight: 0.5,
  },
  open_weights: {
    aliases: ['open_source', 'open'],
    type: 'boolean',
    description: 'Whether the weights can be downloaded',
    example: false,
    filterable: true,
    sla: SLA.other,
    weight: 0.5,
  },
  release_date: {
    aliases: ['released'],
    type: 'date',
    description:
      'Day the maker released the model. Confidence 0.5 where copied from the same model at another provider',
    example: '2025-08-05',
    filterable: true,
    sla: { warn: 87600, error: 876000 },
    weight: 0.5,
  },
  knowledge_cutoff: {
    aliases: ['cutoff', 'training_cutoff'],
    type: 'date',
    description: 'Day up to which the training data reaches; the first of the month where only the month is known',
    example: '2025-03-01',
    filterable: true,
    sla: { warn: 87600, error: 876000 },
    weight: 0.5,
  },
  description: {
    type: 'text',
    description: 'A few sentences on what the model is for, from the source',
    example: 'Small and fast, for classification and short answers.',
    filterable: true,
    searchable: true,
    sla: SLA.other,
    weight: 0.5,
  },
};

const notes: Attributes = {
  pricing_note: {
    type: 'text',
    description: 'A note of the source on the prices: what they include and what they do not cover',
    example: 'Audio tokens cost the same as text.',
    sla: SLA.other,
    weight: 0,
  },
  pricing_url: {
    type: 'url',
    description: 'The provider’s own price page, which is authoritative',
    example: 'https://example-ai.example/pricing',
    public: true,
    sla: SLA.other,
    weight: 0.5,
  },
};

/** Weights of prices in the completeness of a record: most models have none of the rare ones. */
const WEIGHTS: Record<string, number> = { 'price.input': 3, 'price.output': 2, 'price.cache_read': 0.5 };

/** Prices that only one or two models have: without a filter. */
const UNFILTERED = ['price.input_video', 'price.output_video', 'price.output_reasoning', 'price.output_citation'];

const prices: Attributes = Object.fromEntries(
  Object.entries(PRICES).map(([name, { unit, description, example, aliases = [] }]) => [
    name,
    {
      type: 'price' as const,
      unit,
      currency: 'USD',
      description,
      example,
      aliases,
      public: name === 'price.input',
      filterable: !UNFILTERED.includes(name),
      range: { min: 0, max: 100000 },
      jump: 5,
      better: 'low' as const,
      // Prices of one provider differ by much more: of 245 first values that this held, only three were
      // wrong.
      group_jump: false,
      tolerance: 0.005,
      sla: SLA.price,
      weight: WEIGHTS[name] ?? 0,
    },
  ]),
);

/** In the order of a record. */
const ATTRIBUTES: Attributes = { ...identifying, ...prices, ...abilities, ...notes };

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
    core: ['name', 'provider', 'model_id', 'status', 'price.input', 'price.output', 'context_window'],
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
    title: 'Monthly cost',
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
