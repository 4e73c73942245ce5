// The records of an answer in order: as objects, or as the bytes of one JSON text.
import type { PublicRecord } from '../model/record.ts';
import { nextTurn } from '../plan/slices.ts';
import type { Release } from '../releases/release.ts';
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
  /** A number for each record, in the order of `ordinals`, and the member of the record that shows it. */
  figures?: { member: 'score' | 'distance_km'; values: readonly number[] };
}

/** The records as objects, with a turn of the event loop after each slice. */
export async function pageRecords(list: RecordList, presenting: PresentOptions): Promise<PublicRecord[]> {
  const { release, ordinals, fields, figures } = list;
  const records: PublicRecord[] = [];
  for (let at = 0; at < ordinals.length; at += SLICE) {
    if (at > 0) await nextTurn(presenting);
    const bodies = await release.engine.bodies(ordinals.slice(at, at + SLICE), presenting);
    for (const [i, { body }] of bodies.entries()) {
      const record = presentRecord(body, release.pack, presenting, fields);
      records.push(figures ? { ...record, [figures.member]: figures.values[at + i]! } : record);
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
 * `{"items":[…],…members}` from the stored texts, equal to JSON.stringify of the objects; cached records are
 * the same Buffer objects. Null when a record must be parsed: for a preview, or when the release has
 * no usable text.
 */
export function pageJson(list: RecordList, members: object, presenting: PresentOptions): PageJson | null {
  const { release, ordinals, fields, figures } = list;
  const { engine, pack } = release;
  if (!engine.text || presenting.visibility !== 'full') return null;
  const renderer = recordRenderer(pack, presenting.base_url, fields);
  const parts: Uint8Array<ArrayBuffer>[] = [OPEN];
  const record_ends: number[] = [];
  for (let i = 0; i < ordinals.length; i += 1) {
    const text = engine.text(ordinals[i]!, presenting.now, renderer);
    if (text === null) return null;
    if (i > 0) parts.push(NEXT);
    if (figures) parts.push(text.json.subarray(0, -1), Buffer.from(`,"${figures.member}":${figures.values[i]!}}`));
    else parts.push(text.json);
    record_ends.push(parts.length);
  }
  const rest = JSON.stringify(members).slice(1);
  parts.push(rest === '}' ? Buffer.from(']}') : Buffer.from(`],${rest}`));
  return { parts, record_ends };
}
