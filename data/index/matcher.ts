// Combines the predicates of a query into one test of records, and visits the matches.
import type { Predicate } from '../plan/plan.ts';
import { ranges, type SliceOptions } from '../plan/slices.ts';
import type { Bitset } from './bitset.ts';
import type { Columns } from './columns.ts';
import { type CompiledPredicate, compilePredicates } from './predicates.ts';

export interface RecordMatcher {
  /** Sorted ordinals to iterate over; null: all. */
  driver: Uint32Array | null;
  /** Null: all of them match. */
  test: ((ordinal: number) => boolean) | null;
  /** Records to test in one turn of the event loop; undefined: the usual number. */
  slice?: number | undefined;
}

/** Tests of expressions read texts: about 10 ms. */
const EXPRESSIONS_A_SLICE = 4_096;

/**
 * Combines predicates: the shortest list drives, the others are tests, cheapest first. `removed` records
 * never match. A list longer than `longest` does not drive; with 0 every predicate is a test, for callers with
 * their own candidates.
 */
export function matcherFor(
  columns: Columns,
  where: Predicate[],
  removed: Bitset | null,
  longest = Number.MAX_VALUE,
): RecordMatcher {
  const matches = compilePredicates(columns, where, removed).sort((a, b) => a.estimate - b.estimate);
  const [first, ...rest] = matches;
  const drives = longest > 0 && first !== undefined && first.estimate <= longest;
  const tests: CompiledPredicate[] = drives ? rest : matches;
  const slice = where.some(({ kind }) => kind === 'expression') ? EXPRESSIONS_A_SLICE : undefined;
  return { driver: drives ? first.list() : null, test: conjunction(tests, removed), slice };
}

function conjunction(tests: readonly CompiledPredicate[], removed: Bitset | null): RecordMatcher['test'] {
  const [only, ...more] = tests;
  if (!only) return removed && ((ordinal) => !removed.has(ordinal));
  if (more.length === 0 && !removed) return only.test;
  return (ordinal) => {
    if (removed?.has(ordinal)) return false;
    for (const test of tests) if (!test.test(ordinal)) return false;
    return true;
  };
}

/** Number of records that are visited. */
const candidates = (columns: Columns, { driver }: RecordMatcher): number => driver?.length ?? columns.size;

/**
 * Visits every matching ordinal, ascending, or those of the candidates [from, to). A generator takes several times as
 * long for 100,000 records.
 */
export function visit(
  columns: Columns,
  matcher: RecordMatcher,
  take: (ordinal: number) => void,
  from = 0,
  to = candidates(columns, matcher),
): void {
  const { driver, test } = matcher;
  for (let i = from; i < to; i += 1) {
    const ordinal = driver ? driver[i]! : i;
    if (test === null || test(ordinal)) take(ordinal);
  }
}

/** Visits every matching ordinal, ascending; yields between slices. */
export function* visitSlices(
  columns: Columns,
  matcher: RecordMatcher,
  take: (ordinal: number) => void,
  options: SliceOptions,
): Generator<void, void> {
  const { slice = matcher.slice } = options;
  yield* ranges({ ...options, slice }, candidates(columns, matcher), (from, to) =>
    visit(columns, matcher, take, from, to),
  );
}

/** Number of matching records. Yields between slices of a matcher that has them. */
export function* countMatches(columns: Columns, chosen: RecordMatcher): Generator<void, number> {
  if (chosen.test === null) return candidates(columns, chosen);
  let total = 0;
  const { slice = Number.MAX_SAFE_INTEGER } = chosen;
  yield* visitSlices(
    columns,
    chosen,
    () => {
      total += 1;
    },
    { slice },
  );
  return total;
}
