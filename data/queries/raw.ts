// Full records as bytes: inserts address, ages and citation into the stored text without parsing it.
import { attributionFor, licenseText, recordUrl } from '../../packs/define/links.ts';
import type { Pack } from '../../packs/define/model.ts';
import type { Ages, RecordPieces, RecordRenderer, RecordText } from '../plan/plan.ts';
import { hoursSince } from './present.ts';

const SLUG = '@@slug@@';
const NAME = '@@name@@';
const dresses = new WeakMap<Pack, Map<string, RecordRenderer>>();

/** The renderer for a pack at a base URL; the same object for the same arguments. */
export function recordRenderer(pack: Pack, base_url: string): RecordRenderer {
  const known = dresses.get(pack) ?? new Map<string, RecordRenderer>();
  dresses.set(pack, known);
  let renderer = known.get(base_url);
  if (!renderer) {
    renderer = new SplicedRecord(pack, base_url);
    known.set(base_url, renderer);
  }
  return renderer;
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
  readonly #url: readonly [Buffer, Buffer];
  readonly #citation: readonly [Buffer, Buffer, Buffer];
  readonly #afterName: number;

  /** Uses the functions that render records elsewhere, so that both texts are equal. */
  constructor(pack: Pack, base_url: string) {
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
