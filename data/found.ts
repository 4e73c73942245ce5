// Records that answer a question, in its order: as objects, or as the bytes of one JSON text.
import type { PublicRecord } from './model.ts';
import { type Presenting, present } from './present.ts';
import { rawRecord } from './raw.ts';
import type { Release } from './release.ts';

/** Records of one release by ordinal. */
export interface Found {
  release: Release;
  ordinals: readonly number[];
  /** Attributes to keep; null: all. */
  fields: readonly string[] | null;
  /** What similar says of each, in the same order. */
  scores?: readonly number[];
}

/** Whether a caller's answer is the stored record as it stands. */
export const whole = ({ visibility }: Presenting, fields: Found['fields']) => visibility === 'full' && fields === null;

/** The records as objects. */
export async function foundRecords(found: Found, presenting: Presenting): Promise<PublicRecord[]> {
  const { release, ordinals, fields, scores } = found;
  const distinct = [...new Set(ordinals)];
  const bodies = await release.engine.bodies(distinct, presenting);
  const byOrdinal = new Map(distinct.map((ordinal, index) => [ordinal, bodies[index]!.body]));
  return ordinals.map((ordinal, index) => ({
    ...present(byOrdinal.get(ordinal)!, release.pack, presenting, fields),
    ...(scores ? { score: scores[index]! } : {}),
  }));
}

const OPEN = Buffer.from('{"items":[');
const NEXT = Buffer.from(',');
const LAST = Buffer.from('}');

/**
 * `{"items":[…],…beside}` from the stored texts, as JSON.stringify would write it of the objects. Null where a record has
 * to be looked into: for a preview, for `fields`, or where the release keeps no text that can be sent as it stands.
 */
export function foundJson(found: Found, beside: object, presenting: Presenting): Buffer<ArrayBuffer> | null {
  const { release, ordinals, fields, scores } = found;
  const { engine, pack } = release;
  if (!engine.pieces || !whole(presenting, fields)) return null;
  const out: Uint8Array[] = [OPEN];
  for (const [index, ordinal] of ordinals.entries()) {
    const pieces = engine.pieces(ordinal);
    if (pieces === null) return null;
    if (index > 0) out.push(NEXT);
    rawRecord(out, pieces, pack, presenting);
    if (scores) out[out.length - 1] = scored(out.at(-1)!, scores[index]!);
  }
  const rest = JSON.stringify(beside).slice(1);
  out.push(rest === '}' ? Buffer.from(']}') : Buffer.from(`],${rest}`));
  return Buffer.concat(out);
}

/** The end of a record's text with its score put before the brace. */
function scored(end: Uint8Array, score: number): Uint8Array {
  return Buffer.concat([end.subarray(0, -1), Buffer.from(`,"score":${JSON.stringify(score)}`), LAST]);
}
