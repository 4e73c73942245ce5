// Counts the values of an attribute among the matching records.
import type { Value } from '../../packs/define/model.ts';
import { byCodePoint } from '../../packs/define/text.ts';
import { type GroupKey, groupKey, groupsOf } from '../plan/group-key.ts';
import type { FacetAnswer, FacetPlan } from '../plan/plan.ts';
import type { SliceOptions } from '../plan/slices.ts';
import type { Bitset } from './bitset.ts';
import type { SideTable } from './changed-records.ts';
import { type Columns, TEXTUAL } from './columns.ts';
import type { Codes } from './container.ts';
import { codedOf } from './group-keys.ts';
import { matcherFor, visitSlices } from './matcher.ts';
import type { Postings } from './postings.ts';

type Count = { value: Value; count: number };

const keyOf = (columns: Columns, by: string) => groupKey(by, (name) => columns.attribute(name));

/** Whether the index has codes for the values of an attribute; DuckDB counts numbers. */
export function isCountable(columns: Columns, by: string): boolean {
  const { type } = keyOf(columns, by).attribute;
  return TEXTUAL.has(type) || type === 'boolean';
}

/** Counts by raw value, times by day; most common first, ties by value in code point order. Yields between slices. */
export function* countFacets(
  columns: Columns,
  plan: FacetPlan,
  removed: Bitset | null,
  side: SideTable | null,
  options: SliceOptions,
): Generator<void, FacetAnswer> {
  const key = keyOf(columns, plan.by);
  const { codes: size, single, lists, value, find } = codedOf(columns, key)!;
  // Codes start at 1 in the columns; 0 is a record without a value.
  const all = new Uint32Array(size + 1);
  const tally = { matched: 0, missing: 0 };
  const chosen = matcherFor(columns, plan.where, removed);
  const count = single ? singleCounter(single, all) : listCounter(lists!, all);
  const add = (ordinal: number) => {
    tally.matched += 1;
    count(ordinal);
  };
  yield* visitSlices(columns, chosen, add, options);
  tally.missing = all[0]!;
  const counts = all.subarray(1);
  // Values of changed records that no other record has.
  const others: Count[] = [];
  for (const [of, count] of side ? countChanged(side, plan, key, tally) : []) {
    const code = find(of);
    if (code < 0) others.push({ value: of, count });
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

/** Counts the single value of a record by code. */
function singleCounter(codes: Codes, counts: Uint32Array): (ordinal: number) => void {
  return (ordinal) => {
    counts[codes[ordinal]!]! += 1;
  };
}

/** Counts the list entries of a record by code (codes start at 0). */
function listCounter(lists: Postings, counts: Uint32Array): (ordinal: number) => void {
  return (ordinal) => {
    const [start, end] = [lists.start(ordinal), lists.end(ordinal)];
    if (start === end) counts[0]! += 1;
    for (let i = start; i < end; i += 1) counts[lists.list[i]! + 1]! += 1;
  };
}

/** Adds the changed records that match. */
function countChanged(
  side: SideTable,
  plan: FacetPlan,
  key: GroupKey,
  tally: { matched: number; missing: number },
): Map<Value, number> {
  const counts = new Map<Value, number>();
  for (const { record } of side.matching(plan.where)) {
    const values = groupsOf(key, record.attributes[key.attribute.name]);
    tally.matched += 1;
    if (values.length === 0) tally.missing += 1;
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return counts;
}
