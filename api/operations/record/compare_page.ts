// The free page of a comparison: the public values of up to five records side by side, as HTML and Markdown.
import { z } from 'zod';
import { ANALYSIS_BOUNDS } from '../../../data/input/analysis-parameters.ts';
import { listValues, printable } from '../../../data/input/parse-values.ts';
import { searchParameters } from '../../../data/input/search-parameters.ts';
import { DataError } from '../../../data/model/errors.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import type { RawInput } from '../../../data/plan/plan.ts';
import { pageRecords } from '../../../data/queries/record-page.ts';
import { search } from '../../../data/queries/search.ts';
import { readInput } from '../../../packs/define/calculator.ts';
import { datasetAttribution, licenseText } from '../../../packs/define/links.ts';
import { type Context, operation } from '../../contract/operation.ts';
import type { Candidate, ComparedColumn, ComparisonData } from '../../pages/compare-data.ts';
import { compareHtml } from '../../pages/compare-html.ts';
import { publicPageRecord } from '../../pages/record-markdown.ts';
import { cell, columnTitle } from '../../render/cells.ts';
import { distinctionOf } from '../../render/distinction.ts';
import { blocks, escapeText, table } from '../../render/markdown.ts';
import { markedCell, statusLegend } from '../../render/status-mark.ts';
import { releaseOf } from '../common/about.ts';
import { loadHistory, loadOthers } from '../common/related.ts';

/** Most records that the search or the suggestions list. */
const CANDIDATES = 10;
/** Most ids of an address that are looked up: some may be unknown. */
const IDS = 20;
const MOST = ANALYSIS_BOUNDS.compare;

interface ComparePageInput {
  /** Distinct ids and slugs, as sent. */
  ids: string[];
  /** Words of a record to add. */
  search: string;
  inputs: Record<string, number>;
  differences: boolean;
}

/** Reads the address leniently, since people edit and share it: unknown and wrong parameters are ignored. */
function readAddress(raw: RawInput, ctx: Context): ComparePageInput {
  const all = (name: string) => [raw[name] ?? []].flat();
  const ids = all('ids').flatMap((text) => listValues(text.replaceAll('\0', '').toWellFormed()));
  const inputs = releaseOf(ctx).pack.calculator?.inputs ?? [];
  return {
    ids: [...new Map(ids.map((id) => [id.toLowerCase(), id])).values()],
    search: (all('add')[0] ?? '').trim().slice(0, 200),
    inputs: Object.fromEntries(inputs.map((field) => [field.name, readInput(all(field.name)[0], field.default)])),
    differences: all('differences')[0] === '1',
  };
}

/** The data of the page, with public values only. */
async function loadComparison(input: ComparePageInput, ctx: Context): Promise<ComparisonData> {
  const release = releaseOf(ctx);
  const { engine, pack } = release;
  const { base_url, now } = ctx;
  const ids = input.ids.slice(0, IDS);
  const resolved = await engine.resolve(
    ids.map((id) => id.toLowerCase()),
    ctx,
  );
  const matches = [...new Set(resolved.filter((ordinal) => ordinal !== null))];
  const ordinals = matches.slice(0, MOST);
  const bodies = await engine.bodies(ordinals, ctx);
  const columns = await Promise.all(
    bodies.map(async ({ body }): Promise<ComparedColumn> => {
      const record = publicPageRecord(JSON.parse(body) as StoredRecord, pack, base_url);
      return { record, ...(await loadHistory(release, record, now, ctx)) };
    }),
  );
  const slugs = columns.map(({ record }) => record.slug);
  const candidates = slugs.length >= MOST ? [] : await candidatesOf(input.search, ordinals, ctx);
  return {
    ...{ pack, base_url, columns, inputs: input.inputs, differences: input.differences, search: input.search },
    missing: ids.filter((_, i) => resolved[i] === null),
    dropped: matches.length - ordinals.length + input.ids.length - ids.length,
    candidates: candidates.filter(({ slug }) => !slugs.includes(slug)).slice(0, CANDIDATES),
    paid: false,
  };
}

/**
 * Records to add: those with the words, else records that are similar to the only one, else the best known
 * ones. Public values decide.
 */
async function candidatesOf(text: string, ordinals: readonly number[], ctx: Context): Promise<Candidate[]> {
  const release = releaseOf(ctx);
  const { pack } = release;
  const [only, second] = ordinals;
  if (text === '' && second !== undefined) return [];
  if (text === '' && only !== undefined) {
    const { same, similar } = await loadOthers(release, only, ctx);
    return [...same.filter(({ own }) => !own), ...similar];
  }
  const { prominence } = pack.serving;
  const order = text === '' ? (prominence === null ? {} : { sort: `-${prominence}` }) : { q: text, sort: 'relevance' };
  const limit = String(CANDIDATES + MOST);
  try {
    const { now, base_url, signal, holder } = ctx;
    const open = { now, base_url, signal, holder, visibility: 'public' as const, admin: false };
    const { list } = await search(release, searchParameters.parse({ ...order, limit }, pack), open);
    const records = await pageRecords(list, open);
    return records.map(({ slug, name, attributes }) => ({
      slug,
      name,
      detail: distinctionOf(pack, { name, attributes }),
    }));
  } catch (error) {
    // A text without words, or with too many.
    if (error instanceof DataError) return [];
    throw error;
  }
}

/** The public values in a table, one row for each attribute. */
function comparisonMarkdown({ pack, base_url, columns, missing }: ComparisonData): string {
  const shown = pack.attributes.filter(({ name }) =>
    columns.some(({ record }) => record.attributes[name] !== undefined),
  );
  const rows = shown.map((attribute) => [
    columnTitle(attribute),
    ...columns.map(({ record }) =>
      markedCell(cell(record.attributes[attribute.name]), record.provenance[attribute.name]),
    ),
  ]);
  const slugs = columns.map(({ record }) => record.slug);
  return blocks(
    columns.length > 0 && table(['', ...columns.map(({ record }) => record.name)], [['slug', ...slugs], ...rows]),
    statusLegend(columns.flatMap(({ record }) => Object.values(record.provenance))),
    missing.length > 0 && `Missing: ${missing.map((id) => escapeText(printable(id))).join(', ')}`,
    columns.length === 0 && `Add ids, slugs or keys: ${base_url}/compare/${pack.id}.md?ids=<slug>,<slug>`,
    `All values: ${base_url}/v1/${pack.id}/compare.md?ids=${slugs.join() || '<slug>,<slug>'}`,
    `${escapeText(datasetAttribution(pack, base_url))} License: ${escapeText(licenseText(pack))}`,
  );
}

export const compare_page = operation<ComparePageInput, { text: string }>({
  name: 'compare_page',
  title: 'Comparison page',
  description: 'The public values of up to five records side by side, as a page or in Markdown. Free.',
  rest: { method: 'GET', path: '/compare/:ds', html: { print: ({ text }) => text, first: true } },
  charge: { access: 'free' },
  docs: { group: 'records' },
  formats: ['text', 'markdown'],
  input: () => z.looseObject({}),
  parse: readAddress,
  run: async (input, ctx) => {
    const page = await loadComparison(input, ctx);
    return { body: { text: ctx.format === 'html' ? compareHtml(page) : comparisonMarkdown(page) } };
  },
  markdown: ({ text }) => text,
});
