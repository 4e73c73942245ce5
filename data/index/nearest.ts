// Selects a page of records by distance: circles around the point grow until one contains the page.
import { wholeMetres } from '../model/geography.ts';
import type { DistanceSort, Position, SearchAnswer, SearchPlan } from '../plan/plan.ts';
import type { Bitset } from './bitset.ts';
import type { Columns } from './columns.ts';
import { countMatches, matcherFor, type RecordMatcher, visit } from './matcher.ts';
import { estimateCircle } from './predicates.ts';

/** A record with its distance. */
interface Candidate {
  ordinal: number;
  metres: number;
}

/** With fewer records than this share of the index under the other conditions, those are measured. */
const FEW = 1 / 32;

/** Answers a plan sorted by distance. */
export function selectNearest(
  columns: Columns,
  plan: SearchPlan,
  sort: DistanceSort,
  removed: Bitset | null,
): SearchAnswer {
  const found = candidates(columns, plan, sort, removed)
    .sort((a, b) => a.metres - b.metres || columns.keys.compare(a.ordinal, b.ordinal))
    .slice(0, plan.limit + 1);
  const page = found.slice(0, plan.limit);
  const last = page.at(-1);
  const more = found.length > plan.limit && last !== undefined;
  return {
    ordinals: page.map(({ ordinal }) => ordinal),
    next: more ? { value: last.metres, id: columns.keys.id(last.ordinal) } : null,
    total: plan.total ? countMatches(columns, matcherFor(columns, plan.where, removed)) : null,
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
  const km = where.find((each) => each.kind === 'near')?.km ?? Number.POSITIVE_INFINITY;
  const others = where.filter(({ kind }) => kind !== 'near');
  const { size } = columns;
  const grid = columns.grid(attribute);
  const matcher = matcherFor(columns, others, removed, Math.min(estimateCircle(km, size), size * FEW));
  let found: Candidate[] = [];
  const rare = matcher.driver ? matcher : rareMatches(columns, matcher, size * FEW);
  if (rare !== null) {
    visit(columns, rare, (ordinal) => {
      const away = grid.distance(ordinal, lat, lng);
      const metres = wholeMetres(away);
      if (away <= km && isAfter(columns, { ordinal, metres }, after)) found.push({ ordinal, metres });
    });
    return found;
  }
  const start = wholeMetres(usualRadius(limit, size));
  const passed = after === null ? 0 : Number(after.value);
  // Each circle has four times the area of the one before, so that all together cost a third more than the last.
  for (let growth = 1; ; growth *= 2) {
    const most = Math.ceil(Math.hypot(passed, start * growth));
    // A record in the circle may round to a metre more, of which the circle lacks others.
    const radius = (most + 0.5) / 1000;
    found = [];
    grid.circle(lat, lng, Math.min(radius, km), (ordinal, away) => {
      const candidate = { ordinal, metres: wholeMetres(away) };
      if (candidate.metres > most || !isAfter(columns, candidate, after)) return;
      if (matcher.test === null || matcher.test(ordinal)) found.push(candidate);
    });
    if (found.length > limit || radius >= Math.min(km, HALF_AROUND)) return found;
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
