// Reads pi-ai: one JSON file per provider, read by its authors from the providers' own model lists every few days.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Observed, type PriceRange, type Reading, type Value, z } from 'dataset-register/pack';
import { comparable, providerId } from './identity.ts';
import { positive, usd } from './shapes.ts';
import { vendorOf } from './vendor.ts';

const cost = { input: z.number(), output: z.number(), cacheRead: z.number(), cacheWrite: z.number() };

const Model = z.object({
  id: z.string(),
  name: z.string().optional(),
  provider: z.string(),
  /** Absent before version 1.0, which had chat models alone. */
  type: z.string().default('chat'),
  reasoning: z.boolean().optional(),
  input: z.array(z.string()).optional(),
  output: z.array(z.string()).optional(),
  cost: z.object({ ...cost, tiers: z.array(z.object({ inputTokensAbove: z.number(), ...cost })).default([]) }),
  contextWindow: z.number().optional(),
  maxTokens: z.number().optional(),
  /** Maker of the model, which the provider `radius` names. */
  lab: z.string().optional(),
  free: z.boolean().optional(),
});
export type PiModel = z.output<typeof Model>;

/** `{api: {'chat:gpt-5': {…}}}`; before 1.0 the inner key is the id alone. */
const File = z.record(z.string(), z.record(z.string(), Model));

const DATA = join('dist', 'providers', 'data');

/** When the catalogue was made, to the second; null when the package does not say. */
export async function piGeneratedAt(folder: string): Promise<string | null> {
  const text = await readFile(join(folder, DATA, '.manifest.json'), 'utf8').catch(() => null);
  const said = text === null ? null : z.object({ generatedAt: z.iso.datetime() }).safeParse(JSON.parse(text));
  return said?.success ? said.data.generatedAt.replace(/\.\d+Z$/, 'Z') : null;
}

/** Every model of a version, by file. Throws when a file is not what it was. */
export async function piModels(folder: string): Promise<{ file: string; models: PiModel[] }[]> {
  const files = (await readdir(join(folder, DATA))).filter((name) => /^[\w-]+\.json$/.test(name)).sort();
  return Promise.all(
    files.map(async (file) => {
      const apis = File.parse(JSON.parse(await readFile(join(folder, DATA, file), 'utf8')));
      return { file, models: Object.values(apis).flatMap((models) => Object.values(models)) };
    }),
  );
}

const PRICED = [
  ['price.input', 'input'],
  ['price.output', 'output'],
  ['price.cache_read', 'cacheRead'],
  ['price.cache_write', 'cacheWrite'],
] as const;

/** Prices by attribute, with words as evidence. Zero means not known or not charged apart, unless the model is free; below zero: it varies. */
function prices(model: PiModel): [attribute: string, value: number | PriceRange, words: string][] {
  const free = model.free === true || model.id.endsWith(':free');
  return PRICED.flatMap(([attribute, key]) => {
    const steps = [{ above: 0, amount: model.cost[key] }];
    for (const tier of model.cost.tiers) steps.push({ above: tier.inputTokensAbove, amount: tier[key] });
    const known = steps.filter(({ amount }) => amount > 0);
    if (known.length === 0) {
      const zero = free && model.cost[key] === 0 && (key === 'input' || key === 'output');
      return zero ? [[attribute, 0, `cost.${key}: 0, a free model`]] : [];
    }
    const words = known.map(({ above, amount }) => (above === 0 ? amount : `${amount} above ${above} input tokens`));
    return [[attribute, usd(known.map(({ amount }) => amount)), `cost.${key}: ${words.join(', ')}`]];
  });
}

export const KINDS = ['chat', 'embedding', 'image', 'classifier'];

function observe(reading: Reading, file: string, model: PiModel): Observed {
  const identity = { provider: providerId(model.provider), model_id: model.id };
  const maker = vendorOf(identity.provider, model.id, model.lab);
  const chat = model.type === 'chat';
  const values: Record<string, Value | undefined> = {
    ...identity,
    name: model.name,
    vendor: maker?.vendor,
    kind: KINDS.includes(model.type) ? model.type : 'other',
    status: 'listed',
    first_observed: reading.observed_at.slice(0, 10),
    context_window: positive(model.contextWindow),
    max_output_tokens: positive(model.maxTokens),
    input_modalities: model.input,
    output_modalities: model.output,
    reasoning: chat ? model.reasoning : undefined,
    tool_call: chat ? true : undefined,
  };
  const evidence: Record<string, string> = {
    '*': `${model.type}:${model.id} in pi-ai ${reading.version}`,
    vendor: maker?.how ?? '',
    first_observed: `first listed by pi-ai ${reading.version}`,
    context_window: `contextWindow: ${model.contextWindow}`,
    max_output_tokens: `maxTokens: ${model.maxTokens}`,
    tool_call: 'its chat catalogue lists only models that call tools',
  };
  for (const [attribute, value, words] of prices(model)) {
    values[attribute] = value;
    evidence[attribute] = `${model.id} ${words}`;
  }
  // As much output as context is what a list says that knows only one of them.
  const doubtful = model.maxTokens !== undefined && model.maxTokens === model.contextWindow;
  return {
    identity,
    values,
    confidence: { vendor: 0.7, tool_call: 0.7, ...(doubtful ? { max_output_tokens: 0.5 } : {}) },
    source_url: `https://unpkg.com/${reading.package}@${reading.version}/dist/providers/data/${file}`,
    evidence,
  };
}

/** A model listed twice, as chat and as image or under two spellings: the chat entry speaks first, the other fills its gaps. */
function merged(first: PiModel, second: PiModel): PiModel {
  const [main, other] = first.type !== 'chat' && second.type === 'chat' ? [second, first] : [first, second];
  return { ...other, ...main };
}

/** Every model that the version lists. */
export async function* readPi(reading: Reading): AsyncGenerator<Observed> {
  for (const { file, models } of await piModels(reading.folder)) {
    const byId = new Map<string, PiModel>();
    for (const model of models) {
      const key = comparable(model.id);
      const first = byId.get(key);
      byId.set(key, first === undefined ? model : merged(first, model));
    }
    for (const model of byId.values()) yield observe(reading, file, model);
  }
}
