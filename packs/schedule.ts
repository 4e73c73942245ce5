// When a pack is collected: five-field cron expressions in UTC.

/** A checked expression: the minutes, hours, days, months and weekdays (0 = Sunday) at which it is due. */
export interface Schedule {
  minutes: Set<number>;
  hours: Set<number>;
  days: Set<number>;
  months: Set<number>;
  weekdays: Set<number>;
  /** With both a day of the month and a weekday given, either is enough (crontab(5)). */
  either: boolean;
}

const FIELDS = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of the month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12 },
  { name: 'weekday', min: 0, max: 7 },
] as const;

function field(text: string, { name, min, max }: (typeof FIELDS)[number]): Set<number> {
  const found = new Set<number>();
  for (const part of text.split(',')) {
    const match = /^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part);
    const first = match?.[1] === undefined ? min : Number(match[1]);
    const stepped = match?.[3] !== undefined;
    const last = match?.[2] !== undefined ? Number(match[2]) : match?.[1] === undefined || stepped ? max : first;
    const step = stepped ? Number(match[3]) : 1;
    if (match === null || first < min || last > max || first > last || step < 1) {
      throw new RangeError(`${name} ${min} to ${max}, such as *, ${min}, ${min}-${max} or */2`);
    }
    for (let value = first; value <= last; value += step) found.add(value);
  }
  return found;
}

/**
 * Parses `minute hour day month weekday` with `*`, numbers, ranges, lists and steps. Weekday 7 is Sunday too.
 * Throws RangeError whose message says what was expected.
 */
export function parseSchedule(cron: string): Schedule {
  const parts = cron.trim().split(/\s+/);
  if (parts.length !== 5) throw new RangeError('five fields: minute hour day month weekday (UTC)');
  const [minutes, hours, days, months, weekdays] = parts.map((part, i) => field(part, FIELDS[i]!)) as [
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
  ];
  if (weekdays.delete(7)) weekdays.add(0);
  const either = !parts[2]!.startsWith('*') && !parts[4]!.startsWith('*');
  const schedule = { minutes, hours, days, months, weekdays, either };
  if (nextRun(schedule, new Date(0)) === null) throw new RangeError('a day that exists in one of its months');
  return schedule;
}

const DAY = 86_400_000;

/** The first moment after `after` at which the schedule is due; null when no such day comes in nine years. */
export function nextRun(schedule: Schedule, after: Date): Date | null {
  const start = Math.floor(after.getTime() / DAY) * DAY;
  for (let day = start; day < start + 9 * 366 * DAY; day += DAY) {
    const date = new Date(day);
    if (!schedule.months.has(date.getUTCMonth() + 1)) continue;
    const monthly = schedule.days.has(date.getUTCDate());
    const weekly = schedule.weekdays.has(date.getUTCDay());
    if (schedule.either ? !monthly && !weekly : !monthly || !weekly) continue;
    for (let minute = 0; minute < 1440; minute += 1) {
      const at = day + minute * 60_000;
      if (at <= after.getTime()) continue;
      if (schedule.hours.has(Math.floor(minute / 60)) && schedule.minutes.has(minute % 60)) return new Date(at);
    }
  }
  return null;
}
