// No free answer depends on a paid value: two registers that differ in one of them answer alike to everybody who does not pay.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DOCUMENTS } from '../../api/discovery/index.ts';
import { filterSchemas } from '../../api/render/json-schema.ts';
import { callable } from '../../api/render/tools.ts';
import { runNight } from '../../build/night/run.ts';
import { readConfig } from '../../config.ts';
import { loadPack } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';
import { everyQuestion } from '../support/asked.ts';
import { type Api, type Got, startApi } from '../support/money-processes.ts';
import { scratchOfAll, still } from '../support/night-pack.ts';
import { verifies } from '../support/verifies.ts';

verifies('leak.free-answers');

/** A non-public value of a record that no example shows whole; source, time and evidence do not depend on it. */
interface Change {
  dataset: string;
  slug: string;
  attribute: string;
  /** The text of the value in these fixtures, and what replaces it. */
  fixtures: string[];
  from: string;
  to: string;
  /** Both values as a filter takes them. */
  values: [string, string];
}

/** Every edition of the Gazette. */
const ISSUES = ['1.0.0', '1.1.0', '2.0.0'];
const pilotbook = (version: string) => `harbours/fixtures/pilotbook/${version}/harbours.jsonl`;
const workbench = (version: string) => `tools/fixtures/@fictional/workbench/${version}/tools.json`;
const toolshed = 'tools/fixtures/@fictional/toolshed/1.0.0/tools.tsv';

type Edit = Pick<Change, 'fixtures' | 'from' | 'to'>;

/** What every register has beside the fixtures: a paid enum without a list of values, a paid price of two sources and one that is held. */
const EVERYWHERE: Edit[] = [
  {
    fixtures: ['tools/pack.ts'],
    from: "type: 'text',\n      description: 'A few sentences about the tool'",
    to: "type: 'enum',\n      description: 'A few sentences about the tool'",
  },
  { fixtures: ISSUES.map(workbench), from: '"runtime": 120,', to: '"runtime": 120, "about": "amber", "rental": 9,' },
  { fixtures: ISSUES.slice(0, 2).map(workbench), from: '"runtime": 600,', to: '"runtime": 600, "rental": 3,' },
  { fixtures: [workbench('2.0.0')], from: '"runtime": 600,', to: '"runtime": 600, "rental": 300,' },
  { fixtures: [toolshed], from: 'Leihgut\tHobel 9', to: 'Nordwerk\tAB-18\tdrill\t\t9\t1.8\t\nLeihgut\tHobel 9' },
];

const CHANGES: Change[] = [
  {
    dataset: 'harbours',
    slug: 'harbour-3',
    attribute: 'berths',
    fixtures: [pilotbook('2.0.0')],
    from: '"berths":14,',
    to: '"berths":15,',
    values: ['14', '15'],
  },
  {
    dataset: 'harbours',
    slug: 'harbour-3',
    attribute: 'languages',
    fixtures: [pilotbook('2.0.0')],
    from: '"Føroyskt"',
    to: '"Íslenska"',
    values: ['Føroyskt', 'Íslenska'],
  },
  {
    dataset: 'harbours',
    slug: 'harbour-3',
    attribute: 'surveyed',
    fixtures: [pilotbook('2.0.0')],
    from: '"surveyed":"2026-07-01"',
    to: '"surveyed":"2026-08-15"',
    values: ['2026-07-01', '2026-08-15'],
  },
  {
    dataset: 'tools',
    slug: 'nordwerk-ab-18',
    attribute: 'runtime',
    fixtures: ISSUES.map(workbench),
    from: '"runtime": 120,',
    to: '"runtime": 4000,',
    values: ['120', '4000'],
  },
  {
    dataset: 'tools',
    slug: 'nordwerk-ab-18',
    attribute: 'summary',
    fixtures: ISSUES.map(workbench),
    from: '"about": "amber"',
    to: '"about": "azure"',
    values: ['amber', 'azure'],
  },
  // The second source differs, and the value is contested.
  {
    dataset: 'tools',
    slug: 'nordwerk-ab-18',
    attribute: 'price.rental',
    fixtures: [toolshed],
    from: 'drill\t\t9\t1.8',
    to: 'drill\t\t11\t1.8',
    values: ['9', '11'],
  },
  // The newest reading is a jump, and is held: 3 stays published.
  {
    dataset: 'tools',
    slug: 'nordwerk-hl-1',
    attribute: 'price.rental',
    fixtures: [workbench('2.0.0')],
    from: '"rental": 300,',
    to: '"rental": 400,',
    values: ['300', '400'],
  },
];

/** Changes of one register: one value of each dataset at a time. */
const VARIANTS: Record<string, Change[]> = {
  number: [CHANGES[0]!, CHANGES[3]!],
  words: [CHANGES[1]!, CHANGES[4]!],
  'date and doubts': [CHANGES[2]!, CHANGES[5]!, CHANGES[6]!],
};

const PACKS = join(import.meta.dirname, '../packs');
const BASE = 'http://localhost:8787';

interface Running {
  api: Api;
  dist: string;
  /** A key with no credit. New ones are made as it goes, since each may call only so often. */
  key: string;
}

interface Probe {
  name: string;
  ask(at: Running, headers: Record<string, string>): Promise<Got>;
}

/** Calls that a key makes before another takes its place. */
const CALLS_A_KEY = 40;

let address = 0;
/** Every call comes from an address of its own, so that limits and quotas do not meet. */
const anew = () => {
  address += 1;
  return { 'X-Forwarded-For': `20.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}` };
};

const get = (path: string, headers: Record<string, string> = {}): Probe => ({
  name: `GET ${path} ${headers['Accept'] ?? ''}`,
  ask: ({ api }, own) => api.ask(path, { ...anew(), ...headers, ...own }),
});

const post = (path: string, body: unknown, headers: Record<string, string>): Probe => ({
  name: `POST ${path} ${JSON.stringify(body)}`,
  ask: ({ api }, own) =>
    api.ask(path, { ...anew(), 'Content-Type': 'application/json', ...headers, ...own }, 'POST', JSON.stringify(body)),
});

const MCP = { Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2025-06-18' };

/** A question by address, as a call of a tool and as a message. */
function byName(operation: string, dataset: string, path: string): Probe[] {
  const url = new URL(path, BASE);
  const at = url.pathname.split('/');
  const entity = at[3] === 'entities' && at[4] !== undefined && at[4] !== 'batch' ? { entity_id: at[4] } : {};
  const given = { ...Object.fromEntries(url.searchParams), ...entity, dataset };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: operation, arguments: given } };
  const message = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data: { skill: operation, ...given } }] } };
  return [post('/mcp', call, MCP), post('/a2a/v1/message:send', message, { 'A2A-Version': '1.0' })];
}

/** Queries that name the changed value, its attribute or what is near it, with public conditions that leave the one record. */
function queriesOf(pack: Pack, { slug, attribute, values }: Change): string[] {
  const only = `ids=${slug}`;
  const filters = filterSchemas(pack).filter((filter) => filter.attribute === attribute);
  const filtered = filters.flatMap(({ name }) =>
    (name.startsWith('has_') ? ['true', 'false'] : values).flatMap((value) => [
      `${name}=${encodeURIComponent(value)}`,
      `${name}=${encodeURIComponent(value)}&${only}`,
    ]),
  );
  const worded = values.flatMap((value) => [
    `q=${encodeURIComponent(value)}`,
    `q=${encodeURIComponent(value)}&${only}`,
  ]);
  const sorted = [`sort=${attribute}`, `sort=-${attribute}`, `fields=${attribute}`, 'provenance_status=held,contested'];
  return [only, ...filtered, ...worded, ...sorted, 'limit=3', 'total=true'];
}

/** Every question about a dataset that somebody may try without paying. */
function questions(pack: Pack, change: Change): Probe[] {
  const { slug, attribute } = change;
  const others = ['harbour-13', 'nordwerk-ab-12'].filter((each) => each.startsWith(pack.id === 'tools' ? 'n' : 'h'));
  const account = { id: '', key: '', token: '' };
  const pairs = [
    [slug, ...others],
    [...others, slug],
  ];
  const asked = pairs
    .flatMap((pair) => everyQuestion([pack], { [pack.id]: pair }, account))
    .filter(({ dataset }) => dataset !== null);
  const tools = new Set(callable(asked.map(({ operation }) => operation)).map(({ name }) => name));
  const queries = queriesOf(pack, change);
  const own = (path: string, operation: string, of: readonly string[]) =>
    of.map((query) => ({ operation, path: `/v1/${pack.id}/${path}?${query}` }));
  const further = [
    ...own('entities', 'entity_search', queries),
    ...own('facets', 'dataset_facets', [
      ...queries.map((query) => `by=${pack.group_by}&${query}`),
      ...queries.map((query) => `by=${attribute}&${query}`),
      `by=${attribute}`,
    ]),
    ...own('changelog', 'dataset_changelog', [`days=365&entity=${slug}`, `days=365&attribute=${attribute}`]),
    ...own(`entities/${slug}/similar`, 'entity_similar', queries),
    ...own(
      'compare',
      'entity_compare',
      queries.map((query) => `${query}&ids=${slug}`),
    ),
    ...own('stats', 'dataset_stats', [`attribute=${attribute}`, ...queries.map((query) => `attribute=depth&${query}`)]),
    ...own('timeseries', 'dataset_timeseries', [`attribute=${attribute}`]),
    ...own('entities/batch', 'entity_batch', [`ids=${slug}`, `ids=${slug},nobody`]),
    ...own(`entities/${slug}`, 'entity_get', ['', `fields=${attribute}`]),
    ...own(`entities/${slug}/facts`, 'entity_history', ['', `attribute=${attribute}`]),
    ...own(`entities/${slug}/audit`, 'entity_audit', ['']),
  ];
  const pages = new Set(asked.filter(({ operation }) => operation.html).map(({ operation }) => operation.name));
  const unique = new Map(
    [...asked.map(({ operation, path }) => ({ operation: operation.name, path })), ...further].map((each) => [
      each.path,
      each,
    ]),
  );
  return [...unique.values()].flatMap(({ operation, path }) => {
    const [place = '', query = ''] = path.split('?');
    const markdown = place.endsWith('.md') || place.endsWith('.txt') ? path : `${place}.md?${query}`;
    const named = tools.has(operation) ? byName(operation, pack.id, path) : [];
    const page = pages.has(operation) ? [get(path, { Accept: 'text/html' })] : [];
    return [get(path), get(markdown), ...page, ...named];
  });
}

/** Documents, pages and files: what nobody asks a question for. */
function documents({ dist }: Running, slug: string, dataset: string): Probe[] {
  const files = readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `/${relative(dist, join(entry.parentPath, entry.name))}`)
    .filter((path) => !/\/\.|\.(gz|br|woff2|png|ico|wasm|js|css|parquet|duckdb)$/.test(path));
  const paths = [
    '/',
    '/v1/datasets',
    ...DOCUMENTS.map(({ path }) => path).filter((path) => !path.includes(':')),
    ...files,
  ];
  const read = (uri: string) => post('/mcp', { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri } }, MCP);
  return [
    ...[...new Set(paths)].map((path) => get(encodeURI(path))),
    get(`/datasets/${dataset}/${slug}`, { Accept: 'text/html' }),
    get(`/datasets/${dataset}/${slug}.md`),
    read(`service://${dataset}/llms.txt`),
    read(`service://${dataset}/entity/${slug}`),
    ...['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'].map((method) =>
      post('/mcp', { jsonrpc: '2.0', id: 1, method, params: {} }, MCP),
    ),
  ];
}

/** The quality of a record, which may follow from values of any attribute (contract section 3), as answers print it. */
async function qualityOf({ api }: Running, { dataset, slug }: Change): Promise<string> {
  const { body } = await api.ask(`/v1/${dataset}/entities?ids=${slug}`, anew());
  const { items } = JSON.parse(body) as { items: { quality_score: number }[] };
  return String(items[0]!.quality_score);
}

/** Rows of the files for analysts, by file and table, without what may differ. */
async function tables({ dist }: Running): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const db = await DuckDBInstance.create(':memory:');
  const connection = await db.connect();
  const read = async (name: string, from: string) => {
    const rows = (await connection.runAndReadAll(`FROM ${from} ORDER BY ALL`)).getRowsJson();
    found[name] = stripped(JSON.stringify(rows, null, 1));
  };
  const paths = readdirSync(dist, { recursive: true, encoding: 'utf8' }).sort();
  for (const path of paths.filter((each) => each.endsWith('.parquet'))) await read(path, `'${join(dist, path)}'`);
  for (const path of paths.filter((each) => each.endsWith('.duckdb'))) {
    await connection.run(`ATTACH '${join(dist, path)}' AS file (READ_ONLY)`);
    const all = await connection.runAndReadAll(`SELECT table_name FROM duckdb_tables() WHERE database_name = 'file'`);
    for (const [table] of all.getRows()) await read(`${path} ${String(table)}`, `file."${String(table)}"`);
    await connection.run('DETACH file');
  }
  connection.closeSync();
  db.closeSync();
  return found;
}

/** What may differ: times and ages, ids of requests and releases, tags, sums, keys and cursors. */
function stripped(text: string): string {
  return text
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'UUID')
    .replace(/\b[0-9a-f]{64}\b/g, 'SUM')
    .replace(/(?<![\w-])[0-9a-f]{16}(?![\w-])/g, 'RELEASE')
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?/g, 'TIME')
    .replace(/(cursor\\?"?[=:]\s?\\?"?)[\w%-]{20,}/g, '$1CURSOR')
    .replace(/("?freshness"?:\s?)\{[^}]*\}/g, '$1AGES')
    .replace(/("?(?:median_age_hours|age_hours|lastUpdated|bytes)"?:\s?)[\d.]+/g, '$1NUMBER')
    .replace(/eyJ[\w-]+\.[\w-]*\.[\w-]+/g, 'JWS');
}

/** Makes a key with no credit, since the register has none to give (WELCOME_BUDGET_EUR). */
async function changeKey(at: Running): Promise<void> {
  const headers = anew();
  const made = await at.api.ask('/v1/keys', headers, 'POST', JSON.stringify({ email: `reader${address}@example.org` }));
  const { key, balance_eur } = JSON.parse(made.body) as { key: string; balance_eur: number };
  expect(balance_eur).toBe(0);
  at.key = key;
}

describe('free answers', () => {
  const folder = scratchOfAll();
  const running: Running[] = [];
  let packs: Pack[] = [];

  /** Builds a register with these changes, and starts it. */
  async function start(name: string, changes: readonly Change[]): Promise<Running> {
    const own = join(folder, name);
    cpSync(PACKS, join(own, 'packs'), { recursive: true });
    for (const { fixtures, from, to } of [...EVERYWHERE, ...changes])
      for (const fixture of fixtures) {
        const path = join(own, 'packs', fixture);
        const text = readFileSync(path, 'utf8');
        expect(text.split(from).length, `${from} in ${fixture}`).toBe(2);
        writeFileSync(path, text.replace(from, to));
      }
    const [data, dist] = [join(own, 'data'), join(own, 'dist')];
    const PACK_DIRS = join(own, 'packs');
    const config = readConfig({ DATA_DIR: data, DIST_DIR: dist, PACK_DIRS, BASE_URL: BASE });
    expect((await runNight(config, still(), { only: null, accept: false })).failures).toEqual([]);
    const env = { DIST_DIR: dist, PACK_DIRS, TRUST_PROXY: '1', WELCOME_BUDGET_EUR: '0', BASE_URL: BASE };
    const api = await startApi(data, env);
    const started = { api, dist, key: '' };
    running.push(started);
    return started;
  }

  let first: Running;
  beforeAll(async () => {
    first = await start('first', []);
    packs = await Promise.all(['harbours', 'tools'].map((name) => loadPack(join(PACKS, name))));
  }, 240_000);
  afterAll(async () => {
    for (const { api } of running) await api.kill('SIGTERM');
  });

  test.each(Object.entries(VARIANTS))(
    'are the same when a paid value differs: %s',
    async (name, changes) => {
      const other = await start(name, changes);
      const differing: string[] = [];
      let [compared, calls] = [0, 0];
      const compare = (asked: string, one: string, two: string) => {
        compared += 1;
        if (one !== two) differing.push(`${asked}\n${difference(one, two)}`);
      };
      const registers = [first, other] as const;
      const qualities = await Promise.all(registers.flatMap((at) => changes.map((change) => qualityOf(at, change))));
      const unscored = (text: string) =>
        qualities.reduce(
          (rest, quality) =>
            rest
              .replaceAll(quality, 'QUALITY')
              .replaceAll(`quality ${Number(quality).toFixed(2)}<`, 'quality QUALITY<'),
          text,
        );
      const files = await Promise.all(registers.map(tables));
      expect(Object.keys(files[1]!)).toEqual(Object.keys(files[0]!));
      expect(Object.keys(files[0]!).length).toBeGreaterThan(3);
      for (const [name, rows] of Object.entries(files[0]!)) compare(name, unscored(rows), unscored(files[1]![name]!));
      for (const change of changes) {
        const pack = packs.find(({ id }) => id === change.dataset)!;
        const examples = await first.api.ask(`/v1/${pack.id}/examples`, anew());
        expect(examples.body, 'no example shows the record').not.toContain(`"slug":"${change.slug}"`);
        const probes = [...questions(pack, change), ...documents(first, change.slug, pack.id)];
        for (const probe of probes)
          for (const caller of ['anonymous', 'key'] as const) {
            const answers = [];
            for (const at of registers) {
              if (calls % CALLS_A_KEY === 0) await changeKey(at);
              const own = caller === 'key' ? { 'X-API-Key': at.key } : {};
              const { status, body, header } = await probe.ask(at, own);
              expect(status, `${probe.name}: ${body.slice(0, 200)}`).not.toBe(429);
              const told = [header('x-charge-eur'), header('link') === undefined, header('x-ratelimit-limit')];
              answers.push(
                `${status} ${JSON.stringify(told)} ${unscored(stripped(body.replaceAll(at.api.base, BASE)))}`,
              );
            }
            calls += 1;
            const [one = '', two = ''] = answers;
            compare(`${caller} ${probe.name}`, one, two);
          }
      }
      expect(compared).toBeGreaterThan(4_000);
      expect(differing.slice(0, 20).join('\n\n'), `${differing.length} of ${compared} answers differ`).toBe('');
    },
    400_000,
  );
});

/** The places around the first difference. */
function difference(one: string, two: string): string {
  let at = 0;
  while (one[at] === two[at] && at < one.length) at += 1;
  const cut = (text: string) => text.slice(Math.max(0, at - 120), at + 120);
  return `- ${cut(one)}\n+ ${cut(two)}`;
}
