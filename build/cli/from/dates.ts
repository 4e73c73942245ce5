// How a column writes dates.

/** Pattern of the dates of a column. */
export interface DateStyle {
  /** `DD.MM.YYYY`, `unix`, …: the member `date` of a column (packs/define/sources.ts). */
  pattern: string;
  /** Share of the values, by count, that are such a date. */
  share: number;
  /** Whether day and month may be exchanged, because no value has a day above 12. */
  ambiguous: boolean;
}

interface Candidate {
  pattern: string;
  matches: RegExp;
}

/** Candidates in order of preference; `y`, `m` and `d` are the groups of a match. */
const CANDIDATES: readonly Candidate[] = [
  // Readers accept times after dates of this form only.
  { pattern: 'YYYY-MM-DD', matches: /^(?<y>\d{4})-(?<m>\d{2})-(?<d>\d{2})(?:[T ]\d{2}:\d{2}.*)?$/ },
  ...['', ' HH:mm', ' HH:mm:ss'].flatMap((time) => [
    ...['/', '.'].map((sign) => candidate(`YYYY${sign}MM${sign}DD${time}`)),
    ...['.', '/', '-'].map((sign) => candidate(`DD${sign}MM${sign}YYYY${time}`)),
    ...['/', '-', '.'].map((sign) => candidate(`MM${sign}DD${sign}YYYY${time}`)),
  ]),
];

function candidate(pattern: string): Candidate {
  const source = pattern
    .replaceAll('.', '\\.')
    .replace('YYYY', '(?<y>\\d{4})')
    .replace('MM', '(?<m>\\d{1,2})')
    .replace('DD', '(?<d>\\d{1,2})')
    .replace(/HH|mm|ss/g, '\\d{2}');
  return { pattern, matches: new RegExp(`^${source}$`) };
}

/** Whether the text is a day of the calendar in this form. */
function isDay(text: string, { matches }: Candidate): boolean {
  const { y, m, d } = matches.exec(text)?.groups ?? {};
  if (y === undefined) return false;
  const day = new Date(Date.UTC(Number(y), Number(m) - 1, Number(d)));
  return day.getUTCMonth() === Number(m) - 1 && day.getUTCDate() === Number(d) && Number(y) >= 1;
}

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
  const share = (fits: (text: string) => boolean) => {
    let sum = 0;
    for (const [text, count] of values) if (fits(text)) sum += count;
    return sum / all;
  };
  const scored = CANDIDATES.map((each) => ({ pattern: each.pattern, share: share((text) => isDay(text, each)) }));
  const most = Math.max(...scored.map((each) => each.share));
  if (most >= least) {
    const best = scored.filter((each) => each.share === most);
    const chosen = best.find(({ pattern }) => pattern.startsWith('MM') === (dayFirst === false)) ?? best[0]!;
    return { ...chosen, ambiguous: best.length > 1 && dayFirst === null };
  }
  if (TIME_NAME.test(name)) {
    for (const [pattern, factor] of [
      ['unix', 1],
      ['unix_ms', 1000],
    ] as const) {
      const inside = (text: string) =>
        /^\d{10,13}(\.0+)?$/.test(text) && Number(text) >= SECONDS.min * factor && Number(text) <= SECONDS.max * factor;
      const found = share(inside);
      if (found >= least) return { pattern, share: found, ambiguous: false };
    }
    const compact: Candidate = { pattern: 'YYYYMMDD', matches: /^(?<y>(?:19|20)\d{2})(?<m>\d{2})(?<d>\d{2})$/ };
    const found = share((text) => isDay(text, compact));
    if (found >= least) return { pattern: compact.pattern, share: found, ambiguous: false };
  }
  return null;
}
