// Compiles predicates for the index: each becomes a test of one ordinal and, when the index has one, a sorted
// list.
import { leastReach } from '../consolidate/engine-values.ts';
import { boxTest } from '../model/geography.ts';
import { column } from '../model/layout.ts';
import type { Predicate } from '../plan/plan.ts';
import { Bitset } from './bitset.ts';
import { type Columns, TEXTUAL } from './columns.ts';

/** A compiled predicate. `estimate` is an upper bound of the length of `list`; Infinity without a list. */
export interface CompiledPredicate {
  estimate: number;
  list: () => Uint32Array;
  test: (ordinal: number) => boolean;
}

/** With a larger share of the records a predicate only tests: its list would take longer than the page without it. */
const WIDE = 1 / 8;

const tested = (test: (ordinal: number) => boolean): CompiledPredicate => ({
  estimate: Number.POSITIVE_INFINITY,
  list: () => new Uint32Array(0),
  test,
});

/** A predicate whose matches are listed once, when it drives the search or is tested. */
function listed(estimate: number, size: number, make: () => Uint32Array): CompiledPredicate {
  let list: Uint32Array | null = null;
  let bits: Bitset | null = null;
  const get = () => {
    list ??= make();
    return list;
  };
  const set = () => {
    const made = new Bitset(size);
    for (const ordinal of get()) made.add(ordinal);
    return made;
  };
  const test = (ordinal: number) => {
    bits ??= set();
    return bits.has(ordinal);
  };
  return { estimate, list: get, test };
}

/** Compiles one predicate; a record must satisfy all returned matches. */
export function compilePredicate(columns: Columns, predicate: Predicate): CompiledPredicate | CompiledPredicate[] {
  switch (predicate.kind) {
    case 'any':
      return any(columns, predicate.attribute, predicate.values);
    case 'none': {
      const { test } = any(columns, predicate.attribute, predicate.values);
      return tested((ordinal) => !test(ordinal));
    }
    case 'like': {
      const values = columns.values(predicate.attribute);
      const codes = values.codesLike(predicate.needle);
      const { estimate, list } = byCodes(columns, predicate.attribute, codes);
      const test = values.tester(codes);
      return estimate > columns.size * WIDE ? tested(test) : { estimate, list, test };
    }
    case 'min':
    case 'max':
      return bound(columns, predicate.kind, predicate.attribute, predicate.value);
    case 'has': {
      const present = columns.present(predicate.attribute);
      return tested(predicate.present ? present : (ordinal) => !present(ordinal));
    }
    case 'words':
      return predicate.words.map((word) => wordMatch(columns, word, predicate.scope));
    case 'status': {
      const least = leastReach(predicate.scope);
      const reaches = predicate.statuses.map((status) => columns.reach(status));
      return tested((ordinal) => reaches.some((reach) => reach[ordinal]! >= least));
    }
    case 'near': {
      const { attribute, lat, lng, km } = predicate;
      const grid = columns.grid(attribute);
      const { size } = columns;
      const test = (ordinal: number) => grid.distance(ordinal, lat, lng) <= km;
      const estimate = estimateCircle(km, size);
      return estimate > size * WIDE ? tested(test) : { ...listed(estimate, size, () => grid.near(lat, lng, km)), test };
    }
    case 'bbox':
      return box(columns, predicate);
    case 'ids':
      return listed(predicate.refs.length, columns.size, () => {
        const found = predicate.refs.map((ref) => columns.keys.find(ref)).filter((ordinal) => ordinal !== null);
        return Uint32Array.from(new Set(found)).sort();
      });
    case 'updated_since': {
      const updated = columns.numbers('updated');
      return tested((ordinal) => updated.at(ordinal) >= predicate.at);
    }
    case 'min_quality': {
      // Ordinals are the rank by quality: the matches are the first ones.
      const end = columns.countAbove(predicate.value);
      return tested((ordinal) => ordinal < end);
    }
  }
}

/** Approximate number of records in a circle if they were spread evenly; only to choose the driver. */
export function estimateCircle(km: number, size: number): number {
  return Math.min(size, size * (km / 6000) ** 2 * 4 + 32);
}

function box(columns: Columns, { attribute, ...edges }: Extract<Predicate, { kind: 'bbox' }>): CompiledPredicate {
  const grid = columns.grid(attribute);
  const inside = boxTest(edges);
  const test = (ordinal: number) => inside(grid.lat.at(ordinal), grid.lng.at(ordinal));
  const count = grid.countAround(edges);
  if (count > columns.size * WIDE) return tested(test);
  return { ...listed(count, columns.size, () => grid.box(edges)), test };
}

function any(columns: Columns, name: string, wanted: (string | number | boolean)[]): CompiledPredicate {
  const { type } = columns.attribute(name);
  if (TEXTUAL.has(type)) {
    const values = columns.values(name);
    const codes = values.codesOf(wanted.map(String));
    return { ...byCodes(columns, name, codes), test: values.tester(codes) };
  }
  if (type === 'boolean') {
    const flags = columns.flags(name);
    return tested((ordinal) => wanted.some((value) => flags[ordinal] === (value === true ? 2 : 1)));
  }
  const numbers = columns.numbers(column(name, 'value'));
  return tested((ordinal) => wanted.some((value) => numbers.at(ordinal) === value));
}

/** Union of the postings of folded values. */
function byCodes(columns: Columns, name: string, codes: readonly number[]): CompiledPredicate {
  const { by } = columns.values(name);
  const estimate = codes.reduce((sum, code) => sum + by.count(code), 0);
  return listed(estimate, columns.size, () => {
    if (codes.length === 1) return by.of(codes[0]!);
    const union = new Bitset(columns.size);
    for (const code of codes) for (const ordinal of by.of(code)) union.add(ordinal);
    return union.toArray();
  });
}

function bound(columns: Columns, kind: 'min' | 'max', name: string, value: number | string): CompiledPredicate {
  const { type } = columns.attribute(name);
  if (type === 'date') {
    const { single, raw } = columns.values(name);
    if (!single) throw new Error(`${name} contains lists, which have no bounds`);
    // Dates are compared as text, so a bound becomes a bound on codes.
    const rank = raw.rank(String(value));
    return tested(
      kind === 'min'
        ? (o) => single[o]! !== 0 && single[o]! - 1 >= rank
        : (o) => single[o]! !== 0 && single[o]! - 1 <= rank,
    );
  }
  const limit = Number(value);
  // A price range matches when the ranges overlap: maximum against `min_`, minimum against `max_` (contract
  // section 2).
  const numbers = columns.numbers(column(name, type === 'price' ? (kind === 'min' ? 'max' : 'min') : 'value'));
  return tested(kind === 'min' ? (ordinal) => numbers.at(ordinal) >= limit : (ordinal) => numbers.at(ordinal) <= limit);
}

/** Records with a word that begins with the prefix. */
function wordMatch({ terms, size }: Columns, prefix: string, scope: 'public' | 'full'): CompiledPredicate {
  const range = terms.range(prefix);
  const { estimate, list, test } = listed(terms.count(range), size, () => terms.list(range, scope));
  // For few candidates, testing their own words is faster than the postings of a common prefix.
  return { estimate, list, test: scope === 'full' ? (ordinal) => terms.within(ordinal, range) : test };
}
