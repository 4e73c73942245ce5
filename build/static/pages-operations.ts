// The table of operations in the words of the reference: what each takes, costs and answers.

import type { Operation } from '../../api/contract/operation.ts';
import { priceCondition } from '../../api/contract/pricing.ts';
import type { SiteOperation } from '../../api/pages/site.ts';
import { inputSchema } from '../../api/render/json-schema.ts';

interface Schema {
  type?: string | string[];
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  description?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  format?: string;
}

/** Every operation with its parameters, in the order of the table. */
export function siteOperations(operations: readonly Operation[]): SiteOperation[] {
  return operations.map((operation) => {
    const { name, title, description, route, group, access, price, formats, tool } = operation;
    const { properties = {}, required = [] } = inputSchema(operation, null) as {
      properties?: Record<string, Schema>;
      required?: string[];
    };
    const parameters = Object.entries(properties).map(([parameter, schema]) => ({
      name: parameter,
      in: place(route, parameter),
      type: typeOf(schema),
      required: required.includes(parameter) || route.path.includes(`:${parameter}`),
      description: [schema.description ?? '', bounds(schema)].filter(Boolean).join('; '),
    }));
    return {
      name,
      title,
      description,
      method: route.method,
      path: route.path.replace(/:(\w+)/g, '{$1}'),
      group,
      access,
      price: price?.of ?? null,
      condition: priceCondition(operation),
      formats,
      tool: tool !== false,
      parameters,
    };
  });
}

function place({ method, path }: Operation['route'], parameter: string): 'path' | 'query' | 'body' {
  if (path.includes(`:${parameter}`)) return 'path';
  return method === 'GET' ? 'query' : 'body';
}

function typeOf({ type, enum: values, anyOf, items, format }: Schema): string {
  if (values) return values.map(String).join(', ');
  if (anyOf) return [...new Set(anyOf.map(typeOf))].join(' or ');
  if (type === 'array') return `list of ${items ? typeOf(items) : 'values'}`;
  const plain = [type ?? 'value'].flat().join(' or ');
  return format === undefined ? plain : format;
}

function bounds({ minimum, maximum, default: given }: Schema): string {
  const within =
    minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER
      ? `${minimum} to ${maximum}`
      : minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER
        ? `at least ${minimum}`
        : '';
  return [within, given === undefined ? '' : `${JSON.stringify(given)} by default`].filter(Boolean).join(', ');
}
