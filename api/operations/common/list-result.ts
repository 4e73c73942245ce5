// Answers that are lists of records: stored bytes where they can be sent unchanged, objects otherwise.

import type { PublicRecord } from '../../../data/model/record.ts';
import { eachSlice } from '../../../data/plan/slices.ts';
import { pageJson, pageRecords, type RecordList } from '../../../data/queries/record-page.ts';
import { type Context, jsonResult, type Result } from '../../contract/operation.ts';

/**
 * The result `{items, …rest}` for a page of records. Only JSON is written from bytes; other formats need
 * parsed records.
 */
export async function listResult<R extends { items: PublicRecord[] }>(
  page: RecordList,
  rest: Omit<R, 'items'>,
  ctx: Context,
): Promise<Result<R>> {
  const size = page.ordinals.length;
  const about = { records: size, empty: size === 0, fields: page.fields };
  const json = ctx.format === 'json' ? pageJson(page, rest, ctx) : null;
  if (json) return jsonResult<R>(json.parts, { ...about, record_ends: json.record_ends });
  return { body: { items: await pageRecords(page, ctx), ...rest } as unknown as R, ...about };
}

/**
 * A body that begins with a list. More than `size` items are written as JSON in slices, with a turn of the
 * event loop between them.
 */
export async function longListResult<R extends { items: readonly unknown[] }>(
  body: R,
  size: number,
  ctx: Context,
): Promise<Result<R>> {
  const { items, ...rest } = body;
  if (ctx.format !== 'json' || items.length <= size) return { body };
  const parts: Buffer<ArrayBuffer>[] = [];
  const write = (slice: readonly unknown[]) =>
    void parts.push(Buffer.from(`${parts.length === 0 ? '{"items":[' : ','}${JSON.stringify(slice).slice(1, -1)}`));
  await eachSlice(items, size, write, ctx);
  parts.push(Buffer.from(`],${JSON.stringify(rest).slice(1)}`));
  return jsonResult<R>(parts, {}, body);
}
