// Reads single records and batches, by id, slug or key (specification section 4, "Record endpoints").
import type { Pack } from '../../packs/define/model.ts';
import type { BatchInput } from '../input/history-parameters.ts';
import type { PublicRecord, StoredRecord } from '../model/record.ts';
import type { RecordText } from '../plan/plan.ts';
import type { Release } from '../releases/release.ts';
import { unknownEntity } from './nearest.ts';
import { type PresentOptions, presentRecord } from './present.ts';
import { recordRenderer } from './raw.ts';
import type { RecordList } from './record-page.ts';

/** An existing record; its content is read on demand. */
export interface LoadedRecord {
  /** Changes with the record; for its ETag. */
  version: string;
  /** ISO 8601. */
  updated_at: string;
  /** The kept text of this version; absent: the record was parsed for this call. */
  source?: object;
  /** The record as an object, with all or some attributes. */
  record(presenting: PresentOptions, fields?: readonly string[] | null): PublicRecord;
  /** The JSON of `record`; null when the record must be parsed. */
  json(presenting: PresentOptions, fields?: readonly string[] | null): Buffer<ArrayBuffer> | null;
}

/** References are case-insensitive. */
const normal = (ref: string) => ref.toLowerCase();

/** Time and host of a request, without its visibility. */
type Moment = Pick<PresentOptions, 'now' | 'base_url' | 'signal'>;

/** One record. Throws `unknown_entity` (404). */
export async function getRecord(release: Release, ref: string, options: Moment): Promise<LoadedRecord> {
  const { engine, pack } = release;
  const [ordinal] = await engine.resolve([normal(ref)], options);
  if (ordinal === null || ordinal === undefined) throw await unknownEntity(release, ref, options);
  const text = engine.text?.(ordinal, options.now, recordRenderer(pack, options.base_url)) ?? null;
  if (text !== null) return new FromText(text, pack);
  const [stored] = await engine.bodies([ordinal], options);
  return new FromBody(stored!, pack);
}

/** A record whose stored text can be sent unchanged. */
class FromText implements LoadedRecord {
  readonly version: string;
  readonly updated_at: string;
  readonly source: RecordText;
  readonly #json: Buffer<ArrayBuffer>;
  readonly #pack: Pack;

  constructor(text: RecordText, pack: Pack) {
    this.version = text.version;
    this.updated_at = text.updated_at;
    this.source = text;
    this.#json = text.json;
    this.#pack = pack;
  }

  record(presenting: PresentOptions, fields: readonly string[] | null = null): PublicRecord {
    return presentRecord(this.#json.toString(), this.#pack, presenting, fields);
  }

  json(presenting: PresentOptions, fields: readonly string[] | null = null): Buffer<ArrayBuffer> | null {
    return presenting.visibility === 'full' && fields === null ? this.#json : null;
  }
}

/** A record that is always parsed. */
class FromBody implements LoadedRecord {
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

  record(presenting: PresentOptions, fields: readonly string[] | null = null): PublicRecord {
    return presentRecord(this.#record, this.#pack, presenting, fields);
  }

  json(): null {
    return null;
  }
}

/**
 * Records in the order of the references; unknown ids and slugs are listed in `missing`, as the client sent
 * them.
 */
export async function getBatch(
  release: Release,
  { ids, fields }: Pick<BatchInput, 'ids' | 'fields'>,
  presenting: PresentOptions,
): Promise<{ list: RecordList; missing: string[] }> {
  const ordinals = await release.engine.resolve(ids.map(normal), presenting);
  return {
    list: { release, ordinals: ordinals.filter((ordinal) => ordinal !== null), fields },
    missing: ids.filter((_, index) => ordinals[index] === null),
  };
}
