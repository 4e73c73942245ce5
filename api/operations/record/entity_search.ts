// GET /v1/{ds}/entities: search with filters; anonymous callers see public values within the daily quota.

import { z } from 'zod';
import { SEARCH_FORMATS } from '../../../data/input/formats.ts';
import { type SearchInput, searchParameters } from '../../../data/input/search-parameters.ts';
import type { PublicRecord } from '../../../data/model/record.ts';
import { releaseFor, search } from '../../../data/queries/search.ts';
import { recordUrl } from '../../../packs/define/links.ts';
import { type Context, type Operation, operation } from '../../contract/operation.ts';
import { blocks, escapeText } from '../../render/markdown.ts';
import { recordTable } from '../../render/record-table.ts';
import { type About, aboutDataset, releaseOf } from '../common/about.ts';
import { inputOf, someFields } from '../common/inputs.ts';
import { listResult } from '../common/list-result.ts';
import { ABOUT_OUTPUT, CURSOR_OUTPUT, count, RECORD_OUTPUT } from '../common/outputs.ts';

type Found = { items: PublicRecord[]; next_cursor: string | null; total?: number; hint?: string } & About;

function markdown({ items, total, hint, attribution, license }: Found, ctx: Context): string {
  const { pack } = releaseOf(ctx);
  const fields = ctx.url.searchParams.getAll('fields').join(',').split(',');
  const of = total === undefined ? '' : ` of ${total}`;
  const visibilityNote = ctx.visibility === 'public' ? ', public values only' : '';
  const base = `${ctx.base_url}/v1/${pack.id}/entities`;
  return blocks(
    items.length > 0 && recordTable(items, pack, fields),
    `${items.length}${of} ${items.length === 1 && !of ? 'record' : 'records'}${visibilityNote}. Sources and ages of a record: ${base}/<slug>.md; its page: ${recordUrl(ctx.base_url, pack.id, '<slug>')}`,
    hint !== undefined && escapeText(hint),
    `${escapeText(attribution)} License: ${escapeText(license)}`,
  );
}

export const entity_search = operation<SearchInput, Found>({
  name: 'entity_search',
  title: 'Search records',
  description:
    'Finds records by words, place and filters, sorted and paged. Name the fields you need: far fewer tokens.',
  route: { method: 'GET', path: '/v1/:ds/entities' },
  group: 'records',
  repeats: true,
  access: 'paid',
  previews: true,
  price: { of: 'search' },
  formats: SEARCH_FORMATS,
  own_tool: { suffix: 'search', filters: true },
  long: {
    part: 'items',
    shorter: (input, limit) => ({ ...input, limit }),
    more: 'Go on with cursor=next_cursor, or name fewer fields.',
    instead: 'Request fewer fields, or fewer records with limit.',
  },
  answers: [
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
  ...inputOf(searchParameters),
  output: () =>
    z.object({
      items: z.array(RECORD_OUTPUT),
      next_cursor: CURSOR_OUTPUT,
      total: count('All matches, where total=true').optional(),
      hint: z
        .string()
        .describe(
          'On a first page: why it is empty and how to change the query, or that more records match and how to sort them',
        )
        .optional(),
      ...ABOUT_OUTPUT,
    }),
  example: (pack) => ({ fields: someFields(pack), limit: '2' }),
  names: ({ names }) => names,
  page: ({ limit }) => limit,
  run: async (input, ctx) => {
    const current = releaseOf(ctx);
    const release = await releaseFor(input, current, ctx.leaseEarlier);
    const { list, ...page } = await search(release, input, ctx);
    const answer = await listResult<Found>(list, { ...page, ...aboutDataset(release.pack, ctx.base_url) }, ctx);
    answer.next_cursor = page.next_cursor;
    answer.fields = input.fields;
    answer.bom = input.bom;
    answer.distances = input.sort.distance !== undefined;
    if (release !== current) answer.release = release.manifest.release;
    return answer;
  },
  markdown,
});

// The guides suggest the search that may be free instead.
const { previews: _, answers: __, ...same } = entity_search;

/** The same search in everything else, without a tool of its own. */
export const entity_search_paid: Operation = {
  ...same,
  name: 'entity_search_paid',
  title: 'Search records, always paid',
  description: 'The same as the search of records, without free previews: every answer is complete and paid.',
  route: { method: 'GET', path: '/v1/:ds/paid/entities' },
  tool: false,
};
