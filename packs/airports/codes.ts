// The code of an airport: ICAO, else IATA, as in the reference version, so that a code gained later creates
// no second record.
import { words } from 'dataset-register/pack';
import type { AirportRow } from './rows.ts';

/** An airport that moved further than this between versions is another one, unless the names share a word. */
const SAME_PLACE_KM = 50;

/** Words that do not distinguish airports. */
const GENERIC = new Set([
  'airport',
  'airstrip',
  'airfield',
  'field',
  'base',
  'seaplane',
  'international',
  'municipal',
  'regional',
  'island',
  'station',
]);

function ownCode(row: AirportRow): string {
  return row.icao || row.iata;
}

/** Great-circle distance in kilometres. */
function distance(a: AirportRow, b: AirportRow): number {
  const radians = Math.PI / 180;
  const lat = Math.sin(((b.latitude - a.latitude) * radians) / 2) ** 2;
  const lng = Math.sin(((b.longitude - a.longitude) * radians) / 2) ** 2;
  const cos = Math.cos(a.latitude * radians) * Math.cos(b.latitude * radians);
  return 2 * 6371 * Math.asin(Math.sqrt(lat + cos * lng));
}

function namesOf(row: AirportRow): string[] {
  return words(row.airport).filter((word) => word.length > 2 && !GENERIC.has(word));
}

/**
 * Whether two rows with the same IATA code are one airport: codes are reused, and positions are corrected.
 */
function sameAirport(a: AirportRow, b: AirportRow): boolean {
  if (distance(a, b) < SAME_PLACE_KM) return true;
  const names = namesOf(b);
  return namesOf(a).some((word) => names.includes(word));
}

/**
 * The rows of any version by the code of their record, each code once. An IATA code of the same airport in
 * the reference version takes precedence: 283 airports of version 2 had no ICAO code yet. The row's own code
 * is second. Rows are left out when their code is taken (a repetition), or when they have only an IATA code
 * that now belongs to another airport.
 */
export function byCode(
  rows: AirportRow[],
  reference: AirportRow[],
  log: (message: string) => void,
): Map<string, AirportRow> {
  const known = new Map(reference.filter((row) => row.iata !== '').map((row) => [row.iata, row]));
  const found = new Map<string, AirportRow>();
  const add = (code: string, row: AirportRow): void => {
    if (found.has(code)) log(`${row.airport} left out: its code ${code} belongs to ${found.get(code)?.airport}`);
    else found.set(code, row);
  };
  const others: AirportRow[] = [];
  for (const row of rows) {
    const same = row.iata === '' ? undefined : known.get(row.iata);
    if (same && sameAirport(row, same)) add(ownCode(same), row);
    else if (same?.icao === '' && row.icao === '')
      log(`${row.airport} left out: ${row.iata} now belongs to ${same.airport}`);
    else others.push(row);
  }
  for (const row of others) add(ownCode(row), row);
  return found;
}
