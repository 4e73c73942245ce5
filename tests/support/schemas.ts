// Strict validation of answers against JSON Schemas, so that nothing undescribed passes.
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** A schema whose objects allow only the listed members. */
export function strictSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strictSchema);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, strictSchema(value)]));
  return 'properties' in kept && !('additionalProperties' in kept) ? { ...kept, additionalProperties: false } : kept;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);

/** The violations of a schema by a value, as sentences; empty when it is valid. */
export function schemaErrors(schema: object, value: unknown): string[] {
  const validate = ajv.compile(schema);
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const told = JSON.stringify(params);
    return `${instancePath} ${message} ${told}`;
  });
}
