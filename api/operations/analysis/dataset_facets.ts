// GET /v1/{ds}/facets: the most common values of an attribute with counts, over the records that match the
// filters.
import { z } from 'zod';
import { type FacetsInput, facetsParameters } from '../../../data/input/search-parameters.ts';
import { type Facet, type FacetsReport, getFacets, hasFilter } from '../../../data/queries/facets.ts';
import { listedFilter } from '../../../data/queries/gone.ts';
import { type Context, operation } from '../../contract/operation.ts';
import { PUBLIC_FREE } from '../../contract/pricing.ts';
import { cell, columnTitle } from '../../render/cells.ts';
import { blocks, escapeText, table } from '../../render/markdown.ts';
import { plural } from '../../render/print.ts';
import { type About, releaseOf } from '../common/about.ts';
import { cachedResult } from '../common/cached-result.ts';
import { inputOf, openNames, PLAIN } from '../common/inputs.ts';
import { ABOUT_OUTPUT, count, GONE_OUTPUT, VALUE } from '../common/outputs.ts';

type Facets = FacetsReport & About;

/** The table of one attribute and its counts. */
function facetBlocks({ by, values, matched, missing, withheld }: Facet, ctx: Context): string[] {
  const attribute = releaseOf(ctx).pack.attributes.find(({ name }) => name === by);
  const counts = [
    matched === 1 ? '1 record matches' : `${matched} records match`,
    missing > 0 && `${missing} of them lack ${escapeText(by)}`,
    withheld !== undefined &&
      `${plural(withheld, 'value')} with fewer than 5 records ${withheld === 1 ? 'is' : 'are'} withheld`,
  ];
  return [
    table(
      [attribute ? columnTitle(attribute) : by, 'records'],
      values.map(({ value, count }) => [cell(value, true), count]),
    ),
    `${counts.filter((part) => part !== false).join('; ')}.`,
  ];
}

function markdown({ facets, hint, attribution, license, ...facet }: Facets, ctx: Context): string {
  return blocks(
    // Without `facets` the answer has the members of one.
    ...(facets ?? [facet as Facet]).flatMap((counts) => facetBlocks(counts, ctx)),
    hint !== undefined && escapeText(hint),
    `${escapeText(attribution)} License: ${escapeText(license)}`,
  );
}

const FACET = {
  by: z.string(),
  values: z.array(z.object({ value: VALUE, count: count('Records with it') })),
  matched: count('Records that match'),
  missing: count('Of these, records without the attribute'),
  withheld: count('Values withheld because too few records have them').optional(),
};

export const dataset_facets = operation<FacetsInput, Facets>({
  name: 'dataset_facets',
  title: 'Values of an attribute with counts',
  description: 'The commonest values of attributes, with counts, over the records that the filters match.',
  rest: { method: 'GET', path: '/v1/:ds/facets' },
  charge: {
    access: 'free',
    price: { of: 'search', condition: PUBLIC_FREE },
    // `by` alone may be a non-public attribute for free, with rare values withheld.
    names: (input) => (hasFilter(input) ? input.names : []),
  },
  tool: {
    long: {
      part: 'values',
      further: ['facets'],
      shorter: (input, limit) => ({ ...input, limit }),
      more: 'filters narrow the records that are counted; limit is for each attribute.',
    },
  },
  docs: {
    group: 'dataset',
    tasks: [
      { want: 'how many records match', query: 'by={field}&limit=1&{filters}' },
      { want: 'the commonest values of a field, each with its count', query: 'by={field}&limit={n}&{filters}' },
      { want: 'the same for several fields', query: 'by={field},{field}&limit={n}&{filters}' },
    ],
    example: (pack) => ({
      by: [pack.group_by, ...openNames(pack, PLAIN)].find((name) => openNames(pack).includes(name)) ?? '',
      limit: '3',
      ...listedFilter(pack),
    }),
  },
  repeats: true,
  formats: ['json', 'markdown'],
  ...inputOf(facetsParameters),
  output: () =>
    z.object({
      ...z.object(FACET).partial().shape,
      facets: z.array(z.object(FACET)).optional().describe('With several attributes in by, in place of the others'),
      hint: GONE_OUTPUT,
      ...ABOUT_OUTPUT,
    }),
  run: async (input, ctx) => {
    const answer = await getFacets(releaseOf(ctx), input, ctx);
    const result = cachedResult(answer, ctx);
    result.empty = (answer.facets ?? [answer]).every(({ matched }) => matched === 0);
    return result;
  },
  markdown,
});
