// Every request without payment to a register of the fictional packs.

import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DOCUMENTS } from '../../api/discovery/index.ts';
import { filterSchemas } from '../../api/render/json-schema.ts';
import { callable } from '../../api/render/tools.ts';
import type { Pack } from '../../packs/define/model.ts';
import { everyCall } from './every-call.ts';
import type { Api, Got } from './money-processes.ts';

/** A non-public value of a record that is no showcase; source, time and evidence do not depend on it. */
export interface Change {
  dataset: string;
  slug: string;
  attribute: string;
  /** The text of the value in the fixtures, and its replacement. */
  fixtures: string[];
  from: string;
  to: string;
  /** Both values as filter values. */
  values: [string, string];
}

export const BASE = 'http://localhost:8787';

export interface Running {
  api: Api;
  dist: string;
  /** A key without credit. New ones are made during the run, because each has a rate limit. */
  key: string;
  /** Calls so far. */
  calls: number;
  /** Answers of this comparison, by caller and probe: several changes request the same files. */
  answers: Map<string, Answer>;
}

export interface Answer {
  /** Status and headers. */
  head: string;
  body: string;
}

export interface Probe {
  name: string;
  ask(at: Running, headers: Record<string, string>): Promise<Got>;
}

let address = 0;
/** Every call has an address of its own, so that limits and quotas do not interfere. */
export const ownAddress = () => {
  address += 1;
  return { 'X-Forwarded-For': `20.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}` };
};

const get = (path: string, headers: Record<string, string> = {}): Probe => ({
  name: `GET ${path} ${headers['Accept'] ?? ''}`,
  ask: ({ api }, own) => api.ask(path, { ...ownAddress(), ...headers, ...own }),
});

const post = (path: string, body: unknown, headers: Record<string, string>): Probe => ({
  name: `POST ${path} ${JSON.stringify(body)}`,
  ask: ({ api }, own) =>
    api.ask(
      path,
      { ...ownAddress(), 'Content-Type': 'application/json', ...headers, ...own },
      'POST',
      JSON.stringify(body),
    ),
});

const MCP = { Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2025-06-18' };

/** A call by REST, as a tool and as a message. */
function byName(operation: string, dataset: string, path: string): Probe[] {
  const url = new URL(path, BASE);
  const at = url.pathname.split('/');
  const entity = at[3] === 'entities' && at[4] !== undefined && at[4] !== 'batch' ? { entity_id: at[4] } : {};
  const given = { ...Object.fromEntries(url.searchParams), ...entity, dataset };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: operation, arguments: given } };
  const message = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data: { skill: operation, ...given } }] } };
  return [post('/mcp', call, MCP), post('/a2a/v1/message:send', message, { 'A2A-Version': '1.0' })];
}

/**
 * Queries with the changed value, its attribute or related ones, and public conditions that match only the
 * one record.
 */
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

/** Every call for a dataset without payment. */
export function datasetProbes(pack: Pack, change: Change): Probe[] {
  const { slug, attribute } = change;
  const others = ['harbour-13', 'nordwerk-ab-12'].filter((each) => each.startsWith(pack.id === 'tools' ? 'n' : 'h'));
  const account = { id: '', key: '', token: '' };
  const pairs = [
    [slug, ...others],
    [...others, slug],
  ];
  const asked = pairs
    .flatMap((pair) => everyCall([pack], { [pack.id]: pair }, account))
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
    ...own(
      'changelog',
      'dataset_changelog',
      [
        ...[`entity=${slug}`, `attribute=${attribute}`, `attribute=${attribute}&direction=rise`, 'direction=fall'],
        ...queries.flatMap((query) => [query, `attribute=${attribute}&${query}`]),
      ].map((query) => `days=365&${query}`),
    ),
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
  const pages = new Set(asked.filter(({ operation }) => operation.rest.html).map(({ operation }) => operation.name));
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

/** Documents, pages and files, which are no operations. */
export function documentProbes({ dist }: Running, slug: string, dataset: string): Probe[] {
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
