// Values of versions 2 to 4 that are not what their column says, told from other versions. What is doubted stays a fact, below the floor.
import { DOUBTED, judgeCut, judgeMixed, type Verdict } from './elevation.ts';
import type { Row } from './rows.ts';

/** The same airport in the versions that tell what to make of a later one. */
export interface Others {
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
