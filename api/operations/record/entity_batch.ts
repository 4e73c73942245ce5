// GET /v1/{ds}/entities/batch: up to 100 records at once, priced as that many gets.
import { z } from 'zod';
import { type BatchInput, batchParameters } from '../../../data/input/history-parameters.ts';
import type { PublicRecord } from '../../../data/model/record.ts';
import { isoTime } from '../../../data/model/time.ts';
import { mapSlices } from '../../../data/plan/slices.ts';
import { getBatchAsOf } from '../../../data/queries/as-of.ts';
import { getBatch } from '../../../data/queries/records.ts';
import { operation } from '../../contract/operation.ts';
import { blocks, escapeText, listFooter } from '../../render/markdown.ts';
import { recordTable, selectedColumns } from '../../render/record-table.ts';
import { recordSection } from '../../render/record-template.ts';
import { asOfLine } from '../../render/times.ts';
import { type About, aboutDataset, releaseOf } from '../common/about.ts';
import { inputOf, someFields } from '../common/inputs.ts';
import { listResult } from '../common/list-result.ts';
import { ABOUT_OUTPUT, AS_OF_OUTPUT, RECORD_OUTPUT } from '../common/outputs.ts';

/** Records written as Markdown between two turns of the event loop: some 2 ms. */
const SECTIONS = 20;

/** `as_of`: the requested moment, if any. */
type Batch = { items: PublicRecord[]; missing: string[]; as_of?: string } & About;

export const entity_batch = operation<BatchInput, Batch>({
  name: 'entity_batch',
  title: 'Get several records',
  description:
    'Up to 100 records by id, slug or key, in the order of the request; unknown ones are listed in missing. as_of returns them as of an earlier time.',
  rest: { method: 'GET', path: '/v1/:ds/entities/batch' },
  charge: { access: 'paid', price: { of: 'get', times: ({ ids }) => ids.length }, names: ({ names }) => names },
  tool: { markdown: true, long: { more: 'Request fewer ids or fewer fields.' } },
  docs: {
    group: 'records',
    tasks: [{ want: 'any fields of several records with given slugs', query: 'ids={slugs}&fields={fields}' }],
    example: (pack, [first, second]) =>
      first === undefined ? null : { ids: [first, second ?? []].flat().join(), fields: someFields(pack) },
  },
  repeats: true,
  formats: ['json', 'markdown'],
  ...inputOf(batchParameters),
  output: () =>
    z.object({
      items: z.array(RECORD_OUTPUT).describe('In the order of the request'),
      missing: z.array(z.string()).describe('Ids and slugs without a record'),
      ...AS_OF_OUTPUT,
      ...ABOUT_OUTPUT,
    }),
  run: async (input, ctx) => {
    const release = releaseOf(ctx);
    const { as_of } = input;
    const about = aboutDataset(release.pack, ctx.base_url);
    if (as_of === null) {
      const { list, missing } = await getBatch(release, input, ctx);
      return listResult<Batch>(list, { missing, ...about }, ctx);
    }
    const then = await getBatchAsOf(release, input, as_of, ctx);
    const body = { ...then, as_of: isoTime(as_of), ...about };
    return { body, records: then.items.length, empty: then.items.length === 0, fields: input.fields };
  },
  markdown: async ({ items, missing, as_of, attribution, license }, ctx, fields) => {
    const { pack } = releaseOf(ctx);
    const sections = fields
      ? [recordTable(items, pack, selectedColumns(fields, ctx.url))]
      : await mapSlices(items, SECTIONS, (record) => recordSection(record, pack), ctx);
    return blocks(
      asOfLine(as_of).trim(),
      ...sections,
      missing.length > 0 && `Missing: ${missing.map(escapeText).join(', ')}`,
      listFooter(attribution, license),
    );
  },
});
