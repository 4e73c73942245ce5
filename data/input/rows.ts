// Rows of parameter tables that several operations use (data/input/parameters.ts).
import { z } from 'zod';
import type { Attribute, Pack } from '../../packs/define/model.ts';
import { RECORD_MEMBERS } from '../../packs/define/record-schema.ts';
import { DataError, validationError } from '../model/errors.ts';
import { single } from './filters.ts';
import type { Parameter } from './parameters.ts';
import {
  BOUNDS,
  listValues,
  parseBoolean,
  parseInteger,
  parseList,
  parseOneOf,
  parseText,
  parseTime,
  printable,
  TIME,
} from './parse-values.ts';
import { attributeSuggestion } from './suggester.ts';

/** Schema of a time: its pattern accepts what `parseTime` reads. */
export const TIME_SCHEMA = z.string().regex(TIME);

export const invalid = (message: string) => new DataError('invalid_parameter', message);

/** A parameter that may be absent; it is null then. */
export function optional<T>({ schema, parse }: Parameter<T>): Parameter<T | null> {
  return { schema: schema && ((pack, as) => schema(pack, as).optional()), parse, fallback: null };
}

/** A whole number between two bounds, both included; without `fallback` a required one. */
export function integerParameter(
  description: string,
  { min, max, fallback }: { min: number; max?: number; fallback?: number },
): Parameter<number> {
  const least = z.number().int().min(min);
  const bounded = max === undefined ? least : least.max(max);
  const schema = (fallback === undefined ? bounded : bounded.default(fallback)).describe(description);
  return {
    schema: () => schema,
    parse: (values, { name }) => parseInteger(name, single(name, values), min, max),
    ...(fallback === undefined ? {} : { fallback }),
  };
}

/** `true` or `false`; false without it. */
export function booleanParameter(description: string): Parameter<boolean> {
  const schema = z.boolean().default(false).describe(description);
  return {
    schema: () => schema,
    parse: (values, { name }) => parseBoolean(name, single(name, values)),
    fallback: false,
  };
}

/** One of a closed set of words. */
export function choice<const T extends string>(description: string, words: readonly T[], fallback: T): Parameter<T> {
  const schema = z
    .enum(words)
    .default(fallback as never)
    .describe(description);
  return { schema: () => schema, parse: (values, { name }) => parseOneOf(name, single(name, values), words), fallback };
}

/** A text; null without it. */
export function optionalText(description: string): Parameter<string | null> {
  const schema = z.string().optional().describe(description);
  return { schema: () => schema, parse: (values, { name }) => parseText(name, single(name, values)), fallback: null };
}

/** A moment, in milliseconds since 1970; null without it. */
export function optionalTime(description: string): Parameter<number | null> {
  const schema = TIME_SCHEMA.optional().describe(description);
  return { schema: () => schema, parse: (values, { name }) => parseTime(name, single(name, values)), fallback: null };
}

/** `cursor` of a list that has cursors of its own. */
export const cursorParameter = <T>(read: (cursor: string) => T): Parameter<T | null> => ({
  schema: () => z.string().optional().describe('next_cursor of the page before'),
  parse: (values, { name }) => read(single(name, values)),
  fallback: null,
});

/** Schema of a list of texts, or one text with commas. */
export const listSchema = (description: string, most: number = BOUNDS.values) =>
  z.union([z.array(z.string()).min(1).max(most), z.string()]).describe(`${description} (list or commas)`);

/** `entity_id` in the path: id, slug or key of a record. The router has matched it, so that it is there. */
export const ENTITY_ID: Parameter<string> = {
  schema: () => z.string().describe('Id, slug or key'),
  parse: ([value = '']) => value,
  fallback: '',
  path: true,
};

/** `format`: checked here, negotiated by the channel, and documented for all operations at once. */
export const representation = (...names: readonly string[]): Parameter<string | null> => ({
  schema: null,
  parse: (values, { name }) => parseOneOf(name, single(name, values), names),
  fallback: null,
});

/** `ids`: ids, slugs or keys; too many are 400 `too_many_ids`. */
export const idsParameter = (description: string, most: number): Parameter<string[]> => ({
  schema: () => listSchema(description, most),
  parse: (values) => parseIds(values, most),
});

/** Parses ids, slugs or keys; more than `most` are 400 `too_many_ids`. */
export function parseIds(raw: string[], most: number = BOUNDS.ids): string[] {
  const count = raw.flatMap(listValues).length;
  if (count > most) throw new DataError('too_many_ids', `ids: must have at most ${most} entries (got ${count}).`);
  // A key may contain a comma.
  return parseList('ids', raw).map((ref) => ref.replaceAll(/%2C/giu, ','));
}

/** `fields` as a client selects them: the attributes to send, and those that count as named. */
export interface FieldSelection {
  /** Attributes to keep, in the pack's order. */
  fields: string[];
  /** Attributes named; of a group with public members only those, so that a preview shows them. */
  names: string[];
}

/** `fields`: attributes, or a group such as `price` for all of `price.*`; null: all. */
export const FIELDS: Parameter<FieldSelection | null> = {
  schema: () => listSchema('Only these attributes, or groups (price)').optional(),
  parse: (values, { pack }) => parseFields(values, pack),
  fallback: null,
};

/** `fields` of lists of records. */
export const LIST_FIELDS: Parameter<FieldSelection | null> = {
  ...FIELDS,
  absent: ({ core, pack }) => (core === true ? { fields: pack.serving.core, names: [] } : null),
};

function parseFields(raw: string[], pack: Pack): FieldSelection {
  const fields = new Set<string>();
  const names = new Set<string>();
  for (const field of parseList('fields', raw)) {
    const group = pack.attributes.filter((attribute) => attribute.name.startsWith(`${field}.`));
    const exact = pack.attributes.find((attribute) => attribute.name === field);
    if (!exact && group.length === 0) refuseField(pack, field);
    const open = group.filter((attribute) => attribute.public);
    for (const { name } of exact ? [exact, ...group] : group) fields.add(name);
    for (const { name } of exact ? [exact] : open.length > 0 ? open : group) names.add(name);
  }
  const ordered = pack.attributes.map((attribute) => attribute.name).filter((name) => fields.has(name));
  return { fields: ordered, names: [...names] };
}

/** Throws why `fields` cannot select something. */
function refuseField(pack: Pack, field: string): never {
  if (/^(?:\*|all)$/iu.test(field)) throw invalid(`fields: omit it to get all attributes (got "${field}").`);
  if (RECORD_MEMBERS.includes(field))
    throw invalid(`fields: ${field} is always part of a record; list attributes only, or omit fields to get all.`);
  const suggestion = attributeSuggestion(field, pack.attributes);
  throw invalid(`fields: ${pack.id} has no attribute "${printable(field)}".${suggestion}`);
}

/**
 * `as_of`: the moment to answer for, in milliseconds since 1970; null: now. A moment in the future is a 422.
 */
export const AS_OF: Parameter<number | null> = {
  schema: () => TIME_SCHEMA.optional().describe('The state at this earlier moment'),
  parse(values, { name, now }) {
    const raw = single(name, values);
    const at = parseTime(name, raw);
    if (now && at > now.getTime())
      throw validationError(name, 'must not be in the future', 'datetime_past', printable(raw));
    return at;
  },
  fallback: null,
};

/** Which attributes a parameter may name, and what a name of another attribute gets for an answer. */
export interface AttributeRule {
  may: (attribute: Attribute) => boolean;
  /**
   * Why an attribute may not be named: a sentence that follows its name and type; `choices` are those that
   * may.
   */
  otherwise: (attribute: Attribute, choices: readonly string[]) => string;
}

/** The name of an attribute of the dataset; with a rule, of one that it allows. */
export function attributeParameter(description: string, rule?: AttributeRule): Parameter<string> {
  return {
    schema: (pack) => attributeSchema(pack, description, rule?.may),
    parse: (values, { name, pack }) => allowedAttribute(pack, name, parseText(name, single(name, values)), rule),
  };
}

/**
 * Names of attributes of the dataset, each once: a list of at most `most`, or one text with commas; with a rule, of
 * those that it allows.
 */
export function attributesParameter(
  description: string,
  { rule, most = BOUNDS.values }: { rule?: AttributeRule; most?: number } = {},
): Parameter<string[]> {
  return {
    schema: (pack) => {
      const attribute = attributeSchema(pack, undefined, rule?.may);
      return z
        .union([attribute, z.array(attribute).min(1).max(most), z.string()])
        .describe(`${description} (list or commas)`);
    },
    parse: (values, { name, pack }) =>
      parseList(name, values, most).map((attribute) => allowedAttribute(pack, name, attribute, rule)),
  };
}

/** Schema of attribute names that are allowed, or of any text while the dataset is unknown. */
function attributeSchema(pack: Pack | null, description?: string, may: AttributeRule['may'] = () => true) {
  const names = pack?.attributes.filter(may).map(({ name }) => name) ?? [];
  const schema = names.length > 0 ? z.enum(names) : z.string().min(1);
  return description === undefined ? schema : schema.describe(description);
}

/** The name of an attribute that the rule allows; throws 400 with the nearest of those that it allows. */
export function allowedAttribute(pack: Pack, parameter: string, name: string, rule?: AttributeRule): string {
  const attribute = pack.attributes.find((candidate) => candidate.name === name);
  if (!attribute)
    throw invalid(
      `${parameter}: ${pack.id} has no attribute "${printable(name)}".${attributeSuggestion(name, pack.attributes, rule?.may)}`,
    );
  if (!rule || rule.may(attribute)) return name;
  const choices = pack.attributes.filter(rule.may).map((choice) => choice.name);
  throw invalid(`${parameter}: ${rule.otherwise(attribute, choices)}`);
}
