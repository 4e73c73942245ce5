// Records as bytes: inserts address, ages and citation into the stored text without parsing it, or selects some
// attributes.
import { derive } from '../../packs/define/derive.ts';
import { attributionFor, licenseText, recordUrl } from '../../packs/define/links.ts';
import type { Pack } from '../../packs/define/model.ts';
import type { Ages, RecordPieces, RecordRenderer, RecordText } from '../plan/plan.ts';
import { hoursSince, presentRecord } from './present.ts';

const SLUG = '@@slug@@';
const NAME = '@@name@@';
/** The renderer for a pack at a base URL. `fields`: attributes to include; null: all. */
export function recordRenderer(pack: Pack, base_url: string, fields: readonly string[] | null = null): RecordRenderer {
  if (fields !== null) return new SelectedRecord(pack, base_url, fields);
  return derive(pack, `record renderer of ${base_url}`, () => new SplicedRecord(pack, base_url));
}

/** Parses the record and writes some of its attributes. */
class SelectedRecord implements RecordRenderer {
  readonly key: string;
  readonly #pack: Pack;
  readonly #base_url: string;
  readonly #fields: readonly string[];

  constructor(pack: Pack, base_url: string, fields: readonly string[]) {
    this.key = `${base_url} ${fields.join()}`;
    this.#pack = pack;
    this.#base_url = base_url;
    this.#fields = fields;
  }

  render({ head, middle, tail }: RecordPieces, now: Date): Pick<RecordText, 'json' | 'updated_at'> {
    const presenting = { now, base_url: this.#base_url, visibility: 'full' } as const;
    const stored = Buffer.concat([head, middle, tail]).toString();
    const record = presentRecord(stored, this.#pack, presenting, this.#fields);
    return { json: Buffer.from(JSON.stringify(record)), updated_at: record.updated_at };
  }
}

/**
 * Bytes of `{"id":"r-0123456789abcdef","slug":"`, of `","name":"` and of
 * `"updated_at":"2026-11-20T00:00:00.000Z"` up to the time.
 */
const BEFORE_SLUG = 35;
const BEFORE_NAME = 10;
const BEFORE_TIME = 14;
const QUOTE = 0x22;

/** Text that all records of a dataset share, split where slug and name are inserted. */
class SplicedRecord implements RecordRenderer {
  readonly key: string;
  readonly #url: readonly [Buffer, Buffer];
  readonly #citation: readonly [Buffer, Buffer, Buffer];
  readonly #afterName: number;

  /** Uses the functions that render records elsewhere, so that both texts are equal. */
  constructor(pack: Pack, base_url: string) {
    this.key = base_url;
    const citation = { license: licenseText(pack), attribution: attributionFor(pack, base_url, SLUG, NAME) };
    const cut = <T>(text: string) =>
      text.split(new RegExp(`${SLUG}|${NAME}`)).map((part) => Buffer.from(part)) as unknown as T;
    this.#url = cut(`"url":${JSON.stringify(recordUrl(base_url, pack.id, SLUG))},`);
    // Removes the opening brace: the citation is inserted before the closing brace of the record.
    this.#citation = cut(`,${JSON.stringify(citation).slice(1)}`);
    this.#afterName = `","dataset":"${pack.id}",`.length;
  }

  render({ head, middle, tail, ages }: RecordPieces, now: Date): Pick<RecordText, 'json' | 'updated_at'> {
    // We wrote the text: keys are in this order, and quotes in values are escaped.
    const slugEnd = head.indexOf(QUOTE, BEFORE_SLUG);
    const slug = head.subarray(BEFORE_SLUG, slugEnd);
    const name = head.subarray(slugEnd + BEFORE_NAME, head.length - this.#afterName);
    const [url1, url2] = this.#url;
    const [cite1, cite2, cite3] = this.#citation;
    const aged = ages((list) => freshness(list, now));
    const parts = [head, url1, slug, url2, middle, aged, tail.subarray(0, -1), cite1, name, cite2, slug, cite3];
    const updated_at = middle.toString('latin1', BEFORE_TIME, middle.indexOf(QUOTE, BEFORE_TIME));
    return { json: Buffer.concat(parts), updated_at };
  }
}

function freshness({ names, times }: Ages, now: Date): string {
  const ages = names.map((name, i) => `${JSON.stringify(name)}:${hoursSince(times[i]!, now)}`);
  return `"freshness":{${ages.join(',')}},`;
}
