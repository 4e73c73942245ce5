// Selects the requested page of the matching records.
import { wholeMetres } from '../model/geography.ts';
import type { DistanceSort, Position, SearchAnswer, SearchPlan, Sort } from '../plan/plan.ts';
import type { SliceOptions } from '../plan/slices.ts';
import { Bitset } from './bitset.ts';
import type { SideRecord, SideTable } from './changed-records.ts';
import type { Columns } from './columns.ts';
import { lowerBound } from './grid.ts';
import { countMatches, matcherFor, type RecordMatcher, visit } from './matcher.ts';
import { estimateCircle } from './predicates.ts';
import { byRelevance, relevanceOf } from './relevance.ts';

/** A record with its distance. */
interface Candidate {
  ordinal: number;
  metres: number;
}

/** With fewer records than this share of the index under the other conditions, those are measured. */
const FEW = 1 / 32;

/** Answers a plan sorted by distance. */
function* selectNearest(
  columns: Columns,
  plan: SearchPlan,
  sort: DistanceSort,
  removed: Bitset | null,
): Generator<void, SearchAnswer> {
  const hits = candidates(columns, plan, sort, removed)
    .sort((a, b) => a.metres - b.metres || columns.keys.compare(a.ordinal, b.ordinal))
    .slice(0, plan.limit + 1);
  const page = hits.slice(0, plan.limit);
  const last = page.at(-1);
  const more = hits.length > plan.limit && last !== undefined;
  return {
    ordinals: page.map(({ ordinal }) => ordinal),
    next: more ? { value: last.metres, id: columns.keys.id(last.ordinal) } : null,
    total: plan.total ? yield* countMatches(columns, matcherFor(columns, plan.where, removed)) : null,
    metres: page.map(({ metres }) => metres),
  };
}

/** The page with one more record, and possibly records after it, unsorted. */
function candidates(
  columns: Columns,
  { where, after, limit }: SearchPlan,
  { attribute, lat, lng }: DistanceSort,
  removed: Bitset | null,
): Candidate[] {
  const km = where.find((predicate) => predicate.kind === 'near')?.km ?? Number.POSITIVE_INFINITY;
  const others = where.filter(({ kind }) => kind !== 'near');
  const { size } = columns;
  const grid = columns.grid(attribute);
  const matcher = matcherFor(columns, others, removed, Math.min(estimateCircle(km, size), size * FEW));
  let hits: Candidate[] = [];
  const rare = matcher.driver ? matcher : rareMatches(columns, matcher, size * FEW);
  if (rare !== null) {
    visit(columns, rare, (ordinal) => {
      const away = grid.distance(ordinal, lat, lng);
      const metres = wholeMetres(away);
      if (away <= km && isAfter(columns, { ordinal, metres }, after)) hits.push({ ordinal, metres });
    });
    return hits;
  }
  const start = wholeMetres(usualRadius(limit, size));
  const passed = after === null ? 0 : Number(after.value);
  // Each circle has four times the area of the one before, so that all together cost a third more than the last.
  for (let growth = 1; ; growth *= 2) {
    const most = Math.ceil(Math.hypot(passed, start * growth));
    // A record in the circle may round to a metre more, of which the circle lacks others.
    const radius = (most + 0.5) / 1000;
    hits = [];
    grid.circle(lat, lng, Math.min(radius, km), (ordinal, away) => {
      const candidate = { ordinal, metres: wholeMetres(away) };
      if (candidate.metres > most || !isAfter(columns, candidate, after)) return;
      if (matcher.test === null || matcher.test(ordinal)) hits.push(candidate);
    });
    if (hits.length > limit || radius >= Math.min(km, HALF_AROUND)) return hits;
  }
}

/** The matches of a test that fewer than `most` records pass; null for a test that more pass, or without one. */
function rareMatches(columns: Columns, { test }: RecordMatcher, most: number): RecordMatcher | null {
  if (test === null) return null;
  const matches: number[] = [];
  for (let ordinal = 0; ordinal < columns.size; ordinal += 1) {
    if (test(ordinal)) matches.push(ordinal);
    if (matches.length > most) return null;
  }
  return { driver: Uint32Array.from(matches), test: null };
}

/** More than the largest distance on earth, in km. */
const HALF_AROUND = 20_100;

/** Radius in km of a circle that usually contains a page: four times as many records if they were spread evenly. */
function usualRadius(limit: number, size: number): number {
  return 3000 * Math.sqrt((4 * (limit + 1)) / Math.max(1, size));
}

/** Whether a record is after the end of the page before. */
function isAfter(columns: Columns, { ordinal, metres }: Candidate, after: Position | null): boolean {
  if (after === null || metres > Number(after.value)) return true;
  return metres === after.value && columns.keys.compareId(ordinal, after.id) > 0;
}

/**
 * With more matches than this, a sort other than by quality walks its precomputed order; with fewer it sorts
 * them.
 */
const SORT_UP_TO = 512;

/**
 * Answers a search plan: ordinals of a page, the position after it, and the count when the plan wants it. Yields while
 * an order is computed (Columns.order).
 */
export function* select(
  columns: Columns,
  plan: SearchPlan,
  removed: Bitset | null,
  options: SliceOptions,
): Generator<void, SearchAnswer> {
  if (plan.sort.distance) return yield* selectNearest(columns, plan, plan.sort.distance, removed);
  const chosen = matcherFor(columns, plan.where, removed);
  const total = plan.total ? yield* countMatches(columns, chosen) : null;
  // One more than the page, to see whether another page follows.
  const hits = yield* inOrder(columns, plan, chosen, options);
  const ordinals = hits.slice(0, plan.limit);
  const last = ordinals.at(-1);
  if (hits.length <= plan.limit || last === undefined) return { ordinals, next: null, total };
  return { ordinals, next: positionsOf(columns, plan.sort)(last), total };
}

function* inOrder(
  columns: Columns,
  plan: SearchPlan,
  chosen: RecordMatcher,
  options: SliceOptions,
): Generator<void, number[]> {
  const { key, descending, relevance } = plan.sort;
  if (relevance) return byRelevance(columns, plan, relevance, chosen);
  return key === 'quality' && descending
    ? yield* byQuality(columns, plan, chosen)
    : yield* sorted(columns, plan, chosen, options);
}

/** Ordinals are the rank by quality: start after the cursor and stop when the page is full. */
function* byQuality(
  columns: Columns,
  plan: SearchPlan,
  { driver, test, slice = Number.MAX_SAFE_INTEGER }: RecordMatcher,
): Generator<void, number[]> {
  const start = plan.after === null ? 0 : after(columns, plan.after);
  const ordinals: number[] = [];
  if (driver) {
    for (let i = lowerBound(driver, start); i < driver.length && ordinals.length <= plan.limit; i += 1) {
      if (test === null || test(driver[i]!)) ordinals.push(driver[i]!);
    }
  } else {
    for (let ordinal = start; ordinal < columns.size && ordinals.length <= plan.limit; ordinal += 1) {
      if (ordinal > start && (ordinal - start) % slice === 0) yield;
      if (test === null || test(ordinal)) ordinals.push(ordinal);
    }
  }
  return ordinals;
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

function* sorted(
  columns: Columns,
  plan: SearchPlan,
  chosen: RecordMatcher,
  options: SliceOptions,
): Generator<void, number[]> {
  const { key, descending } = plan.sort;
  const position = plan.after && {
    sortNumber: plan.after.value === null ? null : columns.sortNumberOf(key, plan.after.value),
    id: plan.after.id,
  };
  const { driver, test, slice = Number.MAX_SAFE_INTEGER } = chosen;
  if (driver && driver.length <= SORT_UP_TO) {
    const few = [...driver].filter((ordinal) => test === null || test(ordinal));
    return sortFew(columns, plan, few, position);
  }
  const walk = (yield* columns.order(key, options)).walk(descending, position);
  const ordinals: number[] = [];
  const members = driver ? Bitset.of(driver, columns.size) : null;
  let visited = 0;
  for (const ordinal of walk) {
    visited += 1;
    if (visited % slice === 0) yield;
    if ((members === null || members.has(ordinal)) && (test === null || test(ordinal))) ordinals.push(ordinal);
    if (ordinals.length > plan.limit) break;
  }
  return ordinals;
}

function sortFew(
  columns: Columns,
  plan: SearchPlan,
  ordinals: number[],
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
  return ordinals
    .filter(beyond)
    .sort((a, b) => compare(a, b) || columns.keys.compare(a, b))
    .slice(0, plan.limit + 1);
}

const descends = (x: number, y: number, sign: number) => (x - y) * sign > 0;

/** Whole metres of records from the point of a sort. */
export function metresOf(columns: Columns, { attribute, lat, lng }: DistanceSort): (ordinal: number) => number {
  const grid = columns.grid(attribute);
  return (ordinal) => wholeMetres(grid.distance(ordinal, lat, lng));
}

/** Positions of records in an order, for cursors and to merge changed records. */
export function positionsOf(columns: Columns, { key, relevance, distance }: Sort): (ordinal: number) => Position {
  if (relevance) {
    const order = relevanceOf(columns, relevance);
    return (ordinal) => order.position(ordinal);
  }
  if (distance) {
    const metres = metresOf(columns, distance);
    return (ordinal) => ({ value: metres(ordinal), id: columns.keys.id(ordinal) });
  }
  return (ordinal) => ({ value: sortValue(columns, key, ordinal), id: columns.keys.id(ordinal) });
}

/** Positions of changed records in the same order. */
export function changedPositionsOf(columns: Columns, side: SideTable, sort: Sort): (changed: SideRecord) => Position {
  const { key, relevance, distance } = sort;
  if (relevance) {
    const order = relevanceOf(columns, relevance);
    return (changed) => order.changedPosition(changed, side);
  }
  return ({ record }) => ({
    value: distance ? side.metres(record, distance) : side.sortValue(record, key),
    id: record.id,
  });
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
