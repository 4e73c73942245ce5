// The records of an answer in order: as objects, or as the bytes of one JSON text.
import type { PublicRecord } from '../model/record.ts';
import { StickyCache } from '../model/sticky-cache.ts';
import { minuteOf } from '../model/time.ts';
import type { Engine } from '../plan/plan.ts';
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

/** Records of longer lists, such as those of bulk formats, are not kept: they would replace all others. */
const LONGEST_KEPT = 100;
/** Records that are kept as objects for each release, some 10 kB each. */
const MOST_KEPT = 300;

/** Records as objects of one minute, by selection and ordinal. */
type KeptRecords = StickyCache<string, PublicRecord>;

/** By engine: a release with another overlay has another one. */
const kept = new WeakMap<Engine, { minute: number; records: KeptRecords }>();

/** The records of an engine that were made for the minute of `now`, with which their ages change. */
function keptRecords(engine: Engine, now: Date): KeptRecords {
  const minute = minuteOf(now);
  const known = kept.get(engine);
  if (known?.minute === minute) return known.records;
  const records: KeptRecords = new StickyCache(MOST_KEPT);
  kept.set(engine, { minute, records });
  return records;
}

/**
 * The records as objects, with a turn of the event loop after each slice. Do not modify them: those of short lists
 * are kept for their minute.
 */
export async function pageRecords(list: RecordList, presenting: PresentOptions): Promise<PublicRecord[]> {
  const { release, ordinals, fields, figures } = list;
  const { visibility, base_url, now } = presenting;
  const known = ordinals.length > LONGEST_KEPT ? null : keptRecords(release.engine, now);
  const selection = `${visibility} ${base_url} ${fields === null ? '*' : fields.join()}`;
  const records: PublicRecord[] = [];
  for (let at = 0; at < ordinals.length; at += SLICE) {
    if (at > 0) await nextTurn(presenting);
    const slice = ordinals.slice(at, at + SLICE);
    const found = new Map<number, PublicRecord>();
    const missing: number[] = [];
    for (const ordinal of new Set(slice)) {
      const record = known?.get(`${selection} ${ordinal}`);
      if (record === undefined) missing.push(ordinal);
      else found.set(ordinal, record);
    }
    const bodies = missing.length === 0 ? [] : await release.engine.bodies(missing, presenting);
    for (const [i, { body }] of bodies.entries()) {
      const record = presentRecord(body, release.pack, presenting, fields);
      found.set(missing[i]!, record);
      if (known?.admits()) known.set(`${selection} ${missing[i]!}`, record);
    }
    for (const [i, ordinal] of slice.entries()) {
      const record = found.get(ordinal)!;
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
