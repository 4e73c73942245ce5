// JSON Schemas of a tool's arguments and answer, as models read them: short, and in the subset that every host understands.
import { SELECTION } from '../../data/parse-selection.ts';
import type { Attribute, Pack } from '../../packs/model.ts';
import type { JsonSchema } from '../../packs/record-schema.ts';
import type { Operation } from '../operation.ts';
import { filterSchemas, inputSchema, outputSchema } from './json-schema.ts';

type Properties = Record<string, JsonSchema>;

/** Most values of a closed list that a schema repeats. */
const VALUES = 24;
/** Most datasets that a schema names one by one. */
const DATASETS = 50;

/**
 * Arguments of an operation: the REST names, with `dataset` and `entity_id`. Filters are an object where the dataset is an
 * argument, and flat where the tool belongs to a dataset (`own`).
 */
export function toolInput(operation: Operation, packs: readonly Pack[], own: Pack | null): JsonSchema {
  const { properties: found = {}, required: needed = [], additionalProperties } = inputSchema(operation, own);
  const open = additionalProperties !== undefined && additionalProperties !== false;
  const search = operation.own_tool === 'search';
  // Whatever selects records is spelt out where records are searched; elsewhere it goes with the filters.
  const told = Object.entries(found as Properties).filter(
    ([name]) => (search || !open || !SELECTING.has(name)) && (name !== 'near' || own === null || hasPlaces(own)),
  );
  const asked = told.map(([name, schema]) => [name, portable(schema)] as const);
  const dataset = operation.route.path.includes(':ds') && own === null;
  const properties: Properties = {
    ...(dataset ? { dataset: datasetSchema(packs) } : {}),
    ...Object.fromEntries(asked),
    ...(open && own === null ? { filters: filtersSchema(operation, packs) } : {}),
    ...(open && own !== null && search ? flatFilters(own) : {}),
    ...(operation.access === 'paid' ? { max_price_eur: MAX_PRICE } : {}),
    ...(operation.formats.includes('json') && operation.formats.includes('markdown') && !operation.own_format
      ? { format: FORMAT }
      : {}),
  };
  const required = [...(dataset ? ['dataset'] : []), ...(needed as string[])];
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}

const hasPlaces = (pack: Pack) => pack.attributes.filter(({ type }) => type === 'geo').length === 1;

const SELECTING: ReadonlySet<string> = new Set<string>(SELECTION.filter((name) => name !== 'ids'));
const MAX_PRICE: JsonSchema = { type: 'number', description: 'Refuse a dearer call' };
const FORMAT: JsonSchema = { type: 'string', enum: ['json', 'md'], description: 'md takes fewer tokens' };

function datasetSchema(packs: readonly Pack[]): JsonSchema {
  const names = packs.map(({ id }) => id);
  return { type: 'string', ...(names.length > 0 && names.length <= DATASETS ? { enum: names } : {}) };
}

const SCALAR = [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }];

/** The filters of any dataset: an object by name, with a real example for the search. */
function filtersSchema({ own_tool }: Operation, packs: readonly Pack[]): JsonSchema {
  const search = own_tool === 'search';
  const [pack] = packs;
  return {
    type: 'object',
    description: search
      ? 'By name: <attribute> any of, not_<attribute>, like_<attribute>, min_<attribute>, max_<attribute>, has_<attribute>'
      : 'Which records: filters, q, near and the rest, as in entity_search',
    ...(search ? { additionalProperties: { anyOf: [...SCALAR, { type: 'array', items: { type: 'string' } }] } } : {}),
    ...(search && pack ? { examples: [exampleFilters(pack)] } : {}),
  };
}

/** Two filters of a dataset with values that its attributes have as examples. */
function exampleFilters(pack: Pack): Record<string, unknown> {
  const named = pack.attributes.find((each) => each.filterable && each.type === 'enum');
  const counted = pack.attributes.find((each) => each.filterable && (each.type === 'price' || each.type === 'number'));
  return {
    ...(named ? { [named.name]: [named.example] } : {}),
    ...(counted ? { [`max_${counted.name}`]: numberOf(counted) } : {}),
  };
}

function numberOf({ example }: Attribute): unknown {
  return typeof example === 'object' && 'max' in example ? example.max : example;
}

/**
 * The filters of one dataset by their exact names: any of, at most, at least. What an attribute is stands at the first of
 * its filters; those of the rarer kinds are told in the tool's description, and accepted all the same.
 */
function flatFilters(pack: Pack): Properties {
  const attributes = new Map(pack.attributes.map((each) => [each.name, each]));
  const described = new Set<string>();
  const properties: Properties = {};
  for (const { name, list, schema } of filterSchemas(pack)) {
    const bound = attributes.has(name) ? undefined : /^(min|max)_(.+)$/.exec(name)?.[2];
    const attribute = attributes.get(bound ?? name);
    if (attribute === undefined) continue;
    const told = described.has(attribute.name) ? {} : { description: saying(attribute) };
    described.add(attribute.name);
    properties[name] = { ...told, ...values(schema, list && attribute.type !== 'boolean') };
  }
  return properties;
}

function values({ enum: known, examples: _, ...schema }: JsonSchema, list: boolean): JsonSchema {
  const one = { ...schema, ...(Array.isArray(known) && known.length <= VALUES ? { enum: known } : {}) };
  return list ? { type: 'array', items: one } : one;
}

/** What an attribute is, in which unit, and how a value of it looks. */
function saying({ description, unit, example, values: closed }: Attribute): string {
  const shown = closed === null ? `, such as ${JSON.stringify(example)}` : '';
  return `${description}${unit === null ? '' : ` (${unit})`}${shown}`;
}

/** Keywords that the gate checks and no model needs, or that some hosts refuse. */
const LEFT_OUT: ReadonlySet<string> = new Set(['$schema', 'pattern', 'minLength', 'maxLength', 'minItems', 'maxItems']);

const kept = (schema: JsonSchema) => Object.entries(schema).filter(([keyword]) => !LEFT_OUT.has(keyword));

/** A parameter as models need it; a list is a list, although texts with commas are taken too. */
function portable({ anyOf, description, ...schema }: JsonSchema): JsonSchema {
  const told = typeof description === 'string' ? { description: description.replace(' (list or commas)', '') } : {};
  const list = Array.isArray(anyOf) ? anyOf.find((each: JsonSchema) => each['type'] === 'array') : undefined;
  return { ...Object.fromEntries(kept({ ...schema, ...list })), ...told };
}

/** What every failed call answers in its place (contract section 4). */
const ERROR = { error: { type: 'string' }, is_retriable: { type: 'boolean' } };
/** Members of every answer. */
const EVERYWHERE: ReadonlySet<string> = new Set(['attribution', 'license']);
/** Members by which an answer is told from an error. */
const NAMED = 3;

/** A tool's answer: that of REST, or the error body, or Markdown where that was asked for. Open everywhere. */
export function toolOutput(operation: Operation, pack: Pack | null): JsonSchema {
  const { $defs = {}, ...whole } = outputSchema(operation, pack) ?? TEXT;
  const { properties = {}, required = [] } = resolved(whole, $defs as Properties);
  const markdown = operation.formats.includes('json') && operation.formats.includes('markdown');
  const members = Object.entries(properties as Properties)
    .filter(([name]) => !EVERYWHERE.has(name))
    .map(([name, schema]) => [name, shape(schema, $defs as Properties)]);
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(members),
      ...ERROR,
      ...(markdown ? { markdown: { type: 'string' } } : {}),
    },
    anyOf: [
      { required: (required as string[]).slice(0, NAMED) },
      { required: ['error', 'is_retriable'] },
      ...(markdown ? [{ required: ['markdown'] }] : []),
    ],
  };
}

/** Answers of operations that have no JSON of their own: a text with its citation. */
const TEXT: JsonSchema = { properties: { text: { type: 'string' } }, required: ['text'] };

/** A schema in the place of its reference. */
function resolved(schema: JsonSchema, defs: Properties): JsonSchema {
  const name = /^#\/\$defs\/(\w+)$/.exec(String(schema['$ref']))?.[1];
  return (name === undefined ? undefined : defs[name]) ?? schema;
}

/** A member by its type; what is inside stands in the documents. A value of many types is any of them. */
function shape(given: JsonSchema, defs: Properties): JsonSchema {
  const { type, items, anyOf, const: only, enum: known } = resolved(given, defs);
  const choices = Array.isArray(anyOf) ? anyOf : Array.isArray(type) ? type.map((each) => ({ type: each })) : [];
  if (choices.length > 0) return { anyOf: choices.map((each: JsonSchema) => shape(each, defs)) };
  if (type === 'array') return { type, items: shape((items ?? {}) as JsonSchema, defs) };
  const value: unknown = only ?? (Array.isArray(known) ? known[0] : undefined);
  return { type: typeof type === 'string' ? type : typeof value === 'undefined' ? 'object' : typeof value };
}
