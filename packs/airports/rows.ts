// The rows of an airport-data-js version, whichever way it packs them: read from lib/index.js as text, never run.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'dataset-register/pack';
import { unpack } from './jsonpack.ts';

/** Missing values are written as '', null, or not at all. */
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

/** Columns of numbers, which version 1 writes as text, and a position that it does not know as ''. */
const NUMBERS = ['latitude', 'longitude', 'elevation_ft', 'runway_length'] as const;

/** A row of version 1 as the later ones write it: its numbers are texts, all of them. */
function counted(item: unknown): unknown {
  if (typeof item !== 'object' || item === null || !('latitude' in item) || typeof item.latitude !== 'string')
    return item;
  const row: Record<string, unknown> = { ...item };
  for (const name of NUMBERS) row[name] = row[name] === '' && name.endsWith('ude') ? 0 : number(row[name]);
  return row;
}

const number = (text: unknown) => (/^-?\d+(\.\d+)?$/.test(String(text)) ? Number(text) : null);

/** An airport as the source lists it; '' and null stand for what it does not know. */
export type Row = z.output<typeof RowShape>;

/** Version 4 carries gzip in base64. */
const GZIP = /"gzip"\s*:\s*"([A-Za-z0-9+/=]+)"/;

/** Versions 1 to 3 carry one string in jsonpack notation: `^@$` begins its list of objects and cannot stand in a value. */
const PACKED = '^@$';

/** The string literal around a position: the quotes that close it are the first ones without a backslash before them. */
function literalAround(source: string, position: number): string {
  const edge = (from: number, step: 1 | -1): number => {
    let at = source[step === 1 ? 'indexOf' : 'lastIndexOf']('"', from);
    while (at > 0 && source[at - 1] === '\\') at = source[step === 1 ? 'indexOf' : 'lastIndexOf']('"', at + step);
    if (at < 0) throw new SyntaxError('lib/index.js: the packed rows have no closing quotes');
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
 * All airports of an unpacked version, in the source's order. A row of another shape, or without any code, is left out
 * and told to `log`. Throws when the file or its packing is not what versions 1 to 4 have.
 */
export async function readRows(folder: string, log: (message: string) => void): Promise<Row[]> {
  const list = listOf(await readFile(join(folder, 'lib', 'index.js'), 'utf8'));
  if (!Array.isArray(list)) throw new SyntaxError('lib/index.js: expected a list of airports');
  const rows: Row[] = [];
  for (const [i, item] of list.entries()) {
    const parsed = RowShape.safeParse(counted(item));
    if (parsed.success && (parsed.data.icao || parsed.data.iata)) rows.push(parsed.data);
    else log(`row ${i} left out: ${parsed.success ? 'no code' : parsed.error.issues[0]?.path.join('.')}`);
  }
  return rows;
}

/** Since version 3 the source mixes stations that have an IATA code with aerodromes whose ICAO code ends alike. */
const STATIONS = new RegExp(
  [
    /\b(railway|rail|train|bus)\s+(station|stn|service)\b/,
    /\b(hbf|hauptbahnhof|bahnhof|aerogare|gare|stazione|amtrak)\b/,
    /\b(ferry (port|terminal)|sea port|hovercraft)\b/,
    /\bgreenbelt t station\b|\/coliseum station\b/,
    // An IATA code may stand for all airports of a city.
    /^(metropolitan area|paris metropolitan)$/,
    /\(duplicate\)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);

/** Words of places where aircraft do land, whatever else stands in the name: `Union Station Heliport`. */
const AVIATION =
  /\b(airport|airfield|aerodrome|air ?(base|strip|park)|heli(port|pad|stop)|sea ?plane|spb|airstrip|landing)\b/i;

/** Whether a name is that of an entry which is no airport. */
export function isNoAirport(name: string): boolean {
  return STATIONS.test(name) && (!AVIATION.test(name) || /\(duplicate\)/i.test(name));
}
