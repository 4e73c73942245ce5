// A near miss: a request that is almost a valid call, and the intended call.
import type { Random } from '../support/random-records.ts';
import type { AttributeInfo, DatasetInfo } from './world.ts';

export type CallQuery = [name: string, value: string][];

export interface NearMiss {
  /** The kind of mistake, by which the report is grouped. */
  rule: string;
  operation: string;
  dataset: string;
  /** REST: the path below the base URL. */
  path: string;
  query: CallQuery;
  /** MCP and A2A: the arguments; `path` and `query` are then the intended call. */
  given?: { channel: 'mcp' | 'a2a'; arguments: Record<string, unknown> };
  /** The intended query. */
  meant: CallQuery;
  /** Names that the answer must contain; `|` separates alternatives. */
  names: string[];
}

/** One operation of a dataset: its path, and its required parameters. */
export interface Base {
  operation: string;
  path: string;
  required: CallQuery;
  filters: boolean;
}

export const numeric = ({ attributes }: DatasetInfo): AttributeInfo[] =>
  attributes.filter(({ type }) => ['integer', 'number', 'price'].includes(type));

export const isPlace = ({ attributes }: DatasetInfo): boolean =>
  attributes.filter(({ type }) => type === 'geo').length === 1;

/** The operations with parameters, called without a mistake. */
export function bases(dataset: DatasetInfo): Record<string, Base> {
  const { id, slugs, values } = dataset;
  const [slug = ''] = slugs;
  const by = Object.keys(values)[0] ?? 'name';
  const number = numeric(dataset)[0]?.name ?? '';
  const list: Base[] = [
    { operation: 'entity_search', path: '/entities', required: [], filters: true },
    { operation: 'dataset_facets', path: '/facets', required: [['by', by]], filters: true },
    { operation: 'entity_similar', path: `/entities/${slug}/similar`, required: [], filters: true },
    { operation: 'entity_compare', path: '/compare', required: [['ids', slugs.slice(0, 2).join()]], filters: true },
    { operation: 'dataset_stats', path: '/stats', required: [['attribute', number]], filters: true },
    { operation: 'dataset_timeseries', path: '/timeseries', required: [['attribute', number]], filters: true },
    {
      operation: 'entity_batch',
      path: '/entities/batch',
      required: [['ids', slugs.slice(0, 2).join()]],
      filters: false,
    },
    { operation: 'entity_get', path: `/entities/${slug}`, required: [], filters: false },
    { operation: 'entity_history', path: `/entities/${slug}/facts`, required: [], filters: false },
    { operation: 'entity_prices', path: `/entities/${slug}/prices`, required: [], filters: false },
    { operation: 'dataset_changelog', path: '/changelog', required: [], filters: true },
    { operation: 'dataset_changes', path: '/changes', required: [['since', '2026-11-01']], filters: false },
    { operation: 'dataset_export', path: '/export', required: [], filters: false },
    { operation: 'dataset_examples', path: '/examples', required: [], filters: false },
    { operation: 'dataset_status', path: '/status', required: [], filters: false },
    { operation: 'dataset_schema', path: '/schema', required: [], filters: false },
  ];
  return Object.fromEntries(list.map((base) => [base.operation, { ...base, path: `/v1/${id}${base.path}` }]));
}

/** A call of an operation with one wrong parameter in place of the intended one. */
export function miss(
  rule: string,
  dataset: DatasetInfo,
  base: Base,
  [wrong, meant]: [CallQuery[number], CallQuery[number] | null],
  names: string[],
): NearMiss {
  const others = base.required.filter(([name]) => name !== meant?.[0]);
  return {
    rule,
    operation: base.operation,
    dataset: dataset.id,
    path: base.path,
    query: [...others, wrong],
    meant: meant === null ? others : [...others, meant],
    names,
  };
}

/** A rule makes its near misses of one dataset; its random choices use `next`. */
export type MissRule = (dataset: DatasetInfo, next: Random) => NearMiss[];
