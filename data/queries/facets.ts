// Facets: most common values of an attribute over the matching records, without revealing paid values.

import { derive } from '../../packs/define/derive.ts';
import type { Pack, Value } from '../../packs/define/model.ts';
import type { Selection } from '../input/parameters.ts';
import type { FacetsInput } from '../input/search-parameters.ts';
import { questionOf } from '../input/selection.ts';
import type { QueryOptions } from '../plan/plan.ts';
import type { Release } from '../releases/release.ts';
import { goneHint } from './gone.ts';

/**
 * Values of a non-public attribute with fewer records than this are withheld in free answers (contract
 * section 3).
 */
export const FACET_FLOOR = 5;

/** The counts of one attribute. */
export interface Facet {
  by: string;
  values: { value: Value; count: number }[];
  /** Matching records. */
  matched: number;
  /** Matching records without `by`. */
  missing: number;
  /** Number of withheld values; absent: none. */
  withheld?: number;
}

/** The counts of one attribute, or `facets` for several. */
export interface FacetsReport extends Partial<Facet> {
  /** In the order of the request. */
  facets?: Facet[];
  /** That records count which no source lists any more; absent: none do, or the question names them. */
  hint?: string;
}

/** A selection, and the attribute that groups the changes of a changelog. */
type GroupedSelection = Selection & { group_by?: string | null };

/**
 * Whether a query exceeds the free answers of facets and changelog: it names a non-public attribute and has a
 * filter, or groups by an attribute, which is a filter by each of its values. An exact count under such a filter
 * reveals the value of a single record, whatever the floor.
 */
export function exceedsFreeAnswers(input: GroupedSelection, { attributes }: Pack): boolean {
  return hasFilter(input) && attributes.some((attribute) => !attribute.public && input.names.includes(attribute.name));
}

/** Whether the query selects records by a condition, a word or a status, or groups them. */
export function hasFilter({ where, words, statuses, group_by = null }: GroupedSelection): boolean {
  return where.length > 0 || words.length > 0 || statuses.length > 0 || group_by !== null;
}

/**
 * The counts of each attribute of `by`, over the same records. One attribute has the members of its facet; several
 * are in `facets`.
 */
export async function getFacets(
  release: Release,
  input: FacetsInput,
  options: QueryOptions & { admin: boolean },
): Promise<FacetsReport> {
  const [by, ...further] = input.by;
  const facet = await countValues(release, input, by!, options);
  const hint = await goneHint(release, input);
  const hinted = hint === undefined ? {} : { hint };
  if (further.length === 0) return derive(facet, 'report', () => ({ ...facet, ...hinted }));
  const facets = [facet];
  for (const attribute of further) facets.push(await countValues(release, input, attribute, options));
  return { facets, ...hinted };
}

/**
 * Counts by value as published (a filter also matches other spellings that fold equally). The words of `q`
 * match public text only, except for admins. The floor applies to a non-public `by` without filters; with
 * filters the call is paid.
 */
async function countValues(
  { pack, engine }: Release,
  input: FacetsInput,
  by: string,
  options: QueryOptions & { admin: boolean },
): Promise<Facet> {
  const hidden = pack.attributes.some((attribute) => attribute.name === by && !attribute.public);
  const floor = hidden && !options.admin && !exceedsFreeAnswers(input, pack) ? FACET_FLOOR : 0;
  const plan = { where: questionOf(input, options.admin ? 'full' : 'public'), by, limit: input.limit, floor };
  const answer = await engine.facets(plan, options);
  const { values, matched, missing, withheld } = answer;
  return derive(answer, 'facet', () => ({
    ...{ by, values, matched, missing },
    ...(withheld > 0 ? { withheld } : {}),
  }));
}
