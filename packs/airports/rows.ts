// Rows of an airport-data-js version in any of its formats: parsed from the text of lib/index.js, which never
// runs.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'dataset-register/pack';
import { unpack } from './jsonpack.ts';

/** Missing values are '', null or absent. */
const text = z.preprocess((value) => (typeof value === 'number' ? String(value) : (value ?? '')), z.string().trim());
const feet = z.preprocess((value) => (typeof value === 'number' ? Math.round(value) : null), z.int().nullable());

const RowShape = z.object({
  iata: text.pipe(z.string().toUpperCase()),
  icao: text.pipe(z.string().toUpperCase()),
  airport: text,
  type: text,
  country_code: text,
  continent: text,
  time: text,
  latitude: z.number(),
  longitude: z.number(),
  elevation_ft: feet,
  runway_length: feet,
  scheduled_service: text,
  wikipedia: text,
  website: text,
});

/** Columns of numbers; version 1 has them as text, and '' for an unknown position. */
const NUMBERS = ['latitude', 'longitude', 'elevation_ft', 'runway_length'] as const;

/** A row of version 1 in the format of later versions, with its numbers parsed. */
function counted(item: unknown): unknown {
  if (typeof item !== 'object' || item === null || !('latitude' in item) || typeof item.latitude !== 'string')
    return item;
  const row: Record<string, unknown> = { ...item };
  for (const name of NUMBERS) row[name] = row[name] === '' && name.endsWith('ude') ? 0 : number(row[name]);
  return row;
}

const number = (text: unknown) => (/^-?\d+(\.\d+)?$/.test(String(text)) ? Number(text) : null);

/** An airport in the source; '' and null mean unknown. */
export type AirportRow = z.output<typeof RowShape>;

/** Version 4 contains gzip in base64. */
const GZIP = /"gzip"\s*:\s*"([A-Za-z0-9+/=]+)"/;

/**
 * Versions 1 to 3 contain one string in jsonpack notation: `^@$` begins its list of objects and does not
 * occur in values.
 */
const PACKED = '^@$';

/** The string literal around a position, up to the first quotes without a backslash. */
function literalAround(source: string, position: number): string {
  const edge = (from: number, step: 1 | -1): number => {
    let at = source[step === 1 ? 'indexOf' : 'lastIndexOf']('"', from);
    while (at > 0 && source[at - 1] === '\\') at = source[step === 1 ? 'indexOf' : 'lastIndexOf']('"', at + step);
    if (at < 0)
      throw new SyntaxError('lib/index.js: the packed rows have no closing quotes; the package has a new layout');
    return at;
  };
  const literal: unknown = JSON.parse(source.slice(edge(position, -1), edge(position, 1) + 1));
  return String(literal);
}

function listOf(source: string): unknown {
  const gzip = GZIP.exec(source)?.[1];
  if (gzip !== undefined) return JSON.parse(gunzipSync(Buffer.from(gzip, 'base64')).toString('utf8'));
  const position = source.indexOf(PACKED);
  if (position < 0) throw new SyntaxError('lib/index.js: expected gzip or jsonpack rows, found neither');
  return unpack(literalAround(source, position));
}

/**
 * All airports of an unpacked version, in the source's order. Rows of another shape or without a code are
 * left out and logged. Throws when the file or its format differs from versions 1 to 4.
 */
export async function readRows(folder: string, log: (message: string) => void): Promise<AirportRow[]> {
  const list = listOf(await readFile(join(folder, 'lib', 'index.js'), 'utf8'));
  if (!Array.isArray(list)) throw new SyntaxError('lib/index.js: expected a list of airports');
  const rows: AirportRow[] = [];
  for (const [i, item] of list.entries()) {
    const parsed = RowShape.safeParse(counted(item));
    if (parsed.success && (parsed.data.icao || parsed.data.iata)) rows.push(parsed.data);
    else log(`row ${i} left out: ${parsed.success ? 'no code' : parsed.error.issues[0]?.path.join('.')}`);
  }
  return rows;
}

/**
 * Since version 3 the source mixes in stations with an IATA code, and aerodromes whose ICAO code has the same
 * ending.
 */
const STATIONS = new RegExp(
  [
    /\b(railway|rail|train|bus)\s+(station|stn|service)\b/,
    /\b(hbf|hauptbahnhof|bahnhof|aerogare|gare|stazione|amtrak)\b/,
    /\b(ferry (port|terminal)|sea port|hovercraft)\b/,
    /\bgreenbelt t station\b|\/coliseum station\b/,
    // An IATA code may belong to all airports of a city.
    /^(metropolitan area|paris metropolitan)$/,
    /\(duplicate\)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);

/** Words of places for aircraft, whatever else the name contains: `Union Station Heliport`. */
const AVIATION =
  /\b(airport|airfield|aerodrome|air ?(base|strip|park)|heli(port|pad|stop)|sea ?plane|spb|airstrip|landing)\b/i;

/** Whether a name belongs to an entry that is no airport. */
export function isNoAirport(name: string): boolean {
  return STATIONS.test(name) && (!AVIATION.test(name) || /\(duplicate\)/i.test(name));
}
