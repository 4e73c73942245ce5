// Values of versions 3 and 4 that are not what their column says, told from what version 2 said. They stay facts, below the floor.
import type { Row } from './rows.ts';

/** Confidence of a value that is kept and never published (the pack's floor is 0.3). */
const DOUBTED = 0.2;

/** A survey moves an elevation by a few feet; a larger difference is the other figure. */
const SURVEY_FEET = 10;

export interface Doubt {
  confidence: number;
  reason: string;
}

/** The same airport in versions that tell what to make of a value: the last clean one, and the one that mixed figures up. */
export interface Earlier {
  clean: Row | undefined;
  mixed: Row | undefined;
}

/**
 * Since version 3.0.1 the elevation of many airports with an IATA code is a count of flights: Istanbul had 291,187 ft, and
 * version 4 repaired only what was above 20,000. Version 2 is the witness; without one the value is doubted, unless it
 * replaces that of 3.0.1.
 */
function elevation(row: Row, { clean: before, mixed }: Earlier): Doubt | null {
  if (row.elevation_ft === null) return null;
  if (mixed && mixed.elevation_ft !== null && mixed.elevation_ft !== row.elevation_ft) return null;
  const witness = before?.elevation_ft ?? null;
  if (witness === null) {
    if (row.iata === '') return null;
    return { confidence: DOUBTED, reason: 'may be a count of flights; no earlier version confirms it' };
  }
  if (Math.abs(row.elevation_ft - witness) <= SURVEY_FEET) return null;
  return { confidence: DOUBTED, reason: `version 2.0.0 said ${witness} ft; later figures are often counts of flights` };
}

/**
 * Version 3 took in some 4,900 airfields, closed ones among them, that are all called medium airports with scheduled
 * service and have neither elevation nor runway: both values were filled in, not known.
 */
function filledIn(row: Row, before: Row | undefined): Doubt | null {
  const bare = row.elevation_ft === null && row.runway_length === null;
  if (before || !bare || row.type !== 'medium_airport' || row.scheduled_service !== 'TRUE') return null;
  return { confidence: DOUBTED, reason: 'the same for all airfields taken in with this one; filled in, not known' };
}

/** Doubts about a row of version 3.0.1 or later, by attribute. */
export function doubts(row: Row, earlier: Earlier): Record<string, Doubt> {
  const height = elevation(row, earlier);
  const filled = filledIn(row, earlier.clean);
  return { ...(height && { elevation: height }), ...(filled && { type: filled, scheduled_service: filled }) };
}
