// The record of a request, read once: for its version, its answer and its related data.

import type { RawInput } from '../../../data/plan/plan.ts';
import { getRecord, type LoadedRecord } from '../../../data/queries/records.ts';
import type { Context, Validators } from '../../contract/operation.ts';
import { packVersion, releaseOf, releaseValidators } from './about.ts';

/** The record, resolved but not parsed. Throws `unknown_entity`. */
export function loadRecord(entity_id: string, ctx: Context): Promise<LoadedRecord> {
  // Stored in the context: entries of a WeakMap survive many collections of young objects.
  ctx.record ??= getRecord(releaseOf(ctx), entity_id, ctx);
  return ctx.record;
}

/** Validators of an answer that depends on the record and the pack alone. */
async function recordValidators(raw: RawInput, ctx: Context): Promise<Validators> {
  const { version, updated_at, source } = await loadRecord(String(raw['entity_id']), ctx);
  return { version, pack_version: packVersion(releaseOf(ctx).pack), last_modified: updated_at, source };
}

/**
 * Validators of an answer about the history of the record, which a release may change while the record stays
 * the same.
 */
export async function historyValidators(raw: RawInput, ctx: Context): Promise<Validators> {
  await loadRecord(String(raw['entity_id']), ctx);
  return releaseValidators(raw, ctx);
}

/** Validators of an answer about the record, now or with `as_of`. */
export const momentValidators = (raw: RawInput, ctx: Context): Promise<Validators> =>
  (raw['as_of'] === undefined ? recordValidators : historyValidators)(raw, ctx);
