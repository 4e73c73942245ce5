// The rooms of the house and who may import whom: the table of docs/architecture.md, as data.

export interface Room {
  name: string;
  /** Paths that belong to it; the first room that matches a file is its room. */
  files: RegExp;
  /** Rooms it may import, besides itself. `*` is every room but tests and bench. */
  may: readonly string[];
  /** Packages it may not import, or the only ones it may. `node:*` is always allowed. */
  packages: { never: readonly string[] } | { only: readonly string[] };
}

const ENGINE = '@duckdb/node-api';
const WEB = ['hono', '@hono/node-server'];

/** The folders of data, lowest first: each may import those before it, and packs. */
export const LAYERS: readonly string[] = [
  'model',
  'consolidate',
  'plan',
  'input',
  'duckdb',
  'index',
  'state',
  'write',
  'releases',
  'queries',
  'review',
];
/** The folders of build in the same order; build/nightly.ts, which is in none, imports from all. */
export const BUILD_LAYERS: readonly string[] = [
  'crawl',
  'effects',
  'collect',
  'release',
  'static',
  'hosting',
  'night',
  'cli',
];

/** Whether a file of build may import another one: its folder is the same or comes later. */
export function inOrder(file: string, path: string): boolean {
  const at = (each: string) => {
    const [, folder = '', name] = each.split('/');
    return name === undefined ? BUILD_LAYERS.length : BUILD_LAYERS.indexOf(folder);
  };
  return at(path) <= at(file);
}

/** Those that other rooms name one by one: the engines and the store. `data` in a row stands for the others. */
const STORES = ['data/duckdb', 'data/index', 'data/state'];

const layer = (name: string, at: number): Room => ({
  name: `data/${name}`,
  files: new RegExp(`^data/${name}/`),
  may: ['packs', ...LAYERS.slice(0, at).map((each) => `data/${each}`)],
  packages: { never: ['duckdb', 'write'].includes(name) ? WEB : [...WEB, ENGINE] },
});

/** Whether the rows of a room name another one. */
export const allows = ({ may }: Room, { name }: Room): boolean =>
  may.includes(name) || (may.includes('data') && name.startsWith('data/') && !STORES.includes(name));

export const ROOMS: readonly Room[] = [
  { name: 'tests', files: /^tests\/|\.test\.ts$/, may: ['*', 'bench'], packages: { never: [] } },
  { name: 'bench', files: /^bench\//, may: ['*', 'tests'], packages: { never: [] } },
  { name: 'config.ts', files: /^config\.ts$/, may: [], packages: { only: ['zod'] } },
  { name: 'tools', files: /^(\.ci\/)?[^/]+\.(ts|mjs)$/, may: ['*'], packages: { never: [] } },
  {
    name: 'packs/<dataset>',
    files: /^packs\/[^/]+\//,
    may: ['packs'],
    packages: { only: ['dataset-register', 'zod', 'pbf'] },
  },
  {
    name: 'packs',
    files: /^packs\//,
    may: [],
    packages: { only: ['zod', 'croner', 'leven', '@sindresorhus/slugify', 'liquidjs'] },
  },
  ...LAYERS.map(layer),
  { name: 'api/contract', files: /^api\/contract\//, may: ['data', 'packs'], packages: { never: [...WEB, ENGINE] } },
  {
    name: 'api/operations',
    files: /^api\/operations\//,
    may: ['data', 'packs', 'api/contract', 'api/formats'],
    packages: { never: [...WEB, ENGINE] },
  },
  {
    name: 'api/formats',
    files: /^api\/formats\//,
    may: ['data', 'packs', 'api/contract'],
    packages: { never: [...WEB, ENGINE] },
  },
  {
    name: 'api/access',
    files: /^api\/access\//,
    may: ['data', 'data/state', 'packs', 'api/contract'],
    packages: { never: [...WEB, ENGINE] },
  },
  {
    name: 'api/gate',
    files: /^api\/gate\//,
    may: ['data', 'packs', 'api/contract', 'api/access'],
    packages: { never: [...WEB, ENGINE] },
  },
  {
    name: 'api/channels',
    files: /^api\/channels\//,
    may: [
      'api/discovery',
      'api/gate',
      'api/oauth',
      'api/operations',
      'api/ops',
      'api/contract',
      'api/formats',
      'packs',
    ],
    packages: { never: [ENGINE] },
  },
  {
    name: 'api/discovery',
    files: /^api\/discovery\//,
    may: ['data', 'api/gate', 'api/operations', 'api/contract', 'api/formats', 'packs'],
    packages: { never: [ENGINE] },
  },
  {
    name: 'api/oauth',
    files: /^api\/oauth\//,
    may: ['data/state', 'api/access', 'api/contract', 'api/formats'],
    packages: { never: [ENGINE] },
  },
  {
    name: 'api/ops',
    files: /^api\/ops\//,
    may: ['packs', 'data', 'data/state', 'api/access', 'api/contract', 'api/gate', 'api/formats'],
    packages: { never: [ENGINE] },
  },
  { name: 'api', files: /^api\/[^/]+\.ts$/, may: ['*'], packages: { never: [ENGINE] } },
  {
    name: 'build',
    files: /^build\//,
    may: [
      'packs',
      'data',
      'data/duckdb',
      'data/index',
      'data/state',
      'api/operations',
      'api/contract',
      'api/formats',
      'api/discovery',
      'config.ts',
    ],
    packages: { never: [...WEB, ENGINE] },
  },
  {
    name: 'site',
    files: /^site\//,
    may: ['packs', 'data', 'api/operations', 'api/contract', 'api/formats'],
    packages: { never: [...WEB, ENGINE] },
  },
];

/** The files that start a process: only they read the settings. */
export const ENTRIES = /^(api\/server\.ts|build\/(nightly|cli\/\w+)\.ts|bench\/|tests\/|astro\.config\.mjs|site\/)/;

/** The room of a file; every file of ours has one. */
export function roomOf(path: string): Room {
  const room = ROOMS.find((candidate) => candidate.files.test(path));
  if (!room)
    throw new Error(`${path} stands in no room; give it one in tests/structure/rooms.ts and docs/architecture.md`);
  return room;
}
