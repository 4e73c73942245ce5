// The record that a request is about, read once: for its version, its answer and what is said about it.

import type { RawInput } from '../../../data/plan/plan.ts';
import { type Fetched, getRecord } from '../../../data/queries/records.ts';
import type { Context, Validators } from '../../contract/operation.ts';
import { packVersion, releaseOf, releaseValidators } from './about.ts';

/** The record, found but not looked into. Throws `unknown_entity`. */
export function fetchRecord(raw: RawInput, ctx: Context): Promise<Fetched> {
  // Kept on the context: entries of a weak map outlive many collections of young objects.
  ctx.fetched ??= getRecord(releaseOf(ctx), String(raw['entity_id']), ctx);
  return ctx.fetched;
}

/** Validators of an answer that depends on the record and the pack alone. */
export async function recordValidators(raw: RawInput, ctx: Context): Promise<Validators> {
  const { version, updated_at } = await fetchRecord(raw, ctx);
  return { version: `${version} ${packVersion(releaseOf(ctx).pack)}`, last_modified: updated_at };
}

/** Validators of an answer about the record's past, which a release may change where the record itself stays. */
export async function pastValidators(raw: RawInput, ctx: Context): Promise<Validators> {
  await fetchRecord(raw, ctx);
  return releaseValidators(raw, ctx);
}
