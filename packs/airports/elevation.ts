// Doubtful values: every version of the source but the first has damaged many elevations, each in its own way, and versions 3 and
// later hold values that were filled in. What is doubted stays a fact, below the floor.
import type { Row } from './rows.ts';

/** Confidence of a value that is kept and never published (the pack's floor is 0.3). */
const DOUBTED = 0.2;

/** Confidence of the first version's figure where the second meant another one: near enough in five of six. */
const UNCERTAIN = 0.5;

/** A survey moves an elevation by a few feet; a larger difference is another figure. */
const SURVEY_FEET = 10;

/** What versions say of one airport, in feet; null where they say nothing. */
export interface Elevations {
  /** Version 1.0.6, the only one that is whole. */
  whole: number | null;
  /** Version 2.0.0, which kept the last three digits and no sign. */
  cut: number | null;
  /** Version 3.0.1, which put counts of flights in the place of many; null also when that is the one judged. */
  mixed: number | null;
}

/** What is to be said in place of the bare figure: another value, a confidence, and why. */
export interface Verdict {
  value?: number;
  confidence?: number;
  reason: string;
}

const isNear = (a: number, b: number) => Math.abs(a - b) <= SURVEY_FEET;

/** Whether a figure is what version 2 made of another: 13,355 became 355, and -11 became 11. */
function isRest(figure: number, whole: number): boolean {
  return figure !== whole && figure === Math.abs(whole) % 1000;
}

/** Whether a figure is the elevation that a witness gives, whole or cut short by version 2. */
export function isElevation(figure: number, whole: number): boolean {
  return isNear(figure, whole) || isRest(figure, whole);
}

/**
 * Version 2.0.0 said 355 ft of an airport at 13,355. Where version 1.0.6 knows the airport, its figure is the one that
 * version 2 meant, and is taken again; where it does not, a figure without thousands may have lost them. Null: it stands.
 */
export function judgeCut(figure: number, whole: number | null): Verdict | null {
  if (whole === null) {
    if (figure >= 1000) return null;
    return { confidence: DOUBTED, reason: `${figure} ft, perhaps without its thousands; no other version confirms it` };
  }
  // Before nearness: 5 ft where there were -5 ft has lost its sign.
  if (isRest(figure, whole)) return { value: whole, reason: `${figure} ft, cut short; version 1.0.6 said ${whole} ft` };
  if (isNear(figure, whole)) return null;
  const reason = `${figure} ft, another figure than version 1.0.6, which said ${whole} ft`;
  return { value: whole, confidence: UNCERTAIN, reason };
}

/**
 * Since version 3.0.1 the elevation of many airports with an IATA code is a count of flights: Istanbul had 291,187 ft, and
 * version 4 repaired only what was above 20,000. An airfield without IATA code is believed, and so is what replaces the
 * figure of 3.0.1; the rest needs a witness: version 1, or version 2 where it kept its thousands. Null: it stands.
 */
export function judgeMixed(figure: number, iata: string, { whole, cut, mixed }: Elevations): Verdict | null {
  if (mixed !== null && mixed !== figure) return null;
  const [witness, version] = whole !== null ? [whole, '1.0.6'] : [cut !== null && cut >= 1000 ? cut : null, '2.0.0'];
  if (witness === null) {
    if (iata === '') return null;
    return { confidence: DOUBTED, reason: 'may be a count of flights; no earlier version confirms it' };
  }
  const rest = isRest(figure, witness);
  if (isNear(figure, witness) && !rest) return null;
  const why = rest ? 'this one is cut short' : 'later figures are often counts of flights';
  return { confidence: DOUBTED, reason: `version ${version} said ${witness} ft; ${why}` };
}

/** The same airport in the versions that tell what to make of a later one. */
interface Others {
  first: Row | undefined;
  second: Row | undefined;
  /** Missing also when this is the version that is read. */
  third: Row | undefined;
}

/**
 * Version 3 took in some 4,900 airfields, closed ones among them, that are all called medium airports with scheduled
 * service and have neither elevation nor runway: both values were filled in, not known.
 */
function filledIn(row: Row, before: Row | undefined): Verdict | null {
  const bare = row.elevation_ft === null && row.runway_length === null;
  if (before || !bare || row.type !== 'medium_airport' || row.scheduled_service !== 'TRUE') return null;
  return { confidence: DOUBTED, reason: 'the same for all airfields taken in with this one; filled in, not known' };
}

/** What the first version says; its 0 stands for sea level and for not known alike. */
const whole = (first: Row | undefined) => first?.elevation_ft || null;

/** Verdicts on a row of version 2.0.0, by attribute. */
export function doubtsOfSecond({ elevation_ft }: Row, first: Row | undefined): Record<string, Verdict> {
  const height = elevation_ft === null ? null : judgeCut(elevation_ft, whole(first));
  return height ? { elevation: height } : {};
}

/** Verdicts on a row of version 3.0.1 or later, by attribute. */
export function doubtsOfLater(row: Row, { first, second, third }: Others): Record<string, Verdict> {
  const known = {
    whole: whole(first),
    cut: second?.elevation_ft ?? null,
    mixed: third?.elevation_ft ?? null,
  };
  const height = row.elevation_ft === null ? null : judgeMixed(row.elevation_ft, row.iata, known);
  const filled = filledIn(row, second);
  return { ...(height && { elevation: height }), ...(filled && { type: filled, scheduled_service: filled }) };
}
