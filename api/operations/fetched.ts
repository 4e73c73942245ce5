// The record that a request is about, read once: for its version, its answer and what is said about it.

import type { RawInput } from '../../data/plan.ts';
import { type Fetched, getRecord } from '../../data/records.ts';
import { releaseTag } from '../../data/release.ts';
import type { Context } from '../operation.ts';
import { packVersion, releaseOf } from './about.ts';

/** The record, found but not looked into. Throws `unknown_entity`. */
export function fetchRecord(raw: RawInput, ctx: Context): Promise<Fetched> {
  // Kept on the context: entries of a weak map outlive many collections of young objects.
  ctx.fetched ??= getRecord(releaseOf(ctx), String(raw['entity_id']), ctx);
  return ctx.fetched;
}

/** Version of an answer that depends on the record and the pack alone. */
export async function recordAnswerVersion(raw: RawInput, ctx: Context): Promise<string> {
  return `${(await fetchRecord(raw, ctx)).version} ${packVersion(releaseOf(ctx).pack)}`;
}

/** Version of an answer about the record's past, which a release may change where the record itself stays. Throws `unknown_entity`. */
export async function pastAnswerVersion(raw: RawInput, ctx: Context): Promise<string> {
  await fetchRecord(raw, ctx);
  const release = releaseOf(ctx);
  return `${releaseTag(release)} ${packVersion(release.pack)}`;
}
