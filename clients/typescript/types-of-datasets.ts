// The types of datasets as a declaration of this package, from their schemas.
import type { Answers } from './operations.ts';
import type { Register } from './register.ts';
import { memberName, membersOf, type Schema } from './schema-types.ts';

/**
 * A TypeScript module that adds the attributes and filters of datasets to `Datasets`. Put it into your program as a
 * file such as `datasets.ts` and import it once.
 *
 * @example
 * ```ts
 * writeFileSync('datasets.ts', await datasetTypes(register, ['airports']));
 * ```
 */
export async function datasetTypes(register: Register, datasets?: readonly string[]): Promise<string> {
  const ids = datasets ?? (await register.datasets()).datasets.map(({ id }) => id);
  const schemas = await Promise.all(ids.map((id) => register.dataset(id).schema()));
  return `// Types of datasets. Written by \`register types\`: do not edit.
import 'dataset-register-client';

declare module 'dataset-register-client' {
  interface Datasets {
${schemas.map(typesOf).join('')}  }
}
`;
}

const INDENT = '        ';

function typesOf({ dataset, schema, filters }: Answers['dataset_schema']): string {
  const { properties } = schema as { properties: { attributes: Schema } };
  const filterLines = filters.map(({ name, description, ...filter }) => {
    return `${INDENT}/** ${description.replaceAll('*/', '* /')} */\n${INDENT}${memberName(name)}?: ${filterType(filter)};\n`;
  });
  // Every attribute is optional already: a record has only those with a value.
  const attributes = membersOf({ ...properties.attributes, required: [] }, { comments: true }, INDENT);
  return `    ${memberName(dataset)}: {
      attributes: {
${attributes}      };
      filters: {
${filterLines.join('')}      };
    };
`;
}

/** Text filters accept a list, of which one value must match. */
function filterType({
  type,
  operator,
  values,
}: Pick<Answers['dataset_schema']['filters'][number], 'type' | 'operator' | 'values'>): string {
  const single = { integer: 'number', number: 'number', boolean: 'boolean' }[type as string] ?? 'string';
  const value = values
    ? values.map((text) => `'${text.replaceAll(/['\\]/g, '\\$&')}'`).join(' | ') || 'string'
    : single;
  return operator === 'any' || operator === 'not'
    ? `${value} | readonly ${/^\w+$/.test(value) ? value : `(${value})`}[]`
    : value;
}
