// Makers derived from ids in every provider's style.
import { expect, test } from 'vitest';
import { sellerOf, vendorOf } from './vendor.ts';

test.each([
  ['openrouter', 'anthropic/claude-sonnet-5', 'anthropic'],
  ['openrouter', '~openai/gpt-latest', 'openai'],
  ['openrouter', 'z-ai/glm-5.2', 'zai'],
  ['together', 'meta-llama/Llama-3.3-70B-Instruct-Turbo', 'meta'],
  ['huggingface_novita', 'zai-org/GLM-4.7', 'zai'],
  ['cloudflare', '@cf/meta/llama-3-8b-instruct', 'meta'],
  ['cloudflare-ai-gateway', 'workers-ai/@cf/qwen/qwen3-30b', 'qwen'],
  ['fireworks', 'accounts/fireworks/models/kimi-k2p5', 'moonshotai'],
  ['aws', 'us.anthropic.claude-opus-4-7', 'anthropic'],
  ['aws', 'meta.llama3-8b-instruct-v1:0', 'meta'],
  ['aws', 'nova-pro-v1', 'amazon'],
  ['azure', 'gpt-4.1-mini', 'openai'],
  ['azure', 'o4-mini', 'openai'],
  ['google', 'claude-opus-5', 'anthropic'],
  ['google', 'deep-research-preview', 'google'],
  ['voyageai', 'rerank-2', 'voyageai'],
  ['mistral', 'open-mixtral-8x7b', 'mistral'],
  ['mistral', 'glm-5-2', 'zai'],
  ['github-copilot', 'grok-4.6', 'x-ai'],
])('%s %s', (provider, id, vendor) => {
  expect(vendorOf(provider, id)?.vendor).toBe(vendor);
});

test('the lab of the source has precedence', () => {
  expect(vendorOf('radius', 'balanced', 'Moonshot AI')).toEqual({ vendor: 'moonshotai', how: 'lab Moonshot AI' });
});

test('unknown ids have no maker', () => {
  expect(vendorOf('openrouter', 'openrouter/auto')).toBeUndefined();
  expect(vendorOf('opencode', 'big-pickle')).toBeUndefined();
});

test.each([
  ['openai', 'openai', 'maker'],
  ['aws', 'amazon', 'maker'],
  ['aws', 'anthropic', 'reseller'],
  ['google-vertex', 'google', 'another service of the maker'],
  ['kimi-coding', 'moonshotai', 'another service of the maker'],
  ['qwen-token-plan', 'qwen', 'another service of the maker'],
  ['openrouter', 'openai', 'reseller'],
  ['openrouter', undefined, 'reseller'],
])('%s sells models of %s as %s', (provider, vendor, seller) => {
  expect(sellerOf(provider, vendor)).toBe(seller);
});
