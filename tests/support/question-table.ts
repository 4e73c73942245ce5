// One table of calls that use the parameters of contract section 9, on the fictional tools as their nights publish
// them. Tests run each row in every channel, engine and store.
import type { Operation } from '../../api/contract/operation.ts';
import { OPERATIONS } from '../../api/operations/table.ts';
import type { AgentCall } from './agent-questions.ts';

export interface QuestionRow extends AgentCall {
  name: string;
  /** The parameters that the row is about. */
  about: string;
  /** The same call without them, which has another answer; null: they are what the call needs. */
  plain: Record<string, unknown> | null;
}

const DATASET = 'tools';
const THEN = '2026-07-01T00:00:00Z';
const LIGHT_SAWS = {
  op: 'and',
  args: [
    {
      op: '=',
      args: [
        { op: 'casei', args: [{ property: 'kind' }] },
        { op: 'casei', args: ['SAW'] },
      ],
    },
    { op: '<', args: [{ property: 'mass' }, 1] },
  ],
};
/** The key of the record whose slug is nordwerk-fs-210. */
const KEY = 'FS-210';
const IDENTITY = 'nordwerk/ab-12';

const fields = ['name', 'mass'];

/** Operation, what the row is about, its arguments, and which of them the plain call lacks. */
type Row = [operation: string, about: string, given: Record<string, unknown>, without?: string[]];

const byFilter = (operation: string, given: Record<string, unknown>): Row => [
  operation,
  'filter',
  { ...given, filter: LIGHT_SAWS },
  ['filter'],
];
const asOf = (operation: string, given: Record<string, unknown>): Row => [
  operation,
  'as_of',
  { ...given, as_of: THEN },
  ['as_of'],
];

const ROWS: Row[] = [
  byFilter('entity_search', { limit: 50, fields }),
  byFilter('entity_search_paid', { limit: 50, fields }),
  byFilter('entity_similar', { entity_id: KEY, limit: 50, fields }),
  byFilter('entity_compare', { ids: ['7', 'nordwerk-hl-1'] }),
  byFilter('dataset_facets', { by: 'maker' }),
  byFilter('dataset_stats', { attribute: 'price.list' }),
  byFilter('dataset_timeseries', { attribute: 'price.list', days: 60, step: 'week' }),
  byFilter('dataset_changelog', { days: 365, attribute: 'price.list' }),

  asOf('entity_search', { limit: 50, sort: '-mass', fields }),
  asOf('entity_search_paid', { limit: 50, sort: '-mass', fields }),
  asOf('entity_similar', { entity_id: KEY, limit: 50, fields }),
  asOf('entity_compare', { ids: [KEY, 'old-and-sons-brace'] }),
  asOf('entity_prices', { entity_id: KEY }),
  asOf('entity_get', { entity_id: KEY }),
  asOf('entity_batch', { ids: [KEY, IDENTITY, 'pacific-bench-dateline-1'], fields }),
  asOf('dataset_facets', { by: 'status' }),
  asOf('dataset_stats', { attribute: 'price.list', group_by: ['kind'] }),

  [
    'entity_search',
    'group_by',
    { group_by: 'maker', group_limit: 2, sort: 'mass', fields },
    ['group_by', 'group_limit'],
  ],
  [
    'entity_search',
    'group_by, at a moment, with an expression',
    { group_by: 'kind', as_of: THEN, filter: LIGHT_SAWS, total: true, fields },
    ['group_by', 'as_of'],
  ],
  ['entity_search', 'match=any', { q: 'folding lamp', match: 'any', sort: 'relevance', fields }, ['match']],
  ['entity_search', 'suggestion', { q: 'foldign saw', sort: 'relevance', fields }],
  ['entity_search', 'near a record', { near: `${KEY},5`, sort: 'distance', fields }, ['near', 'sort']],
  [
    'entity_search',
    'near a record of another dataset',
    { near: 'harbours/harbour-8,6000', sort: 'distance', fields },
    ['near', 'sort'],
  ],
  ['entity_search', 'keys', { ids: [KEY, IDENTITY], fields }, ['ids']],
  ['dataset_facets', 'several attributes', { by: ['kind', 'status'], limit: 3 }],
  [
    'dataset_facets',
    'a non-public filter at a moment',
    { by: ['kind'], as_of: THEN, filter: 'runtime > 1' },
    ['as_of', 'filter'],
  ],
  ['dataset_facets', 'match=any', { by: 'kind', q: 'folding lamp', match: 'any' }, ['match']],
  ['dataset_facets', 'near a record', { by: 'kind', near: `${KEY},5` }, ['near']],
  ['dataset_stats', 'several attributes', { attribute: ['mass', 'price.list'], group_by: ['kind'] }],
  [
    'dataset_stats',
    'order, limit, having_min_count',
    { attribute: 'mass', group_by: ['maker'], order: '-sum', limit: 2, having_min_count: 2 },
    ['order', 'limit', 'having_min_count'],
  ],
  ['dataset_stats', 'buckets', { attribute: 'price.list', buckets: 4, near: `${KEY},900` }, ['buckets', 'near']],
  ['dataset_stats', 'months', { attribute: 'mass', group_by: ['first_seen:month'] }, ['group_by']],
  [
    'dataset_timeseries',
    'years and keys',
    { attribute: 'price.list', group_by: 'first_seen:year', ids: [KEY, 'AB-12'], days: 40, step: 'week' },
    ['group_by', 'ids'],
  ],
  [
    'dataset_changelog',
    'from and to',
    { from: '2026-07-01', to: '2026-11-02', attribute: 'price.list' },
    ['from', 'to'],
  ],
  ['dataset_changelog', 'group_by', { from: '2026-03-02', group_by: 'maker', attribute: 'price.list' }, ['group_by']],
  ['dataset_changelog', 'direction', { days: 365, direction: 'fall' }, ['direction']],
  ['dataset_changelog', 'a key', { days: 365, entity: KEY }, ['entity']],
  ['entity_get', 'a key', { entity_id: KEY, fields }],
  ['entity_get', 'an identity', { entity_id: IDENTITY, fields }],
  ['entity_history', 'a key', { entity_id: KEY, attribute: 'price.list' }],
  ['entity_audit', 'a key', { entity_id: KEY }],
  ['search', 'words', { query: 'folding saw' }],
  ['search', 'a key in one dataset', { q: 'saw', datasets: ['harbours'] }, ['datasets']],
  ['fetch', 'a key', { id: `tools/${KEY}` }],
];

const operationNamed = (name: string): Operation => {
  const operation = OPERATIONS.find((candidate) => candidate.name === name);
  if (operation === undefined) throw new Error(`the table has no operation ${name}`);
  return operation;
};

export const QUESTIONS: readonly QuestionRow[] = ROWS.map(([name, about, given, without]) => {
  const operation = operationNamed(name);
  const dataset = operation.rest.path.includes(':ds') ? { dataset: DATASET } : {};
  const rest = Object.entries(given).filter(([parameter]) => !without?.includes(parameter));
  return {
    ...{ operation, about, name: `${name}: ${about}`, given: { ...dataset, ...given } },
    plain: without === undefined ? null : { ...dataset, ...Object.fromEntries(rest) },
  };
});
