// Predicates over the index: each becomes a test of one ordinal and, where the index has one, a sorted list to drive from.
import { leastReach } from '../consolidate/engine-values.ts';
import { column } from '../model/layout.ts';
import type { Predicate } from '../plan/plan.ts';
import { Bitset } from './bitset.ts';
import { type Columns, TEXTUAL } from './columns.ts';

/** A compiled predicate. `estimate` bounds the list's length; Infinity where there is no list. */
export interface Match {
  estimate: number;
  list: () => Uint32Array;
  test: (ordinal: number) => boolean;
}

const tested = (test: (ordinal: number) => boolean): Match => ({
  estimate: Number.POSITIVE_INFINITY,
  list: () => new Uint32Array(0),
  test,
});

/** A predicate whose members are found as a list once, and only if it drives or is tested. */
function listed(estimate: number, size: number, make: () => Uint32Array): Match {
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

/** Compiles one predicate; all that come of it must hold. */
export function match(columns: Columns, predicate: Predicate): Match | Match[] {
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
      return { ...byCodes(columns, predicate.attribute, codes), test: values.tester(codes) };
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
      const size = columns.size;
      return {
        ...listed(near(km, size), size, () => grid.near(lat, lng, km)),
        test: (ordinal) => grid.within(ordinal, lat, lng, km),
      };
    }
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
      const quality = columns.numbers('quality');
      return tested((ordinal) => quality.at(ordinal) >= predicate.value);
    }
  }
}

/** Roughly how many records a circle holds, were they spread evenly; only to choose what to drive from. */
function near(km: number, size: number): number {
  return Math.min(size, size * (km / 6000) ** 2 * 4 + 32);
}

function any(columns: Columns, name: string, wanted: (string | number | boolean)[]): Match {
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

/** The union of the postings of some folded values. */
function byCodes(columns: Columns, name: string, codes: readonly number[]): Match {
  const { by } = columns.values(name);
  const estimate = codes.reduce((sum, code) => sum + by.count(code), 0);
  return listed(estimate, columns.size, () => {
    if (codes.length === 1) return by.of(codes[0]!);
    const union = new Bitset(columns.size);
    for (const code of codes) for (const ordinal of by.of(code)) union.add(ordinal);
    return union.toArray();
  });
}

function bound(columns: Columns, kind: 'min' | 'max', name: string, value: number | string): Match {
  const { type } = columns.attribute(name);
  if (type === 'date') {
    const { single, raw } = columns.values(name);
    if (!single) throw new Error(`${name} holds lists`);
    // Dates are compared as written, so a bound becomes a bound on codes.
    const rank = raw.rank(String(value));
    return tested(
      kind === 'min'
        ? (o) => single[o]! !== 0 && single[o]! - 1 >= rank
        : (o) => single[o]! !== 0 && single[o]! - 1 <= rank,
    );
  }
  const limit = Number(value);
  // A range is met where the two overlap: its maximum against `min_`, its minimum against `max_` (contract section 2).
  const numbers = columns.numbers(column(name, type === 'price' ? (kind === 'min' ? 'max' : 'min') : 'value'));
  return tested(kind === 'min' ? (ordinal) => numbers.at(ordinal) >= limit : (ordinal) => numbers.at(ordinal) <= limit);
}

/** Some word of the record begins with the given one. */
function wordMatch({ terms, size }: Columns, prefix: string, scope: 'public' | 'full'): Match {
  const range = terms.range(prefix);
  const { estimate, list, test } = listed(terms.count(range), size, () => terms.list(range, scope));
  // Few candidates are tested: their own words tell sooner than the postings of a prefix that thousands have.
  return { estimate, list, test: scope === 'full' ? (ordinal) => terms.within(ordinal, range) : test };
}
