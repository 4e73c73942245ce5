// Filter expressions (CQL2) as data, with one projection to SQL and one test of rows. A comparison with a missing
// value is unknown, also under `not`; only records for which an expression is true match.
import { byCodePoint } from '../../packs/define/text.ts';
import { PERIOD_LENGTHS } from '../../packs/define/times.ts';
import { type Box, longitudeRanges } from '../model/geography.ts';
import { join, type Sql, sql } from './sql.ts';

/** `>`, `>=`, `<>`, BETWEEN, IN, IS NULL and functions of times are made of these (data/input/filter-expression.ts). */
export type Expression =
  | { op: 'and' | 'or'; args: Expression[] }
  | { op: 'not'; arg: Expression }
  | { op: 'constant'; value: boolean }
  | { op: 'present'; attribute: string }
  | ComparisonExpression
  | { op: 'like'; text: TextAttribute | Constant<'text', string>; pattern: string }
  | { op: 'inside'; attribute: string; area: FilterArea; boundary: boolean };

export interface ComparisonExpression {
  op: '=' | '<' | '<=';
  /** Both have the same type. */
  left: Scalar;
  right: Scalar;
}

/** What an expression compares. A day is a text of ten characters, a time as in `comparedTime`. */
export type Scalar =
  | NumberScalar
  | TextAttribute
  | { type: 'time'; attribute: string; day: boolean }
  | { type: 'boolean'; attribute: string }
  | Constant<'text', string>
  | Constant<'time', string>
  | Constant<'boolean', boolean>;

interface Constant<Type, Value> {
  type: Type;
  value: Value;
}

/** Text as published, or in these forms, the first one applied first. A list has the value of each entry. */
export interface TextAttribute {
  type: 'text';
  attribute: string;
  list: boolean;
  forms: TextForm[];
}

/**
 * Numbers are ranges: an attribute with `range` from its minimum to its maximum, others of one value. `end`: the
 * number at one end of a range.
 */
export type NumberScalar =
  | Constant<'number', number>
  | { type: 'number'; attribute: string; range: boolean; end?: End }
  | { type: 'number'; op: '+' | '-' | '*' | '/'; left: NumberScalar; right: NumberScalar };

/** Degrees; rings of a polygon are lists of longitude and latitude. */
export type FilterArea =
  | { kind: 'point'; lng: number; lat: number }
  | ({ kind: 'bbox' } & Box)
  | { kind: 'polygon'; rings: [lng: number, lat: number][][] };

/** Columns that expressions compare, as SQL. A missing value is NULL. */
export interface ExpressionColumns {
  /** The column that is NULL without a value. */
  compared(attribute: string): Sql;
  /** The published text. */
  text(attribute: string): Sql;
  /** Whether the published text of some entry of a list meets a condition; NULL without entries. */
  entry(attribute: string, condition: (text: Sql) => Sql): Sql;
  bound(attribute: string, end: End): Sql;
  /** Coordinates in degrees. */
  point(attribute: string): { lat: Sql; lng: Sql };
}

/** Values of rows that expressions compare. */
export interface ExpressionRows<Row> {
  equal(attribute: string, values: readonly (string | number | boolean)[]): (row: Row) => boolean;
  present(attribute: string): (row: Row) => boolean;
  /** Published texts; of a time without `Z`. Empty: the row has no value. */
  texts(attribute: string): (row: Row) => readonly string[];
  /** Whether one of `texts` passes; null without a value. */
  someText(attribute: string, passes: (text: string) => boolean): (row: Row) => Truth;
  /** NaN: the row has none. */
  bound(attribute: string, end: End): { at(row: Row): number | string };
  /** The point in degrees; NaN: the row has none. */
  point(attribute: string): { lat(row: Row): number; lng(row: Row): number };
}

/** The end of a range that a bound compares; other values have one end. */
export type End = 'min' | 'max';

/** Null: unknown. */
export type Truth = boolean | null;

const ASCII = /^[\0-\x7f]*$/u;

/** The functions of texts, as DuckDB has them: lower case letter by letter, and without marks. */
export const TEXT_FORMS = {
  casei: (text: string): string =>
    // All that JavaScript does not convert letter by letter.
    /[İΣ]/u.test(text)
      ? text.replace(/\P{Ll}/gu, (letter) => (letter === 'İ' ? 'i' : letter.toLowerCase()))
      : text.toLowerCase(),
  accenti: (text: string): string =>
    ASCII.test(text) ? text : text.normalize('NFD').replace(/\p{M}/gu, '').normalize('NFC'),
} as const;

export type TextForm = keyof typeof TEXT_FORMS;

const FORM_SQL: Readonly<Record<TextForm, (text: Sql) => Sql>> = {
  casei: (text) => sql`lower(${text})`,
  accenti: (text) => sql`strip_accents(${text})`,
};

type Operator = ComparisonExpression['op'];

const TEXT_HOLDS: Readonly<Record<Operator, (a: string, b: string) => boolean>> = {
  '=': (a, b) => a === b,
  '<': (a, b) => byCodePoint(a, b) < 0,
  '<=': (a, b) => byCodePoint(a, b) <= 0,
};

const [DAY_START, DAY_END] = ['T00:00:00', 'T23:59:59.999999'];
const startOf = (time: string) => (time.length === PERIOD_LENGTHS.day ? time + DAY_START : time);
const endOf = (time: string) => (time.length === PERIOD_LENGTHS.day ? time + DAY_END : time);

/** A day is before another time if all of it is, and equals every time of it. */
const TIME_HOLDS: typeof TEXT_HOLDS = {
  '=': (a, b) => startOf(a) <= endOf(b) && startOf(b) <= endOf(a),
  '<': (a, b) => endOf(a) < startOf(b),
  '<=': (a, b) => startOf(a) <= endOf(b),
};

/** An expression as SQL that is NULL where it is unknown. */
export function expressionSql(node: Expression, table: ExpressionColumns): Sql {
  switch (node.op) {
    case 'and':
    case 'or': {
      const parts = node.args.map((arg) => expressionSql(arg, table));
      return sql`(${join(parts, node.op === 'and' ? ' AND ' : ' OR ')})`;
    }
    case 'not':
      return sql`(NOT ${expressionSql(node.arg, table)})`;
    case 'constant':
      return node.value ? sql`true` : sql`false`;
    case 'present':
      return sql`(${table.compared(node.attribute)} IS NOT NULL)`;
    case 'like':
      return textSql(node.text, table, (text) => sql`${text} LIKE ${node.pattern} ESCAPE '\\'`);
    case 'inside': {
      const point = table.point(node.attribute);
      return sql`(CASE WHEN ${point.lat} IS NOT NULL THEN ${insideSql(node.area, node.boundary, point)} END)`;
    }
    default:
      return comparisonSql(node, table);
  }
}

function comparisonSql({ op, left, right }: ComparisonExpression, table: ExpressionColumns): Sql {
  if (left.type === 'number' && right.type === 'number') return numbersSql(op, left, right, table);
  if (left.type === 'time' && right.type === 'time') {
    const [a, b] = [timeSql(left, table), timeSql(right, table)];
    if (op === '<') return sql`(${a.end} < ${b.start})`;
    const overlap = sql`${a.start} <= ${b.end}`;
    return op === '=' ? sql`(${overlap} AND ${b.start} <= ${a.end})` : sql`(${overlap})`;
  }
  const compared = (a: Sql, b: Sql) => sql`${a} ${{ text: op, values: [] }} ${b}`;
  if (left.type !== 'text' || right.type !== 'text')
    return sql`(${compared(booleanSql(left, table), booleanSql(right, table))})`;
  const comparison = textSql(left, table, (a) => textSql(right, table, (b) => compared(a, b)));
  // The entries of a list are compared in a subquery, which is false where the other attribute is missing.
  const attributes = [left, right].filter((scalar): scalar is TextAttribute => 'attribute' in scalar);
  const other = attributes.length === 2 ? attributes.find(({ list }) => !list) : undefined;
  if (other === undefined || attributes.every(({ list }) => !list)) return comparison;
  return sql`(CASE WHEN ${table.compared(other.attribute)} IS NOT NULL THEN ${comparison} END)`;
}

/** A condition on a text, or on some entry of a list; NULL without a value. */
function textSql(scalar: TextAttribute | Scalar, table: ExpressionColumns, condition: (text: Sql) => Sql): Sql {
  if ('value' in scalar) return condition(sql`${scalar.value}::VARCHAR`);
  const { attribute, list = false, forms = [] } = scalar as TextAttribute;
  const formed = (text: Sql) => condition(forms.reduce((inner, form) => FORM_SQL[form](inner), text));
  return list ? table.entry(attribute, formed) : sql`(${formed(table.text(attribute))})`;
}

const booleanSql = (scalar: Scalar, table: ExpressionColumns): Sql =>
  'value' in scalar ? sql`${scalar.value}::BOOLEAN` : table.compared((scalar as { attribute: string }).attribute);

/** The first and the last moment of a time. */
function timeSql(
  scalar: Extract<Scalar, { type: 'text' | 'time' }>,
  table: ExpressionColumns,
): { start: Sql; end: Sql } {
  if ('value' in scalar) return { start: sql`${startOf(scalar.value)}`, end: sql`${endOf(scalar.value)}` };
  const column = table.compared(scalar.attribute);
  if (!('day' in scalar && scalar.day)) return { start: column, end: column };
  return { start: sql`(${column} || ${DAY_START})`, end: sql`(${column} || ${DAY_END})` };
}

/** A number at the lower and at the upper end of ranges, as SQL or as functions of a row; one object without ranges. */
interface Ends<T> {
  min: T;
  max: T;
}

/** How numbers are computed; the same for SQL and rows. */
interface Arithmetic<T> {
  constant: (value: number) => T;
  attribute: (name: string, end: End) => T;
  calculate: (op: '+' | '-' | '*' | '/', a: T, b: T) => T;
}

/** A number computed from lower ends alone, and from upper ends alone. */
function endsOf<T>(scalar: NumberScalar, using: Arithmetic<T>): Ends<T> {
  if ('value' in scalar) return same(using.constant(scalar.value));
  if ('attribute' in scalar) {
    const min = using.attribute(scalar.attribute, scalar.end ?? 'min');
    return scalar.range ? { min, max: using.attribute(scalar.attribute, 'max') } : same(min);
  }
  const [a, b] = [endsOf(scalar.left, using), endsOf(scalar.right, using)];
  const min = using.calculate(scalar.op, a.min, b.min);
  return isSame(a) && isSame(b) ? same(min) : { min, max: using.calculate(scalar.op, a.max, b.max) };
}

const same = <T>(value: T): Ends<T> => ({ min: value, max: value });
const isSame = <T>({ min, max }: Ends<T>): boolean => min === max;

/** How many attributes a number names: a range is compared with constants by either end, with another one by both. */
const attributeCount = (scalar: NumberScalar): number =>
  'op' in scalar ? attributeCount(scalar.left) + attributeCount(scalar.right) : 'attribute' in scalar ? 1 : 0;

function numbersSql(op: Operator, left: NumberScalar, right: NumberScalar, table: ExpressionColumns): Sql {
  const using: Arithmetic<Sql> = {
    constant: (value) => sql`${value}::DOUBLE`,
    attribute: (name, end) => table.bound(name, end),
    calculate: (operator, a, b) =>
      operator === '/' ? sql`(${a} / nullif(${b}, 0))` : sql`(${a} ${{ text: operator, values: [] }} ${b})`,
  };
  const [a, b] = [endsOf(left, using), endsOf(right, using)];
  const isComputed = 'op' in left || 'op' in right;
  const at = (end: End, operator: string) => {
    const compared = sql`(${a[end]} ${{ text: operator, values: [] }} ${b[end]})`;
    return isComputed ? sql`(CASE WHEN isfinite(${a[end]}) AND isfinite(${b[end]}) THEN ${compared} END)` : compared;
  };
  if (isSame(a) && isSame(b)) return at('min', op);
  if (attributeCount(left) + attributeCount(right) > 1)
    return sql`(CASE WHEN ${at('min', op)} = ${at('max', op)} THEN ${at('min', op)} END)`;
  const either = (operator: string) => {
    const [lower, upper] = [at('min', operator), at('max', operator)];
    return sql`(CASE WHEN ${lower} IS NOT NULL AND ${upper} IS NOT NULL THEN ${lower} OR ${upper} END)`;
  };
  return op === '=' ? sql`(${either('<=')} AND ${either('>=')})` : either(op);
}

type Numbers<Row> = (row: Row) => number;

const NUMBER_HOLDS: Readonly<Record<Operator | '>=', (a: number, b: number) => boolean>> = {
  '=': (a, b) => a === b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>=': (a, b) => a >= b,
};

function numbersTest<Row>(
  op: Operator,
  left: NumberScalar,
  right: NumberScalar,
  rows: ExpressionRows<Row>,
): (row: Row) => Truth {
  const using: Arithmetic<Numbers<Row>> = {
    constant: (value) => () => value,
    attribute: (name, end) => rows.bound(name, end).at as Numbers<Row>,
    calculate: (operator, a, b) => {
      if (operator === '+') return (row) => a(row) + b(row);
      if (operator === '-') return (row) => a(row) - b(row);
      if (operator === '*') return (row) => a(row) * b(row);
      return (row) => {
        const divisor = b(row);
        return divisor === 0 ? Number.NaN : a(row) / divisor;
      };
    },
  };
  const [a, b] = [endsOf(left, using), endsOf(right, using)];
  const at = (end: End, operator: Operator | '>=') => (row: Row) => {
    const [x, y] = [a[end](row), b[end](row)];
    return Number.isFinite(x) && Number.isFinite(y) ? NUMBER_HOLDS[operator](x, y) : null;
  };
  if (isSame(a) && isSame(b)) return at('min', op);
  const ends =
    (operator: Operator | '>=', join: (lower: boolean, upper: boolean) => Truth) =>
    (row: Row): Truth => {
      const [lower, upper] = [at('min', operator)(row), at('max', operator)(row)];
      return lower === null || upper === null ? null : join(lower, upper);
    };
  if (attributeCount(left) + attributeCount(right) > 1)
    return ends(op, (lower, upper) => (lower === upper ? lower : null));
  const either = (operator: Operator | '>=') => ends(operator, (lower, upper) => lower || upper);
  if (op !== '=') return either(op);
  const tests = [either('<='), either('>=')];
  return (row) => allOf(tests, row);
}

/** Whether all tests hold: false if one does not, else unknown if one is. */
const allOf = <Row>(tests: readonly ((row: Row) => Truth)[], row: Row): Truth => {
  let truth: Truth = true;
  for (const test of tests) {
    const part = test(row);
    if (part === false) return false;
    if (part === null) truth = null;
  }
  return truth;
};

/** A test that is null for rows where the expression is unknown. */
export function expressionTest<Row>(node: Expression, rows: ExpressionRows<Row>): (row: Row) => Truth {
  switch (node.op) {
    case 'and': {
      const tests = node.args.map((arg) => expressionTest(arg, rows));
      return (row) => allOf(tests, row);
    }
    case 'or': {
      // By De Morgan's law, which holds for unknown values too.
      const tests = node.args.map((arg) => not(expressionTest(arg, rows)));
      return not((row) => allOf(tests, row));
    }
    case 'not':
      return not(expressionTest(node.arg, rows));
    case 'constant':
      return () => node.value;
    case 'present':
      return rows.present(node.attribute);
    case 'like': {
      const matches = likeTest(node.pattern);
      if ('value' in node.text) return constant(matches(node.text.value));
      const { attribute, forms } = node.text;
      return rows.someText(attribute, (text) => matches(formed(text, forms)));
    }
    case 'inside': {
      const { lat, lng } = rows.point(node.attribute);
      const inside = areaTest(node.area, node.boundary);
      return (row) => (Number.isNaN(lat(row)) ? null : inside(lng(row), lat(row)));
    }
    default:
      return comparisonTest(node, rows);
  }
}

const constant = (value: boolean) => () => value;

const not =
  <Row>(test: (row: Row) => Truth) =>
  (row: Row): Truth => {
    const truth = test(row);
    return truth === null ? null : !truth;
  };

const formed = (text: string, forms: readonly TextForm[]): string =>
  forms.reduce((inner, form) => TEXT_FORMS[form](inner), text);

function comparisonTest<Row>(
  { op, left, right }: ComparisonExpression,
  rows: ExpressionRows<Row>,
): (row: Row) => Truth {
  if (left.type === 'number' && right.type === 'number') return numbersTest(op, left, right, rows);
  if (left.type === 'boolean' || right.type === 'boolean') {
    const [a, b] = [left, right].map((scalar) => booleanTest(scalar as Extract<Scalar, { type: 'boolean' }>, rows));
    return (row) => {
      const [x, y] = [a!(row), b!(row)];
      return x === null || y === null ? null : x === y;
    };
  }
  const [a, b] = [left, right] as Extract<Scalar, { type: 'text' | 'time' }>[] as [TextSide, TextSide];
  const holds = (a.type === 'time' ? TIME_HOLDS : TEXT_HOLDS)[op];
  if ('value' in a && 'value' in b) return constant(holds(a.value, b.value));
  if ('value' in b) return rows.someText((a as TextAttribute).attribute, (text) => holds(shaped(text, a), b.value));
  if ('value' in a) return rows.someText(b.attribute, (text) => holds(a.value, shaped(text, b)));
  const [these, those] = [rows.texts(a.attribute), rows.texts(b.attribute)];
  return (row) => {
    const [texts, others] = [these(row), those(row)];
    if (texts.length === 0 || others.length === 0) return null;
    return texts.some((text) => others.some((other) => holds(shaped(text, a), shaped(other, b))));
  };
}

type TextSide = Extract<Scalar, { type: 'text' | 'time' }>;

const shaped = (text: string, side: TextSide): string => ('forms' in side ? formed(text, side.forms) : text);

function booleanTest<Row>(
  scalar: Extract<Scalar, { type: 'boolean' }>,
  rows: ExpressionRows<Row>,
): (row: Row) => Truth {
  if ('value' in scalar) return constant(scalar.value);
  const [present, isTrue] = [rows.present(scalar.attribute), rows.equal(scalar.attribute, [true])];
  return (row) => (present(row) ? isTrue(row) : null);
}

/** A test of texts by a pattern: `%` any text, `_` one character, `\` before either of them as it is. */
function likeTest(pattern: string): (text: string) => boolean {
  const parts: string[] = pattern.match(/\\.|./gsu) ?? [];
  const letters = parts.map((part) => (part.length > 1 && part.startsWith('\\') ? part.slice(1) : part));
  if (!parts.includes('_')) return piecesTest(parts, letters);
  const isAny = (at: number) => parts[at] === '%';
  return (text) => {
    const characters = [...text];
    let [at, read] = [0, 0];
    let [retryAt, retryRead] = [-1, 0];
    while (read < characters.length) {
      if (isAny(at)) {
        [retryAt, retryRead] = [at, read];
        at += 1;
      } else if (at < parts.length && (parts[at] === '_' || letters[at] === characters[read])) {
        at += 1;
        read += 1;
      } else if (retryAt >= 0) {
        retryRead += 1;
        [at, read] = [retryAt + 1, retryRead];
      } else return false;
    }
    while (isAny(at)) at += 1;
    return at === parts.length;
  };
}

/** The same for a pattern without `_`: its texts between `%` in their order, each as early as possible. */
function piecesTest(parts: readonly string[], letters: readonly string[]): (text: string) => boolean {
  const pieces: string[] = [];
  let last = '';
  for (const [at, part] of parts.entries()) {
    if (part === '%') pieces.push(last);
    last = part === '%' ? '' : last + letters[at]!;
  }
  const [first, ...others] = pieces;
  if (first === undefined) return (text) => text === last;
  return (text) => {
    if (!text.startsWith(first)) return false;
    let end = first.length;
    for (const piece of others) {
      const start = text.indexOf(piece, end);
      if (start < 0) return false;
      end = start + piece.length;
    }
    return text.length - last.length >= end && text.endsWith(last);
  };
}

type Edge = [x1: number, y1: number, x2: number, y2: number];

/** Edges of the rings, which need not repeat their first point. */
const edgesOf = (rings: [number, number][][]): Edge[] =>
  rings.flatMap((ring) => ring.map(([x, y], i): Edge => [x, y, ...ring[(i + 1) % ring.length]!]));

/** A test of points. A polygon contains the points that an odd number of its edges is east of. */
function areaTest(area: FilterArea, boundary: boolean): (lng: number, lat: number) => boolean {
  if (area.kind === 'point') return (lng, lat) => lng === area.lng && lat === area.lat;
  if (area.kind === 'bbox') {
    const { west, south, east, north } = area;
    const ranges = longitudeRanges(area);
    if (boundary)
      return (lng, lat) => lat >= south && lat <= north && ranges.some(([from, to]) => lng >= from && lng <= to);
    return (lng, lat) =>
      lat > south && lat < north && (west > east ? lng > west || lng < east : lng > west && lng < east);
  }
  const edges = edgesOf(area.rings);
  return (lng, lat) => {
    let odd = false;
    for (const [x1, y1, x2, y2] of edges) {
      const side = (lng - x1) * (y2 - y1) - (lat - y1) * (x2 - x1);
      if (
        side === 0 &&
        lng >= Math.min(x1, x2) &&
        lng <= Math.max(x1, x2) &&
        lat >= Math.min(y1, y2) &&
        lat <= Math.max(y1, y2)
      )
        return boundary;
      if (y1 <= lat ? y2 > lat && side < 0 : y2 <= lat && side > 0) odd = !odd;
    }
    return odd;
  };
}

function insideSql(area: FilterArea, boundary: boolean, { lat, lng }: { lat: Sql; lng: Sql }): Sql {
  if (area.kind === 'point') return sql`(${lng} = ${area.lng} AND ${lat} = ${area.lat})`;
  if (area.kind === 'bbox') {
    const { west, south, east, north } = area;
    if (!boundary) {
      const junction = west > east ? sql`OR` : sql`AND`;
      return sql`(${lat} > ${south} AND ${lat} < ${north} AND (${lng} > ${west} ${junction} ${lng} < ${east}))`;
    }
    const ranges = longitudeRanges(area).map(([from, to]) => sql`${lng} BETWEEN ${from} AND ${to}`);
    return sql`(${lat} BETWEEN ${south} AND ${north} AND (${join(ranges, ' OR ')}))`;
  }
  const [touching, crossing]: [Sql[], Sql[]] = [[], []];
  for (const [x1, y1, x2, y2] of edgesOf(area.rings)) {
    const side = sql`(${lng} - ${x1}) * ${y2 - y1}::DOUBLE - (${lat} - ${y1}) * ${x2 - x1}::DOUBLE`;
    const [west, east, south, north] = [Math.min(x1, x2), Math.max(x1, x2), Math.min(y1, y2), Math.max(y1, y2)];
    touching.push(sql`(${side} = 0 AND ${lng} BETWEEN ${west} AND ${east} AND ${lat} BETWEEN ${south} AND ${north})`);
    if (y1 !== y2)
      crossing.push(
        sql`(${lat} >= ${south} AND ${lat} < ${north} AND ${side} ${{ text: y1 < y2 ? '<' : '>', values: [] }} 0)::INTEGER`,
      );
  }
  const onEdge = sql`(${join(touching, ' OR ')})`;
  const odd = crossing.length === 0 ? sql`false` : sql`list_sum([${join(crossing, ', ')}]) % 2 = 1`;
  return boundary ? sql`(${onEdge} OR ${odd})` : sql`(NOT ${onEdge} AND ${odd})`;
}
