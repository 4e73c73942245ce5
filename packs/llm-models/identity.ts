// Which record a source speaks of: provider names made one, ids compared without case and punctuation, slugs.
import { type Identity, slugify } from 'dataset-register/pack';

/** Providers that a source calls by another name than genai-prices does. The rest bear the same name everywhere. */
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

/** How two model ids are compared: `GLM-5.2`, `glm_5.2` and `glm-5-2` are one. */
export function comparable(modelId: string): string {
  return modelId.toLowerCase().replace(/[._]/g, '-');
}

/** Comparison key of a record: `zai/glm-5-2`. */
export function recordKey(identity: Identity): string {
  return `${String(identity['provider']).toLowerCase()}/${comparable(String(identity['model_id']))}`;
}

/** Wanted slug: `openai-gpt-4-1`. */
export function recordSlug(identity: Identity): string {
  return slugify(`${identity['provider']}-${identity['model_id']}`, { decamelize: false });
}

/**
 * Providers that resell many others' models. Their prices move daily, so the newer machine reading is right and a
 * difference between two readings is no conflict.
 */
export function isAggregator(provider: string): boolean {
  return provider === 'openrouter' || provider === 'vercel-ai-gateway' || /^huggingface(_|$)/.test(provider);
}
