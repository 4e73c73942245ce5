// The filters of a dataset. Each kind is a row: operator, prefix, attribute types, parser, description.
import { derive } from '../../packs/define/derive.ts';
import { type Attribute, type AttributeType, DATED, type Pack } from '../../packs/define/model.ts';
import { fold } from '../../packs/define/text.ts';
import { PERIOD_LENGTHS } from '../../packs/define/times.ts';
import { validationError } from '../model/errors.ts';
import type { Manifest } from '../model/layout.ts';
import type { Predicate, RawInput } from '../plan/plan.ts';
import {
  parseBoolean,
  parseDate,
  parseInteger,
  parseList,
  parseMoment,
  parseNumber,
  parseText,
  printable,
  ValidationIssues,
} from './parse-values.ts';
import { unknownFilter } from './suggester.ts';
import { guessComparison, guessDay, guessNumber } from './value-guesses.ts';

export type FilterOperator = 'any' | 'not' | 'like' | 'min' | 'max' | 'has';

/** Type of the values of a filter, as in `filters` of the schema. */
export type FilterType = 'string' | 'integer' | 'number' | 'boolean' | 'date' | 'datetime';

/** One entry of the schema's `filters` (contract section 2). */
export interface FilterEntry {
  name: string;
  attribute: string;
  operator: FilterOperator;
  type: FilterType;
  description: string;
  /** The allowed values, if they are known. */
  values?: string[];
}

interface FilterKind {
  operator: FilterOperator;
  prefix: string;
  /** Words that other APIs write for it, before or after the name of the attribute. */
  synonyms: readonly string[];
  types: readonly AttributeType[];
  /** Type of the values for an attribute of this type. */
  takes: (type: AttributeType) => FilterType;
  /** Parses the occurrences of the parameter; throws a 422. */
  parse: (name: string, attribute: Attribute, raw: string[]) => Predicate;
  describe: (attribute: string) => string;
}

const words = (text: string) => text.split(' ');

const WORDY = ['string', 'text', 'url', 'enum', 'strings'] as const;
const LISTED = ['string', 'url', 'enum', 'strings', 'boolean', 'integer', 'number', ...DATED] as const;
const ORDERED = ['integer', 'number', 'price', ...DATED] as const;
const EVERY = [...WORDY, 'boolean', ...ORDERED, 'geo'] as const;

/** The only value of a parameter that is not a list; throws a 422 when it is repeated. */
export function single(name: string, raw: string[]): string {
  const [only] = raw;
  if (only === undefined || raw.length > 1)
    throw validationError(name, 'must be sent once', 'multiple_values', `${raw.length} values`);
  return only;
}

/** A value as engines compare it: strings are folded. */
function comparable(name: string, attribute: Attribute, raw: string): string | number | boolean {
  switch (attribute.type) {
    case 'boolean':
      return parseBoolean(name, raw);
    case 'integer':
      return parseInteger(name, raw, undefined, undefined, attribute.unit);
    case 'number':
      return parseNumber(name, raw, attribute.unit);
    case 'date':
      return parseDate(name, raw);
    case 'datetime':
      return parseMoment(name, raw);
    default:
      return fold(raw);
  }
}

function values(name: string, attribute: Attribute, raw: string[]): (string | number | boolean)[] {
  for (const text of raw) {
    refuseComparison(name, attribute, text);
    // `1,000 people` is one number, not a list.
    const listed = isNumeric(attribute) && text.includes(',') && guessNumber(text, attribute.unit) !== null;
    if (listed && parseList(name, [text]).some((value) => Number.isNaN(Number(value))))
      comparable(name, attribute, text);
  }
  return [...new Set(parseList(name, raw).map((value) => comparable(name, attribute, value)))].sort();
}

/** A bound; of a time a day is its first moment for `min_`, its last for `max_`. */
function bound(name: string, attribute: Attribute, operator: 'min' | 'max', raw: string[]): string | number {
  const text = single(name, raw);
  refuseComparison(name, attribute, text);
  if (attribute.type === 'date') return parseDate(name, text);
  if (attribute.type !== 'datetime') return parseNumber(name, text, attribute.unit);
  const moment = parseMoment(name, text);
  if (moment.length > PERIOD_LENGTHS.day) return moment;
  return `${moment}T${operator === 'min' ? '00:00:00' : '23:59:59.999999'}`;
}

const isNumeric = ({ type }: Attribute): boolean => type === 'integer' || type === 'number' || type === 'price';

/** Throws a 422 for a number or date with a sign of comparison: `population=>=1000000` is `min_population=1000000`. */
function refuseComparison(name: string, attribute: Attribute, raw: string): void {
  const dated = DATED.includes(attribute.type);
  const comparison = isNumeric(attribute) || dated ? guessComparison(raw) : null;
  if (comparison === null) return;
  const { operator, strict, value } = comparison;
  const sent = FILTER_KINDS.find(({ prefix }) => `${prefix}${attribute.name}` === name)?.operator;
  const kind = FILTER_KINDS.find((other) => other.operator === (operator === 'any' ? sent : operator));
  const guess = dated ? guessDay(value) : guessNumber(value, attribute.unit);
  const compared = guess !== null && strict ? beyond(attribute, guess, operator === 'min' ? 1 : -1) : guess;
  const fraction =
    attribute.type === 'integer' && !Number.isInteger(compared) && (operator === 'any' || operator === 'not');
  // Neither the opposite of a comparison nor a bound that is no value has a filter.
  const clear = kind && compared !== null && !fraction && sent !== 'not' && (sent === 'any' || operator !== 'not');
  const included = strict && compared === guess ? `, which includes ${guess}` : '';
  const suggestion = clear ? `; did you mean ${kind.prefix}${attribute.name}=${compared}${included}?` : '';
  const wanted = dated ? 'date' : `number${attribute.unit === null ? '' : ` of ${attribute.unit}`}`;
  const problem = `must be a ${wanted} without a sign of comparison (got "${printable(raw)}")${suggestion}`;
  throw validationError(name, problem, dated ? 'date_parsing' : 'float_parsing', printable(raw));
}

/** The next value in a direction, where an attribute has one: whole numbers and days. */
function beyond({ type }: Attribute, value: string | number, direction: 1 | -1): string | number {
  if (type === 'integer') return direction * (Math.floor(direction * Number(value)) + 1);
  return DATED.includes(type)
    ? new Date(Date.parse(String(value)) + direction * DAY).toISOString().slice(0, 10)
    : value;
}

const DAY = 86_400_000;

const TYPED: readonly AttributeType[] = ['boolean', 'integer', 'number', ...DATED];
const valueType = (type: AttributeType) => (TYPED.includes(type) ? type : 'string') as FilterType;
const boundType = (type: AttributeType) => (DATED.includes(type) ? type : 'number') as FilterType;

/** Every kind of filter (specification section 4, "Search"; contract section 2, "Filters and sorts"). */
export const FILTER_KINDS: readonly FilterKind[] = [
  {
    operator: 'any',
    prefix: '',
    synonyms: words('in eq equals is exact iexact any'),
    types: LISTED,
    takes: valueType,
    parse: (name, attribute, raw) => ({ kind: 'any', attribute: attribute.name, values: values(name, attribute, raw) }),
    describe: (attribute) =>
      `${attribute} is any of these values, separated by commas; letter case and accents do not matter. Write a comma inside a value as \\,`,
  },
  {
    operator: 'not',
    prefix: 'not_',
    synonyms: words('not ne neq nin exclude excluded excluding without except'),
    types: LISTED,
    takes: valueType,
    parse: (name, attribute, raw) => ({
      kind: 'none',
      attribute: attribute.name,
      values: values(name, attribute, raw),
    }),
    describe: (attribute) => `${attribute} is none of these values, separated by commas; records without it match.`,
  },
  {
    operator: 'like',
    prefix: 'like_',
    synonyms: words('like ilike contains icontains substring match matches regex startswith prefix'),
    types: WORDY,
    takes: () => 'string',
    parse: (name, attribute, raw) => {
      const needle = fold(parseText(name, single(name, raw)));
      if (needle === '') throw validationError(name, 'must not be empty', 'string_too_short');
      return { kind: 'like', attribute: attribute.name, needle };
    },
    describe: (attribute) => `${attribute} contains this text; letter case and accents do not matter.`,
  },
  {
    operator: 'min',
    prefix: 'min_',
    synonyms: words('min minimum gte gt ge from above over atleast since after greater more'),
    types: ORDERED,
    takes: boundType,
    parse: (name, attribute, raw) => ({
      kind: 'min',
      attribute: attribute.name,
      value: bound(name, attribute, 'min', raw),
    }),
    describe: (attribute) => `${attribute} is at least this; of a range the upper end counts.`,
  },
  {
    operator: 'max',
    prefix: 'max_',
    synonyms: words('max maximum lte lt le to below under before until most atmost less'),
    types: ORDERED,
    takes: boundType,
    parse: (name, attribute, raw) => ({
      kind: 'max',
      attribute: attribute.name,
      value: bound(name, attribute, 'max', raw),
    }),
    describe: (attribute) => `${attribute} is at most this; of a range the lower end counts.`,
  },
  {
    operator: 'has',
    prefix: 'has_',
    synonyms: words('has exists exist present isnull null isset missing'),
    types: EVERY,
    takes: () => 'boolean',
    parse: (name, attribute, raw) => ({
      kind: 'has',
      attribute: attribute.name,
      present: parseBoolean(name, single(name, raw)),
    }),
    describe: (attribute) => `true: the record has a value of ${attribute}; false: it has none.`,
  },
];

interface Filter {
  kind: FilterKind;
  attribute: Attribute;
}

type Filters = ReadonlyMap<string, Filter>;

/**
 * Filters of a pack by parameter name, in an operation with these parameters. A parameter has priority over a filter
 * of its name: the filter by value is `is_<attribute>` there, and other filters are not offered. If an attribute and
 * a filter have the same name (`min_age` with `age`), the attribute has priority.
 */
function filtersOf(pack: Pack, parameters: readonly string[]): Filters {
  const all = derive(pack, 'filters ', () => namedFilters(pack, []));
  const taken = parameters.filter((name) => all.has(name)).sort();
  return derive(pack, `filters ${taken.join()}`, () => namedFilters(pack, taken));
}

function namedFilters(pack: Pack, taken: readonly string[]): Filters {
  const filters = new Map<string, Filter>();
  for (const kind of FILTER_KINDS)
    for (const attribute of pack.attributes) {
      const plain = kind.prefix + attribute.name;
      const name = taken.includes(plain) && kind.operator === 'any' ? `is_${plain}` : plain;
      const offered = attribute.filterable && kind.types.includes(attribute.type);
      if (offered && !taken.includes(name) && !filters.has(name)) filters.set(name, { kind, attribute });
    }
  return filters;
}

/** The filter by value of an attribute that has the name of a parameter; undefined if there is none. */
export function respelledFilter(name: string, pack: Pack): string | undefined {
  const filters = filtersOf(pack, [name]);
  return filters.has(name) || !filters.has(`is_${name}`) ? undefined : `is_${name}`;
}

/** An operation that takes filters, by name, and its parameters. */
export interface FilterUse {
  operation: string;
  parameters: readonly string[];
}

/** Operations in which the filter by value of an attribute is `is_<attribute>`, by attribute. */
export function respelledFilters(pack: Pack, uses: readonly FilterUse[]): Map<string, string[]> {
  const entries = pack.attributes
    .filter(({ name }) => respelledFilter(name, pack) !== undefined)
    .map(({ name }): [string, string[]] => [
      name,
      uses.filter(({ parameters }) => parameters.includes(name)).map(({ operation }) => operation),
    ]);
  return new Map(entries.filter(([, operations]) => operations.length > 0));
}

/**
 * The filters of a dataset, for its schema, guide and tools, attribute by attribute: in the spelling of `uses`, with
 * a note where only some of them write `is_<attribute>`. Values come from the pack's closed list or, for public
 * attributes, from the release.
 */
export function filterGrammar(pack: Pack, manifest: Manifest | null, uses: readonly FilterUse[] = []): FilterEntry[] {
  const respelled = respelledFilters(pack, uses);
  const everywhere = [...respelled].filter(([, operations]) => operations.length === uses.length);
  const filters = filtersOf(
    pack,
    everywhere.map(([name]) => name),
  );
  const entries = [...filters].map(([name, { kind, attribute }]): FilterEntry => {
    const type = kind.takes(attribute.type);
    const offered = attribute.values ?? (attribute.public ? manifest?.enums[attribute.name] : undefined);
    const choose = offered !== undefined && (kind.operator === 'any' || kind.operator === 'not');
    const elsewhere = kind.operator === 'any' && name === attribute.name ? respelled.get(name) : undefined;
    const note = elsewhere ? ` In ${elsewhere.join(', ')}, which has a parameter ${name}, write is_${name}.` : '';
    const description = `${kind.describe(attribute.name)}${note}`;
    return {
      name,
      attribute: attribute.name,
      operator: kind.operator,
      type,
      description,
      ...(choose ? { values: offered } : {}),
    };
  });
  const order = new Map(pack.attributes.map((attribute, index) => [attribute.name, index]));
  return entries.sort((a, b) => (order.get(a.attribute) ?? 0) - (order.get(b.attribute) ?? 0));
}

/** Parameters of datasets with one geographic attribute. */
const PLACES: readonly string[] = ['near', 'bbox'];

/** Whether a dataset has a place to search around. */
export const hasPlace = ({ attributes }: Pack): boolean => attributes.filter(({ type }) => type === 'geo').length === 1;

/** The parameters that documents and messages of a dataset name: no place without geography. */
export function offeredParameters(pack: Pack, parameters: readonly string[]): string[] {
  return hasPlace(pack) ? [...parameters] : parameters.filter((parameter) => !PLACES.includes(parameter));
}

/** Conditions of a request, and the attributes that they name. */
export interface ParsedFilters {
  where: Predicate[];
  names: string[];
}

/**
 * Parses every name that is not one of `parameters` or `inPath` as a filter. Conditions have a canonical
 * order, so that equal requests have equal plans. Throws `unknown_filter` (400) and `validation_failed` (422,
 * one line each).
 */
export function parseFilters(
  raw: RawInput,
  pack: Pack,
  parameters: readonly string[] = [],
  inPath: readonly string[] = [],
): ParsedFilters {
  const filters = filtersOf(pack, [...parameters, ...inPath]);
  const names = Object.keys(raw).filter((name) => !parameters.includes(name) && !inPath.includes(name));
  for (const name of names)
    if (!filters.has(name))
      throw unknownFilter(name, [raw[name] ?? []].flat(), pack, offeredParameters(pack, parameters), filters);
  const issues = new ValidationIssues();
  const where = names.sort().flatMap((name) => {
    const { kind, attribute } = filters.get(name)!;
    const values = [raw[name] ?? []].flat();
    return issues.attempt(() => kind.parse(name, attribute, values)) ?? [];
  });
  issues.throwIfAny();
  return { where, names: [...new Set(names.map((name) => filters.get(name)!.attribute.name))] };
}
