// Counts the values of an attribute among the matching records.
import type { Value } from '../../packs/define/model.ts';
import { byCodePoint } from '../../packs/define/text.ts';
import type { FacetAnswer, FacetPlan } from '../plan/plan.ts';
import type { Bitset } from './bitset.ts';
import type { SideTable } from './changed-records.ts';
import { type Columns, TEXTUAL } from './columns.ts';
import type { Codes } from './container.ts';
import { matcherFor, type RecordMatcher, visit } from './matcher.ts';
import type { Postings } from './postings.ts';

type Count = { value: Value; count: number };

/** Whether the index has codes for the values of an attribute; DuckDB counts numbers. */
export function isCountable(columns: Columns, by: string): boolean {
  const { type } = columns.attribute(by);
  return TEXTUAL.has(type) || type === 'boolean';
}

/** Counts by raw value, most common first, ties by value in code point order. */
export function countFacets(
  columns: Columns,
  plan: FacetPlan,
  removed: Bitset | null,
  side: SideTable | null,
): FacetAnswer {
  const flags = columns.attribute(plan.by).type === 'boolean' ? columns.flags(plan.by) : null;
  const values = flags ? null : columns.values(plan.by);
  // Codes start at 1 in the columns; 0 is a record without a value.
  const all = new Uint32Array((values ? values.raw.length : 2) + 1);
  const tally = { matched: 0, missing: 0 };
  const chosen = matcherFor(columns, plan.where, removed);
  const single = flags ?? values?.single;
  if (single) tally.matched = countSingle(columns, chosen, single, all);
  else if (values?.lists) tally.matched = countLists(columns, chosen, values.lists, all);
  tally.missing = all[0]!;
  const counts = all.subarray(1);
  const value = (code: number) => (values ? values.raw.at(code) : code === 1);
  // Values of changed records that no other record has.
  const others: Count[] = [];
  for (const [of, count] of side ? countChanged(side, plan, tally) : []) {
    const code = codeOf(of, value, counts.length);
    if (code === null) others.push({ value: of, count });
    else counts[code]! += count;
  }
  const codes: number[] = [];
  for (let code = 0; code < counts.length; code += 1) if (counts[code] !== 0) codes.push(code);
  const shown = codes.filter((code) => counts[code]! >= plan.floor);
  // Codes ascend in code point order, so a stable sort by count keeps ties in order of value.
  shown.sort((a, b) => counts[b]! - counts[a]!);
  const page: Count[] = shown.slice(0, plan.limit).map((code) => ({ value: value(code), count: counts[code]! }));
  const more = others.filter(({ count }) => count >= plan.floor);
  if (more.length > 0) {
    page.push(...more);
    page.sort((a, b) => b.count - a.count || byCodePoint(String(a.value), String(b.value)));
  }
  const withheld = codes.length + others.length - shown.length - more.length;
  return { values: page.slice(0, plan.limit), ...tally, withheld };
}

/** The code of a value by binary search; null: it has none. */
function codeOf(value: Value, at: (code: number) => string | boolean, codes: number): number | null {
  let [from, to] = [0, codes];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (byCodePoint(String(at(middle)), String(value)) < 0) from = middle + 1;
    else to = middle;
  }
  return from < codes && at(from) === value ? from : null;
}

/** Counts single values by code; returns the number of matching records. */
function countSingle(columns: Columns, chosen: RecordMatcher, codes: Codes, counts: Uint32Array): number {
  let matched = 0;
  visit(columns, chosen, (ordinal) => {
    matched += 1;
    counts[codes[ordinal]!]! += 1;
  });
  return matched;
}

/** Counts list entries by code (codes start at 0); returns the number of matching records. */
function countLists(columns: Columns, chosen: RecordMatcher, lists: Postings, counts: Uint32Array): number {
  let matched = 0;
  visit(columns, chosen, (ordinal) => {
    matched += 1;
    const [start, end] = [lists.start(ordinal), lists.end(ordinal)];
    if (start === end) counts[0]! += 1;
    for (let i = start; i < end; i += 1) counts[lists.list[i]! + 1]! += 1;
  });
  return matched;
}

/** Adds the changed records that match. */
function countChanged(
  side: SideTable,
  plan: FacetPlan,
  tally: { matched: number; missing: number },
): Map<Value, number> {
  const counts = new Map<Value, number>();
  for (const { record } of side.matching(plan.where)) {
    const value = record.attributes[plan.by];
    tally.matched += 1;
    if (value === undefined) tally.missing += 1;
    else for (const one of Array.isArray(value) ? new Set(value) : [value]) counts.set(one, (counts.get(one) ?? 0) + 1);
  }
  return counts;
}
