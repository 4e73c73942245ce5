// A page of the index and the changed records that match, as one page in one order.
import type { Position, SearchAnswer, SearchPlan } from '../plan/plan.ts';
import type { Columns } from './columns.ts';
import { sortValue } from './select.ts';
import { inOrder, type SideTable } from './side.ts';

/** Merges; `found` must come from the same plan with the changed records left out. */
export function merge(columns: Columns, side: SideTable, plan: SearchPlan, found: SearchAnswer): SearchAnswer {
  const matches = side.matching(plan.where);
  if (matches.length === 0) return found;
  const key = plan.sort.key;
  const beside = matches
    .map(({ ordinal, record }) => ({ ordinal, value: side.sortValue(record, key), id: record.id }))
    .filter((entry) => plan.after === null || inOrder(plan.sort, entry, plan.after) > 0);
  const page = found.ordinals.map((ordinal) => ({
    ordinal,
    value: sortValue(columns, key, ordinal),
    id: columns.keys.id(ordinal),
  }));
  // Where the index has more pages, what sorts behind its last record belongs to a later one.
  const last = found.next && page.at(-1);
  const here = last ? beside.filter((entry) => inOrder(plan.sort, entry, last) < 0) : beside;
  const merged = [...page, ...here].sort((a, b) => inOrder(plan.sort, a, b));
  const kept = merged.slice(0, plan.limit);
  const more = found.next !== null || merged.length > plan.limit || here.length < beside.length;
  return {
    ordinals: kept.map(({ ordinal }) => ordinal),
    next: more ? position(kept.at(-1)) : null,
    total: found.total === null ? null : found.total + matches.length,
  };
}

function position(entry: Position | undefined): Position | null {
  return entry ? { value: entry.value, id: entry.id } : null;
}
