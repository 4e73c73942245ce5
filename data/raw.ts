// Full records as bytes: the stored text with its address, ages and citation put in, never parsed and serialised again.
import { attributionFor, licenseText, recordUrl } from '../packs/links.ts';
import type { Pack } from '../packs/model.ts';
import type { Ages, Pieces } from './plan.ts';
import { hoursSince, type Presenting } from './present.ts';

/** What a dataset's records all say, cut where slug and name go. */
interface Dress {
  url: readonly [Buffer, Buffer];
  citation: readonly [Buffer, Buffer, Buffer];
}

const SLUG = '@@slug@@';
const NAME = '@@name@@';
const dresses = new WeakMap<Pack, Map<string, Dress>>();

/** The texts come from the functions that write them elsewhere, so that they cannot differ. */
function dressOf(pack: Pack, base: string): Dress {
  const known = dresses.get(pack) ?? new Map<string, Dress>();
  dresses.set(pack, known);
  let dress = known.get(base);
  if (!dress) {
    const citation = { license: licenseText(pack), attribution: attributionFor(pack, base, SLUG, NAME) };
    const cut = (text: string) => text.split(new RegExp(`${SLUG}|${NAME}`)).map((part) => Buffer.from(part));
    dress = {
      url: cut(`"url":${JSON.stringify(recordUrl(base, pack.id, SLUG))},`) as unknown as Dress['url'],
      // A record's own text ends with a brace; what follows it stands before that.
      citation: cut(`,${JSON.stringify(citation).slice(1)}`) as unknown as Dress['citation'],
    };
    known.set(base, dress);
  }
  return dress;
}

/** Bytes of `{"id":"r-0123456789abcdef","slug":"`, of `","name":"` and of `"updated_at":"2026-11-20T00:00:00.000Z"` up to the time. */
const BEFORE_SLUG = 35;
const BEFORE_NAME = 10;
const BEFORE_TIME = 14;
const QUOTE = 0x22;

/** Adds the JSON of one record, as it is answered to a caller who sees everything, to `out`, piece by piece. */
export function rawRecord(out: Uint8Array[], pieces: Pieces, pack: Pack, { now, base_url }: Presenting): void {
  const { head, middle, tail } = pieces;
  const { url, citation } = dressOf(pack, base_url);
  // The text is our own: keys in this order, and a quote inside a value is escaped.
  const slugEnd = head.indexOf(QUOTE, BEFORE_SLUG);
  const slug = head.subarray(BEFORE_SLUG, slugEnd);
  const name = head.subarray(slugEnd + BEFORE_NAME, head.length - `","dataset":"${pack.id}",`.length);
  const ages = pieces.ages(now, (list) => freshness(list, now));
  out.push(head, url[0], slug, url[1], middle, ages, tail.subarray(0, -1));
  out.push(citation[0], name, citation[1], slug, citation[2]);
}

/** When a record was last changed, ISO 8601. */
export function updatedAt({ middle }: Pieces): string {
  return middle.toString('latin1', BEFORE_TIME, middle.indexOf(QUOTE, BEFORE_TIME));
}

function freshness({ names, times }: Ages, now: Date): string {
  const ages = names.map((name, i) => `${JSON.stringify(name)}:${hoursSince(times[i]!, now)}`);
  return `"freshness":{${ages.join(',')}},`;
}
