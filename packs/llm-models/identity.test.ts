// Spellings of one record, slugs, and resellers.
import { expect, test } from 'vitest';
import { isAggregator, providerId, recordKey, recordSlug } from './identity.ts';

const id = (provider: string, model_id: string) => ({ provider, model_id });

test('case, dots and underscores are ignored; colons and slashes are not', () => {
  expect(recordKey(id('zai', 'GLM-5.2'))).toBe(recordKey(id('zai', 'glm_5-2')));
  expect(recordKey(id('aws', 'nova:0'))).not.toBe(recordKey(id('aws', 'nova-0')));
  expect(recordKey(id('azure', 'gpt-5'))).not.toBe(recordKey(id('openai', 'gpt-5')));
});

test('slugs are equal for spellings of one record', () => {
  expect(recordSlug(id('zai', 'GLM-5.2'))).toBe('zai-glm-5-2');
  expect(recordSlug(id('zai', 'glm_5-2'))).toBe('zai-glm-5-2');
  expect(recordSlug(id('cloudflare', '@cf/meta/Llama-3_1-8B'))).toBe('cloudflare-cf-meta-llama-3-1-8b');
});

test('providers have one name', () => {
  expect(['amazon-bedrock', 'xai', 'togetherai', 'openai'].map(providerId)).toEqual([
    'aws',
    'x-ai',
    'together',
    'openai',
  ]);
});

test('resellers', () => {
  const providers = ['openrouter', 'huggingface', 'huggingface_novita', 'vercel-ai-gateway', 'aws', 'together'];
  expect(providers.filter(isAggregator)).toEqual([
    'openrouter',
    'huggingface',
    'huggingface_novita',
    'vercel-ai-gateway',
  ]);
});
