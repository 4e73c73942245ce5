// The parameter `filter`: names, types and limits of an expression, and the conditions that it becomes.
import { comparedNumber } from '../../packs/define/digits.ts';
import type { Attribute, AttributeType, Pack } from '../../packs/define/model.ts';
import { PERIOD_LENGTHS } from '../../packs/define/times.ts';
import {
  type ComparisonExpression,
  type End,
  type Expression,
  type FilterArea,
  type NumberScalar,
  type Scalar,
  TEXT_FORMS,
  type TextForm,
} from '../plan/expression.ts';
import type { Predicate } from '../plan/plan.ts';
import {
  type Coordinates,
  FILTER_LIMITS,
  invalidFilter,
  readFilterJson,
  readFilterText,
  type Term,
} from './filter-terms.ts';
import { parseMoment } from './parse-values.ts';
import { attributeSuggestion, closestNames } from './suggester.ts';

/** Languages of `filter`. */
export const FILTER_LANGUAGES = ['cql2-text', 'cql2-json'] as const;

/** Conditions of a filter, and the attributes that it names. */
export interface FilterConditions {
  where: Extract<Predicate, { kind: 'expression' }>[];
  names: string[];
}

/**
 * Parses an expression: JSON begins with `{`, unless the language is given. Each operand of an AND at its top becomes
 * a condition. Throws `invalid_filter` (400).
 *
 * @example
 * ```ts
 * parseFilterExpression("depth > 5 AND coast = 'north'", pack).names; // ['depth', 'coast']
 * ```
 */
export function parseFilterExpression(
  text: string,
  pack: Pack,
  language: (typeof FILTER_LANGUAGES)[number] = text.trimStart().startsWith('{') ? 'cql2-json' : 'cql2-text',
): FilterConditions {
  const { characters } = FILTER_LIMITS;
  if (text.length > characters) throw invalidFilter(characters, text.slice(-20), `at most ${characters} characters`);
  const term = language === 'cql2-json' ? readFilterJson(text) : readFilterText(text);
  const compiler = new FilterCompiler(pack);
  const terms = term.op === 'and' && term.args.length > 1 ? term.args : [term];
  const where = terms.map((part) => ({
    kind: 'expression' as const,
    expression: compiler.condition(part, term === part ? 1 : 2),
    source: part.source,
  }));
  return { where, names: [...compiler.names] };
}

const COMPARISONS: Readonly<Record<string, (left: Scalar, right: Scalar) => Expression>> = {
  '=': (left, right) => ({ op: '=', left, right }),
  '<>': (left, right) => not({ op: '=', left, right }),
  '<': (left, right) => ({ op: '<', left, right }),
  '<=': (left, right) => ({ op: '<=', left, right }),
  '>': (left, right) => ({ op: '<', left: right, right: left }),
  '>=': (left, right) => ({ op: '<=', left: right, right: left }),
};

/** Functions of times, for the first and last moments of both; null: that end is open. */
const TIME_FUNCTIONS: Readonly<Record<string, (a: Period, b: Period) => Expression[]>> = {
  t_before: (a, b) => ordered('<', a.end, b.start),
  t_after: (a, b) => ordered('<', b.end, a.start),
  t_during: (a, b) => [...ordered('<', b.start, a.start, true), ...ordered('<', a.end, b.end, true)],
  t_intersects: (a, b) => [...ordered('<=', a.start, b.end, true), ...ordered('<=', b.start, a.end, true)],
};

interface Period {
  start: Scalar | null;
  end: Scalar | null;
}

/** A comparison of two ends; with an open end it is `open`. */
const ordered = (
  op: ComparisonExpression['op'],
  left: Scalar | null,
  right: Scalar | null,
  open = false,
): Expression[] => (left === null || right === null ? [{ op: 'constant', value: open }] : [{ op, left, right }]);

const AREA_FUNCTIONS = ['s_intersects', 's_within', 's_disjoint'];

/** Number of arguments of the operators of conditions. */
const ARGUMENTS: Readonly<Record<string, number>> = {
  not: 1,
  isnull: 1,
  like: 2,
  between: 3,
  in: 2,
  ...Object.fromEntries(Object.keys({ ...COMPARISONS, ...TIME_FUNCTIONS }).map((op) => [op, 2])),
  ...Object.fromEntries(AREA_FUNCTIONS.map((op) => [op, 2])),
};

const VALUE_FUNCTIONS = ['casei', 'accenti', 'date', 'timestamp', 'interval'];

/** Functions of other languages. */
const SYNONYMS: Readonly<Record<string, string>> = {
  lower: 'casei',
  upper: 'casei',
  unaccent: 'accenti',
  intersects: 's_intersects',
  within: 's_within',
  st_within: 's_within',
  st_intersects: 's_intersects',
  datetime: 'timestamp',
  before: 't_before',
  after: 't_after',
};

const not = (arg: Expression): Expression => ({ op: 'not', arg });
const all = (args: Expression[]): Expression => (args.length === 1 ? args[0]! : { op: 'and', args });

const SCALAR_TYPES: Partial<Record<AttributeType, Scalar['type']>> = {
  boolean: 'boolean',
  integer: 'number',
  number: 'number',
  price: 'number',
  date: 'time',
  datetime: 'time',
};

/** What a value of another type should have been. */
const EXPECTED: Readonly<Record<Scalar['type'], string>> = {
  number: 'a number',
  text: 'a text in single quotes',
  time: "a time, such as DATE('2026-01-31') or TIMESTAMP('2026-01-31T12:00:00Z')",
  boolean: 'TRUE or FALSE',
};

/** Turns terms into expressions of a dataset. */
class FilterCompiler {
  readonly names = new Set<string>();
  readonly #pack: Pack;
  #terms = 0;

  constructor(pack: Pack) {
    this.#pack = pack;
  }

  /** A term that is true or false. */
  condition(term: Term, depth: number): Expression {
    const { op, args } = term;
    if (depth > FILTER_LIMITS.depth)
      throw invalidFilter(term.position, term.source, `at most ${FILTER_LIMITS.depth} levels`);
    if (op === 'and' || op === 'or') {
      if (args.length < 2) throw invalidFilter(term.position, term.source, `two or more conditions for ${op}`);
      return { op, args: args.map((arg) => this.condition(arg, depth + 1)) };
    }
    const count = ARGUMENTS[op];
    if (count !== undefined && args.length !== count)
      throw invalidFilter(term.position, term.source, `${count} argument${count === 1 ? '' : 's'} of ${op}`);
    if (op === 'not') return not(this.condition(args[0]!, depth + 1));
    this.#terms += 1;
    if (this.#terms > FILTER_LIMITS.terms)
      throw invalidFilter(term.position, term.source, `at most ${FILTER_LIMITS.terms} terms`);
    if (op === 'literal' && typeof term.value === 'boolean') return { op: 'constant', value: term.value };
    if (count === undefined) throw this.#noCondition(term);
    return this.#predicate(term, depth + 1);
  }

  #predicate({ op, args }: Term, depth: number): Expression {
    const [first, second, third] = args as [Term, Term, Term];
    if (op === 'isnull') return not({ op: 'present', attribute: this.#attribute(first).name });
    if (op === 'like') return this.#like(first, second, depth);
    if (op in TIME_FUNCTIONS) return all(TIME_FUNCTIONS[op]!(this.#period(first), this.#period(second)));
    if (AREA_FUNCTIONS.includes(op)) return this.#inside(op, first, second);
    if (op === 'between')
      return all([this.#comparison('>=', first, second, depth), this.#comparison('<=', first, third, depth)]);
    if (op !== 'in') return this.#comparison(op, first, second, depth);
    if (second.op !== 'list' || second.args.length === 0)
      throw invalidFilter(second.position, second.source, "a list, such as ('a', 'b')");
    return { op: 'or', args: second.args.map((item) => this.#comparison('=', first, item, depth)) };
  }

  #comparison(op: string, first: Term, second: Term, depth: number): Expression {
    const one = this.#scalar(first, depth);
    const other = this.#scalar(second, depth, one);
    const left = asBoolean(one, other);
    const right = asBoolean(other, one);
    if (left.type !== right.type) {
      const [wrong, type] = 'value' in left && !('value' in right) ? [first, right.type] : [second, left.type];
      throw invalidFilter(wrong.position, wrong.source, EXPECTED[type], { advice: typeAdvice(wrong, type) });
    }
    const lists = [left, right].filter((scalar) => 'list' in scalar && scalar.list);
    const isEqual = op === '=' || op === '<>';
    if (lists.length === 2) throw invalidFilter(second.position, second.source, 'a text or an attribute with one text');
    if (!isEqual && lists.length > 0)
      throw invalidFilter(first.position, first.source, 'an attribute with one value', {
        advice: 'A list has no order: use =, IN or LIKE.',
      });
    if (!isEqual && left.type === 'boolean')
      throw invalidFilter(first.position, first.source, 'a value with an order', { advice: 'Use = TRUE or = FALSE.' });
    return COMPARISONS[op]!(left, right);
  }

  #like(first: Term, second: Term, depth: number): Expression {
    const [text, pattern] = [this.#scalar(first, depth), this.#scalar(second, depth)];
    if (text.type !== 'text') throw invalidFilter(first.position, first.source, 'an attribute with a text');
    if (pattern.type !== 'text' || !('value' in pattern) || /(?<!\\)(?:\\\\)*\\$/u.test(pattern.value))
      throw invalidFilter(second.position, second.source, "a pattern in single quotes, such as 'Port%'");
    return { op: 'like', text, pattern: pattern.value };
  }

  /** A value; `other` is the one that it is compared with. */
  #scalar(term: Term, depth: number, other?: Scalar): Scalar {
    const { op, args, value, position, source } = term;
    if (depth > FILTER_LIMITS.depth) throw invalidFilter(position, source, `at most ${FILTER_LIMITS.depth} levels`);
    if (op === 'literal') return literal(term);
    if (op === 'property') return this.#property(term, other);
    if (op === 'date' || op === 'timestamp') return this.#time(args[0], op, term);
    if (op in TEXT_FORMS && args.length === 1) {
      const text = this.#scalar(args[0]!, depth + 1);
      const form = op as TextForm;
      if (text.type !== 'text') throw invalidFilter(args[0]!.position, args[0]!.source, EXPECTED.text);
      return 'value' in text
        ? { ...text, value: TEXT_FORMS[form](text.value) }
        : { ...text, forms: [...text.forms, form] };
    }
    if ('+-*/'.includes(op) && args.length === 2) {
      const [left, right] = args.map((arg) => {
        const number = this.#scalar(arg, depth + 1);
        if (number.type !== 'number') throw invalidFilter(arg.position, arg.source, EXPECTED.number);
        return number;
      }) as [NumberScalar, NumberScalar];
      return { type: 'number', op: op as '+', left, right };
    }
    if (op in ARGUMENTS || op === 'and' || op === 'or')
      throw invalidFilter(position, source, 'a value, not a condition');
    if (value === undefined && args.length > 0) throw this.#unknownFunction(term);
    throw invalidFilter(position, source, 'an attribute or a value');
  }

  #property(term: Term, other?: Scalar): Scalar {
    const { name, type } = this.#attribute(term, other);
    const scalar = SCALAR_TYPES[type] ?? 'text';
    if (type === 'geo')
      throw invalidFilter(term.position, term.source, 'an attribute with a value', {
        advice: `Write S_INTERSECTS(${name}, BBOX(5.9, 45.8, 10.5, 47.8)).`,
      });
    const end = name === term.value ? undefined : (String(term.value).slice(-3) as End);
    if (end !== undefined) return { type: 'number', attribute: name, range: false, end };
    if (scalar === 'number') return { type: 'number', attribute: name, range: type === 'price' };
    if (scalar === 'time') return { type: 'time', attribute: name, day: type === 'date' };
    if (scalar === 'boolean') return { type: 'boolean', attribute: name };
    return { type: 'text', attribute: name, list: type === 'strings', forms: [] };
  }

  /** The attribute of a property. `other`: a value that it is compared with, which may show what was meant. */
  #attribute(term: Term, other?: Scalar): Attribute {
    const { op, value, position, source } = term;
    if (op !== 'property') throw invalidFilter(position, source, 'the name of an attribute');
    const attribute =
      this.#pack.attributes.find(({ name }) => name === value) ??
      this.#pack.attributes.find(
        ({ name, type }) => type === 'price' && [`${name}.min`, `${name}.max`].includes(`${value}`),
      );
    if (attribute?.filterable) {
      this.names.add(attribute.name);
      return attribute;
    }
    const name = String(value);
    const choices = this.#pack.attributes.filter(({ filterable }) => filterable);
    if (attribute)
      throw invalidFilter(position, source, 'an attribute that can be filtered', {
        advice: attributeSuggestion(name, choices),
      });
    const isText = other?.type === 'text' && 'attribute' in other;
    if (isText)
      throw invalidFilter(position, source, EXPECTED.text, {
        advice: `A text is written '${name.replaceAll("'", "''")}'.`,
      });
    const advice = attributeSuggestion(name, choices);
    const nearest = [...advice.matchAll(/"([^"]+)"/gu)].map(([, suggestion = '']) => suggestion);
    throw invalidFilter(position, source, `an attribute of ${this.#pack.id}`, { advice, nearest });
  }

  #period(term: Term): Period {
    if (term.op !== 'interval') {
      const time = this.#scalar(term, 1);
      if (time.type !== 'time')
        throw invalidFilter(term.position, term.source, EXPECTED.time, { advice: typeAdvice(term, 'time') });
      return { start: time, end: time };
    }
    const [start, end, ...more] = term.args.map((arg) => {
      if (arg.op !== 'literal') return this.#period(arg).start;
      return arg.value === '..' ? null : this.#time(arg, 'interval', arg);
    });
    if (start === undefined || end === undefined || more.length > 0 || (start === null && end === null))
      throw invalidFilter(
        term.position,
        term.source,
        "INTERVAL('2026-01-01', '2026-01-31'), where '..' is an open end",
      );
    // A day is after every time of it, as an end.
    if (start && 'value' in start && end && 'value' in end && start.value > `${end.value}~`)
      throw invalidFilter(term.position, term.source, 'an interval that begins before it ends');
    return { start, end };
  }

  /** A day or a moment in single quotes. */
  #time(arg: Term | undefined, op: string, { position, source }: Term): Scalar {
    const value = momentOf(String(arg?.value ?? ''));
    const isDay = value?.length === PERIOD_LENGTHS.day;
    if (value === null || (op === 'date' && !isDay) || (op === 'timestamp' && isDay))
      throw invalidFilter(position, source, op === 'date' ? "DATE('2026-01-31')" : "TIMESTAMP('2026-01-31T12:00:00Z')");
    return { type: 'time', value };
  }

  #inside(op: string, first: Term, second: Term): Expression {
    const [property, geometry] = first.op === 'property' || op === 's_within' ? [first, second] : [second, first];
    const attribute = this.#attribute(property);
    if (attribute.type !== 'geo')
      throw invalidFilter(property.position, property.source, 'an attribute with a location', {
        nearest: this.#pack.attributes.filter(({ type }) => type === 'geo').map(({ name }) => name),
      });
    const inside: Expression = {
      op: 'inside',
      attribute: attribute.name,
      area: areaOf(geometry),
      boundary: op !== 's_within',
    };
    return op === 's_disjoint' ? not(inside) : inside;
  }

  #noCondition(term: Term): Error {
    const { op, value, position, source, args } = term;
    const attribute = op === 'property' ? this.#attribute(term) : null;
    if (value === undefined && args.length > 0 && !VALUE_FUNCTIONS.includes(op) && !'+-*/'.includes(op))
      return this.#unknownFunction(term);
    const advice = attribute?.type === 'boolean' ? `Write ${source} = TRUE.` : '';
    return invalidFilter(position, source, 'a condition, such as attribute > 5', { advice });
  }

  #unknownFunction({ op, position, source }: Term): Error {
    const functions = [...Object.keys(ARGUMENTS).filter((name) => name.includes('_')), ...VALUE_FUNCTIONS];
    const synonym = SYNONYMS[op];
    const nearest = (synonym === undefined ? closestNames(op, functions, 2) : [synonym]).map((name) =>
      name.toUpperCase(),
    );
    const advice = /^(?:i?contains|starts_?with)$/u.test(op)
      ? "Write attribute LIKE '%text%'."
      : nearest.length === 0
        ? ''
        : `Did you mean ${nearest.join(' or ')}?`;
    return invalidFilter(position, source, `a function: ${functions.join(', ').toUpperCase()}`, { advice, nearest });
  }
}

/** Converts 1 and 0 to booleans where they are compared with a boolean: GDAL writes only these. */
const asBoolean = (scalar: Scalar, other: Scalar): Scalar =>
  other.type === 'boolean' && scalar.type === 'number' && 'value' in scalar && [0, 1].includes(scalar.value)
    ? { type: 'boolean', value: scalar.value === 1 }
    : scalar;

function literal({ value, position, source }: Term): Scalar {
  if (typeof value === 'boolean') return { type: 'boolean', value };
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw invalidFilter(position, source, 'a finite number');
    return { type: 'number', value: comparedNumber(value) };
  }
  const text = String(value);
  if (text.includes('\0') || !text.isWellFormed())
    throw invalidFilter(position, source, 'well-formed text without NUL characters');
  return { type: 'text', value: text.normalize('NFC') };
}

/** A text of a day or a time as it is compared; null for any other text. */
function momentOf(text: string): string | null {
  try {
    return parseMoment('filter', text);
  } catch {
    return null;
  }
}

/** How a value of another type is written as one of this type; empty where it cannot be. */
function typeAdvice({ op, value }: Term, type: Scalar['type']): string {
  if (op !== 'literal') return '';
  const text = String(value);
  if (type === 'number' && text.trim() !== '' && Number.isFinite(Number(text)))
    return `Write ${Number(text)} without quotes.`;
  if (type === 'text') return `Write '${text}'.`;
  if (type === 'boolean' && /^(?:true|false)$/iu.test(text)) return `Write ${text.toUpperCase()} without quotes.`;
  const moment = type === 'time' ? momentOf(text) : null;
  if (moment === null) return '';
  return moment.length === PERIOD_LENGTHS.day ? `Write DATE('${moment}').` : `Write TIMESTAMP('${moment}Z').`;
}

/** A point, box or polygon in degrees. */
function areaOf({ op, coordinates, position, source }: Term): FilterArea {
  if (op === 'point') {
    const [lng, lat] = pointOf((coordinates as Coordinates[] | undefined)?.[0], position, source);
    return { kind: 'point', lng, lat };
  }
  if (op === 'bbox') {
    const edges = numbersOf((coordinates as Coordinates[]).flat() as Coordinates[]);
    const [west = NaN, south = NaN, east = NaN, north = NaN] = edges;
    if (edges.length === 4 && isPlace(west, south) && isPlace(east, north) && south <= north)
      return { kind: 'bbox', west, south, east, north };
  }
  if (
    op === 'polygon' &&
    Array.isArray(coordinates) &&
    coordinates.every((ring) => Array.isArray(ring) && ring.length > 3)
  )
    return {
      kind: 'polygon',
      rings: (coordinates as Coordinates[][]).map((ring) => ring.map((point) => pointOf(point, position, source))),
    };
  throw invalidFilter(
    position,
    source,
    'POINT(8.5 47.4), BBOX(west, south, east, north) or POLYGON((0 0, 9 0, 9 9, 0 0)) in degrees, longitude first',
  );
}

const numbersOf = (values: Coordinates | undefined): number[] =>
  Array.isArray(values) && values.every((value) => typeof value === 'number') ? values : [];

const isPlace = (lng: number, lat: number): boolean => Math.abs(lng) <= 180 && Math.abs(lat) <= 90;

function pointOf(
  coordinates: Coordinates | undefined,
  position: Term['position'],
  source: string,
): [lng: number, lat: number] {
  const [lng = NaN, lat = NaN, ...more] = numbersOf(coordinates);
  if (more.length === 0 && isPlace(lng, lat)) return [lng, lat];
  const advice = isPlace(lat, lng) ? `Longitude comes first: ${lat} ${lng}.` : '';
  throw invalidFilter(position, source, 'a longitude from -180 to 180 and a latitude from -90 to 90', { advice });
}
