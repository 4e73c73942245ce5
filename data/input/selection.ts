// Parameters that select records: words, place, ids, age, quality, status (contract section 4); and the
// selection itself.
import { z } from 'zod';
import { type Attribute, DATED, type Pack } from '../../packs/define/model.ts';
import { fold, words } from '../../packs/define/text.ts';
import { validationError } from '../model/errors.ts';
import { PROVENANCE_STATUSES, type ProvenanceStatus } from '../model/record.ts';
import type { Predicate, Sort, Visibility } from '../plan/plan.ts';
import { FILTER_LANGUAGES, parseFilterExpression } from './filter-expression.ts';
import { single } from './filters.ts';
import { Condition, type Parameter, type ParameterContext, type Selection } from './parameters.ts';
import { BOUNDS, parseList, parseNumberBetween, parseOneOf, parseText, parseTime, printable } from './parse-values.ts';
import { parseBox, parseNear } from './places.ts';
import { AS_OF, type AttributeRule, idsParameter, invalid, listSchema, parseIds, TIME_SCHEMA } from './rows.ts';

/** A row whose value becomes a condition of the selection. */
export function condition<T>(
  schema: () => z.ZodType,
  parse: (values: string[], place: ParameterContext) => T,
  add: (selection: Selection, value: T) => void,
): Parameter<Condition | null> {
  return {
    schema,
    parse: (values, place) => {
      const value = parse(values, place);
      return new Condition((selection) => add(selection, value));
    },
    fallback: null,
  };
}

const FILTER_USE = 'OR, NOT, comparing attributes, areas';

const languageOf = (values: string[]) => parseOneOf('filter-lang', single('filter-lang', values), FILTER_LANGUAGES);

/** Values of `match`. */
const MATCHES = ['all', 'any'] as const;

/** Parameters that select records, in addition to the filters. */
export const SELECTION = {
  q: condition(
    () => z.string().min(1).max(BOUNDS.q).optional().describe(`Words, at most ${BOUNDS.words}, each a prefix`),
    (values, { name }) => {
      const raw = single(name, values);
      return { text: fold(raw), words: parseWords(raw) };
    },
    (selection, query) => {
      selection.words.push(...query.words);
      selection.text = query.text;
    },
  ),
  filter: {
    schema: (_pack, as) =>
      (as === 'tool' ? z.unknown().meta({ type: 'object' }) : z.string().min(1))
        .optional()
        .describe(`CQL2${as === 'tool' ? ' JSON' : ''}: ${FILTER_USE}`),
    parse: (values, { name, pack, raw = {} }) => {
      const languages = [raw['filter-lang'] ?? []].flat();
      const language = FILTER_LANGUAGES.find((known) => known === languages[0]?.trim().toLowerCase());
      // The row of filter-lang reports it.
      if (languages.length > 0 && language === undefined) return new Condition(() => {});
      const { where, names } = parseFilterExpression(single(name, values), pack, language);
      return new Condition((selection) => {
        selection.where.push(...where);
        selection.names.push(...names);
      });
    },
    fallback: null,
  },
  'filter-lang': {
    schema: () => z.enum(FILTER_LANGUAGES).optional().describe('Language of filter'),
    parse: (values) => {
      languageOf(values);
      return null;
    },
    fallback: null,
  },
  match: condition(
    () => z.enum(MATCHES).optional().describe('any: one word of q is enough'),
    (values, { name }) => parseOneOf(name, single(name, values), MATCHES),
    (selection, match) => {
      if (match === 'any') selection.any = true;
    },
  ),
  near: condition(
    () =>
      z
        .string()
        .regex(/^.+,[^,]+$/)
        .optional()
        .describe('lat,lng,km or <record>,<km>'),
    (values, { name, pack, point }) => parseNear(single(name, values), pack, point),
    (selection, near) => {
      selection.where.push(near);
      selection.names.push(near.attribute);
    },
  ),
  bbox: condition(
    () =>
      z
        .string()
        .regex(/^[^,]+(,[^,]+){3}$/)
        .optional()
        .describe('west,south,east,north in degrees'),
    (values, { name, pack }) => parseBox(single(name, values), pack),
    (selection, box) => {
      selection.where.push(box);
      selection.names.push(box.attribute);
    },
  ),
  ids: condition(
    () => idsParameter('Only these ids, slugs or keys', BOUNDS.values).schema!(null).optional(),
    (values) => parseIds(values),
    ({ where }, ids) => where.push({ kind: 'ids', refs: ids.map((ref) => ref.toLowerCase()).sort() }),
  ),
  updated_since: condition(
    () => TIME_SCHEMA.optional().describe('Changed since this time'),
    (values, { name }) => parseTime(name, single(name, values)),
    ({ where }, at) => where.push({ kind: 'updated_since', at }),
  ),
  min_quality: condition(
    () => z.number().min(0).max(1).optional().describe('Quality score of at least this'),
    (values, { name }) => parseNumberBetween(name, single(name, values), 0, 1),
    ({ where }, value) => where.push({ kind: 'min_quality', value }),
  ),
  provenance_status: condition(
    () => listSchema(`Status of some value: ${PROVENANCE_STATUSES.join(', ')}`).optional(),
    parseStatuses,
    ({ statuses }, list) => statuses.push(...list),
  ),
} satisfies Record<string, Parameter<Condition | null>>;

/**
 * `as_of` of lists, after the rows of SELECTION: it is 400 with conditions on what earlier states do not have.
 */
export const MOMENT = {
  as_of: condition(
    () => AS_OF.schema!(null) as z.ZodType,
    (values, place) => AS_OF.parse(values, place)!,
    ({ where, statuses }, at) => {
      const other = where.some(({ kind }) => kind === 'updated_since') ? 'updated_since' : 'provenance_status';
      if (other === 'updated_since' || statuses.length > 0)
        throw invalid(`as_of: cannot be combined with ${other}; omit one of them.`);
      where.push({ kind: 'as_of', at });
    },
  ),
} satisfies Record<string, Parameter<Condition | null>>;

/** Attribute types that records can be counted or grouped by. */
const COUNTED: readonly Attribute['type'][] = [
  'string',
  'url',
  'enum',
  'boolean',
  'integer',
  'number',
  ...DATED,
  'strings',
];

/** Whether records can be counted or grouped by an attribute. */
export const counted = (one: Attribute): boolean => one.filterable && COUNTED.includes(one.type);

/** Attributes to count or group by. */
export const COUNTABLE: AttributeRule = {
  may: counted,
  otherwise: ({ name, type }, choices) =>
    `${name} (${type}) cannot be counted or grouped by; choose one of ${choices.join(', ')}.`,
};

/** The distinct folded words of a text, sorted. */
function parseWords(raw: string): string[] {
  const distinct = [...new Set(words(parseText('q', raw, BOUNDS.q)))];
  if (distinct.length === 0) throw validationError('q', 'must contain a word', 'string_too_short', printable(raw));
  if (distinct.length > BOUNDS.words) {
    const problem = `must have at most ${BOUNDS.words} different words`;
    throw validationError('q', problem, 'too_long', `${distinct.length} words`);
  }
  return distinct.sort();
}

function parseStatuses(raw: string[]): ProvenanceStatus[] {
  return [
    ...new Set(
      parseList('provenance_status', raw).map((each) => parseOneOf('provenance_status', each, PROVENANCE_STATUSES)),
    ),
  ].sort();
}

/**
 * Whether a query depends on public values only: it names no other attribute, searches no other text, and
 * does not filter by the status of values, which for a paying caller includes every attribute.
 */
export function isPublicQuestion(
  { names, words: terms, statuses }: Pick<Selection, 'names' | 'words' | 'statuses'>,
  { attributes }: Pack,
): boolean {
  return !attributes.some(
    (attribute) =>
      !attribute.public &&
      (names.includes(attribute.name) || statuses.length > 0 || (terms.length > 0 && attribute.searchable)),
  );
}

/** The order of a search for callers who may see values of this visibility. */
export function visibleSort(sort: Sort, scope: Visibility, { attributes }: Pack): Sort {
  const { relevance } = sort;
  if (!relevance) return sort;
  const open = (name: string) => attributes.some((attribute) => attribute.public && attribute.name === name);
  const names = scope === 'full' ? relevance.names : relevance.names.filter(open);
  return { ...sort, relevance: { ...relevance, names, scope } };
}

/**
 * All conditions of a selection, including its words and statuses, which apply to values of this visibility.
 */
export function questionOf({ where, words: terms, statuses, any }: Selection, scope: Visibility = 'full'): Predicate[] {
  const scoped: Predicate[] = [];
  if (terms.length > 0) scoped.push({ kind: 'words', words: terms, scope, ...(any ? { any } : {}) });
  if (statuses.length > 0) scoped.push({ kind: 'status', statuses, scope });
  return scoped.length === 0 ? where : [...where, ...scoped];
}
