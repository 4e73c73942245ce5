// Identity of a record: provider names unified, ids compared without case and punctuation, slugs.
import { type Identity, slugify } from 'dataset-register/pack';

/** Providers that a source names differently from genai-prices. All others have one name in every source. */
const PROVIDERS: Record<string, string> = {
  'amazon-bedrock': 'aws',
  'azure-openai-responses': 'azure',
  'cloudflare-workers-ai': 'cloudflare',
  'fireworks-ai': 'fireworks',
  togetherai: 'together',
  vercel: 'vercel-ai-gateway',
  xai: 'x-ai',
};

/** The provider's id in this dataset. */
export function providerId(name: string): string {
  return PROVIDERS[name] ?? name;
}

/** An id for comparison: `GLM-5.2`, `glm_5.2` and `glm-5-2` are equal. */
export function comparableId(modelId: string): string {
  return modelId.toLowerCase().replace(/[._]/g, '-');
}

/** Comparison key of a record: `zai/glm-5-2`. */
export function recordKey(identity: Identity): string {
  return `${String(identity['provider']).toLowerCase()}/${comparableId(String(identity['model_id']))}`;
}

/** Preferred slug: `openai-gpt-4-1`. */
export function recordSlug(identity: Identity): string {
  return slugify(`${identity['provider']}-${identity['model_id']}`, { decamelize: false });
}

/**
 * Providers that resell models of many others. Their prices change daily, so the newer reading is right and a
 * difference between readings is no conflict.
 */
export function isAggregator(provider: string): boolean {
  return provider === 'openrouter' || provider === 'vercel-ai-gateway' || /^huggingface(_|$)/.test(provider);
}
