// The records of an answer in order: as objects, or as the bytes of one JSON text.
import type { PublicRecord } from '../model/record.ts';
import { nextTurn } from '../plan/slices.ts';
import type { Release } from '../releases/release.ts';
import { timeAsOf } from './as-of.ts';
import { type PresentOptions, presentRecord } from './present.ts';
import { recordRenderer } from './raw.ts';

/** Records rendered in one turn of the event loop: about 4 ms. */
const SLICE = 50;

/** Records of one release by ordinal. */
export interface RecordList {
  release: Release;
  ordinals: readonly number[];
  /** Attributes to include; null: all. */
  fields: readonly string[] | null;
  /** The moment that ages are relative to (milliseconds since 1970); absent or null: now. */
  as_of?: number | null;
  /** Further members of each record, in the order of `ordinals`. */
  members?: readonly Pick<PublicRecord, 'score' | 'distance_km' | 'group'>[] | undefined;
}

/** The records as objects, with a turn of the event loop after each slice. */
export async function pageRecords(list: RecordList, presenting: PresentOptions): Promise<PublicRecord[]> {
  const { release, ordinals, fields, members, as_of = null } = list;
  const then = { ...presenting, now: timeAsOf(as_of, presenting.now) };
  const records: PublicRecord[] = [];
  for (let at = 0; at < ordinals.length; at += SLICE) {
    if (at > 0) await nextTurn(presenting);
    const bodies = await release.engine.bodies(ordinals.slice(at, at + SLICE), presenting);
    for (const [i, { body }] of bodies.entries()) {
      const record = presentRecord(body, release.pack, then, fields);
      records.push(members ? { ...record, ...members[at + i]! } : record);
    }
  }
  return records;
}

const OPEN = Buffer.from('{"items":[');
const NEXT = Buffer.from(',');

/** JSON in parts, and the number of parts up to the end of each record. */
export interface PageJson {
  parts: readonly Uint8Array<ArrayBuffer>[];
  record_ends: readonly number[];
}

/**
 * `{"items":[…],…about}` from the stored texts, equal to JSON.stringify of the objects; cached records are
 * the same Buffer objects. Null when a record must be parsed: for a preview, or when the release has
 * no usable text.
 */
export function pageJson(list: RecordList, about: object, presenting: PresentOptions): PageJson | null {
  const { release, ordinals, fields, members } = list;
  const { engine, pack } = release;
  if (!engine.text || presenting.visibility !== 'full') return null;
  const renderer = recordRenderer(pack, presenting.base_url, fields);
  const parts: Uint8Array<ArrayBuffer>[] = [OPEN];
  const record_ends: number[] = [];
  for (let i = 0; i < ordinals.length; i += 1) {
    const text = engine.text(ordinals[i]!, presenting.now, renderer);
    if (text === null) return null;
    if (i > 0) parts.push(NEXT);
    if (members) parts.push(text.json.subarray(0, -1), Buffer.from(`,${JSON.stringify(members[i]).slice(1)}`));
    else parts.push(text.json);
    record_ends.push(parts.length);
  }
  const rest = JSON.stringify(about).slice(1);
  parts.push(rest === '}' ? Buffer.from(']}') : Buffer.from(`],${rest}`));
  return { parts, record_ends };
}
