// JSON Schemas of the arguments of a tool: short for models, and in the subset that every host supports.
import { type FilterUse, offeredParameters, respelledFilters } from '../../data/input/filters.ts';
import { SELECTION } from '../../data/input/selection.ts';
import { listedFilter } from '../../data/queries/gone.ts';
import type { Attribute, Pack } from '../../packs/define/model.ts';
import type { JsonSchema } from '../../packs/define/record-schema.ts';
import { filterUses, type Operation } from '../contract/operation.ts';
import { type FilterSchema, filterSchemas, inputSchema } from './json-schema.ts';

type Properties = Record<string, JsonSchema>;

/** Most values of a closed list in a schema. */
const VALUES = 24;
/** Most datasets that a schema lists. */
const DATASETS = 12;

/**
 * Arguments of an operation: the REST names, with `dataset` and `entity_id`. Filters are an object where the
 * dataset is an argument, and flat where the tool belongs to a dataset (`pack`).
 */
export function toolInput(operation: Operation, packs: readonly Pack[], pack: Pack | null): JsonSchema {
  const {
    properties: declared = {},
    required: needed = [],
    additionalProperties,
  } = inputSchema(operation, pack, 'tool');
  const open = additionalProperties !== undefined && additionalProperties !== false;
  const search = operation.tool?.per_dataset?.filters;
  // Parameters that select records have schemas of their own in searches; elsewhere they are part of the
  // filters.
  const hidden = (name: string) =>
    (!search && open && name in SELECTION) || (pack !== null && RARE.has(name)) || TABULAR.has(name);
  const parameters = Object.entries(declared as Properties).filter(
    ([name]) =>
      ((needed as string[]).includes(name) || !hidden(name)) &&
      (pack === null || offeredParameters(pack, [name]).length > 0),
  );
  const entries = parameters.map(([name, schema]) => [name, portable(schema, !search && OF_SEARCH.has(name))] as const);
  const dataset = operation.rest.path.includes(':ds') && pack === null;
  const explained = (name: keyof typeof EXPLAINED, schema: JsonSchema) =>
    search ? { ...schema, description: EXPLAINED[name] } : schema;
  const properties: Properties = {
    ...(dataset ? { dataset: datasetSchema(operation, packs) } : {}),
    ...Object.fromEntries(entries),
    ...(open && pack === null ? { filters: filtersSchema(operation, packs) } : {}),
    ...(open && pack !== null && search ? flatFilters(pack, filterUses([operation])) : {}),
    ...(operation.charge.price && (search || pack === null)
      ? { max_price_eur: explained('max_price_eur', MAX_PRICE) }
      : {}),
    ...(pack === null &&
    operation.formats.includes('json') &&
    operation.formats.includes('markdown') &&
    !operation.own_format
      ? { format: explained('format', FORMAT) }
      : {}),
  };
  const required = [...(dataset ? ['dataset'] : []), ...(needed as string[])];
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}

/** Parameters that a dataset's own tools accept, listed by the shared tools only. */
const RARE: ReadonlySet<string> = new Set([
  ...['ids', 'match', 'updated_since', 'min_quality', 'provenance_status', 'as_of'],
]);
/** Parameters of URLs, which tools do not have. */
const TABULAR: ReadonlySet<string> = new Set(['bom', 'filter-lang']);
const MAX_PRICE: JsonSchema = { type: 'number' };
const FORMAT: JsonSchema = { type: 'string', enum: ['json', 'md'] };
/** Parameters that only the searches describe. */
const OF_SEARCH: ReadonlySet<string> = new Set(['as_of', 'fields']);
/** Descriptions of these parameters, for the tools with the most calls. */
const EXPLAINED = { format: 'json needs far more tokens', max_price_eur: 'Refuse a dearer call' };

/** The search and the guide list the datasets, if they are few: the same list in each tool would be a tenth of all tokens. */
function datasetSchema({ tool }: Operation, packs: readonly Pack[]): JsonSchema {
  const lists = tool?.per_dataset?.filters || tool?.resource !== undefined;
  const names = packs.map(({ id }) => id);
  if (lists && names.length > DATASETS) return { type: 'string', description: 'Id, as in datasets_list' };
  return { type: 'string', ...(lists && names.length > 0 ? { enum: names } : {}) };
}

/**
 * The filters of any dataset: an object by name, with a real example for the search. The types of its members are
 * not declared: they would need `anyOf`, which some hosts refuse.
 */
function filtersSchema(operation: Operation, packs: readonly Pack[]): JsonSchema {
  const search = operation.tool?.per_dataset?.filters;
  const [pack] = packs;
  const names = new Set(packs.flatMap((dataset) => [...respelledFilters(dataset, filterUses([operation])).keys()]));
  const respelled = [...names].map((name) => `; is_${name} for ${name}`).join('');
  return {
    type: 'object',
    description: search
      ? `By name: <attribute> any of, not_<attribute>, like_<attribute>, min_<attribute>, max_<attribute>, has_<attribute>${respelled}`
      : `As in entity_search, and q, filter, near, bbox, ids${respelled}`,
    ...(search && pack ? { examples: [exampleFilters(pack)] } : {}),
  };
}

/** Two filters of a dataset with the example values of their attributes. */
function exampleFilters(pack: Pack): Record<string, unknown> {
  const enumAttribute = pack.attributes.find((attribute) => attribute.filterable && attribute.type === 'enum');
  const counted = pack.attributes.find(
    (attribute) => attribute.filterable && (attribute.type === 'price' || attribute.type === 'number'),
  );
  return {
    ...(enumAttribute ? { [enumAttribute.name]: [enumAttribute.example] } : {}),
    ...(counted ? { [`max_${counted.name}`]: numberOf(counted) } : {}),
    ...(enumAttribute?.name === pack.gone?.attribute ? {} : listedFilter(pack)),
  };
}

function numberOf({ example }: Attribute): unknown {
  return typeof example === 'object' && 'max' in example ? example.max : example;
}

/**
 * Most attributes of a dataset that have filters in a schema, and most of one group (`price.*`). The others
 * are named in the description.
 */
export const TOOL_FILTERS = { attributes: 10, group: 3 } as const;

/**
 * Filterable attributes: `shown` have filters in the schema of the search, in the order of the pack; `rest`
 * are the others.
 */
export function filterable(pack: Pack): { shown: Attribute[]; rest: Attribute[] } {
  const groups = new Map<string, number>();
  const [shown, rest]: [Attribute[], Attribute[]] = [[], []];
  for (const attribute of pack.attributes.filter((candidate) => candidate.filterable && candidate.type !== 'geo')) {
    const [group = ''] = attribute.name.split('.');
    const count = groups.get(group) ?? 0;
    groups.set(group, count + 1);
    (count < TOOL_FILTERS.group && shown.length < TOOL_FILTERS.attributes ? shown : rest).push(attribute);
  }
  return { shown, rest };
}

/**
 * Filters of one dataset by their exact names. An attribute is described at its first filter. Other kinds of
 * filters, and attributes without one here, are named in the description of the tool (tools.ts) and accepted
 * as well.
 */
function flatFilters(pack: Pack, uses: readonly FilterUse[]): Properties {
  const filters = Map.groupBy(filterSchemas(pack, uses), ({ attribute }) => attribute);
  return Object.fromEntries(
    filterable(pack).shown.flatMap((attribute) =>
      listedFilters(attribute, filters.get(attribute.name) ?? []).map(({ name, list, schema }, index) => [
        name,
        {
          ...(index === 0 ? { description: summary(attribute) } : {}),
          ...values(schema, list && attribute.type !== 'boolean'),
        },
      ]),
    ),
  );
}

/**
 * Bounds for measured values and dates, else equality: an integer without a unit is usually an identifier.
 */
function listedFilters({ type, unit }: Attribute, filters: FilterSchema[]): FilterSchema[] {
  const bounds = filters.filter(({ operator }) => operator === 'min' || operator === 'max');
  const equal = filters.filter(({ operator }) => operator === 'any');
  return bounds.length > 0 && !(type === 'integer' && unit === null && equal.length > 0) ? bounds : equal;
}

function values({ enum: allowed, examples: _, ...schema }: JsonSchema, list: boolean): JsonSchema {
  const one = { ...schema, ...(Array.isArray(allowed) && allowed.length <= VALUES ? { enum: allowed } : {}) };
  return list ? { type: 'array', items: one } : one;
}

/** Most characters of the description of a filter, without unit and example. */
const SUMMARY = 64;

/**
 * Summary of an attribute: description as far as it fits, unit, and an example if neither type nor values
 * show the form.
 */
function summary({ description, unit, type, example, values: closed }: Attribute): string {
  const exampleText = closed === null && WORDS.has(type) ? `, e.g. ${[example].flat()[0]}` : '';
  return `${clause(description)}${unit === null ? '' : ` (${unit})`}${exampleText}`;
}

/** The first sentence; of one that is too long, the first clauses. */
export function clause(description: string, most: number = SUMMARY): string {
  const [sentence = ''] = description.split(/\.(?: (?=[A-Z])|$)/);
  if (sentence.length <= most) return sentence;
  const ends = [...sentence.matchAll(/[,;:]? \(|[,;:] /g)].map(({ index }) => index).filter((end) => end <= most);
  return sentence.slice(0, ends.at(-1) ?? sentence.lastIndexOf(' ', most));
}

/** Types whose values are free texts. */
const WORDS: ReadonlySet<Attribute['type']> = new Set(['string', 'enum', 'strings']);

/** Keywords that the gate checks and models do not need, or that some hosts refuse. */
const LEFT_OUT: ReadonlySet<string> = new Set(['$schema', 'pattern', 'minLength', 'maxLength', 'minItems', 'maxItems']);

// A default of false is what an absent flag means.
const portableEntries = (schema: JsonSchema) =>
  Object.entries(schema).filter(
    ([keyword, value]) => !LEFT_OUT.has(keyword) && value !== false && value !== Number.MAX_SAFE_INTEGER,
  );

/**
 * A parameter in the supported subset; a list is declared as a list, although texts with commas are accepted
 * as well. `unexplained`: without its description, which the search has.
 */
function portable({ anyOf, description, ...schema }: JsonSchema, unexplained: boolean): JsonSchema {
  const summaryMember =
    typeof description === 'string' && !unexplained
      ? { description: description.replace(' (list or commas)', '') }
      : {};
  const list = Array.isArray(anyOf)
    ? anyOf.find((jsonSchema: JsonSchema) => jsonSchema['type'] === 'array')
    : undefined;
  const { items, ...members } = { ...schema, ...list };
  return {
    ...Object.fromEntries(portableEntries(members)),
    ...(items === undefined ? {} : { items: Object.fromEntries(portableEntries(items as JsonSchema)) }),
    ...summaryMember,
  };
}
