// Prominence of an airport as one number for sorting, from size, scheduled service, longest runway, and
// flights when known.
import { isElevation } from './elevation.ts';
import type { AirportRow } from './rows.ts';

const SIZES: Record<string, number> = { large_airport: 300, medium_airport: 200, small_airport: 100 };
/** Heliports and seaplane bases. */
const OTHER_SIZE = 50;
const SCHEDULED = 100;

/** Feet of runway per point, and the maximum of points. */
const FEET = 300;
const RUNWAY = 50;

const MOST = 1000;

/** Highest ground in feet: a larger number in the elevation column is a count of flights. */
const HIGHEST = 29_100;

/**
 * Flights of an airport in version 3.0.1: since that version the elevation of many airports with an IATA code
 * is a count of flights (elevation.ts). Null when the number may be an elevation, by version 1.0.6.
 */
export function flightsOf(third: AirportRow | undefined, first: AirportRow | undefined): number | null {
  const figure = third?.elevation_ft ?? null;
  if (figure === null || figure < 1 || third?.iata === '') return null;
  if (figure > HIGHEST) return figure;
  const whole = first?.elevation_ft || null;
  return whole === null || isElevation(figure, whole) ? null : figure;
}

/** 0 to 1000 and its explanation; `known`: type and scheduled service are no placeholders. */
export function prominenceOf(
  row: AirportRow,
  isListed: boolean,
  flights: number | null,
): { value: number; evidence: string } {
  const size = isListed && row.type !== '' ? (SIZES[row.type] ?? OTHER_SIZE) : 0;
  const scheduled = isListed && row.scheduled_service === 'TRUE';
  const runway = row.runway_length ?? 0;
  const points = [size, scheduled ? SCHEDULED : 0, Math.min(RUNWAY, Math.max(0, runway / FEET))];
  if (flights !== null) points.push(Math.log10(flights) * 100);
  const texts = [
    ...(size > 0 ? [row.type] : []),
    ...(scheduled ? ['scheduled service'] : []),
    ...(runway > 0 ? [`runway of ${runway} ft`] : []),
    ...(flights === null ? [] : [`${flights} flights counted in version 3.0.1`]),
  ];
  const sum = points.reduce((total, point) => total + point, 0);
  return { value: Math.min(MOST, Math.round(sum)), evidence: `derived: ${texts.join(', ') || 'no values available'}` };
}
