// GET /v1/{ds}/facets: the most common values of an attribute with counts, over the records that match the
// filters.
import { z } from 'zod';
import { type FacetsInput, facetsParameters } from '../../../data/input/search-parameters.ts';
import { type FacetsReport, getFacets, hasFilter } from '../../../data/queries/facets.ts';
import { type Context, operation } from '../../contract/operation.ts';
import { PUBLIC_FREE } from '../../contract/pricing.ts';
import { cell, columnTitle } from '../../render/cells.ts';
import { blocks, escapeText, table } from '../../render/markdown.ts';
import { type About, releaseOf } from '../common/about.ts';
import { cachedResult } from '../common/cached-result.ts';
import { inputOf, openNames, PLAIN } from '../common/inputs.ts';
import { ABOUT_OUTPUT, count, VALUE } from '../common/outputs.ts';

type Facets = FacetsReport & About;

function markdown({ by, values, matched, missing, withheld, attribution, license }: Facets, ctx: Context): string {
  const attribute = releaseOf(ctx).pack.attributes.find(({ name }) => name === by);
  const counts = [
    `${matched} records match`,
    missing > 0 && `${missing} of them lack ${escapeText(by)}`,
    withheld !== undefined && `${withheld} values with fewer than 5 records are withheld`,
  ];
  return blocks(
    table(
      [attribute ? columnTitle(attribute) : by, 'records'],
      values.map(({ value, count }) => [cell(value, true), count]),
    ),
    `${counts.filter((part) => part !== false).join('; ')}.`,
    `${escapeText(attribution)} License: ${escapeText(license)}`,
  );
}

export const dataset_facets = operation<FacetsInput, Facets>({
  name: 'dataset_facets',
  title: 'Values of an attribute with counts',
  description: 'The commonest values of an attribute, with counts, over the records that the filters match.',
  route: { method: 'GET', path: '/v1/:ds/facets' },
  group: 'dataset',
  repeats: true,
  access: 'free',
  price: { of: 'search', condition: PUBLIC_FREE },
  formats: ['json', 'markdown'],
  long: {
    part: 'values',
    shorter: (input, limit) => ({ ...input, limit }),
    more: 'filters narrow the records that are counted.',
  },
  answers: [
    { want: 'how many records match', query: 'by={field}&limit=1&{filters}' },
    { want: 'the commonest values of a field, each with its count', query: 'by={field}&limit={n}&{filters}' },
  ],
  ...inputOf(facetsParameters),
  output: () =>
    z.object({
      by: z.string(),
      values: z.array(z.object({ value: VALUE, count: count('Records with it') })),
      matched: count('Records that match'),
      missing: count('Of these, records without the attribute'),
      withheld: count('Values withheld because too few records have them').optional(),
      ...ABOUT_OUTPUT,
    }),
  example: (pack) => ({
    by: [pack.group_by, ...openNames(pack, PLAIN)].find((name) => openNames(pack).includes(name)) ?? '',
    limit: '3',
  }),
  // `by` alone may be a non-public attribute for free, with rare values withheld.
  names: (input) => (hasFilter(input) ? input.names : []),
  run: async (input, ctx) => cachedResult(await getFacets(releaseOf(ctx), input, ctx), ctx),
  markdown,
});
