// Reads TokenLens, a copy of models.dev from September 2025: release dates, knowledge cutoffs and open
// weights of records of the other sources.
import type { CollectContext, Observed, Reading, Value } from 'dataset-register/pack';
import { recordKey } from './identity.ts';
import { type KnownRecord, knownRecords } from './known.ts';
import { type DevModel, devModels } from './models-dev.ts';
import { sameModel } from './same-model.ts';
import { positiveAmount } from './shapes.ts';

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
export async function* readTokenlens(reading: Reading, context: CollectContext): AsyncGenerator<Observed> {
  const models = await devModels(reading.folder);
  const exact = new Map(models.map((model) => [recordKey({ provider: model.provider, model_id: model.id }), model]));
  const elsewhere = sameModel(models);
  for (const [key, known] of await knownRecords(context)) {
    const model = exact.get(key);
    if (model !== undefined) {
      yield observe(reading, known, model);
      continue;
    }
    const dates = elsewhere(String(known.identity['model_id']));
    if (dates === null) continue;
    yield {
      identity: known.identity,
      values: { release_date: day(dates.release_date), knowledge_cutoff: day(dates.knowledge) },
      confidence: 0.5,
      source_url: page(dates.model.id),
      evidence: `the same model at ${dates.model.provider}: ${dates.model.id} in models.dev`,
    };
  }
}
