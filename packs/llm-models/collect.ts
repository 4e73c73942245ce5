// Collects AI model prices with the reader of each source. Packages are parsed as files and never run.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CollectContext,
  defineCollector,
  type Observed,
  type Reading,
  type Value,
  z,
} from 'dataset-register/pack';
import { genaiPageAt, readGenai } from './genai.ts';
import { recordKey } from './identity.ts';
import { type KnownRecord, knownRecords } from './known.ts';
import { type DevModel, devModels, devUpdatedAt } from './models-dev.ts';
import { piGeneratedAt, readPi } from './pi-ai.ts';
import { PACKAGES } from './pins.ts';
import { withProminence } from './prominence.ts';
import { sameModel } from './same-model.ts';
import { positiveAmount } from './shapes.ts';

export default defineCollector({
  read(reading, context) {
    if (reading.source === 'tokenlens') return readTokenlens(reading, context);
    const records = reading.source === 'pi-ai' ? readPi(reading) : readGenai(reading, context);
    return withProminence(records, reading, context);
  },

  /** genai-prices has public tags for some versions only; the address of pi-ai contains its version. */
  confirmedUrl(url, { source, to }) {
    if (source !== 'genai-prices') return undefined;
    return genaiPageAt(url, to);
  },

  /** genai-prices contains no date, so the registry's is used. */
  async observedAt(folder) {
    const { name } = z
      .object({ name: z.string() })
      .parse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')));
    if (name === PACKAGES['pi-ai']) return piGeneratedAt(folder);
    return name === PACKAGES.tokenlens ? devUpdatedAt(folder) : null;
  },
});

// Reads TokenLens, a copy of models.dev from September 2025: release dates, knowledge cutoffs and open
// weights of records of the other sources.

/** A month becomes its first day. */
function day(date: string | undefined): string | undefined {
  return date !== undefined && /^\d{4}-\d\d$/.test(date) ? `${date}-01` : date;
}

function page(modelId: string): string {
  return `https://models.dev/?search=${encodeURIComponent(modelId)}`;
}

/** Permanent values of this record in models.dev. */
function lasting(reading: Reading, model: DevModel): Record<string, Value | undefined> {
  return {
    first_observed: reading.observed_at.slice(0, 10),
    output_modalities: model.modalities.output,
    open_weights: model.open_weights,
    release_date: day(model.release_date),
    knowledge_cutoff: day(model.knowledge),
  };
}

/** Values that change with time. */
function passing({ name, cost, limit, modalities, reasoning, tool_call }: DevModel): Record<string, Value | undefined> {
  return {
    name,
    context_window: positiveAmount(limit.context),
    max_output_tokens: positiveAmount(limit.output),
    input_modalities: modalities.input,
    reasoning,
    tool_call,
    'price.input': positiveAmount(cost?.input),
    'price.output': positiveAmount(cost?.output),
    'price.cache_read': positiveAmount(cost?.cache_read),
    'price.cache_write': positiveAmount(cost?.cache_write),
  };
}

/**
 * Values of this record in models.dev. The package is old and not complete, so for a record that the other
 * sources dropped only permanent values count: their last prices are newer.
 */
function observe(reading: Reading, { identity, listed }: KnownRecord, model: DevModel): Observed {
  const { cost, limit } = model;
  const doubtful = limit.output === limit.context;
  return {
    identity,
    values: { ...lasting(reading, model), ...(listed ? passing(model) : {}) },
    ...(doubtful ? { confidence: { max_output_tokens: 0.5 } } : {}),
    source_url: page(model.id),
    evidence: {
      '*': `${model.id} in models.dev, TokenLens ${reading.version}`,
      knowledge_cutoff: `knowledge: ${model.knowledge}`,
      context_window: `limit.context: ${limit.context}`,
      max_output_tokens: `limit.output: ${limit.output}`,
      'price.input': `${model.id} cost.input: ${cost?.input}`,
      'price.output': `${model.id} cost.output: ${cost?.output}`,
      'price.cache_read': `${model.id} cost.cache_read: ${cost?.cache_read}`,
      'price.cache_write': `${model.id} cost.cache_write: ${cost?.cache_write}`,
    },
  };
}

/**
 * Values for records of the other sources: all when provider and id are equal, and the dates when only the id
 * is (the same model at another provider), with a confidence of 0.5.
 */
async function* readTokenlens(reading: Reading, context: CollectContext): AsyncGenerator<Observed> {
  const models = await devModels(reading.folder);
  const exact = new Map(models.map((model) => [recordKey({ provider: model.provider, model_id: model.id }), model]));
  const elsewhere = sameModel(models);
  for (const [key, record] of await knownRecords(context)) {
    const model = exact.get(key);
    if (model !== undefined) {
      yield observe(reading, record, model);
      continue;
    }
    const dates = elsewhere(String(record.identity['model_id']));
    if (dates === null) continue;
    yield {
      identity: record.identity,
      values: { release_date: day(dates.release_date), knowledge_cutoff: day(dates.knowledge) },
      confidence: 0.5,
      source_url: page(dates.model.id),
      evidence: `the same model at ${dates.model.provider}: ${dates.model.id} in models.dev`,
    };
  }
}
