// Identity of a place: its GeoNames id, else where it was first observed.
import { slugify } from 'dataset-register/pack';
import type { PlaceRow } from './extract.ts';

const BASE32 = '0123456789bcdefghjkmnpqrstuvwxyz';

/** Geohash of a point; with six characters a cell of about 1.2 × 0.6 km. */
export function geohash(lat: number, lng: number, length = 6): string {
  const ranges = [
    { from: -180, to: 180, value: lng },
    { from: -90, to: 90, value: lat },
  ];
  let text = '';
  let bits = 0;
  for (let i = 0; text.length < length; i++) {
    const range = ranges[i % 2]!;
    const middle = (range.from + range.to) / 2;
    const above = range.value >= middle;
    bits = bits * 2 + Number(above);
    if (above) range.from = middle;
    else range.to = middle;
    if (i % 5 === 4) {
      text += BASE32[bits] ?? '';
      bits = 0;
    }
  }
  return text;
}

/** Names of which a slug needs no other characters; slugify takes 20 times as long. */
const PLAIN = /^[A-Za-z0-9]+(?:[ -][A-Za-z0-9]+)*$/;

/** Slug of a name, without splitting at capitals, which names of places contain. */
export function slug(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase().replaceAll(' ', '-');
  return slugify(text, { decamelize: false }) || 'place';
}

/** `cj:<country>.<admin1>.<name>.<geohash6>`: identity of a place without GeoNames id. */
export function placeId(row: PlaceRow): string {
  return `cj:${row.country}.${row.admin1}.${slug(row.name)}.${geohash(row.lat, row.lng)}`;
}

/** The preferred slug: `<name>-<cc>-<GeoNames id or geohash>`. */
export function placeSlug(id: string, name: string, country: string): string {
  const parts = id.split('.');
  const [end, named] = id.startsWith('cj:') ? [parts.at(-1), parts.at(-2)] : [id, slug(name)];
  return [named, country.toLowerCase(), end].filter((part) => part).join('-');
}
