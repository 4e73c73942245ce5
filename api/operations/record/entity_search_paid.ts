// GET /v1/{ds}/paid/entities: search without previews, so that whoever reads prices by asking sees its price (contract section 3).
import type { Operation } from '../../contract/operation.ts';
import { entity_search } from './entity_search.ts';

// No question is answered best by it: the guides name the search that may be free.
const { previews: _, answers: __, ...same } = entity_search;

/** The same search in everything else, and no tool of its own. */
export const entity_search_paid: Operation = {
  ...same,
  name: 'entity_search_paid',
  title: 'Search records, always paid',
  description: 'The same as the search of records, without free previews: every answer is complete and paid.',
  route: { method: 'GET', path: '/v1/:ds/paid/entities' },
  tool: false,
};
