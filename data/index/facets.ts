// How often each value of an attribute occurs among the matching records.
import type { FacetAnswer, FacetPlan } from '../plan.ts';
import type { Bitset } from './bitset.ts';
import { type Columns, TEXTUAL } from './columns.ts';
import { matching, selection } from './select.ts';

/** Whether the index keeps the values of an attribute by code; numbers are left to DuckDB. */
export function countable(columns: Columns, by: string): boolean {
  const { type } = columns.attribute(by);
  return TEXTUAL.has(type) || type === 'boolean';
}

/** Counts by raw value: most common first, ties by value in code point order. */
export function facets(columns: Columns, plan: FacetPlan, removed: Bitset | null): FacetAnswer {
  const flags = columns.attribute(plan.by).type === 'boolean' ? columns.flags(plan.by) : null;
  const values = flags ? null : columns.values(plan.by);
  const counts = new Uint32Array(flags ? 2 : values!.raw.length);
  let matched = 0;
  let missing = 0;
  const single = flags ?? values!.single;
  const lists = values?.lists;
  for (const ordinal of matching(columns, selection(columns, plan.where, removed))) {
    matched += 1;
    if (single) {
      const code = single[ordinal]!;
      if (code === 0) missing += 1;
      else counts[code - 1]! += 1;
    } else if (lists) {
      const end = lists.end(ordinal);
      let i = lists.start(ordinal);
      if (i === end) missing += 1;
      for (; i < end; i += 1) counts[lists.list[i]!]! += 1;
    }
  }
  const codes: number[] = [];
  let withheld = 0;
  for (let code = 0; code < counts.length; code += 1) {
    if (counts[code] === 0) continue;
    if (counts[code]! < plan.floor) withheld += 1;
    else codes.push(code);
  }
  // Codes ascend in code point order, so a stable sort by count leaves ties by value.
  codes.sort((a, b) => counts[b]! - counts[a]!);
  const value = (code: number) => (flags ? code === 1 : values!.raw.at(code));
  return {
    values: codes.slice(0, plan.limit).map((code) => ({ value: value(code), count: counts[code]! })),
    matched,
    missing,
    withheld,
  };
}
