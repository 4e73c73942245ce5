// Parameters and bodies of operations in the OpenAPI document: the table's input schemas, and each dataset's
// filters.
import type { Pack } from '../../packs/define/model.ts';
import type { JsonSchema } from '../../packs/define/record-schema.ts';
import { filterUses, isChange, type Operation } from '../contract/operation.ts';
import { filterSchemas, inputSchema } from '../render/json-schema.ts';
import { componentRef, schemaPrefix } from './openapi-names.ts';
import { hasEntityTag } from './openapi-responses.ts';

type Json = Record<string, unknown>;

interface Input {
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: unknown;
}

/** The dataset parameter of a general path. */
export function datasetParameter(datasets: readonly string[]): Json {
  return {
    name: 'ds',
    in: 'path',
    required: true,
    description: 'Id of a dataset; GET /v1/datasets lists them',
    schema: { type: 'string', ...(datasets.length > 0 ? { enum: datasets } : {}) },
  };
}

/** Header parameters shared by many operations, by component name. */
export const HEADERS: Record<string, Json> = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'The same request with the same value within 24 hours runs and is charged once, and returns the same answer',
    schema: { type: 'string', minLength: 16, maxLength: 128 },
  },
  MaxPrice: {
    name: 'X-Max-Price-EUR',
    in: 'header',
    description: 'The most that this call may cost; a higher price returns 403 and is not charged',
    schema: { type: 'number', minimum: 0 },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'ETag of the copy you have; 304, free of charge, if it is current',
    schema: { type: 'string' },
  },
};

/** The filters of an operation on a dataset as components, which the operations that select records share. */
export function filterParameters(pack: Pack, operation: Operation): Record<string, Json> {
  const entries = filterUses([operation]).flatMap((use) =>
    filterSchemas(pack, [use]).map(({ name, description, list, schema }) => [
      filterName(pack, name),
      { name, in: 'query', description, ...(list ? commaList(schema) : { schema }) },
    ]),
  );
  return Object.fromEntries(entries);
}

const filterName = (pack: Pack, name: string) => `${schemaPrefix(pack)}.${name}`;

/** Comma-separated values. */
const commaList = (items: unknown, bounds: Json = {}): Json => ({
  schema: { type: 'array', items, minItems: 1, ...bounds },
  style: 'form',
  explode: false,
});

/** Path, query and header parameters of an operation. */
export function parametersOf(operation: Operation, pack: Pack | null): Json[] {
  const { rest, formats, own_format } = operation;
  const { price } = operation.charge;
  const { properties = {}, required = [], additionalProperties } = inputSchema(operation, pack) as Input;
  const inPath = (name: string) => rest.path.includes(`:${name}`);
  const dataset = rest.path.includes(':ds') && pack === null ? [componentRef('parameters', 'Dataset')] : [];
  const parameters = Object.entries(properties)
    .filter(([name]) => inPath(name) || rest.method === 'GET')
    .map(([name, schema]) => parameter(name, schema, inPath(name) ? 'path' : 'query', required.includes(name)));
  const format = formats.length > 2 && !own_format ? [formatParameter(formats)] : [];
  const filters =
    pack !== null && additionalProperties !== undefined
      ? filterSchemas(pack, filterUses([operation])).map(({ name }) =>
          componentRef('parameters', filterName(pack, name)),
        )
      : [];
  const repeated = price || isChange(operation) ? [componentRef('parameters', 'IdempotencyKey')] : [];
  const paid = price ? [componentRef('parameters', 'MaxPrice')] : [];
  const validator = hasEntityTag(operation) ? [componentRef('parameters', 'IfNoneMatch')] : [];
  return [...dataset, ...parameters, ...format, ...filters, ...repeated, ...paid, ...validator];
}

function parameter(name: string, schema: JsonSchema, where: 'path' | 'query', required: boolean): Json {
  const { description, ...rest } = schema;
  const list = (rest['anyOf'] as JsonSchema[] | undefined)?.find(({ type }) => type === 'array');
  const { items, type: _, ...bounds } = list ?? {};
  return {
    name,
    in: where,
    ...(required || where === 'path' ? { required: true } : {}),
    description: String(description ?? '').replace(' (list or commas)', ', separated by commas'),
    ...(list ? commaList(items, bounds) : { schema: rest }),
  };
}

function formatParameter(formats: Operation['formats']): Json {
  const names = formats.map((format) => (format === 'markdown' ? 'md' : format));
  return {
    name: 'format',
    in: 'query',
    description: 'Representation, in place of the Accept header',
    schema: { type: 'string', enum: names, default: names[0] },
  };
}

/** The JSON body of an operation that is not a GET; undefined if it has none. */
export function bodySchema(operation: Operation): Json | undefined {
  const { rest: route } = operation;
  if (route.method === 'GET') return undefined;
  const { properties = {}, required = [], ...rest } = inputSchema(operation, null) as Input;
  const members = Object.entries(properties).filter(([name]) => !route.path.includes(`:${name}`));
  if (members.length === 0) return undefined;
  const needed = required.filter((name) => members.some(([member]) => member === name));
  const schema = {
    ...rest,
    properties: Object.fromEntries(members),
    ...(needed.length > 0 ? { required: needed } : {}),
  };
  return { required: needed.length > 0, content: { 'application/json': { schema } } };
}
