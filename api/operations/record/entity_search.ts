// GET /v1/{ds}/entities: search with filters; anonymous callers see public values within the daily quota.

import { z } from 'zod';
import { SEARCH_FORMATS } from '../../../data/input/formats.ts';
import { type SearchInput, searchParameters } from '../../../data/input/search-parameters.ts';
import type { PublicRecord } from '../../../data/model/record.ts';
import { momentOf } from '../../../data/plan/predicates.ts';
import { listedFilter } from '../../../data/queries/gone.ts';
import { releaseFor, type SearchPage, search } from '../../../data/queries/search.ts';
import { type Context, type Operation, operation } from '../../contract/operation.ts';
import { blocks, escapeText, listFooter } from '../../render/markdown.ts';
import { recordTable, selectedColumns } from '../../render/record-table.ts';
import { type About, aboutDataset, releaseOf } from '../common/about.ts';
import { inputOf, someFields } from '../common/inputs.ts';
import { listResult } from '../common/list-result.ts';
import { ABOUT_OUTPUT, CURSOR_OUTPUT, count, RECORD_OUTPUT } from '../common/outputs.ts';

type Found = { items: PublicRecord[]; next_cursor: string | null; total?: number } & Pick<
  SearchPage,
  'hint' | 'suggestion'
> &
  About;

function markdown(
  { items, total, hint, suggestion, attribution, license }: Found,
  ctx: Context,
  fields?: readonly string[] | null,
): string {
  const { pack } = releaseOf(ctx);
  const of = total === undefined ? '' : ` of ${total}`;
  const groups = new Set(items.flatMap(({ group }) => Object.values(group ?? {}))).size;
  const [size, unit] = groups > 0 ? [groups, 'group'] : [items.length, 'record'];
  const more = size === items.length ? '' : `${items.length} records in `;
  const counted = `${more}${size}${of} ${unit}${size === 1 && !of ? '' : 's'}`;
  const visibilityNote = ctx.visibility === 'public' ? ', public values only' : '';
  return blocks(
    recordTable(items, pack, selectedColumns(fields, ctx.url)),
    `${counted}${visibilityNote}.${hint === undefined ? '' : ` ${escapeText(hint)}`}`,
    suggestion !== undefined && escapeText(`q="${suggestion.q}" matches: ${suggestion.total}.`),
    listFooter(attribution, license),
  );
}

const SEARCH_INPUT = inputOf(searchParameters);

export const entity_search = operation<SearchInput, Found>({
  name: 'entity_search',
  title: 'Search records',
  description:
    'Finds records by words, place and filters, sorted and paged. Name the fields you need: far fewer tokens.',
  rest: { method: 'GET', path: '/v1/:ds/entities' },
  charge: {
    access: 'paid',
    previews: ({ where }) => momentOf(where) === null,
    price: { of: 'search' },
    names: ({ names }) => names,
    records: ({ limit, group }) => limit * (group?.limit ?? 1),
    fewest: ({ group }) => group?.limit ?? 1,
  },
  tool: {
    per_dataset: { suffix: 'search', filters: true },
    core: true,
    markdown: true,
    long: {
      part: 'items',
      shorter: (input, limit) => ({ ...input, limit: Math.max(1, Math.floor(limit / (input.group?.limit ?? 1))) }),
      more: 'Go on with cursor=next_cursor, or name fewer fields.',
      instead: 'Request fewer fields, or fewer records with limit.',
    },
  },
  docs: {
    group: 'records',
    tasks: [
      {
        want: 'public fields of the records that match, or the first of them in some order',
        query: '{filters}&sort={order}&limit={n}&fields={fields}',
        open: true,
      },
      {
        want: 'any fields of the records that match, or the first of them in some order',
        query: '{filters}&sort={order}&limit={n}&fields={fields}',
      },
    ],
    example: (pack) => ({ fields: someFields(pack), limit: '2', ...listedFilter(pack) }),
  },
  repeats: true,
  formats: SEARCH_FORMATS,
  ...SEARCH_INPUT,
  // Agents read the first records: their searches by words are ordered by relevance.
  parse: (raw, ctx) => {
    const isByWords = ctx.by_name === true && raw['q'] !== undefined && raw['sort'] === undefined;
    return SEARCH_INPUT.parse(isByWords ? { ...raw, sort: 'relevance' } : raw, ctx);
  },
  output: () =>
    z.object({
      items: z.array(RECORD_OUTPUT),
      next_cursor: CURSOR_OUTPUT,
      total: count('All matches, where total=true; with group_by all groups').optional(),
      hint: z
        .string()
        .describe(
          'On a first page: why it is empty and how to change the query, that more records match and how to sort them, or that some are no longer listed',
        )
        .optional(),
      suggestion: z
        .object({
          q: z.string(),
          total: count('Records that it matches'),
          changes: z.array(
            z.object({ word: z.string(), use: z.string().describe('Absent: the word is left out').optional() }),
          ),
        })
        .describe('Other words for q, where no record matches')
        .optional(),
      ...ABOUT_OUTPUT,
    }),
  run: async (input, ctx) => {
    const current = releaseOf(ctx);
    const release = await releaseFor(input, current, ctx.leaseEarlier);
    const { list, ...page } = await search(release, input, ctx);
    const answer = await listResult<Found>(list, { ...page, ...aboutDataset(release.pack, ctx.base_url) }, ctx);
    answer.next_cursor = page.next_cursor;
    answer.bom = input.bom;
    answer.distances = input.sort.distance !== undefined;
    answer.group_by = input.group?.by;
    if (release !== current) answer.release = release.manifest.release;
    return answer;
  },
  markdown,
});

// The guides suggest the search that may be free instead.
const { tool: _, ...same } = entity_search;
const { previews: __, ...charge } = same.charge;
const { tasks: ___, ...docs } = same.docs;

/** The same search in everything else, without a tool of its own. */
export const entity_search_paid: Operation = {
  ...same,
  name: 'entity_search_paid',
  title: 'Search records (paid, no free preview)',
  description: 'The same as the search of records, without free previews: every answer is complete and paid.',
  rest: { ...same.rest, path: '/v1/:ds/paid/entities' },
  charge,
  docs,
};
