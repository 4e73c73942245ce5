// Full records as bytes: the stored text with its address, ages and citation put in, never parsed and serialised again.
import { attributionFor, licenseText, recordUrl } from '../packs/links.ts';
import type { Pack } from '../packs/model.ts';
import type { Ages, Pieces } from './plan.ts';
import { hoursSince } from './present.ts';
import type { Release } from './release.ts';

/** What a dataset's records all say, cut where slug and name go. */
interface Dress {
  url: string[];
  citation: string[];
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
    dress = {
      url: `"url":${JSON.stringify(recordUrl(base, pack.id, SLUG))},`.split(SLUG),
      citation: `,${JSON.stringify(citation).slice(1)}`.split(new RegExp(`${SLUG}|${NAME}`)),
    };
    known.set(base, dress);
  }
  return dress;
}

/** One record as it is answered to a caller who sees everything, and what its headers say. */
export interface RawRecord {
  json: Buffer[];
  version: string;
  updated_at: string;
}

/** Serialises one record; null where the release keeps no text that can be sent as it stands. */
export function rawRecord({ engine, pack }: Release, ordinal: number, now: Date, base: string): RawRecord | null {
  const pieces = engine.pieces?.(ordinal) ?? null;
  if (pieces === null) return null;
  const { head, middle, tail, version } = pieces;
  const { url, citation } = dressOf(pack, base);
  const [slug, name] = keysOf(pieces);
  const ages = pieces.ages(now, (list) => freshness(list, now));
  const address = Buffer.from(`${url[0]}${slug}${url[1]}`);
  // The last byte of the tail closes the record; what follows it stands before.
  const rest = Buffer.from(`${citation[0]}${name}${citation[1]}${slug}${citation[2]}`);
  const updated_at = middle.toString('latin1', 14, middle.indexOf(0x22, 14));
  return { json: [head, address, middle, ages, tail.subarray(0, -1), rest], version, updated_at };
}

/** Slug and name as they stand in JSON: `{"id":"r-…","slug":"…","name":"…","dataset":"…",`. */
function keysOf({ head }: Pieces): [string, string] {
  const text = head.toString();
  const from = text.indexOf('"slug":"') + 8;
  const to = text.indexOf('"', from);
  return [text.slice(from, to), text.slice(to + 10, text.lastIndexOf('","dataset":"'))];
}

function freshness({ names, times }: Ages, now: Date): string {
  const ages = names.map((name, i) => `${JSON.stringify(name)}:${hoursSince(times[i]!, now)}`);
  return `"freshness":{${ages.join(',')}},`;
}
