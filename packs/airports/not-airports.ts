// Entries of the source that are no place where aircraft land: railway and bus stations, ferry ports, whole cities, repeats.

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
