// How a column writes dates and times.
import { readTime } from '../../../packs/define/times.ts';

/** Pattern of the dates of a column. */
export interface DateStyle {
  /** `DD.MM.YYYY`, `unix`, …, or two of them: the member `date` of a column (packs/define/sources.ts). */
  pattern: string | string[];
  /** Share of the values, by count, that are such a date. */
  share: number;
  /** Whether day and month may be exchanged, because no value has a day above 12. */
  ambiguous: boolean;
  /** Whether values have a clock, so that they are times. */
  clock: boolean;
  /** Whether values with a clock lack an offset. */
  zoneless: boolean;
}

/** Candidates in order of preference; the first is ISO 8601. */
const CANDIDATES: readonly string[] = [
  'YYYY-MM-DD',
  ...['', ' HH:mm', ' HH:mm:ss', ' HH:mm A', ' HH:mm:ss A'].flatMap((time) => [
    ...['/', '.'].map((sign) => `YYYY${sign}MM${sign}DD${time}`),
    ...['.', '/', '-'].map((sign) => `DD${sign}MM${sign}YYYY${time}`),
    ...['/', '-', '.'].map((sign) => `MM${sign}DD${sign}YYYY${time}`),
  ]),
];

/** Values that are looked at first, so that long columns of other values cost little. */
const LOOKED_AT_FIRST = 200;
/** Values that decide. */
const LOOKED_AT = 20_000;

/** Whether half of the most frequent values have the digits of a date. */
function mayHaveDates(counts: ReadonlyMap<string, number>): boolean {
  const texts = [...counts.keys().take(LOOKED_AT_FIRST)];
  return texts.filter((text) => /^\d[\d./:T\s+Z-]{5,}/.test(text)).length >= texts.length / 2;
}

/** Words of a name that make a column of whole numbers one of times. */
const TIME_NAME = /(^|_)(at|date|datum|time|timestamp|zeit|day|tag|updated|created|modified|epoch)(_|$)/;

/** Seconds of a day. */
const DAY = 86_400;

/** Seconds from 2001 to 2100. */
const SECONDS = { min: 1_000_000_000, max: 4_102_444_800 };

/**
 * The pattern that at least `least` of the values have, or null. `name` is the attribute's name. `dayFirst`
 * decides for `03/04/2025` when no value of the column does; null: the day is first, and `ambiguous` is set.
 */
export function dateStyle(
  counts: ReadonlyMap<string, number>,
  name: string,
  dayFirst: boolean | null = null,
  least = 0.98,
): DateStyle | null {
  if (counts.size === 0 || !mayHaveDates(counts)) return null;
  const values = [...counts.entries().take(LOOKED_AT)];
  const all = values.reduce((sum, [, count]) => sum + count, 0);
  const style = (pattern: string | string[], ambiguous: boolean): DateStyle | null => {
    const times = values.map(([text, count]) => ({ count, time: readTime(text, pattern) }));
    const share = times.reduce((sum, { count, time }) => (time === null ? sum : sum + count), 0) / all;
    const clocks = times.filter(({ time }) => time !== null && (time.local % DAY !== 0 || time.micros !== 0));
    const zoneless = clocks.some(({ time }) => time!.offset === null);
    return share < least ? null : { pattern, share, ambiguous, clock: clocks.length > 0, zoneless };
  };
  const first = bestPattern(values, dayFirst);
  if (first !== null) {
    const single = style(first.pattern, first.ambiguous);
    const rest = values.filter(([text]) => readTime(text, first.pattern) === null);
    if (single !== null) return single;
    const second = bestPattern(rest, dayFirst);
    // The same parts in another order would exchange days and months.
    const isSame = second !== null && letters(second.pattern) === letters(first.pattern);
    const pair = second === null || isSame ? null : style([first.pattern, second.pattern], second.ambiguous);
    if (pair !== null) return pair;
  }
  if (TIME_NAME.test(name)) {
    for (const [pattern, factor] of [
      ['unix', 1],
      ['unix_ms', 1000],
    ] as const) {
      const inside = (text: string) => Number(text) >= SECONDS.min * factor && Number(text) <= SECONDS.max * factor;
      if (values.every(([text]) => !/^\d{10,13}(\.\d+)?$/.test(text) || inside(text))) {
        const countStyle = style(pattern, false);
        if (countStyle !== null && values.some(([text]) => inside(text))) return countStyle;
      }
    }
    if (values.some(([text]) => /^(?:19|20)\d{6}$/.test(text))) return style('YYYYMMDD', false);
  }
  return null;
}

const letters = (pattern: string) => [...pattern].sort().join('');

/** The pattern of most values; null: none fits any. */
function bestPattern(
  values: readonly (readonly [string, number])[],
  dayFirst: boolean | null,
): { pattern: string; ambiguous: boolean } | null {
  const scored = CANDIDATES.map((pattern) => {
    const share = values.reduce((sum, [text, count]) => (readTime(text, pattern) === null ? sum : sum + count), 0);
    return { pattern, share };
  });
  const most = Math.max(...scored.map(({ share }) => share));
  const best = scored.filter(({ share }) => share === most);
  if (most === 0) return null;
  const chosen = best.find(({ pattern }) => pattern.startsWith('MM') === (dayFirst === false)) ?? best[0]!;
  return { pattern: chosen.pattern, ambiguous: best.length > 1 && dayFirst === null };
}
