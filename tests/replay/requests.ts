// The requests of a recording, drawn from the answers of the running service: datasets, attributes, records,
// tools and links.
import { random } from '../support/random-records.ts';
import { ADMIN_KEY } from './service.ts';

export interface Request {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

interface Attribute {
  name: string;
  type: string;
  public: boolean;
  filterable: boolean;
}

interface Record_ {
  slug: string;
  name: string;
  attributes: Record<string, unknown>;
}

const OPERATOR = { authorization: `Bearer ${ADMIN_KEY}` };
/** Formats other than `.md` in the path. */
const FORMATS = ['json', 'md', 'csv', 'ndjson', 'arrow'];
const RECORDS = 40;

const get = (path: string, headers: Record<string, string> = {}): Request => ({ method: 'GET', path, headers });
const post = (path: string, body: unknown, headers: Record<string, string> = {}): Request => ({
  method: 'POST',
  path,
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

const queryOf = (parameters: Record<string, string>) => new URLSearchParams(parameters).toString();

/** Filters from the values of a record, for each of its attributes. */
function filtersOf({ attributes }: Record_, known: readonly Attribute[]): Record<string, string>[] {
  return known.flatMap(({ name, type, filterable }): Record<string, string>[] => {
    const [value] = [attributes[name]].flat();
    if (!filterable || value === undefined || value === null) return [];
    if (type === 'geo') {
      const { lat, lng } = value as { lat: number; lng: number };
      return [{ near: `${lat},${lng},120` }, { [`has_${name}`]: 'true' }];
    }
    if (type === 'price' || type === 'number' || type === 'integer') {
      const number = typeof value === 'object' ? (value as { min: number }).min : Number(value);
      return [{ [`min_${name}`]: String(number) }, { [`max_${name}`]: String(number), sort: `-${name}` }];
    }
    return [{ [name]: String(value) }, { [`not_${name}`]: String(value) }, { [`has_${name}`]: 'false' }];
  });
}

function ofDataset(dataset: string, attributes: readonly Attribute[], records: readonly Record_[]): Request[] {
  const base = `/v1/${dataset}`;
  const next = random(dataset.length);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!;
  const open = attributes.filter((each) => each.public && each.filterable);
  const found: Request[] = [];
  const search = (parameters: Record<string, string>) => {
    const query = queryOf(parameters);
    const twin = pick([OPERATOR, {}]);
    found.push(get(`${base}/entities?${query}`, OPERATOR), get(`${base}/entities.md?${query}`, twin));
  };
  for (const path of ['llms.txt', 'schema', 'status', 'samples', 'examples', 'facets', 'profile', 'changelog'])
    for (const end of path.includes('.') ? [''] : ['', '.md', '?format=md', '?limit=2', '?limit=x'])
      found.push(get(`${base}/${path}${end}`), get(`${base}/${path}${end}`, { accept: 'text/html' }));
  for (const each of records.slice(0, 12))
    for (const filter of filtersOf(each, attributes)) if (next() < 0.4) search(filter);
  for (const { name, slug } of records) {
    const [word = name] = name.split(/[\s,(/-]+/);
    found.push(get(`${base}/entities?${queryOf({ q: word, limit: '5' })}`, { accept: pick(['text/html', '*/*']) }));
    for (const end of ['', '.md', '?fields=name', '/facts', '/facts.md', '/prices', '/similar', '/audit.md'])
      found.push(get(`${base}/entities/${slug}${end}`, next() < 0.8 ? OPERATOR : {}));
    found.push(get(`/datasets/${dataset}/${slug}/`, { accept: 'text/html' }));
    found.push({ method: 'HEAD', path: `${base}/entities/${slug}`, headers: OPERATOR });
  }
  for (const format of FORMATS)
    for (const limit of ['3', '60', '300'])
      found.push(get(`${base}/entities?${queryOf({ format, limit, sort: 'name' })}`, OPERATOR));
  for (const { name, type } of attributes) {
    found.push(get(`${base}/facets?${queryOf({ by: name })}`, pick([OPERATOR, {}])));
    found.push(get(`${base}/stats?${queryOf({ attribute: name })}`, OPERATOR));
    found.push(get(`${base}/changelog?${queryOf({ attribute: name, days: '365' })}`, OPERATOR));
    found.push(get(`${base}/entities?${queryOf({ sort: name, limit: '4', fields: `name,${name}` })}`, OPERATOR));
    found.push(get(`${base}/entities?${queryOf({ [`${name.slice(0, -1)}x`]: '1' })}`, OPERATOR));
    const group = pick(open).name;
    if (type === 'price' || type === 'number' || type === 'integer') {
      found.push(get(`${base}/stats?${queryOf({ attribute: name, group_by: group })}`, OPERATOR));
      const few = records.slice(0, 9).map(({ slug }) => slug);
      found.push(get(`${base}/timeseries?${queryOf({ attribute: name, days: '30', ids: few.join() })}`, OPERATOR));
    }
  }
  for (let i = 0; i + 3 < records.length; i += 3) {
    const ids = records.slice(i, i + 3).map(({ slug }) => slug);
    found.push(get(`${base}/entities/batch?ids=${ids.join()},nobody`, pick([OPERATOR, {}])));
    found.push(get(`${base}/compare.md?ids=${ids.join()}`, OPERATOR), get(`${base}/compare?ids=${ids[0]}`, OPERATOR));
  }
  for (const path of ['changes?since=2020-01-01&limit=20', 'changes', 'export?format=csv', 'export?format=x'])
    found.push(get(`${base}/${path}`, OPERATOR), get(`${base}/${path}`));
  return [...found, ...ofProtocols(dataset, attributes, records)];
}

/** Calls of tools and skills about a dataset. */
function ofProtocols(dataset: string, attributes: readonly Attribute[], records: readonly Record_[]): Request[] {
  const ids = records.slice(0, 3).map(({ slug }) => slug);
  const [entity_id = ''] = ids;
  const attribute = attributes.find(({ type }) => type === 'price' || type === 'number' || type === 'integer')?.name;
  const inputs: Record<string, Record<string, unknown>> = {
    datasets_list: {},
    dataset_guide: {},
    dataset_schema: {},
    dataset_status: {},
    dataset_samples: {},
    dataset_examples: {},
    dataset_facets: { by: attributes.find((each) => each.public && each.filterable)?.name },
    dataset_profile: {},
    dataset_changelog: { days: 90, limit: 5 },
    dataset_stats: { attribute },
    dataset_timeseries: { attribute, days: 30, ids },
    entity_search: { q: records[0]?.name, limit: 5 },
    entity_get: { entity_id },
    entity_batch: { ids },
    entity_similar: { entity_id },
    entity_history: { entity_id },
    entity_prices: { entity_id },
    entity_compare: { ids },
    entity_audit: { entity_id },
    entity_nothing: { entity_id },
  };
  return Object.entries(inputs).flatMap(([name, input], i) =>
    [OPERATOR, {}].flatMap((headers) => {
      const params = { name, arguments: { ...input, dataset } };
      const data = { skill: name, dataset, ...input };
      return [
        post('/mcp', { jsonrpc: '2.0', id: i, method: 'tools/call', params }, headers),
        post(
          '/a2a/v1/message:send',
          { message: { messageId: `m${i}`, role: 'ROLE_USER', parts: [{ data }] } },
          headers,
        ),
      ];
    }),
  );
}

const MCP = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'replay', version: '1' } };

/**
 * Requests without a dataset: documents, pages, protocols, accounts, refusals. `links` are paths from
 * documents.
 */
function ofRegister(links: readonly string[]): Request[] {
  const pages = links.flatMap((path) => [
    get(path),
    get(path, { accept: 'text/html' }),
    get(path, { accept: 'text/markdown' }),
  ]);
  const mcp = (method: string, params: unknown) => post('/mcp', { jsonrpc: '2.0', id: 1, method, params });
  // The operators' overview, its figures and the metrics contain measured times.
  const accounts = ['/v1/keys/me', '/v1/keys', '/v1/keys.md', '/ops/review'];
  return [
    ...pages,
    mcp('initialize', MCP),
    mcp('tools/list', {}),
    mcp('resources/list', {}),
    mcp('resources/templates/list', {}),
    mcp('prompts/list', {}),
    mcp('nothing', {}),
    post('/mcp', '{'),
    ...accounts.flatMap((path) => [get(path), get(path, OPERATOR), get(path, { authorization: 'Bearer dsr_wrong' })]),
    post('/v1/keys', { email: 'reader@example.org' }),
    post('/v1/keys', { email: 'reader@example.org' }),
    post('/v1/keys', { email: 'no address' }),
    post('/v1/keys/topup', { amount_eur: 20 }),
    post('/v1/keys/recover', { email: 'nobody@example.org' }),
    post('/v1/optout', { dataset: 'airports', entity_id: 'nothing', email: 'a@example.org' }),
    post('/v1/claim', { dataset: 'airports', entity_id: 'nothing', email: 'a@example.org' }),
    get('/oauth/authorize?client_id=nobody'),
    post('/oauth/token', 'grant_type=nothing', { 'content-type': 'application/x-www-form-urlencoded' }),
    ...['PUT', 'DELETE', 'PATCH', 'OPTIONS'].map((method) => ({ method, path: '/v1/datasets', headers: {} })),
  ];
}

/** Paths in the texts at `from`, at most `most` of each. */
async function linksOf(ask: (path: string) => Promise<string>, from: readonly string[], most: number) {
  const found = new Set(from);
  for (const path of from) {
    const text = await ask(path);
    const named = [...text.matchAll(/http:\/\/localhost:8787(\/[\w./-]*)/g)].map(([, link = '']) => link);
    for (const link of [...new Set(named)].slice(0, most)) found.add(link);
  }
  return [...found].filter((path) => !path.endsWith('llms-full.txt') && !/\.(parquet|duckdb)$/.test(path));
}

/** `count` requests for all parts of the service, equal for equal data. */
export async function drawRequests(origin: string, count: number): Promise<Request[]> {
  const ask = async (path: string) => await (await fetch(origin + path, { headers: OPERATOR })).text();
  const { datasets } = JSON.parse(await ask('/v1/datasets')) as { datasets: { id: string }[] };
  const all: Request[] = [];
  for (const { id } of datasets) {
    const { attributes } = JSON.parse(await ask(`/v1/${id}/schema`)) as { attributes: Attribute[] };
    const best = JSON.parse(await ask(`/v1/${id}/entities?limit=${RECORDS}`)) as { items: Record_[] };
    all.push(...ofDataset(id, attributes, best.items));
  }
  const next = random(1);
  const some = all.map((request) => ({ request, at: next() })).toSorted((a, b) => a.at - b.at);
  const rest = ofRegister(await linksOf(ask, ['/', '/llms.txt', '/sitemap.xml', '/openapi.json', '/v1/datasets'], 60));
  return [...rest, ...some.map(({ request }) => request)].slice(0, count);
}
