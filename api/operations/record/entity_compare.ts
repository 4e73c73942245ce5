// GET /v1/{ds}/compare: up to five records side by side on the columns that the pack compares.
import { z } from 'zod';
import { ANALYSIS_BOUNDS, type CompareInput, compareParameters } from '../../../data/input/analysis-parameters.ts';
import { type Comparison, compare } from '../../../data/queries/compare.ts';
import type { Attribute } from '../../../packs/define/model.ts';
import { type Context, operation } from '../../contract/operation.ts';
import { compareHtml } from '../../pages/compare-html.ts';
import type { RelatedData } from '../../pages/related-data.ts';
import { cell, columnTitle } from '../../render/cells.ts';
import { blocks, escapeText, listFooter, table } from '../../render/markdown.ts';
import { sourceLine, unknownLine } from '../../render/record-table.ts';
import { markedCell, statusLegend } from '../../render/status-mark.ts';
import { type About, aboutDataset, releaseOf } from '../common/about.ts';
import { inputOf, openNames } from '../common/inputs.ts';
import { ABOUT_OUTPUT, PROVENANCE_OUTPUT, VALUE } from '../common/outputs.ts';
import { loadHistory } from '../common/related.ts';

/**
 * `sources`: titles of the sources by slug, for the page. They are part of the result and not queried during
 * rendering, as in entity_get.
 */
type Compare = Comparison & About & { sources?: Record<string, RelatedData['sources']> };

/** The page with the values of the columns: comparisons replace their locked cells by those in it. */
function printPage({ items, missing, sources = {} }: Compare, ctx: Context): string {
  const { pack } = releaseOf(ctx);
  return compareHtml({
    ...{ pack, base_url: ctx.base_url, missing, dropped: 0, search: '', candidates: [], differences: false },
    columns: items.map(({ slug, name, values, provenance }) => {
      return { record: { slug, name, attributes: values, provenance }, sources: sources[slug] ?? {}, history: {} };
    }),
    inputs: Object.fromEntries(pack.calculator?.inputs.map((field) => [field.name, field.default]) ?? []),
    paid: true,
  });
}

/** Titles of the sources of each record, by slug. */
async function sourcesOf(items: Comparison['items'], ctx: Context): Promise<Record<string, RelatedData['sources']>> {
  const titles = items.map(async (item) => {
    const { sources } = await loadHistory(releaseOf(ctx), item, ctx.now, ctx);
    return [item.slug, sources] as const;
  });
  return Object.fromEntries(await Promise.all(titles));
}

/** One row for each column of the comparison, one column for each record. */
function markdown({ columns, items, missing, attribution, license }: Compare, ctx: Context): string {
  const { pack } = releaseOf(ctx);
  const title = (name: string) => {
    const attribute = pack.attributes.find((candidate: Attribute) => candidate.name === name);
    return attribute ? columnTitle(attribute) : name;
  };
  const rows = columns.map((name) => [
    title(name),
    ...items.map(({ values, provenance }) => markedCell(cell(values[name]), provenance[name])),
  ]);
  const isUnknown = (name: string) => items.every(({ values }) => values[name] === undefined);
  return blocks(
    items.length > 0 &&
      table(['', ...items.map(({ name }) => name)], [['slug', ...items.map(({ slug }) => slug)], ...rows]),
    statusLegend(items.flatMap(({ provenance }) => Object.values(provenance))),
    missing.length > 0 && `Missing: ${missing.map(escapeText).join(', ')}`,
    unknownLine(ctx.url.searchParams.has('attribute') ? columns.filter(isUnknown) : []),
    sourceLine(
      pack,
      columns,
      items.map(({ provenance }) => provenance),
    ),
    listFooter(attribution, license),
  );
}

export const entity_compare = operation<CompareInput, Compare>({
  name: 'entity_compare',
  title: 'Compare records',
  description: `Up to ${ANALYSIS_BOUNDS.compare} records side by side on the columns that matter, with the source of each value.`,
  rest: { method: 'GET', path: '/v1/:ds/compare', html: { print: printPage } },
  charge: { access: 'paid', price: { of: 'compare' }, names: ({ names }) => names },
  tool: {
    per_dataset: { suffix: 'compare' },
    markdown: true,
    view: true,
    long: { more: 'Name one attribute, or fewer ids.' },
  },
  docs: {
    group: 'analysis',
    tasks: [{ want: 'two to five records side by side', query: 'ids={slugs}' }],
    example: (pack, slugs) => {
      const attribute = pack.compare.find((name) => openNames(pack).includes(name));
      return attribute === undefined || slugs.length === 0 ? null : { ids: slugs.join(), attribute };
    },
  },
  formats: ['json', 'markdown'],
  ...inputOf(compareParameters),
  output: () =>
    z.object({
      columns: z.array(z.string()),
      items: z
        .array(
          z.object({
            id: z.string(),
            slug: z.string(),
            name: z.string(),
            values: z.record(z.string(), VALUE).describe('By column; what is not known is absent'),
            provenance: z.record(z.string(), PROVENANCE_OUTPUT),
          }),
        )
        .describe('In the order of the request'),
      missing: z.array(z.string()).describe('What is unknown, or dropped by the filters'),
      ...ABOUT_OUTPUT,
    }),
  run: async (input, ctx) => {
    const release = releaseOf(ctx);
    const comparison = await compare(release, input, ctx);
    const page = ctx.format === 'html' ? { sources: await sourcesOf(comparison.items, ctx) } : {};
    return {
      empty: comparison.items.length === 0,
      body: { ...comparison, ...page, ...aboutDataset(release.pack, ctx.base_url) },
      records: comparison.items.length,
    };
  },
  markdown,
});
