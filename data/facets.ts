// Facets: the commonest values of an attribute over the matching records, without giving away what is paid for.

import type { Value } from '../packs/model.ts';
import { once } from './answers.ts';
import type { FacetsInput } from './parse.ts';
import { questionOf } from './parse-selection.ts';
import type { Asking, Visibility } from './plan.ts';
import type { Release } from './release.ts';

/** Values with fewer records than this are withheld when a question names what is not public (contract section 3). */
export const FACET_FLOOR = 5;

export interface FacetsAnswer {
  by: string;
  values: { value: Value; count: number }[];
  /** Matching records; null when it would tell too much. */
  matched: number | null;
  /** Matching records without `by`; null with `matched`. */
  missing: number | null;
  /** How many values were withheld, when any was. */
  withheld?: number;
}

/**
 * Counts by value as it is written (a filter on it also finds other spellings that fold alike). For callers other than
 * admins the floor applies as soon as `by`, a filter or the words of `q` reach an attribute that is not public.
 */
export async function facets(
  { pack, engine }: Release,
  input: FacetsInput,
  asking: Asking & { visibility: Visibility; admin: boolean },
): Promise<FacetsAnswer> {
  const { by, limit } = input;
  const { visibility, admin } = asking;
  const hidden = pack.attributes.filter((attribute) => !attribute.public);
  const named = hidden.some(({ name }) => input.names.includes(name));
  const worded = visibility === 'full' && input.words.length > 0 && hidden.some(({ searchable }) => searchable);
  const floor = !admin && (named || worded) ? FACET_FLOOR : 0;
  const plan = { where: questionOf(input, visibility), by, limit, floor };
  const answer = await engine.facets(plan, asking);
  const { values, matched, missing, withheld } = answer;
  const few = matched < floor;
  return once(answer, 'told', () => ({
    by,
    values,
    matched: few ? null : matched,
    missing: few ? null : missing,
    ...(withheld > 0 ? { withheld } : {}),
  }));
}
