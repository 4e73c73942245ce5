// The layers of the code, lowest first. docs/architecture.md explains them.

/**
 * Folders in order: a file imports from its own folder and from folders above it in this list. A folder
 * covers the folders below it that have no line of their own.
 */
export const LAYERS: readonly string[] = [
  'clients/typescript',
  'packs/define',
  'packs',
  'data/model',
  'data/objects',
  'data/consolidate',
  'data/plan',
  'data/input',
  'data/duckdb',
  'data/index',
  'data/state/tables',
  'data/state',
  'data/state/money',
  'data/state/oauth',
  'data/state/keys',
  'data/state/owners',
  'data/state/ops',
  'data/write',
  'data/releases',
  'data/queries',
  'data/review',
  'data/sql',
  'api/contract',
  'api/render',
  'api/pages',
  'api/access',
  'api/payments',
  'api/payments/x402',
  'api/gate',
  'api/operations/common',
  'api/operations/dataset',
  'api/operations/record',
  'api/operations/analysis',
  'api/operations/account',
  'api/operations/owners',
  'api/operations',
  'api/discovery',
  'api/http',
  'api/channels/rest',
  'api/channels',
  'api/channels/static',
  'api/channels/mcp',
  'api/channels/a2a',
  'api/checkout',
  'api/accounts',
  'api/owners',
  'api/oauth',
  'api/ops/parts',
  'api/ops/pages',
  'api/ops',
  'api',
  'build/crawl',
  'build/effects',
  'build/sources',
  'build/collect',
  'build/release',
  'build/static',
  'build/hosting',
  'build/night',
  'build/cli/from',
  'build/dev',
  'build/cli',
  'build',
  'site/lib',
  'site/account',
  'site/search',
  'site/reference',
  'site/charts',
  'site/connect',
  'site/record',
  'site/compare',
  'site/viewer',
  'site/sql',
  'site/changes',
  'site/status',
  'site',
  'site/layout',
  'site/parts',
  'site/pages',
  'bench',
  'tests',
];

/** Packages that only some folders import, each with its folders. */
export const RESTRICTED_PACKAGES: Readonly<Record<string, RegExp>> = {
  '@duckdb/node-api': /^(data\/(duckdb|write|sql)|bench|tests)\//,
  '@opentelemetry/api': /^data\/model\/opentelemetry\.ts$/,
  '@opentelemetry/sdk-trace': /^data\/model\/opentelemetry\.ts$/,
  hono: /^(api\/(pages|http|channels|discovery|checkout|accounts|owners|oauth|ops)\/|api\/[^/]+\.ts$|bench\/|tests\/)/,
  '@hono/node-server': /^(api\/(http|channels)\/|api\/[^/]+\.ts$|bench\/|tests\/)/,
};

/**
 * Packages that a dataset's folder may import besides its own files and `node:*`; it works outside this
 * repository too.
 */
export const PACK_PACKAGES: readonly string[] = ['dataset-register', 'zod', 'pbf'];

/** The files that start a process: only they read the settings and the environment. */
export const ENTRIES =
  /^(api\/server\.ts|build\/(nightly|cli\/\w+)\.ts|clients\/typescript\/cli\/|bench\/|tests\/|astro\.config\.mjs|site\/)/;

/** The layer of a file, or null for files at the root, which are tools and `config.ts`. */
export function layerOf(file: string): string | null {
  const folder = file.slice(0, Math.max(0, file.lastIndexOf('/')));
  const inside = (layer: string) => folder === layer || folder.startsWith(`${layer}/`);
  const found = LAYERS.filter(inside).sort((a, b) => b.length - a.length)[0];
  if (found === undefined && folder !== '' && !folder.startsWith('.'))
    throw new Error(`${file} is in no layer; add its folder to tests/structure/layers.ts and docs/architecture.md`);
  return found ?? null;
}
