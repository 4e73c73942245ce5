// Doubtful values. Every version but the first has wrong elevations, with a different cause in each, and
// versions 3 and later have placeholders. A doubtful value stays a fact below the floor.
import type { AirportRow } from './rows.ts';

/** Confidence of a value that is stored and never published (the pack's floor is 0.3). */
const DOUBTED = 0.2;

/**
 * Confidence of the first version's elevation where the second had another one: near enough in five of six
 * cases.
 */
const UNCERTAIN = 0.5;

/** A new survey changes an elevation by a few feet; a larger difference is another value. */
const SURVEY_FEET = 10;

/** Elevations of one airport by version, in feet; null: unknown. */
export interface Elevations {
  /** Version 1.0.6, the only intact one. */
  whole: number | null;
  /** Version 2.0.0, which has the last three digits without sign. */
  cut: number | null;
  /**
   * Version 3.0.1, which has counts of flights instead of many elevations; null also when it is the current
   * one.
   */
  mixed: number | null;
}

/** A replacement for a value: another value, a confidence, and the reason. */
export interface ElevationVerdict {
  value?: number;
  confidence?: number;
  reason: string;
}

const isNear = (a: number, b: number) => Math.abs(a - b) <= SURVEY_FEET;

/** Whether version 2 made this number from another one: 13,355 became 355, and -11 became 11. */
function isRest(figure: number, whole: number): boolean {
  return figure !== whole && figure === Math.abs(whole) % 1000;
}

/** Whether a number is the elevation of a reference version, complete or truncated by version 2. */
export function isElevation(figure: number, whole: number): boolean {
  return isNear(figure, whole) || isRest(figure, whole);
}

/**
 * Version 2.0.0 has 355 ft for an airport at 13,355. An elevation in version 1.0.6 replaces it; without one,
 * a number below a thousand may be truncated. Null: accepted.
 */
export function judgeCut(figure: number, whole: number | null): ElevationVerdict | null {
  if (whole === null) {
    if (figure >= 1000) return null;
    return { confidence: DOUBTED, reason: `${figure} ft, perhaps without its thousands; no other version confirms it` };
  }
  // Before the check for nearness: 5 ft instead of -5 ft has lost its sign.
  if (isRest(figure, whole)) return { value: whole, reason: `${figure} ft, truncated; version 1.0.6 has ${whole} ft` };
  if (isNear(figure, whole)) return null;
  const reason = `${figure} ft; version 1.0.6 has ${whole} ft`;
  return { value: whole, confidence: UNCERTAIN, reason };
}

/**
 * Since version 3.0.1 the elevation of many airports with an IATA code is a count of flights: Istanbul had
 * 291,187 ft, and version 4 corrected only values above 20,000. An airfield without IATA code is accepted,
 * and so is a value that replaces one of 3.0.1; others need a reference: version 1, or version 2 if it kept
 * its thousands. Null: accepted.
 */
export function judgeMixed(figure: number, iata: string, { whole, cut, mixed }: Elevations): ElevationVerdict | null {
  if (mixed !== null && mixed !== figure) return null;
  const [witness, version] = whole !== null ? [whole, '1.0.6'] : [cut !== null && cut >= 1000 ? cut : null, '2.0.0'];
  if (witness === null) {
    if (iata === '') return null;
    return { confidence: DOUBTED, reason: 'may be a count of flights; no earlier version confirms it' };
  }
  const rest = isRest(figure, witness);
  if (isNear(figure, witness) && !rest) return null;
  const why = rest ? 'this one is truncated' : 'later figures are often counts of flights';
  return { confidence: DOUBTED, reason: `version ${version} has ${witness} ft; ${why}` };
}

/** The same airport in the versions used as references. */
interface Others {
  first: AirportRow | undefined;
  second: AirportRow | undefined;
  /** Also undefined when this is the current version. */
  third: AirportRow | undefined;
}

/**
 * Version 3 added about 4,900 airfields, some of them closed, that are all medium airports with scheduled
 * service and have neither elevation nor runway: both values are placeholders.
 */
function filledIn(row: AirportRow, before: AirportRow | undefined): ElevationVerdict | null {
  const bare = row.elevation_ft === null && row.runway_length === null;
  if (before || !bare || row.type !== 'medium_airport' || row.scheduled_service !== 'TRUE') return null;
  return { confidence: DOUBTED, reason: 'the same placeholder for all airfields added with this one' };
}

/** Elevation in the first version; its 0 means sea level or unknown. */
const whole = (first: AirportRow | undefined) => first?.elevation_ft || null;

/** Verdicts on a row of version 2.0.0, by attribute. */
export function doubtsOfSecond(
  { elevation_ft }: AirportRow,
  first: AirportRow | undefined,
): Record<string, ElevationVerdict> {
  const height = elevation_ft === null ? null : judgeCut(elevation_ft, whole(first));
  return height ? { elevation: height } : {};
}

/** Verdicts on a row of version 3.0.1 or later, by attribute. */
export function doubtsOfLater(row: AirportRow, { first, second, third }: Others): Record<string, ElevationVerdict> {
  const heights = {
    whole: whole(first),
    cut: second?.elevation_ft ?? null,
    mixed: third?.elevation_ft ?? null,
  };
  const height = row.elevation_ft === null ? null : judgeMixed(row.elevation_ft, row.iata, heights);
  const filled = filledIn(row, second);
  return { ...(height && { elevation: height }), ...(filled && { type: filled, scheduled_service: filled }) };
}
