// Schedules of packs: five-field cron expressions in UTC.
import { Cron } from 'croner';

/** A checked expression; `nextRun(after)` returns its next time. */
export type Schedule = Cron;

const FIELDS = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of the month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12 },
  { name: 'weekday', min: 0, max: 7 },
];

/**
 * Croner with the rules of crontab(5): either the day of the month or the weekday must match, unless one of
 * them starts with `*`.
 */
function cronOf(fields: readonly string[]): Cron {
  const domAndDow = fields[2]!.startsWith('*') || fields[4]!.startsWith('*');
  return new Cron(fields.join(' '), { mode: '5-part', utcOffset: 0, sloppyRanges: true, domAndDow });
}

/**
 * Whether a field is valid. Names, `L`, `W`, `#` and `?`, which croner accepts, are not part of the format.
 */
function isValid(field: string, at: number): boolean {
  if (!/^[\d*,/-]+$/.test(field)) return false;
  try {
    cronOf(FIELDS.map((_, i) => (i === at ? field : '*')));
    return true;
  } catch {
    return false;
  }
}

/**
 * Parses `minute hour day month weekday` with `*`, numbers, ranges, lists and steps. Weekday 7 is Sunday too.
 * Throws a RangeError whose message completes "expected …".
 */
export function parseSchedule(cron: string): Schedule {
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== 5) throw new RangeError('five fields: minute hour day month weekday (UTC)');
  const wrong = FIELDS.find((_, i) => !isValid(fields[i]!, i));
  if (wrong) {
    const { name, min, max } = wrong;
    throw new RangeError(`${name} ${min} to ${max}, such as *, ${min}, ${min}-${max} or */2`);
  }
  const schedule = cronOf(fields);
  if (schedule.nextRun(new Date(0)) === null) throw new RangeError('a day that exists in one of its months');
  return schedule;
}

/** The first due time after `after`; null when there is none. */
export function nextRun(schedule: Schedule, after: Date): Date | null {
  return schedule.nextRun(after);
}
