// Parsers of `near` and `bbox`, with the likely intended values in their errors.
import type { Geo, Pack } from '../../packs/define/model.ts';
import type { Box } from '../model/geography.ts';
import type { Predicate } from '../plan/plan.ts';
import { DECIMALS, printable, readDecimal } from './parse-values.ts';
import { invalid } from './rows.ts';
import { guessNumber } from './value-guesses.ts';

/**
 * The record and the radius of `near=<id, slug or key>,<km>`; null for a point in degrees and for other texts. A whole
 * number is a key if it is no latitude.
 */
export function nearReference(raw: string): { ref: string; km: number } | null {
  const comma = raw.lastIndexOf(',');
  const ref = raw.slice(0, Math.max(comma, 0)).trim();
  const km = readDecimal(raw.slice(comma + 1));
  const isNumber = decimals(ref).every(Number.isFinite) && !(/^\d+$/.test(ref) && Number(ref) > 90);
  return ref === '' || isNumber || !Number.isFinite(km) ? null : { ref: ref.replaceAll(/%2C/giu, ','), km };
}

/**
 * `near=lat,lng,km`, or `near=<record>,<km>` with the `point` of the record; malformed or without geography it is 400
 * (specification section 4).
 */
export function parseNear(raw: string, pack: Pack, point?: Geo): Extract<Predicate, { kind: 'near' }> {
  const attribute = pointOf(pack, 'near', 'to search around');
  const reference = point === undefined ? null : nearReference(raw);
  if (reference !== null) {
    const { ref, km } = reference;
    const negative = outOfRange(0, 0, km);
    if (negative !== null) throw invalid(`near: ${negative}`);
    return { kind: 'near', attribute, lat: point!.lat, lng: point!.lng, km, ref: ref.toLowerCase() };
  }
  const parts = decimals(raw);
  const [lat = NaN, lng = NaN, km = NaN] = parts;
  const problem = parts.length === 3 && parts.every(Number.isFinite) ? outOfRange(lat, lng, km) : malformed(raw);
  if (problem !== null) throw invalid(`near: ${problem}`);
  return { kind: 'near', attribute, lat, lng, km };
}

/** `bbox=west,south,east,north`; malformed or without geography it is 400 (contract section 9). */
export function parseBox(raw: string, pack: Pack): Extract<Predicate, { kind: 'bbox' }> {
  const attribute = pointOf(pack, 'bbox', 'for a box');
  const parts = decimals(raw);
  const [west = NaN, south = NaN, east = NaN, north = NaN] = parts;
  const box = { west, south, east, north };
  const problem = parts.length === 4 && parts.every(Number.isFinite) ? boxProblem(box) : malformedBox(raw);
  if (problem !== null) throw invalid(`bbox: ${problem}`);
  return { kind: 'bbox', attribute, ...box };
}

/** The one geographic attribute of a pack. */
function pointOf(pack: Pack, parameter: string, purpose: string): string {
  const [geo, second] = pack.attributes.filter((attribute) => attribute.type === 'geo');
  if (geo && !second) return geo.name;
  throw invalid(`${parameter}: ${pack.id} has ${second ? 'more than one' : 'no'} geographic attribute ${purpose}.`);
}

const decimals = (raw: string): number[] => raw.split(',').map(readDecimal);

/** The error of a place or radius in degrees and kilometres; null if they are valid. */
function outOfRange(lat: number, lng: number, km: number): string | null {
  const swapped =
    Math.abs(lat) <= 180 && Math.abs(lng) <= 90 ? ` Latitude comes first: did you mean near=${lng},${lat},${km}?` : '';
  if (Math.abs(lat) > 90) return `the latitude must be between -90 and 90 (got ${lat}).${swapped}`;
  if (Math.abs(lng) > 180) return `the longitude must be between -180 and 180 (got ${lng}).`;
  return km < 0 ? `the radius in kilometres must be at least 0 (got ${km}).` : null;
}

/** The error of a text that is not three numbers, with a suggestion made from its numbers. */
function malformed(raw: string): string {
  const problem = `must be "lat,lng,km", such as 52.52,13.405,25 (got "${printable(raw)}"; degrees, kilometres).`;
  // The radius may have a unit of length.
  const [, start = raw, radius = ''] = /^(.*,\s*[^,]*?)([\d.]+\s*(?:m|\p{L}{2,}))\s*$/u.exec(printable(raw)) ?? [];
  const last = radius === '' ? [] : [String(guessNumber(radius, 'km'))];
  const numbers = [...(printable(start).match(DECIMALS) ?? []), ...last];
  if (/[nsew]\b/iu.test(start.replace(/(?<=\d)[NE]\b/gu, '')) || last.includes('null')) return problem;
  if (numbers.length === 2) return `${problem} Add the radius in kilometres: near=${numbers.join()},<km>.`;
  const [lat, lng, km] = numbers.map(Number);
  if (numbers.length !== 3 || outOfRange(lat!, lng!, km!) !== null) return problem;
  return `${problem} Did you mean near=${numbers.join()}?`;
}

/** The error of a box in degrees, with the box that was probably meant; null if it is valid. */
function boxProblem({ west, south, east, north }: Box): string | null {
  const [lat, lng] = [
    [south, north],
    [west, east],
  ];
  const inRange = lat.every(isLatitude) && lng.every(isLongitude);
  if (inRange && south <= north) return null;
  if (inRange)
    return `the south edge must not be north of the north edge (got ${south} and ${north}). Did you mean bbox=${west},${north},${east},${south}?`;
  const swapped = lng.every(isLatitude) && lat.every(isLongitude) && west <= east;
  const hint = swapped ? `: did you mean bbox=${south},${west},${north},${east}?` : '.';
  const [name, most, edges] = lat.every(isLatitude) ? ['longitudes', 180, lng] : ['latitudes', 90, lat];
  return `the ${name} must be between -${most} and ${most} (got ${edges.join(' and ')}). The order is west,south,east,north${hint}`;
}

const isLatitude = (degrees: number): boolean => Math.abs(degrees) <= 90;
const isLongitude = (degrees: number): boolean => Math.abs(degrees) <= 180;

/** The error of a text that is not four numbers, with a suggestion made from its numbers. */
function malformedBox(raw: string): string {
  const problem = `must be "west,south,east,north", such as 5.9,45.8,10.5,47.8 (got "${printable(raw)}"; degrees).`;
  const [west, south, east, north, ...more] = printable(raw).match(DECIMALS)?.map(Number) ?? [];
  if (/[nsew]\b/iu.test(raw) || north === undefined || more.length > 0) return problem;
  const box = { west: west!, south: south!, east: east!, north };
  return boxProblem(box) === null ? `${problem} Did you mean bbox=${Object.values(box)}?` : problem;
}
