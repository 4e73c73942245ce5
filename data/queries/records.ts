// Single records and batches, by id or slug (specification section 4, "Record endpoints").
import type { Pack } from '../../packs/define/model.ts';
import type { BatchInput } from '../input/parse.ts';
import { shown } from '../input/parse-values.ts';
import { DataError } from '../model/errors.ts';
import type { PublicRecord, StoredRecord } from '../model/record.ts';
import type { RecordText } from '../plan/plan.ts';
import type { Release } from '../releases/release.ts';
import { type Found, whole } from './found.ts';
import { type Presenting, present } from './present.ts';
import { dressOf } from './raw.ts';

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

/** When and where a record is asked for; a Presenting is one, whatever its rights turn out to be. */
type Moment = Pick<Presenting, 'now' | 'base_url' | 'signal'>;

/** One record. Throws `unknown_entity` (404). */
export async function getRecord({ engine, pack }: Release, ref: string, asked: Moment): Promise<Fetched> {
  const [ordinal] = await engine.resolve([normal(ref)], asked);
  if (ordinal === null || ordinal === undefined)
    throw new DataError('unknown_entity', `${pack.id} has no record "${shown(ref)}".`);
  const text = engine.text?.(ordinal, asked.now, dressOf(pack, asked.base_url)) ?? null;
  if (text !== null) return new FromText(text, pack);
  const [stored] = await engine.bodies([ordinal], asked);
  return new FromBody(stored!, pack);
}

/** A record whose text can be sent as it stands. */
class FromText implements Fetched {
  readonly version: string;
  readonly updated_at: string;
  readonly #json: Buffer<ArrayBuffer>;
  readonly #pack: Pack;

  constructor({ json, version, updated_at }: RecordText, pack: Pack) {
    this.version = version;
    this.updated_at = updated_at;
    this.#json = json;
    this.#pack = pack;
  }

  record(presenting: Presenting, fields: readonly string[] | null = null): PublicRecord {
    return present(this.#json.toString(), this.#pack, presenting, fields);
  }

  json(presenting: Presenting, fields: readonly string[] | null = null): Buffer<ArrayBuffer> | null {
    return whole(presenting, fields) ? this.#json : null;
  }
}

/** A record that has to be looked into whatever is asked. */
class FromBody implements Fetched {
  readonly version: string;
  readonly updated_at: string;
  readonly #record: StoredRecord;
  readonly #pack: Pack;

  constructor({ body, version }: { body: string; version: string }, pack: Pack) {
    this.#record = JSON.parse(body) as StoredRecord;
    this.version = version;
    this.updated_at = this.#record.updated_at;
    this.#pack = pack;
  }

  record(presenting: Presenting, fields: readonly string[] | null = null): PublicRecord {
    return present(this.#record, this.#pack, presenting, fields);
  }

  json(): null {
    return null;
  }
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
