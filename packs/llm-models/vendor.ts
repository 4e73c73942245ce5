// Maker of a model, derived from its id: a prefix such as `anthropic/` or `meta.`, the provider itself, or a
// family name.

/** Spellings of makers in ids, and providers with one maker's models. Other prefixes are the maker's name. */
const ALIASES: Record<string, string> = {
  ai21labs: 'ai21',
  alibaba: 'qwen',
  'amazon-nova': 'amazon',
  'arcee-ai': 'arcee',
  baidubce: 'baidu',
  'bytedance-seed': 'bytedance',
  coherelabs: 'cohere',
  cohereforai: 'cohere',
  'deepseek-ai': 'deepseek',
  'ibm-granite': 'ibm',
  'meta-llama': 'meta',
  minimaxai: 'minimax',
  'mistral-ai': 'mistral',
  mistralai: 'mistral',
  moonshot: 'moonshotai',
  'moonshot-ai': 'moonshotai',
  'nvidia-nemotron': 'nvidia',
  primeintellect: 'prime-intellect',
  qwenlm: 'qwen',
  spacexai: 'x-ai',
  'stepfun-ai': 'stepfun',
  thudm: 'zai',
  togethercomputer: 'together',
  'typesafe-ai': 'typesafe',
  xai: 'x-ai',
  xiaomimimo: 'xiaomi',
  'z-ai': 'zai',
  'z.ai': 'zai',
  'zai-org': 'zai',
  'zero-one-ai': '01-ai',
  zhipuai: 'zai',
};

/** Providers that sell their own models; a maker in the id has precedence. */
const FIRST_PARTY: Record<string, string> = {
  'ant-ling': 'ant-ling',
  anthropic: 'anthropic',
  arcee: 'arcee',
  cohere: 'cohere',
  deepseek: 'deepseek',
  google: 'google',
  'google-vertex': 'google',
  'kimi-coding': 'moonshotai',
  meta: 'meta',
  minimax: 'minimax',
  'minimax-cn': 'minimax',
  mistral: 'mistral',
  moonshotai: 'moonshotai',
  'moonshotai-cn': 'moonshotai',
  openai: 'openai',
  'openai-codex': 'openai',
  perplexity: 'perplexity',
  typesafe: 'typesafe',
  voyageai: 'voyageai',
  'x-ai': 'x-ai',
  xiaomi: 'xiaomi',
  'xiaomi-token-plan-ams': 'xiaomi',
  'xiaomi-token-plan-cn': 'xiaomi',
  'xiaomi-token-plan-sgp': 'xiaomi',
  zai: 'zai',
  'zai-coding-cn': 'zai',
  zhipuai: 'zai',
};

/** Providers that sell a maker's models among those of others. */
const ALSO_OWN: Record<string, string> = { aws: 'amazon', azure: 'microsoft' };

/** Makers that also sell models of others: there the family is more reliable than the provider. */
const MIXED = new Set(['google', 'mistral']);

/** Model families that determine the maker, matched in order with the last part of the id. */
const FAMILIES: [family: RegExp, vendor: string][] = [
  [/^claude\b/, 'anthropic'],
  [/^(gpt|chatgpt|codex|ada|babbage|curie|davinci|text-embedding|whisper|dall-e|sora)\b|^o[134](-|$)/, 'openai'],
  [/^(gemini|gemma)/, 'google'],
  [/^grok\b/, 'x-ai'],
  [/^(mistral|mixtral|ministral|codestral|devstral|magistral|pixtral|voxtral)\b/, 'mistral'],
  [/^(meta-)?llama/, 'meta'],
  [/^(qwen|qwq|qvq)/, 'qwen'],
  [/^deepseek\b/, 'deepseek'],
  [/^kimi\b/, 'moonshotai'],
  [/^(zai-)?glm\b/, 'zai'],
  [/^minimax\b/, 'minimax'],
  [/^mimo\b/, 'xiaomi'],
  [/^(command\b|(embed|rerank|c4ai)-)/, 'cohere'],
  [/^(nova|titan)-/, 'amazon'],
  [/^(phi|mai)-/, 'microsoft'],
  [/^(llama-)?nemotron\b/, 'nvidia'],
  [/^granite\b/, 'ibm'],
  [/^jev\b/, 'typesafe'],
  [/^muse\b/, 'meta'],
  [/^composer\b/, 'cursor'],
  [/^(sonar|r1-1776)\b/, 'perplexity'],
  [/^(hy\d|hunyuan)/, 'tencent'],
  [/^longcat\b/, 'meituan'],
  [/^step-/, 'stepfun'],
  [/^jamba\b/, 'ai21'],
  [/^lfm\b/, 'liquid'],
  [/^mercury\b/, 'inception'],
  [/^inkling\b/, 'thinkingmachines'],
  [/^bge-/, 'baai'],
  [/^yi-/, '01-ai'],
];

/** Regions and routes before the maker in a Bedrock id: `us.anthropic.claude-…`. */
export const REGION = /^(us|us-gov|eu|apac|ap|au|ca|in|jp|sa|global|regional)\./;
/** The maker in a Bedrock id, `meta.`; in other ids a dot belongs to a version. */
const DOTTED = /^([a-z][a-z0-9]*)\.[a-z]/;
/** Path parts that are not a maker. */
const ROUTES = new Set([
  'accounts',
  'models',
  'publishers',
  'workers-ai',
  '@cf',
  '@hf',
  'pro',
  'fireworks',
  'routers',
  'hf',
]);

function canonical(name: string): string {
  const plain = name.replace(/^~/, '').toLowerCase();
  return ALIASES[plain] ?? plain;
}

/** The maker in the id. */
function prefixed(provider: string, modelId: string): string | undefined {
  const parts = modelId.split('/');
  const maker = parts.slice(0, -1).findLast((part) => !ROUTES.has(part.toLowerCase()));
  if (maker !== undefined) return canonical(maker);
  if (provider !== 'aws') return undefined;
  const dotted = DOTTED.exec((parts.at(-1) ?? '').toLowerCase().replace(REGION, ''));
  return dotted?.[1] === undefined ? undefined : canonical(dotted[1]);
}

/**
 * The maker's name in lower case and its derivation; undefined when it is unknown.
 * @param lab the maker in the source, if it has one
 */
export function vendorOf(provider: string, modelId: string, lab?: string): { vendor: string; how: string } | undefined {
  if (lab !== undefined) return { vendor: canonical(lab.replace(/\s+/g, '-')), how: `lab ${lab}` };
  const named = prefixed(provider, modelId);
  if (named !== undefined && named !== 'openrouter') return { vendor: named, how: 'derived from the prefix of the id' };
  const leaf = (modelId.split('/').at(-1) ?? '').toLowerCase();
  const family = FAMILIES.find(([pattern]) => pattern.test(leaf))?.[1];
  const vendor = FIRST_PARTY[provider];
  if (vendor !== undefined && (!MIXED.has(vendor) || family === undefined)) {
    return { vendor, how: 'the provider sells its own models' };
  }
  return family === undefined ? undefined : { vendor: family, how: 'derived from the family name in the id' };
}

export type Seller = 'maker' | 'another service of the maker' | 'reseller';

/** How a provider is related to the maker of a model. Plans and regional services of a maker are its others. */
export function sellerOf(provider: string, vendor: string | undefined): Seller {
  if (vendor === undefined) return 'reseller';
  if (vendor === provider || vendor === ALSO_OWN[provider]) return 'maker';
  return vendor === FIRST_PARTY[provider] || provider.startsWith(`${vendor}-`)
    ? 'another service of the maker'
    : 'reseller';
}
