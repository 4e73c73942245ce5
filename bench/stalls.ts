// The requests whose effect on the event loop is measured: every operation of the table, heavy inputs,
// protocols, documents and files.

import type { Operation } from '../api/contract/operation.ts';
import { DOCUMENTS } from '../api/discovery/index.ts';
import { exampleUrl } from '../api/discovery/openapi-examples.ts';
import { DATASET_OPERATIONS } from '../api/operations/table.ts';
import { HISTORY_BOUNDS } from '../data/input/history-parameters.ts';
import type { Pack } from '../packs/define/model.ts';
import type { BenchQuestion } from './questions.ts';
import type { Subject } from './subject.ts';

/** Requests sent in turn under one heading. With `bodies` they are POST requests. */
export interface StallCase {
  name: string;
  paths: string[];
  bodies?: string[];
}

export interface DatasetSlugs {
  pack: Pack;
  slugs: string[];
}

/**
 * Longest event-loop delays allowed while one operation runs at `connections` connections, in milliseconds.
 */
export const STALL_BOUNDS = { p99: 20, max: 100, connections: 4 };

/** Parameters of operations without an example in the table. */
const INPUTS: Record<string, Record<string, string>> = {
  dataset_changes: { since: '2020-01-01T00:00:00Z' },
  dataset_export: { format: 'csv' },
};
/** Pairs of records in the examples of one dataset. */
const PAIRS = 20;
const EVERYTHING_SINCE = '2000-01-01T00:00:00Z';

/** One case for each operation, with the example of the table for every dataset that has one. */
export function operationCases(datasets: readonly DatasetSlugs[]): StallCase[] {
  return DATASET_OPERATIONS.map((operation) => {
    const scoped = operation.rest.path.includes(':ds');
    const paths = scoped
      ? datasets.flatMap(({ pack, slugs }) => examplePaths(operation, pack, slugs))
      : [exampleUrl(operation, null, registerInput(operation, datasets[0]))];
    return { name: `${operation.name}, examples`, paths };
  });
}

/** Parameters of an operation about all datasets. */
function registerInput({ name }: Operation, first: DatasetSlugs | undefined): Record<string, string> {
  if (name === 'search') return { q: 'san' };
  return name === 'fetch' && first !== undefined ? { id: `${first.pack.id}/${first.slugs[0]}` } : {};
}

function examplePaths(operation: Operation, pack: Pack, slugs: readonly string[]): string[] {
  const pairs = slugs.slice(1, PAIRS + 1).map((slug, i) => [slugs[i] ?? slug, slug]);
  const paths = pairs.map((pair) => {
    const [entity_id = ''] = pair;
    const fallback = operation.rest.path.includes(':entity_id') ? { entity_id } : {};
    const input = operation.docs.example?.(pack, pair) ?? { ...fallback, ...INPUTS[operation.name] };
    return exampleUrl(operation, pack, input);
  });
  return [...new Set(paths)];
}

/**
 * The largest inputs that the operations allow, about one dataset. `questions` are those of
 * bench/questions.ts.
 */
export function heavyCases(
  { dataset, shape }: Subject,
  slugs: readonly string[],
  questions: readonly BenchQuestion[],
): StallCase[] {
  const v1 = `/v1/${dataset}`;
  const { group, area, number } = shape;
  const bulk = ['csv', 'ndjson', 'arrow'].map((format) => ({
    name: `search, 1,000 records, ${format}`,
    paths: [0, 1, 2, 3].map((part) => `${v1}/entities?format=${format}&limit=1000&min_quality=0.${part}`),
  }));
  const history = { changelog: HISTORY_BOUNDS.changelog, changes: HISTORY_BOUNDS.changes };
  return [
    ...questions.map(({ name, service }) => ({ name, paths: service })),
    ...bulk,
    { name: 'search, 100 full records, any total', paths: [`${v1}/entities?limit=100&total=true&min_quality=0.0{n}`] },
    { name: 'search, 20 records, Markdown', paths: [`${v1}/entities.md?limit=20&min_quality=0.0{n}`] },
    { name: 'batch of 100, Markdown', paths: [`${v1}/entities/batch.md?ids=${slugs.slice(0, 100).join(',')}`] },
    { name: 'facets over all records, uncached', paths: [`${v1}/facets?by=${area}&limit=100&min_quality=0.0{n}`] },
    {
      name: 'search by an expression, uncached',
      paths: [`${v1}/entities?filter=${encodeURIComponent("ACCENTI(CASEI(name)) LIKE '%san%'")}&min_quality=0.0{n}`],
    },
    { name: 'facets of an expression, uncached', paths: [`${v1}/facets?by=${area},${group}&filter=${number}%3E{n}`] },
    { name: 'search of all datasets, uncached', paths: ['/v1/search?q=san{n}', '/v1/search?q=cincinatti%20{n}'] },
    {
      name: 'statistics with histograms, uncached',
      paths: [`${v1}/stats?attribute=${number}&group_by=${group}&buckets=50&min_quality=0.0{n}`],
    },
    {
      name: 'statistics by group with a filter, uncached',
      paths: [`${v1}/stats?attribute=${number}&group_by=${group}&q=san&min_quality=0.0{n}`],
    },
    {
      name: `changelog, ${history.changelog} changes of ${HISTORY_BOUNDS.days} days`,
      paths: [`${v1}/changelog?days=${HISTORY_BOUNDS.days}&limit=${history.changelog}`],
    },
    {
      name: `changes, ${history.changes.toLocaleString('en-US')}`,
      paths: [`${v1}/changes?since=${EVERYTHING_SINCE}&limit=${history.changes}`],
    },
    {
      name: `changes, ${history.changes.toLocaleString('en-US')}, Markdown`,
      paths: [`${v1}/changes.md?since=${EVERYTHING_SINCE}&limit=${history.changes}`],
    },
    { name: 'llms-full.txt, generated', paths: [`${v1}/llms-full.txt`] },
  ];
}

/** MCP and A2A, about one dataset. */
export function protocolCases(dataset: string): StallCase[] {
  const mcp = (name: string, method: string, params: object): StallCase => ({
    name: `MCP, ${name}`,
    paths: ['/mcp'],
    bodies: [JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })],
  });
  const a2a = (name: string, part: object): StallCase => ({
    name: `A2A, ${name}`,
    paths: ['/a2a/v1/message:send'],
    bodies: [JSON.stringify({ message: { messageId: 'bench', role: 'ROLE_USER', parts: [part] } })],
  });
  const search = { dataset, limit: 10 };
  return [
    mcp('tools/list', 'tools/list', {}),
    mcp('search of 10 records', 'tools/call', { name: 'entity_search', arguments: search }),
    mcp('search of 20 records, shortened', 'tools/call', { name: 'entity_search', arguments: { dataset, limit: 20 } }),
    mcp('search of 20 records, Markdown', 'tools/call', {
      name: 'entity_search',
      arguments: { dataset, limit: 20, format: 'md' },
    }),
    mcp('profile, shortened', 'tools/call', { name: 'dataset_profile', arguments: { dataset } }),
    a2a('search of 10 records', { data: { skill: 'entity_search', ...search } }),
    { name: 'A2A, agent card', paths: ['/.well-known/agent-card.json'] },
    a2a('a text', { text: 'largest cities of France with more than 100000 inhabitants' }),
  ];
}

/** Discovery documents: the largest separately, all others in turn. */
export function documentCases(): StallCase[] {
  const paths = DOCUMENTS.map(({ path }) => path).filter((path) => !path.includes(':'));
  const alone = ['/openapi.json', '/llms.txt'];
  return [
    ...alone.map((path) => ({ name: path, paths: [path] })),
    { name: 'the other documents', paths: paths.filter((path) => !alone.includes(path)) },
  ];
}

/** Files of DIST_DIR: pages, a file for analysts, a part of the sitemap. */
export function fileCases(dataset: string, slugs: readonly string[]): StallCase[] {
  return [
    { name: 'page of a dataset', paths: [`/datasets/${dataset}`] },
    { name: 'pages of records', paths: slugs.slice(0, 100).map((slug) => `/datasets/${dataset}/${slug}`) },
    { name: 'pages of records, Markdown', paths: slugs.slice(0, 100).map((slug) => `/datasets/${dataset}/${slug}.md`) },
    { name: 'Parquet file', paths: [`/files/${dataset}/public.parquet`] },
    { name: 'part of the sitemap', paths: [`/sitemap/${dataset}-1.xml`] },
  ];
}
