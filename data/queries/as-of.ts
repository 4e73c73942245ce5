// Time travel: records as of an earlier time, settled from their facts by the functions that settle a
// release.

import type { BatchInput } from '../input/history-parameters.ts';
import { printable } from '../input/parse-values.ts';
import { DataError } from '../model/errors.ts';
import type { PublicRecord, StoredRecord } from '../model/record.ts';
import { isoTime } from '../model/time.ts';
import type { QueryOptions } from '../plan/plan.ts';
import { contextAt, settlePast } from '../plan/settled.ts';
import type { Release } from '../releases/release.ts';
import { type PresentOptions, presentRecord } from './present.ts';

/** A record that had no facts at that time throws `unknown_entity` (404). */
export async function getRecordAsOf(
  release: Release,
  ref: string,
  { fields, at }: Pick<BatchInput, 'fields'> & { at: number },
  presenting: PresentOptions,
): Promise<PublicRecord> {
  const { items } = await getBatchAsOf(release, { ids: [ref], fields }, at, presenting);
  const [record] = items;
  if (record) return record;
  throw new DataError('unknown_entity', `${release.pack.id} has no record "${printable(ref)}" as of ${isoTime(at)}.`);
}

/**
 * Records as of a time, in the order of the references, with ages relative to that time; `missing` includes
 * records without facts at that time.
 */
export async function getBatchAsOf(
  release: Release,
  { ids, fields }: Pick<BatchInput, 'ids' | 'fields'>,
  at: number,
  presenting: PresentOptions,
): Promise<{ items: PublicRecord[]; missing: string[] }> {
  const options: QueryOptions = presenting.signal ? { signal: presenting.signal } : {};
  const refs = ids.map((id) => id.toLowerCase());
  const ordinals = await release.engine.resolve(refs, options);
  const hits = [...new Set(ordinals.filter((ordinal) => ordinal !== null))];
  const records = await recordsAsOf(release, hits, at, options);
  const matches = ordinals.map((ordinal) => (ordinal === null ? null : (records[hits.indexOf(ordinal)] ?? null)));
  const then = { ...presenting, now: new Date(at) };
  return {
    items: matches
      .filter((record) => record !== null)
      .map((record) => presentRecord(record, release.pack, then, fields)),
    missing: ids.filter((_, index) => matches[index] === null),
  };
}

/**
 * The release for answers as of a time (null: now): the bodies of its records are those of then. Its plans need the
 * condition `as_of`.
 */
export function releaseAsOf(release: Release, at: number | null): Release {
  if (at === null) return release;
  const { text: _text, ...engine } = release.engine;
  const bodies: typeof engine.bodies = async (ordinals, options = {}) => {
    const records = await recordsAsOf(release, ordinals, at, options);
    return records.map((record) => ({ body: JSON.stringify(record), version: '' }));
  };
  return { ...release, engine: { ...engine, bodies } };
}

/** The time to which the ages of an answer are relative. */
export const timeAsOf = (at: number | null, now: Date): Date => (at === null ? now : new Date(at));

/**
 * Records as of a time (milliseconds since 1970), in the order of their ordinals; null for a record without
 * published values at that time. The time is that of observation (contract section 5): readings up to then
 * count, whenever they were collected.
 */
export async function recordsAsOf(
  { engine, pack }: Pick<Release, 'engine' | 'pack'>,
  ordinals: number[],
  at: number,
  options: QueryOptions,
): Promise<(StoredRecord | null)[]> {
  const past = await engine.past(ordinals, options);
  const context = contextAt(pack, past.readings, at);
  const settled = new Map(past.records.map((record) => [record.ordinal, settlePast(pack, record, context, at).record]));
  return ordinals.map((ordinal) => settled.get(ordinal) ?? null);
}
