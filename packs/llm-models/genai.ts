// Reads genai-prices: providers and models as a literal in dist/index.js, curated from the providers' price
// pages.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CollectContext, type Observed, type Reading, type Value, z } from 'dataset-register/pack';
import { recordKey } from './identity.ts';
import { derivedFacts, type OtherListings, readOtherListings } from './kinds.ts';
import { findLiteral } from './literal.ts';
import { ATTRIBUTE_OF_KEY } from './price-keys.ts';
import { Prices, pricesOn } from './shapes.ts';
import { vendorOf } from './vendor.ts';

/** Decodes an id copied from an address: `meta.llama3-8b-instruct-v1%3A0`. */
function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

const Listed = z.object({
  id: z.string(),
  name: z.string().optional(),
  description: z.string().optional(),
  context_window: z.number().optional(),
  deprecated: z.boolean().optional(),
  price_comments: z.string().optional(),
  prices: Prices,
});

/** A model with its decoded id; `written` is the id in the source. */
const Model = Listed.transform((listed) => ({ ...listed, id: decoded(listed.id), written: listed.id }));

const Provider = z.object({
  id: z.string(),
  pricing_urls: z.array(z.string()).optional(),
  models: z.array(Model),
});
type Provider = z.output<typeof Provider>;
type Model = z.output<typeof Model>;

/** Every provider of a version. Throws when the package has a new layout. */
export async function genaiProviders(folder: string): Promise<Provider[]> {
  const text = await readFile(join(folder, 'dist', 'index.js'), 'utf8');
  return z.array(Provider).parse(findLiteral(text, /=\s*\[\s*\{\s*(?=id:)/));
}

const REPOSITORY = 'https://github.com/pydantic/genai-prices';
/** Providers whose file in the repository has another name. */
const FILES: Record<string, string> = { 'x-ai': 'x_ai', 'github-copilot': 'github_copilot' };
/** Providers with a known file in the repository; others link to the folder. */
const SEEN = new Set(
  `anthropic arcee avian aws azure baseten cerebras cloudflare cohere cursor deepseek doubleword fireworks github-copilot
  google groq huggingface_cerebras huggingface_fireworks-ai huggingface_groq huggingface_hyperbolic huggingface_nebius
  huggingface_novita huggingface_nscale huggingface_ovhcloud huggingface_publicai huggingface_sambanova
  huggingface_together minimax mistral modal moonshotai novita openai openrouter ovhcloud perplexity quicksilverpro together
  typesafe voyageai x-ai zai zhipuai`.split(/\s+/),
);

/** Whether the repository has a public tag of this version. */
function isTagged(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  return major === 0 && (minor === 0 || (minor === 1 && patch <= 4));
}

/** The provider's file at the tag of the version; after the last public tag the file on the main branch. */
export function genaiUrl(version: string, provider: string): string {
  if (!SEEN.has(provider)) return `${REPOSITORY}/tree/main/prices/providers`;
  const at = isTagged(version) ? `v${version}` : 'main';
  return `${REPOSITORY}/blob/${at}/prices/providers/${FILES[provider] ?? provider}.yml`;
}

/** The page of a provider at another version; a link to the folder stays. */
export function genaiPageAt(url: string, version: string): string {
  return url.replace(/\/blob\/[^/]+\//, `/blob/${isTagged(version) ? `v${version}` : 'main'}/`);
}

/** Confidence of a value that is stored and never published (the pack's floor is 0.3). */
const DOUBTED = 0.2;

function observe(reading: Reading, provider: Provider, model: Model, other: OtherListings): Observed {
  const identity = { provider: provider.id, model_id: model.id };
  const day = reading.observed_at.slice(0, 10);
  const maker = vendorOf(provider.id, model.id);
  const page = provider.pricing_urls?.[0];
  const billed = new Set(model.prices.flatMap((set) => Object.keys(set.prices)));
  const { kind, input_modalities } = derivedFacts(provider.id, model.id, billed, other);
  const values: Record<string, Value | undefined> = {
    ...identity,
    name: model.name,
    vendor: maker?.vendor,
    kind: kind?.value,
    input_modalities: input_modalities?.value,
    status: model.deprecated === true ? 'deprecated' : 'listed',
    first_observed: day,
    context_window: model.context_window,
    description: model.description,
    pricing_note: model.price_comments,
    pricing_url: page,
  };
  const evidence: Record<string, string> = {
    '*': `${model.written} in genai-prices ${reading.version}`,
    vendor: maker?.how ?? '',
    kind: kind?.how ?? '',
    input_modalities: input_modalities?.how ?? '',
    status: `deprecated: ${model.deprecated === true}`,
    first_observed: `first listed by genai-prices ${reading.version}`,
    context_window: `context_window: ${model.context_window}`,
    pricing_note: 'price_comments',
    pricing_url: 'pricing_urls[0] of the provider',
  };
  const free = model.id.endsWith(':free');
  const confidence: Record<string, number> = { vendor: 0.7 };
  for (const [name, entry] of Object.entries({ kind, input_modalities }))
    if (entry) confidence[name] = entry.confidence;
  for (const [key, price] of pricesOn(model.prices, day)) {
    const attribute = ATTRIBUTE_OF_KEY.get(key);
    if (attribute === undefined || (price.value === 0 && !free)) continue;
    values[attribute] = price.value;
    evidence[attribute] = `${key}: ${price.words}${page === undefined ? '' : `; price page ${page}`}`;
    if (model.id === model.written) continue;
    // The one such entry, corrected in 0.0.39, had prices a thousand times too high.
    confidence[attribute] = DOUBTED;
    evidence[attribute] += `; doubted, as its id ${model.written} was copied unread`;
  }
  return {
    identity,
    values,
    confidence,
    source_url: genaiUrl(reading.version, provider.id),
    evidence,
  };
}

/** Every model of the version; of two spellings of one id the first. */
export async function* readGenai(reading: Reading, context: CollectContext): AsyncGenerator<Observed> {
  const seen = new Set<string>();
  const unknown = new Set<string>();
  const other = await readOtherListings(context);
  for (const provider of await genaiProviders(reading.folder)) {
    for (const model of provider.models) {
      const observed = observe(reading, provider, model, other);
      const key = recordKey(observed.identity);
      if (seen.has(key)) continue;
      seen.add(key);
      for (const name of model.prices.flatMap((set) => Object.keys(set.prices))) {
        if (!ATTRIBUTE_OF_KEY.has(name)) unknown.add(name);
      }
      yield observed;
    }
  }
  if (unknown.size > 0)
    context.log(
      `genai-prices ${reading.version} has prices without attribute (add them to price-keys.ts): ${[...unknown].join(', ')}`,
    );
}
