// GET /v1/{ds}/schema: the JSON Schema of a record, its attributes, and every filter by its exact name.

import { z } from 'zod';
import { filterGrammar } from '../../../data/input/filters.ts';
import { ATTRIBUTE_TYPES } from '../../../packs/define/model.ts';
import { recordSchema } from '../../../packs/define/record-schema.ts';
import { filterUses, operation } from '../../contract/operation.ts';
import { blocks, escapeText, table } from '../../render/markdown.ts';
import { aboutDataset, releaseOf, releaseValidators } from '../common/about.ts';
import { omitMembers } from '../common/brief.ts';
import { inputOf, NO_PARAMETERS } from '../common/inputs.ts';
import { ABOUT_OUTPUT, datasetFiles } from '../common/outputs.ts';

const output = () =>
  z.object({
    dataset: z.string(),
    schema: z.record(z.string(), z.unknown()).describe('JSON Schema 2020-12 of a record'),
    attributes: z.array(
      z.object({
        name: z.string(),
        type: z.enum(ATTRIBUTE_TYPES),
        unit: z.string().nullable(),
        description: z.string(),
        public: z.boolean().describe('Free; other attributes are only in paid answers'),
        filterable: z.boolean(),
        group: z.string().nullable().describe('price of price.input'),
        key: z.literal(true).describe('Its values name records in place of ids').optional(),
      }),
    ),
    filters: z.array(
      z.object({
        name: z.string().describe('The query parameter'),
        attribute: z.string(),
        operator: z.enum(['any', 'not', 'like', 'min', 'max', 'has']),
        type: z.enum(['string', 'integer', 'number', 'boolean', 'date', 'datetime']),
        description: z.string(),
        values: z.array(z.string()).optional().describe('The values to choose from, where they are known'),
      }),
    ),
    ...ABOUT_OUTPUT,
  });
type Schema = z.infer<ReturnType<typeof output>>;

function markdown({ dataset, attributes, filters, attribution, license }: Schema): string {
  const fields = attributes.map((attribute) => [
    attribute.name,
    attribute.type,
    attribute.unit,
    attribute.public ? 'public' : 'paid',
    attribute.description,
  ]);
  const offered = filters.map((filter) => [
    filter.name,
    filter.type,
    filter.description,
    filter.values?.slice(0, 12).join(', '),
  ]);
  return blocks(
    `# Schema of ${escapeText(dataset)}`,
    table(['attribute', 'type', 'unit', 'access', 'meaning'], fields),
    '## Filters',
    table(['parameter', 'type', 'matches records where', 'values'], offered),
    `${escapeText(attribution)} License: ${escapeText(license)}`,
  );
}

/** Most values of a filter in a shorter answer. */
const VALUES = 8;

export const dataset_schema = operation<object, Schema>({
  name: 'dataset_schema',
  title: 'Schema and filters of a dataset',
  description:
    'JSON Schema of a record, every attribute with type, unit and access, and every search filter by its exact name.',
  rest: {
    method: 'GET',
    path: '/v1/:ds/schema',
    validators: releaseValidators,
    prerender: datasetFiles('schema'),
  },
  charge: { access: 'free' },
  tool: {
    long: {
      part: 'filters',
      further: ['attributes'],
      brief: [
        { without: 'schema', of: (body) => ({ ...body, schema: {} }) },
        {
          without: `values of filters past the first ${VALUES}`,
          of: (body) => ({
            ...body,
            filters: body.filters.map(({ values, ...filter }) => ({
              ...filter,
              ...(values ? { values: values.slice(0, VALUES) } : {}),
            })),
          }),
        },
        omitMembers('details of filters', 'filters', ['attribute', 'operator', 'description', 'values']),
        omitMembers('details of attributes', 'attributes', ['description', 'filterable', 'group']),
      ],
      more: 'dataset_guide describes all fields and filters; dataset_facets lists the values of one attribute.',
    },
  },
  docs: { group: 'dataset' },
  repeats: true,
  formats: ['json', 'markdown'],
  ...inputOf(NO_PARAMETERS),
  output,
  run: async (_input, ctx) => {
    const { pack, manifest } = releaseOf(ctx);
    const attributes = pack.attributes.map((attribute) => ({
      name: attribute.name,
      type: attribute.type,
      unit: attribute.unit,
      description: attribute.description,
      public: attribute.public,
      filterable: attribute.filterable,
      group: attribute.name.includes('.') ? attribute.name.slice(0, attribute.name.indexOf('.')) : null,
      ...(attribute.key ? { key: true as const } : {}),
    }));
    return {
      body: {
        dataset: pack.id,
        schema: recordSchema(pack),
        attributes,
        filters: filterGrammar(pack, manifest, filterUses(ctx.register.operations)),
        ...aboutDataset(pack, ctx.base_url),
      },
    };
  },
  markdown,
});
