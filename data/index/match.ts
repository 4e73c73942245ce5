// Predicates over the index: each becomes a test of one ordinal and, where the index has one, a sorted list to drive from.
import { column } from '../layout.ts';
import type { Predicate } from '../plan.ts';
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

/** Compiles one predicate. */
export function match(columns: Columns, predicate: Predicate): Match {
  switch (predicate.kind) {
    case 'any':
      return any(columns, predicate.attribute, predicate.values);
    case 'none': {
      const { test } = any(columns, predicate.attribute, predicate.values);
      return tested((ordinal) => !test(ordinal));
    }
    case 'like': {
      const values = columns.values(predicate.attribute);
      const flags = values.flagsLike(predicate.needle);
      return { ...byFlags(columns, predicate.attribute, flags), test: (ordinal) => values.flagged(ordinal, flags) };
    }
    case 'min':
    case 'max':
      return bound(columns, predicate.kind, predicate.attribute, predicate.value);
    case 'has': {
      const present = columns.present(predicate.attribute);
      return tested(predicate.present ? present : (ordinal) => !present(ordinal));
    }
    case 'words':
      return everyWord(columns, predicate.words, predicate.scope);
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
      return tested((ordinal) => updated[ordinal]! >= predicate.at);
    }
    case 'min_quality': {
      const quality = columns.numbers('quality');
      return tested((ordinal) => quality[ordinal]! >= predicate.value);
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
    const flags = values.flagsOf(wanted.map(String));
    return { ...byFlags(columns, name, flags), test: (ordinal) => values.flagged(ordinal, flags) };
  }
  if (type === 'boolean') {
    const flags = columns.flags(name);
    return tested((ordinal) => wanted.some((value) => flags[ordinal] === (value === true ? 2 : 1)));
  }
  const numbers = columns.numbers(column(name, 'value'));
  return tested((ordinal) => wanted.some((value) => numbers[ordinal] === value));
}

/** The union of the postings of the flagged values. */
function byFlags(columns: Columns, name: string, flags: Uint8Array): Match {
  const { by } = columns.values(name);
  const codes: number[] = [];
  let estimate = 0;
  for (let code = 0; code < flags.length; code += 1) {
    if (flags[code] !== 1) continue;
    codes.push(code);
    estimate += by.count(code);
  }
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
  return tested(kind === 'min' ? (ordinal) => numbers[ordinal]! >= limit : (ordinal) => numbers[ordinal]! <= limit);
}

/** Every word must begin some word of the record. The rarest word is listed, the others become sets. */
function everyWord(columns: Columns, prefixes: string[], scope: 'public' | 'full'): Match {
  const { terms, size } = columns;
  const [rarest, ...others] = prefixes
    .map((prefix) => ({ prefix, count: terms.count(prefix) }))
    .sort((a, b) => a.count - b.count);
  if (!rarest) return tested(() => true);
  return listed(rarest.count, size, () => {
    const sets = others.map(({ prefix }) => terms.matching(prefix, scope));
    const first =
      rarest.count * 16 < size ? terms.list(rarest.prefix, scope) : terms.matching(rarest.prefix, scope).toArray();
    return sets.length === 0 ? first : first.filter((ordinal) => sets.every((set) => set.has(ordinal)));
  });
}
