// The input and output of an operation as JSON Schema 2020-12, for every channel that describes them.
import { z } from 'zod';
import { type FilterEntry, type FilterUse, filterGrammar } from '../../data/input/filters.ts';
import type { Pack } from '../../packs/define/model.ts';
import { type JsonSchema, recordSchema } from '../../packs/define/record-schema.ts';
import type { CalledAs, Operation } from '../contract/operation.ts';

/**
 * The parameters of an operation except `{ds}`; an open schema also accepts filters of the dataset. Numbers
 * and booleans have those types, although a query contains them as text.
 */
export function inputSchema(operation: Operation, pack: Pack | null, as: CalledAs = 'address'): JsonSchema {
  return plain(operation.input(pack, as));
}

/**
 * The JSON answer of an operation, self-contained: a record is `#/$defs/record`, with the attributes of the
 * dataset if there is a pack. All objects are open, since answers may gain members. Null without a JSON
 * answer.
 */
export function outputSchema(operation: Operation, pack: Pack | null): JsonSchema | null {
  if (!operation.output) return null;
  const schema = plain(operation.output(pack));
  const text = JSON.stringify(schema);
  if (!text.includes('"#/$defs/')) return schema;
  const { $schema: _, $defs, ...record } = recordSchema(pack);
  const defs = { ...(text.includes('"#/$defs/record"') ? { record } : {}), ...($defs as JsonSchema) };
  return { ...schema, $defs: openSchema(defs) as JsonSchema };
}

function plain(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}

/** A schema whose objects accept further members. */
function openSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(openSchema);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).filter(([name, value]) => name !== 'additionalProperties' || value !== false);
  return Object.fromEntries(entries.map(([name, value]) => [name, openSchema(value)]));
}

/** A filter of a dataset as a parameter: `list` is true when it accepts several values. */
export interface FilterSchema extends Pick<FilterEntry, 'name' | 'attribute' | 'operator'> {
  description: string;
  list: boolean;
  /** Schema of one value. */
  schema: JsonSchema;
}

/** Schemas of types that JSON does not have. A day selects all times of that day. */
const FORMATS: Partial<Record<FilterEntry['type'], JsonSchema>> = {
  date: { type: 'string', format: 'date' },
  datetime: { type: 'string', anyOf: [{ format: 'date' }, { format: 'date-time' }] },
};

/** Every filter of a dataset by its exact name in `uses`, with the values of a closed list. */
export function filterSchemas(pack: Pack, uses: readonly FilterUse[] = []): FilterSchema[] {
  const closed = new Map(pack.attributes.map(({ name, values }) => [name, values]));
  const examples = new Map(pack.attributes.map(({ name, example }) => [name, example]));
  return filterGrammar(pack, null, uses).map(({ name, attribute, operator, type, description }) => {
    const list = operator === 'any' || operator === 'not';
    const values = closed.get(attribute);
    const example = [examples.get(attribute)].flat()[0];
    const schema: JsonSchema = {
      ...(FORMATS[type] ?? { type }),
      ...(list && values ? { enum: values } : {}),
      ...(!values && typeof example === type ? { examples: [example] } : {}),
    };
    return { name, attribute, operator, description, list, schema };
  });
}
