// Facets: most common values of an attribute over the matching records, without revealing paid values.

import { derive } from '../../packs/define/derive.ts';
import type { Pack, Value } from '../../packs/define/model.ts';
import type { Selection } from '../input/parameters.ts';
import type { FacetsInput } from '../input/search-parameters.ts';
import { questionOf } from '../input/selection.ts';
import type { QueryOptions } from '../plan/plan.ts';
import type { Release } from '../releases/release.ts';

/**
 * Values of a non-public attribute with fewer records than this are withheld in free answers (contract
 * section 3).
 */
export const FACET_FLOOR = 5;

export interface FacetsReport {
  by: string;
  values: { value: Value; count: number }[];
  /** Matching records. */
  matched: number;
  /** Matching records without `by`. */
  missing: number;
  /** Number of withheld values; absent: none. */
  withheld?: number;
}

/**
 * Whether a query exceeds the free answers of facets and changelog: it names a non-public attribute and has a
 * filter. An exact count under such a filter reveals the value of a single record, whatever the floor.
 */
export function exceedsFreeAnswers(input: Selection, { attributes }: Pack): boolean {
  return hasFilter(input) && attributes.some((each) => !each.public && input.names.includes(each.name));
}

/** Whether the query selects records by a condition, a word or a status. */
export function hasFilter({ where, words, statuses }: Selection): boolean {
  return where.length > 0 || words.length > 0 || statuses.length > 0;
}

/**
 * Counts by value as published (a filter also matches other spellings that fold equally). The words of `q`
 * match public text only, except for admins. The floor applies to a non-public `by` without filters; with
 * filters the call is paid.
 */
export async function getFacets(
  { pack, engine }: Release,
  input: FacetsInput,
  options: QueryOptions & { admin: boolean },
): Promise<FacetsReport> {
  const { by, limit } = input;
  const hidden = pack.attributes.some((each) => each.name === by && !each.public);
  const floor = hidden && !options.admin && !exceedsFreeAnswers(input, pack) ? FACET_FLOOR : 0;
  const plan = { where: questionOf(input, options.admin ? 'full' : 'public'), by, limit, floor };
  const answer = await engine.facets(plan, options);
  const { values, matched, missing, withheld } = answer;
  return derive(answer, 'report', () => ({ by, values, matched, missing, ...(withheld > 0 ? { withheld } : {}) }));
}
