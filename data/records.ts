// Single records and batches, by id or slug (specification section 4, "Record endpoints").
import { DataError } from './errors.ts';
import { type Found, whole } from './found.ts';
import type { PublicRecord, StoredRecord } from './model.ts';
import type { BatchInput } from './parse.ts';
import { shown } from './parse-values.ts';
import type { Asking, Pieces } from './plan.ts';
import { type Presenting, present } from './present.ts';
import { rawRecord, updatedAt } from './raw.ts';
import type { Release } from './release.ts';

/** A record that is there. What it says is read when it is asked for. */
export interface Fetched {
  /** What changes when the record does, for its ETag. */
  version: string;
  /** ISO 8601. */
  updated_at: string;
  /** As an object, with all attributes or some. */
  record(presenting: Presenting, fields?: readonly string[] | null): PublicRecord;
  /** Its JSON as it would be of `record`; null where the record has to be looked into. */
  json(presenting: Presenting, fields?: readonly string[] | null): Buffer<ArrayBuffer> | null;
}

/** Letter case of a reference does not matter. */
const normal = (ref: string) => ref.toLowerCase();

/** One record. Throws `unknown_entity` (404). */
export async function getRecord({ engine, pack }: Release, ref: string, asking: Asking = {}): Promise<Fetched> {
  const [ordinal] = await engine.resolve([normal(ref)], asking);
  if (ordinal === null || ordinal === undefined)
    throw new DataError('unknown_entity', `${pack.id} has no record "${shown(ref)}".`);
  const pieces = engine.pieces?.(ordinal) ?? null;
  if (pieces !== null) return fromPieces(pieces, pack);
  const [stored] = await engine.bodies([ordinal], asking);
  const record = JSON.parse(stored!.body) as StoredRecord;
  const { updated_at } = record;
  return {
    version: stored!.version,
    updated_at,
    record: (presenting, fields) => present(record, pack, presenting, fields),
    json: () => null,
  };
}

function fromPieces(pieces: Pieces, pack: Release['pack']): Fetched {
  return {
    version: pieces.version,
    updated_at: updatedAt(pieces),
    record: (presenting, fields) => {
      const { head, middle, tail } = pieces;
      return present(Buffer.concat([head, middle, tail]).toString(), pack, presenting, fields);
    },
    json: (presenting, fields = null) => {
      if (!whole(presenting, fields)) return null;
      const out: Uint8Array[] = [];
      rawRecord(out, pieces, pack, presenting);
      return Buffer.concat(out);
    },
  };
}

/** Records in the order asked; ids and slugs that are unknown are listed in `missing`, as they were written. */
export async function getBatch(
  release: Release,
  { ids, fields }: Pick<BatchInput, 'ids' | 'fields'>,
  presenting: Presenting,
): Promise<{ found: Found; missing: string[] }> {
  const ordinals = await release.engine.resolve(ids.map(normal), presenting);
  return {
    found: { release, ordinals: ordinals.filter((ordinal) => ordinal !== null), fields },
    missing: ids.filter((_, index) => ordinals[index] === null),
  };
}
