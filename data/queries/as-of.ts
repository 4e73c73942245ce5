// Time travel: records as their facts stood at an earlier moment, settled by the same functions that settle them for a release.

import type { BatchInput } from '../input/parse.ts';
import { shown } from '../input/parse-values.ts';
import { DataError } from '../model/errors.ts';
import type { PublicRecord, StoredRecord } from '../model/record.ts';
import { isoTime } from '../model/time.ts';
import type { Asking } from '../plan/plan.ts';
import type { Release } from '../releases/release.ts';
import { groundAt, settlePast } from '../releases/settled.ts';
import { type Presenting, present } from './present.ts';

/** A record of which nothing was known at a moment is not there (404). */
export async function getRecordAsOf(
  release: Release,
  ref: string,
  { fields, at }: Pick<BatchInput, 'fields'> & { at: number },
  presenting: Presenting,
): Promise<PublicRecord> {
  const { items } = await getBatchAsOf(release, { ids: [ref], fields }, at, presenting);
  const [record] = items;
  if (record) return record;
  throw new DataError('unknown_entity', `${release.pack.id} knew no record "${shown(ref)}" as of ${isoTime(at)}.`);
}

/**
 * Records as they stood, aged relative to that moment, in the order asked; `missing` also names those not yet known then.
 * `unknown`: no id exists, then or now.
 */
export async function getBatchAsOf(
  release: Release,
  { ids, fields }: Pick<BatchInput, 'ids' | 'fields'>,
  at: number,
  presenting: Presenting,
): Promise<{ items: PublicRecord[]; missing: string[]; unknown: boolean }> {
  const asking: Asking = presenting.signal ? { signal: presenting.signal } : {};
  const refs = ids.map((id) => id.toLowerCase());
  const ordinals = await release.engine.resolve(refs, asking);
  const known = [...new Set(ordinals.filter((ordinal) => ordinal !== null))];
  const records = await recordsAsOf(release, known, at, asking);
  const found = ordinals.map((ordinal) => (ordinal === null ? null : (records[known.indexOf(ordinal)] ?? null)));
  const then = { ...presenting, now: new Date(at) };
  return {
    items: found.filter((record) => record !== null).map((record) => present(record, release.pack, then, fields)),
    missing: ids.filter((_, index) => found[index] === null),
    unknown: known.length === 0,
  };
}

/**
 * Records as of a moment (milliseconds since 1970), in the order of their ordinals; null for one of which nothing was published then.
 * Time is that of observation (contract section 5): what the sources' readings up to then say, whenever they were collected.
 */
export async function recordsAsOf(
  { engine, pack }: Pick<Release, 'engine' | 'pack'>,
  ordinals: number[],
  at: number,
  asking: Asking,
): Promise<(StoredRecord | null)[]> {
  const past = await engine.past(ordinals, asking);
  const ground = groundAt(pack, past.readings, at);
  const settled = new Map(past.records.map((record) => [record.ordinal, settlePast(pack, record, ground, at).record]));
  return ordinals.map((ordinal) => settled.get(ordinal) ?? null);
}
