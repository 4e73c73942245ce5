// Bars of changes per day: falls, rises and other changes on one another, in units of a box of 100 by 100.
import type { SiteDataset } from '../../api/pages/site.ts';
import { plural, printDate } from '../../api/render/print.ts';

type Day = SiteDataset['changes']['days'][number];

export interface DayBar {
  kind: 'fall' | 'rise' | 'other';
  x: number;
  y: number;
  width: number;
  height: number;
  /** The day with its counts. */
  title: string;
}

/** Fewer days are no course. */
const LEAST = 3;
const DAY = 86_400_000;

/** `58 changes: 51 decreases, 7 increases`. */
export function countText({ changes, rises, falls, ranges, withdrawn }: Omit<Day, 'date'>): string {
  const parts = [
    ...(falls > 0 ? [plural(falls, 'decrease')] : []),
    ...(rises > 0 ? [plural(rises, 'increase')] : []),
    ...(ranges > 0 ? [`${plural(ranges, 'range')} moved apart or together`] : []),
    ...(withdrawn > 0 ? [`${withdrawn} withdrawn`] : []),
  ];
  const total = plural(changes, 'change');
  return parts.length === 0 ? total : `${total}: ${parts.join(', ')}`;
}

/** Bars of days (newest first); empty for fewer than three. */
export function dayBars(days: readonly Day[]): DayBar[] {
  if (days.length < LEAST) return [];
  const at = ({ date }: Day) => Date.parse(date) / DAY;
  const [first, last] = [at(days.at(-1)!), at(days[0]!)];
  const most = Math.max(...days.map(({ changes }) => changes));
  const width = Math.max(1.2, 80 / (last - first + 1));
  return days.flatMap((day) => {
    const x = ((at(day) - first) / (last - first)) * (100 - width);
    const title = `${printDate(day.date)}: ${countText(day)}`;
    let y = 100;
    const parts = [
      ['fall', day.falls],
      ['rise', day.rises],
      ['other', day.changes - day.falls - day.rises],
    ] as const;
    return parts
      .filter(([, count]) => count > 0)
      .map(([kind, count]) => {
        const height = (count / most) * 100;
        y -= height;
        return { kind, x: round(x), y: round(y), width: round(width), height: round(height), title };
      });
  });
}

const round = (value: number): number => Math.round(value * 100) / 100;
