// JSON Schema as TypeScript types: for the generated operations and for the types of datasets.

/** A JSON Schema: a plain object. */
export type Schema = { readonly [keyword: string]: unknown };

/** How a schema is printed. */
export interface SchemaPrinting {
  /** Type names of references by their last part: `record` to `AnyRecord`. */
  references?: Readonly<Record<string, string>>;
  /** Whether members have their descriptions as comments. */
  comments?: boolean;
}

/**
 * The type of the values that a schema accepts. Bounds and patterns have no type and are left out.
 *
 * @example
 * ```ts
 * typeOf({ type: 'array', items: { enum: ['a', 'b'] } }); // ('a' | 'b')[]
 * ```
 */
export function typeOf(schema: Schema, printing: SchemaPrinting = {}, indent = ''): string {
  const { $ref, anyOf, oneOf, type } = schema;
  if (typeof $ref === 'string') return printing.references?.[$ref.slice($ref.lastIndexOf('/') + 1)] ?? 'unknown';
  if ('const' in schema) return literal(schema['const']);
  if (Array.isArray(schema['enum'])) return union((schema['enum'] as unknown[]).map(literal));
  const alternatives = anyOf ?? oneOf;
  // Alternatives of a text are its formats.
  if (Array.isArray(alternatives) && typeof type !== 'string')
    return union(alternatives.map((part: Schema) => typeOf(part, printing, indent)));
  if (Array.isArray(type))
    return union(type.map((name: string) => typeOf({ ...schema, type: name }, printing, indent)));
  switch (type) {
    case 'string':
      return 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'null':
      return 'null';
    case 'array': {
      const element = (schema['items'] ?? {}) as Schema;
      const text = typeOf(element, printing, indent);
      return element['type'] === 'object' || /^\w+$/.test(text) ? `${text}[]` : `(${text})[]`;
    }
    case 'object':
      return objectType(schema, printing, indent);
    default:
      return 'unknown';
  }
}

function objectType(schema: Schema, printing: SchemaPrinting, indent: string): string {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
  const values = schema['additionalProperties'];
  const open = typeof values === 'object' && values !== null ? (values as Schema) : undefined;
  if (properties.length === 0) return `Record<string, ${open ? typeOf(open, printing, indent) : 'unknown'}>`;
  return `{\n${membersOf(schema, printing, `${indent}  `)}${indent}}`;
}

/** The members of an object schema, one a line. */
export function membersOf(schema: Schema, printing: SchemaPrinting, indent: string): string {
  const required = new Set((schema['required'] ?? []) as string[]);
  return Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)
    .map(([name, member]) => {
      const text = String(member['description'] ?? '').replaceAll('*/', '* /');
      const comment = printing.comments && text !== '' ? `${indent}/** ${text} */\n` : '';
      return `${comment}${indent}${memberName(name)}${required.has(name) ? '' : '?'}: ${typeOf(member, printing, indent)};\n`;
    })
    .join('');
}

/** A member's name, in quotes where TypeScript needs them. */
export const memberName = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name));

/** A value as a literal type. */
const literal = (value: unknown): string =>
  typeof value === 'string'
    ? `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
    : JSON.stringify(value);

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ') || 'never';
