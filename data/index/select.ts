// Selects the requested page of the matching records.
import { wholeMetres } from '../model/geography.ts';
import type { Position, SearchAnswer, SearchPlan, Sort } from '../plan/plan.ts';
import { Bitset } from './bitset.ts';
import type { Columns } from './columns.ts';
import { lowerBound } from './grid.ts';
import { countMatches, matcherFor, type RecordMatcher } from './matcher.ts';
import { selectNearest } from './nearest.ts';
import { byRelevance, relevanceOf } from './relevance.ts';

/**
 * With more matches than this, a sort other than by quality walks its precomputed order; with fewer it sorts
 * them.
 */
const SORT_UP_TO = 512;

/** Answers a search plan: ordinals of a page, the position after it, and the count when the plan wants it. */
export function select(columns: Columns, plan: SearchPlan, removed: Bitset | null): SearchAnswer {
  if (plan.sort.distance) return selectNearest(columns, plan, plan.sort.distance, removed);
  const chosen = matcherFor(columns, plan.where, removed);
  const total = plan.total ? countMatches(columns, chosen) : null;
  // One more than the page, to see whether another page follows.
  const found = inOrder(columns, plan, chosen);
  const ordinals = found.slice(0, plan.limit);
  const last = ordinals.at(-1);
  if (found.length <= plan.limit || last === undefined) return { ordinals, next: null, total };
  return { ordinals, next: positionsOf(columns, plan.sort)(last), total };
}

function inOrder(columns: Columns, plan: SearchPlan, chosen: RecordMatcher): number[] {
  const { key, descending, relevance } = plan.sort;
  if (relevance) return byRelevance(columns, plan, relevance, chosen);
  return key === 'quality' && descending ? byQuality(columns, plan, chosen) : sorted(columns, plan, chosen);
}

/** Ordinals are the rank by quality: start after the cursor and stop when the page is full. */
function byQuality(columns: Columns, plan: SearchPlan, { driver, test }: RecordMatcher): number[] {
  const start = plan.after === null ? 0 : after(columns, plan.after);
  const found: number[] = [];
  if (driver) {
    for (let i = lowerBound(driver, start); i < driver.length && found.length <= plan.limit; i += 1) {
      if (test === null || test(driver[i]!)) found.push(driver[i]!);
    }
  } else {
    for (let ordinal = start; ordinal < columns.size && found.length <= plan.limit; ordinal += 1)
      if (test === null || test(ordinal)) found.push(ordinal);
  }
  return found;
}

/** First ordinal after a position in (quality descending, id ascending). */
function after(columns: Columns, position: { value: unknown; id: string }): number {
  const quality = columns.numbers('quality');
  const value = Number(position.value);
  let low = 0;
  let high = columns.size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = quality.at(middle);
    if (at > value || (at === value && columns.keys.compareId(middle, position.id) <= 0)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function sorted(columns: Columns, plan: SearchPlan, chosen: RecordMatcher): number[] {
  const { key, descending } = plan.sort;
  const position = plan.after && {
    sortNumber: plan.after.value === null ? null : columns.sortNumberOf(key, plan.after.value),
    id: plan.after.id,
  };
  const { driver, test } = chosen;
  if (driver && driver.length <= SORT_UP_TO) {
    const few = [...driver].filter((ordinal) => test === null || test(ordinal));
    return sortFew(columns, plan, few, position);
  }
  const walk = columns.order(key).walk(descending, position);
  const found: number[] = [];
  const members = driver ? setOf(driver, columns.size) : null;
  for (const ordinal of walk) {
    if ((members === null || members.has(ordinal)) && (test === null || test(ordinal))) found.push(ordinal);
    if (found.length > plan.limit) break;
  }
  return found;
}

function setOf(list: Uint32Array, size: number): Bitset {
  const set = new Bitset(size);
  for (const ordinal of list) set.add(ordinal);
  return set;
}

function sortFew(
  columns: Columns,
  plan: SearchPlan,
  found: number[],
  position: { sortNumber: number | null; id: string } | null,
): number[] {
  const sortNumber = columns.sortNumber(plan.sort.key);
  const sign = plan.sort.descending ? -1 : 1;
  const compare = (a: number, b: number) => {
    const x = sortNumber(a);
    const y = sortNumber(b);
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
    return x === y ? 0 : x < y ? -sign : sign;
  };
  const beyond = (ordinal: number) => {
    if (position === null) return true;
    const x = sortNumber(ordinal);
    const missing = Number.isNaN(x);
    if (position.sortNumber === null) return missing && columns.keys.compareId(ordinal, position.id) > 0;
    if (missing) return true;
    if (x === position.sortNumber) return columns.keys.compareId(ordinal, position.id) > 0;
    return descends(x, position.sortNumber, sign);
  };
  return found
    .filter(beyond)
    .sort((a, b) => compare(a, b) || columns.keys.compare(a, b))
    .slice(0, plan.limit + 1);
}

const descends = (x: number, y: number, sign: number) => (x - y) * sign > 0;

/** Positions of records in an order, for cursors and to merge changed records. */
export function positionsOf(columns: Columns, { key, relevance, distance }: Sort): (ordinal: number) => Position {
  if (relevance) {
    const order = relevanceOf(columns, relevance);
    return (ordinal) => order.position(ordinal);
  }
  if (distance) {
    const { attribute, lat, lng } = distance;
    const grid = columns.grid(attribute);
    return (ordinal) => ({ value: wholeMetres(grid.distance(ordinal, lat, lng)), id: columns.keys.id(ordinal) });
  }
  return (ordinal) => ({ value: sortValue(columns, key, ordinal), id: columns.keys.id(ordinal) });
}

/** Null: the record has no value. */
function sortValue(columns: Columns, key: string, ordinal: number): number | string | boolean | null {
  const number = columns.sortNumber(key)(ordinal);
  if (Number.isNaN(number)) return null;
  if (key === 'quality' || key === 'updated') return number;
  const { type } = columns.attribute(key);
  if (type === 'boolean') return number === 2;
  if (type === 'integer' || type === 'number' || type === 'price') return number;
  return columns.values(key).folded.at(number);
}
