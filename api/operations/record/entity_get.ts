// GET /v1/{ds}/entities/{entity_id}: one record with provenance and freshness.
import { type GetInput, getParameters } from '../../../data/input/history-parameters.ts';
import type { PublicRecord } from '../../../data/model/record.ts';
import { isoTime } from '../../../data/model/time.ts';
import { getRecordAsOf } from '../../../data/queries/as-of.ts';
import { type Context, jsonResult, operation, type Result } from '../../contract/operation.ts';
import { recordHtml } from '../../pages/record-html.ts';
import type { RelatedData } from '../../pages/related-data.ts';
import { recordMarkdown } from '../../render/record-template.ts';
import { asOfLine } from '../../render/times.ts';
import { releaseOf } from '../common/about.ts';
import { inputOf, someFields } from '../common/inputs.ts';
import { loadRecord, momentValidators } from '../common/load-record.ts';
import { RECORD_OUTPUT } from '../common/outputs.ts';
import { loadRelated, NO_RELATED } from '../common/related.ts';

/**
 * `as_of`: the requested moment, if any. `related`: the related data of today's page. It is part of the
 * result and not queried during rendering, so that a stored answer lists every record that it names
 * (payments/idempotency.ts).
 */
type GetResult = PublicRecord & { as_of?: string; related?: RelatedData };

/** The related data that the free page shows; empty for a moment in the past. */
async function relatedOf(record: PublicRecord, ctx: Context): Promise<RelatedData> {
  const release = releaseOf(ctx);
  const [ordinal] = await release.engine.resolve([record.id], ctx);
  return ordinal === null || ordinal === undefined ? NO_RELATED : loadRelated(release, record, ordinal, ctx.now, ctx);
}

async function recordAsOf({ entity_id, fields }: GetInput, at: number, ctx: Context): Promise<Result<GetResult>> {
  const record = await getRecordAsOf(releaseOf(ctx), entity_id, { fields, at }, ctx);
  return { body: { ...record, as_of: isoTime(at) }, records: 1 };
}

async function currentRecord({ entity_id, fields }: GetInput, ctx: Context): Promise<Result<GetResult>> {
  const entity = await loadRecord(entity_id, ctx);
  const json = ctx.format === 'json' ? entity.json(ctx, fields) : null;
  if (json) return jsonResult<GetResult>([json], { records: 1 });
  const record = entity.record(ctx, fields);
  if (ctx.format !== 'html') return { body: record, records: 1 };
  return { body: { ...record, related: await relatedOf(record, ctx) }, records: 1 };
}

/**
 * One record, now or as of an earlier time.
 *
 * @example
 * ```
 * GET /v1/:ds/entities/:entity_id?fields=name,elevation_ft
 * ```
 */
export const entity_get = operation<GetInput, GetResult>({
  name: 'entity_get',
  title: 'Get one record',
  description:
    'One record by id, slug or key with every value, its source, time, confidence and age; as_of returns it as of an earlier time.',
  rest: {
    method: 'GET',
    path: '/v1/:ds/entities/:entity_id',
    entity: true,
    validators: momentValidators,
    html: {
      print: ({ related = NO_RELATED, ...record }, ctx) =>
        recordHtml({ record, pack: releaseOf(ctx).pack, base_url: ctx.base_url, related, paid: true, locked: 0 }),
    },
  },
  charge: { access: 'paid', price: { of: 'get' }, names: ({ names }) => names },
  tool: {
    per_dataset: { suffix: 'get' },
    core: true,
    markdown: true,
    view: true,
    long: { more: 'Request fewer fields.' },
  },
  docs: {
    group: 'records',
    tasks: [
      { want: 'any fields of one record with a given slug', query: 'fields={fields}' },
      { want: 'any fields of one record as of an earlier time', query: 'fields={fields}&as_of={time}' },
    ],
    example: (pack, [entity_id]) => (entity_id === undefined ? null : { entity_id, fields: someFields(pack) }),
  },
  formats: ['json', 'markdown'],
  ...inputOf(getParameters),
  output: () => RECORD_OUTPUT,
  run: (input, ctx) => (input.as_of === null ? currentRecord(input, ctx) : recordAsOf(input, input.as_of, ctx)),
  markdown: (record, ctx) => asOfLine(record.as_of) + recordMarkdown(record, releaseOf(ctx).pack),
});
