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
    const slice = ordinals.slice(at, at + SLICE);
    const distinct = [...new Set(slice)];
    const bodies = await release.engine.bodies(distinct, presenting);
    const byOrdinal = new Map(distinct.map((ordinal, index) => [ordinal, bodies[index]!.body]));
    for (const [index, ordinal] of slice.entries())
      records.push({
        ...presentRecord(byOrdinal.get(ordinal)!, release.pack, presenting, fields),
        ...(figures ? { [figures.member]: figures.values[at + index]! } : {}),
      });
  }
  return records;
}

const OPEN = Buffer.from('{"items":[');
const NEXT = Buffer.from(',');

/**
 * `{"items":[…],…members}` from the stored texts, equal to JSON.stringify of the objects, in chunks; cached
 * records are the same Buffer objects. Null when a record must be parsed: for a preview, or when the release has
 * no usable text.
 */
export function pageJson(
  list: RecordList,
  members: object,
  presenting: PresentOptions,
): readonly Uint8Array<ArrayBuffer>[] | null {
  const { release, ordinals, fields, figures } = list;
  const { engine, pack } = release;
  if (!engine.text || presenting.visibility !== 'full') return null;
  const renderer = recordRenderer(pack, presenting.base_url, fields);
  const out: Uint8Array<ArrayBuffer>[] = [OPEN];
  for (let i = 0; i < ordinals.length; i += 1) {
    const text = engine.text(ordinals[i]!, presenting.now, renderer);
    if (text === null) return null;
    if (i > 0) out.push(NEXT);
    if (figures) out.push(text.json.subarray(0, -1), Buffer.from(`,"${figures.member}":${figures.values[i]!}}`));
    else out.push(text.json);
  }
  const rest = JSON.stringify(members).slice(1);
  out.push(rest === '}' ? Buffer.from(']}') : Buffer.from(`],${rest}`));
  return out;
}
