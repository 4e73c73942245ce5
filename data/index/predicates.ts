// Conditions on the index: the values of a record by ordinal, and sorted lists of matches.
import { DATED } from '../../packs/define/model.ts';
import { PERIOD_LENGTHS } from '../../packs/define/times.ts';
import { column } from '../model/layout.ts';
import type { Predicate } from '../plan/plan.ts';
import { conditionTests, type RowValues, type Test } from '../plan/predicates.ts';
import { Bitset } from './bitset.ts';
import { type Columns, TEXTUAL } from './columns.ts';
import type { Values } from './values.ts';

/** A compiled predicate. `estimate` is an upper bound of the length of `list`; Infinity without a list. */
export interface CompiledPredicate {
  estimate: number;
  list: () => Uint32Array;
  test: (ordinal: number) => boolean;
}

/** With a larger share of the records a predicate only tests: its list would take longer than the page without it. */
const WIDE = 1 / 8;

/** Compiles predicates; a record must satisfy all of them. */
export function compilePredicates(
  columns: Columns,
  where: readonly Predicate[],
  removed: Bitset | null,
): CompiledPredicate[] {
  return conditionTests(where, rowValues(columns, removed)).map((test) => {
    const { estimate = Number.POSITIVE_INFINITY, list = () => new Uint32Array(0) } = test;
    return { estimate, list, test };
  });
}

/** A test of the matches, which are listed once, when the predicate drives the search or is tested. */
function listed(estimate: number, size: number, make: () => Uint32Array, test?: Test<number>): Test<number> {
  let matches: Uint32Array | null = null;
  let bits: Bitset | null = null;
  const list = () => {
    matches ??= make();
    return matches;
  };
  const inList = (ordinal: number) => {
    bits ??= Bitset.of(list(), size);
    return bits.has(ordinal);
  };
  return Object.assign(test ?? inList, { estimate, list });
}

/** The values of the records of an index. Texts that only `removed` records have are not read. */
function rowValues(columns: Columns, removed: Bitset | null): RowValues<number> {
  const { size } = columns;
  return {
    equal: (name, wanted) => {
      const { type } = columns.attribute(name);
      if (TEXTUAL.has(type)) {
        const values = columns.values(name);
        const texts = wanted.map(String);
        const codes = type === 'datetime' ? codesOfTimes(values, texts) : values.codesOf(texts);
        return byCodes(columns, values, codes);
      }
      if (type === 'boolean') {
        const flags = columns.flags(name);
        return (ordinal) => wanted.some((value) => flags[ordinal] === (value === true ? 2 : 1));
      }
      const numbers = columns.numbers(column(name, 'value'));
      return (ordinal) => wanted.some((value) => numbers.at(ordinal) === value);
    },
    containing: (name, needle) => {
      const values = columns.values(name);
      const codes = values.codesLike(needle, removed);
      const test = byCodes(columns, values, codes);
      return test.estimate! > size * WIDE ? values.tester(codes) : test;
    },
    present: (name) => columns.present(name),
    texts: (name) => {
      const values = columns.values(name);
      return (ordinal) => values.codesAt(ordinal).map((code) => values.raw.at(code));
    },
    someText: (name, passes) => columns.values(name).someText(passes),
    bound: (name, end) => {
      const { type } = columns.attribute(name);
      if (!DATED.includes(type)) {
        const numbers = columns.numbers(column(name, type === 'price' ? end : 'value'));
        return { at: (ordinal) => numbers.at(ordinal), of: Number };
      }
      const { single, raw } = columns.values(name);
      if (!single) throw new Error(`${name} contains lists, which have no bounds`);
      // Dates and times are compared as text, so a bound becomes a bound on codes.
      const at = (ordinal: number) => (single[ordinal] === 0 ? Number.NaN : single[ordinal]! - 1);
      return { at, of: (value) => raw.rank(String(value)) };
    },
    point: (name) => {
      const { lat, lng } = columns.grid(name);
      return { lat: (ordinal) => lat.at(ordinal), lng: (ordinal) => lng.at(ordinal) };
    },
    inArea: (area, test) => {
      const grid = columns.grid(area.attribute);
      const estimate = area.kind === 'near' ? estimateCircle(area.km, size) : grid.countAround(area);
      const list = () => (area.kind === 'near' ? grid.near(area.lat, area.lng, area.km) : grid.box(area));
      return estimate > size * WIDE ? test : listed(estimate, size, list, test);
    },
    recordNumber: (name) => {
      const numbers = columns.numbers(name);
      return (ordinal) => numbers.at(ordinal);
    },
    word: (prefix, scope) => {
      const { terms } = columns;
      const range = terms.range(prefix);
      // For few candidates, testing their own words is faster than the postings of a common prefix.
      const test = scope === 'full' ? (ordinal: number) => terms.within(ordinal, range) : undefined;
      return listed(terms.count(range), size, () => terms.list(range, scope), test);
    },
    reach: (status) => {
      const reach = columns.reach(status);
      return (ordinal) => reach[ordinal]!;
    },
    refs: (refs) =>
      listed(refs.length, size, () => {
        const ordinals = refs.map((ref) => columns.keys.find(ref)).filter((ordinal) => ordinal !== null);
        return Uint32Array.from(new Set(ordinals)).sort();
      }),
  };
}

/** Codes of times, and of all times of days. */
function codesOfTimes({ raw }: Values, wanted: readonly string[]): number[] {
  const codes = wanted.flatMap((text) => {
    const code = raw.find(text);
    if (text.length > PERIOD_LENGTHS.day) return code < 0 ? [] : [code];
    const [from, to] = raw.range(text);
    return Array.from({ length: to - from }, (_, i) => from + i);
  });
  return [...new Set(codes)];
}

/** Records with one of the folded codes: the union of their postings. */
function byCodes({ size }: Columns, values: Values, codes: readonly number[]): Test<number> {
  const { by } = values;
  const estimate = codes.reduce((sum, code) => sum + by.count(code), 0);
  const list = () => {
    if (codes.length < 2) return codes.length === 0 ? new Uint32Array(0) : by.of(codes[0]!);
    const union = new Bitset(size);
    for (const code of codes) for (const ordinal of by.of(code)) union.add(ordinal);
    return union.toArray();
  };
  return listed(estimate, size, list, values.tester(codes));
}

/** Approximate number of records in a circle if they were spread evenly; only to choose the driver. */
export function estimateCircle(km: number, size: number): number {
  return Math.min(size, size * (km / 6000) ** 2 * 4 + 32);
}
