// The kinds of conditions: one row for each, with its SQL, its test of rows and its spelling. DuckDB, the packed
// index and records that an overlay changed use this table.
import { fold } from '../../packs/define/text.ts';
import { boxTest, distanceKm, EARTH_KM, longitudeRanges } from '../model/geography.ts';
import type { ProvenanceStatus } from '../model/record.ts';
import { isoTime } from '../model/time.ts';
import {
  type End,
  type Expression,
  type ExpressionColumns,
  type ExpressionRows,
  expressionSql,
  expressionTest,
} from './expression.ts';
import type { DistanceSort, Predicate, Visibility } from './plan.ts';
import { join, type Sql, sql } from './sql.ts';

type Compared = string | number | boolean;

/** Numbers that every record has. */
export type RecordNumber = 'quality' | 'updated';

/**
 * Columns of the engine's tables as SQL. A missing value is NULL. Attributes are those of the pack: an unknown one
 * throws.
 */
export interface SqlValues extends ExpressionColumns {
  /** Whether the attribute, or an entry of its list, is one of the values. */
  equal(attribute: string, values: readonly Compared[]): Sql;
  /** Whether its folded text, or that of an entry, contains a text. */
  containing(attribute: string, needle: string): Sql;
  recordNumber(name: RecordNumber): Sql;
  /** Whether a word of the record begins with the prefix. */
  word(prefix: string, scope: Visibility): Sql;
  /** `statusReach` of the record. */
  reach(status: ProvenanceStatus): Sql;
  /** Whether the record has one of the ids, slugs or keys. */
  refs(refs: readonly string[]): Sql;
}

/**
 * A test of a row. An index adds a sorted list of the rows that pass, and an upper bound of its length, when it has
 * them.
 */
export interface Test<Row> {
  (row: Row): boolean;
  readonly estimate?: number;
  readonly list?: () => Uint32Array;
}

/** The bounds of an attribute: all numbers, or all dates and times as text. */
export interface Bounds<Row> {
  /** NaN: the row has none. */
  at(row: Row): number | string;
  of(value: number | string): number | string;
}

/** The values of rows in memory: ordinals of an index, changed records, or rows of the viewer's file. */
export interface RowValues<Row> extends ExpressionRows<Row> {
  equal(attribute: string, values: readonly Compared[]): Test<Row>;
  containing(attribute: string, needle: string): Test<Row>;
  present(attribute: string): Test<Row>;
  bound(attribute: string, end: End): Bounds<Row>;
  /** The test of an area, to which an index adds a list. */
  inArea(area: Area, test: Test<Row>): Test<Row>;
  recordNumber(name: RecordNumber): (row: Row) => number;
  word(prefix: string, scope: Visibility): Test<Row>;
  reach(status: ProvenanceStatus): (row: Row) => number;
  refs(refs: readonly string[]): Test<Row>;
}

type Condition<K extends Predicate['kind']> = Extract<Predicate, { kind: K }>;

/** A circle or a box. */
export type Area = Condition<'near' | 'bbox'>;

/** A kind of condition. A list of fragments or tests: all of them must hold. */
interface PredicateKind<C extends Predicate> {
  sql(condition: C, table: SqlValues): Sql | Sql[];
  test<Row>(condition: C, rows: RowValues<Row>): Test<Row> | Test<Row>[];
  /** The condition in request syntax. `show` makes a caller's text safe for a message. */
  spell(condition: C, show: (text: string) => string): string;
}

/** Kilometres per degree of latitude, rounded down so that the band of latitude contains every match. */
const DEGREE_KM = 111.19;

/** The minimum `statusReach` that a caller of this scope may see. */
const leastReach = (scope: Visibility): 1 | 2 => (scope === 'public' ? 2 : 1);

/** Whether a bound is at most another of the same type. NaN is neither at most nor at least anything. */
const atMost = (bound: number | string, other: number | string): boolean => (bound as number) <= (other as number);

const not =
  <Row>(test: Test<Row>): Test<Row> =>
  (row) =>
    !test(row);

/** Rows that pass one of the tests, with the union of their lists. */
function oneOf<Row>(tests: readonly Test<Row>[]): Test<Row> {
  const test: Test<Row> = (row) => tests.some((one) => one(row));
  if (tests.some((one) => one.list === undefined)) return test;
  const list = () => {
    const sorted = Uint32Array.from(tests.flatMap((one) => [...one.list!()])).sort();
    return sorted.filter((row, i) => i === 0 || row !== sorted[i - 1]);
  };
  return Object.assign(test, { estimate: tests.reduce((sum, one) => sum + (one.estimate ?? 0), 0), list });
}

/**
 * Every kind. A price range matches a bound if the ranges overlap: `min` compares its upper end, `max` its lower one
 * (contract section 2). A row without the value passes only `none` and `has` with `present: false`.
 */
const PREDICATES: { readonly [K in Predicate['kind']]: PredicateKind<Condition<K>> } = {
  any: {
    sql: ({ attribute, values }, table) => table.equal(attribute, values),
    test: ({ attribute, values }, rows) => rows.equal(attribute, values),
    spell: ({ attribute, values }, show) => `${attribute}=${show(values.join(','))}`,
  },
  none: {
    sql: ({ attribute, values }, table) => sql`(${table.equal(attribute, values)}) IS NOT TRUE`,
    test: ({ attribute, values }, rows) => not(rows.equal(attribute, values)),
    spell: ({ attribute, values }, show) => `not_${attribute}=${show(values.join(','))}`,
  },
  like: {
    sql: ({ attribute, needle }, table) => table.containing(attribute, needle),
    test: ({ attribute, needle }, rows) => rows.containing(attribute, needle),
    spell: ({ attribute, needle }, show) => `like_${attribute}=${show(needle)}`,
  },
  min: {
    sql: ({ attribute, value }, table) => sql`${table.bound(attribute, 'max')} >= ${value}`,
    test: ({ attribute, value }, rows) => {
      const { at, of } = rows.bound(attribute, 'max');
      const least = of(value);
      return (row) => atMost(least, at(row));
    },
    spell: ({ attribute, value }) => `min_${attribute}=${value}`,
  },
  max: {
    sql: ({ attribute, value }, table) => sql`${table.bound(attribute, 'min')} <= ${value}`,
    test: ({ attribute, value }, rows) => {
      const { at, of } = rows.bound(attribute, 'min');
      const most = of(value);
      return (row) => atMost(at(row), most);
    },
    spell: ({ attribute, value }) => `max_${attribute}=${value}`,
  },
  has: {
    sql: ({ attribute, present }, table) => {
      const compared = table.compared(attribute);
      return present ? sql`${compared} IS NOT NULL` : sql`${compared} IS NULL`;
    },
    test: ({ attribute, present }, rows) => (present ? rows.present(attribute) : not(rows.present(attribute))),
    spell: ({ attribute, present }) => `has_${attribute}=${present}`,
  },
  words: {
    sql: ({ words, scope, any }, table) => {
      const fragments = words.map((word) => table.word(word, scope));
      return any ? sql`(${join(fragments, ' OR ')})` : fragments;
    },
    test: ({ words, scope, any }, rows) => {
      const tests = words.map((word) => rows.word(word, scope));
      return any ? oneOf(tests) : tests;
    },
    spell: ({ words, any }, show) => `${any ? 'one of the words' : 'the word'} "${show(words.join(','))}" in q`,
  },
  status: {
    sql: ({ statuses, scope }, table) => {
      const reached = statuses.map((status) => sql`${table.reach(status)} >= ${leastReach(scope)}`);
      return sql`(${join(reached, ' OR ')})`;
    },
    test: ({ statuses, scope }, rows) => {
      const least = leastReach(scope);
      const reaches = statuses.map((status) => rows.reach(status));
      return (row) => reaches.some((reach) => reach(row) >= least);
    },
    spell: ({ statuses }) => `provenance_status=${statuses.join()}`,
  },
  near: {
    // The band of latitude is first, since it needs no trigonometry.
    sql: ({ attribute, lat, lng, km }, table) => {
      const band = km / DEGREE_KM + 1e-9;
      const { lat: y } = table.point(attribute);
      const distance = kilometres({ attribute, lat, lng }, table);
      return [sql`${y} BETWEEN ${lat - band} AND ${lat + band}`, sql`${distance} <= ${km}`];
    },
    test: (condition, rows) => {
      const { attribute, lat, lng, km } = condition;
      const { lat: latOf, lng: lngOf } = rows.point(attribute);
      return rows.inArea(condition, (row) => distanceKm(lat, lng, latOf(row), lngOf(row)) <= km);
    },
    spell: ({ lat, lng, km, ref }, show) => `near=${ref === undefined ? `${lat},${lng}` : show(ref)},${km}`,
  },
  bbox: {
    sql: ({ attribute, ...box }, table) => {
      const { lat, lng } = table.point(attribute);
      const ranges = longitudeRanges(box).map(([from, to]) => sql`${lng} BETWEEN ${from} AND ${to}`);
      return [sql`${lat} BETWEEN ${box.south} AND ${box.north}`, sql`(${join(ranges, ' OR ')})`];
    },
    test: (condition, rows) => {
      const { lat, lng } = rows.point(condition.attribute);
      const contains = boxTest(condition);
      return rows.inArea(condition, (row) => contains(lat(row), lng(row)));
    },
    spell: ({ west, south, east, north }) => `bbox=${west},${south},${east},${north}`,
  },
  expression: {
    sql: ({ expression }, table) => expressionSql(expression, table),
    test: ({ expression }, rows) => {
      const test = expressionTest(expression, rows);
      return [...candidatesOf(expression, rows), (row) => test(row) === true];
    },
    spell: ({ source }, show) => `filter=${show(source)}`,
  },
  ids: {
    sql: ({ refs }, table) => table.refs(refs),
    test: ({ refs }, rows) => rows.refs(refs),
    spell: ({ refs }, show) => `ids=${show(refs.join(','))}`,
  },
  updated_since: {
    sql: ({ at, until = Number.MAX_SAFE_INTEGER }, table) =>
      sql`${table.recordNumber('updated')} BETWEEN ${at} AND ${until}`,
    test: ({ at, until = Number.MAX_SAFE_INTEGER }, rows) => {
      const updated = rows.recordNumber('updated');
      return (row) => updated(row) >= at && updated(row) <= until;
    },
    spell: ({ at }) => `updated_since=${new Date(at).toISOString()}`,
  },
  min_quality: {
    sql: ({ value }, table) => sql`${table.recordNumber('quality')} >= ${value}`,
    test: ({ value }, rows) => {
      const quality = rows.recordNumber('quality');
      return (row) => quality(row) >= value;
    },
    spell: ({ value }) => `min_quality=${value}`,
  },
  // Selects the tables (data/duckdb/moments.ts), which contain no other records.
  as_of: {
    sql: () => [],
    test: () => [],
    spell: ({ at }) => `as_of=${isoTime(at)}`,
  },
};

/** Tests that every match passes, of which an index has lists. */
function candidatesOf<Row>(expression: Expression, rows: RowValues<Row>): Test<Row>[] {
  if (expression.op === 'inside' && expression.area.kind === 'bbox') {
    const area = { attribute: expression.attribute, ...expression.area };
    const [contains, { lat, lng }] = [boxTest(area), rows.point(area.attribute)];
    return [rows.inArea(area, (row) => contains(lat(row), lng(row)))];
  }
  if (expression.op !== '=' || !('value' in expression.right) || !('attribute' in expression.left)) return [];
  const { left, right } = expression;
  return left.type === 'text' && left.forms.length === 0
    ? [rows.equal(left.attribute, [fold(String(right.value))])]
    : [];
}

/** The moment that conditions ask about, in milliseconds since 1970; null: now. */
export const momentOf = (where: readonly Predicate[]): number | null =>
  where.find((condition) => condition.kind === 'as_of')?.at ?? null;

/** The row of a condition's kind. The cast is safe because the key is the condition's own kind. */
const kindOf = ({ kind }: Predicate) => PREDICATES[kind] as unknown as PredicateKind<Predicate>;

/** All conditions; `true` when there are none. */
export function conditionsSql(where: readonly Predicate[], table: SqlValues): Sql {
  const fragments = where.flatMap((condition) => kindOf(condition).sql(condition, table));
  return fragments.length === 0 ? sql`true` : join(fragments, ' AND ');
}

/** Tests of the conditions; a row must pass all of them. */
export function conditionTests<Row>(where: readonly Predicate[], rows: RowValues<Row>): Test<Row>[] {
  return where.flatMap((condition) => kindOf(condition).test(condition, rows));
}

/** A condition in request syntax, for messages: `spellCondition({ kind: 'min', attribute: 'mass', value: 3 }, show)` is `min_mass=3`. */
export const spellCondition = (condition: Predicate, show: (text: string) => string): string =>
  kindOf(condition).spell(condition, show);

/** Great-circle distance of a record from a point in kilometres (haversine), as SQL. */
export function kilometres({ attribute, lat, lng }: DistanceSort, table: Pick<SqlValues, 'point'>): Sql {
  const { lat: y, lng: x } = table.point(attribute);
  return sql`2 * ${EARTH_KM} * asin(sqrt(least(1, pow(sin(radians(${y} - ${lat}) / 2), 2) + cos(radians(${lat})) * cos(radians(${y})) * pow(sin(radians(${x} - ${lng}) / 2), 2))))`;
}
