// JSON Schemas held against what was really answered: strictly, so that nothing undescribed passes.
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** A schema whose objects take only the members they list. */
export function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  return 'properties' in kept && !('additionalProperties' in kept) ? { ...kept, additionalProperties: false } : kept;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);

/** Says in words what of a value its schema does not allow; empty where all is well. */
export function faults(schema: object, value: unknown): string[] {
  const validate = ajv.compile(schema);
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const told = JSON.stringify(params);
    return `${instancePath} ${message} ${told}`;
  });
}
