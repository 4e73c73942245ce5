// Answers that are lists of records: stored bytes where they can be sent as they stand, objects where they cannot.
import { type Found, foundJson, foundRecords } from '../../data/found.ts';
import type { PublicRecord } from '../../data/model.ts';
import { type Context, fromJson, type Result } from '../operation.ts';

/** `{items, …beside}` of the records found. Only JSON is written from bytes; other formats look into the records. */
export async function listed<R extends { items: PublicRecord[] }>(
  found: Found,
  beside: Omit<R, 'items'>,
  ctx: Context,
): Promise<Result<R>> {
  const about = { records: found.ordinals.length };
  const parts = ctx.format === 'json' ? foundJson(found, beside, ctx) : null;
  if (parts) return fromJson<R>(parts, about);
  return { body: { items: await foundRecords(found, ctx), ...beside } as unknown as R, ...about };
}
