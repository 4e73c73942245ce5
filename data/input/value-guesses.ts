// Guesses for values in another notation: numbers with units, other date formats, yes and no.

const MULTIPLES: Record<string, number> = {
  '': 1,
  k: 1e3,
  m: 1e6,
  mio: 1e6,
  million: 1e6,
  b: 1e9,
  bn: 1e9,
  billion: 1e9,
};

/**
 * The number in `1,000`, `128k`, `$5`, `>=5` or `300 ft`; null without a number, or with another unit
 * than `unit`.
 */
export function guessNumber(raw: string, unit: string | null = null): number | null {
  const text = raw.trim().slice(0, 60);
  const { digits, tail = '' } =
    /^[<>=~≥≤\s]*[$€£]?\s*(?<digits>[+-]?\d[\d,_' ]*(?:\.\d+)?|[+-]?\.\d+)\s*(?<tail>\D*)$/u.exec(text)?.groups ?? {};
  if (digits === undefined) return null;
  const value = Number(digits.replaceAll(/[,_' ]/g, ''));
  const word = tail.trim();
  if (word === '%') return Number.isFinite(value) ? value / 100 : null;
  const units = (unit ?? '').split(/[\s/]+/u);
  const multiple = word !== '' && units.includes(word) ? 1 : MULTIPLES[word.toLowerCase()];
  const scaled = multiple === undefined ? Number.NaN : value * multiple;
  return Number.isFinite(scaled) ? Number(scaled.toPrecision(12)) : null;
}

const YES = ['true', 'yes', 'y', 't', '1', 'on', 'ja', 'si', 'oui'];
const NO = ['false', 'no', 'n', 'f', '0', 'off', 'nein', 'non', 'null', 'none'];

/** `true` or `false` for words such as yes and no, in several languages; null for other words. */
export function guessBoolean(raw: string): boolean | null {
  const word = raw.trim().toLowerCase();
  return YES.includes(word) ? true : NO.includes(word) ? false : null;
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');

/**
 * The day that a text means, as `YYYY-MM-DD`; null if it is not a day or is ambiguous. Words relative to
 * today are not supported.
 */
export function guessDay(raw: string): string | null {
  const text = raw.trim().slice(0, 60);
  const seconds = /^\d{9,13}$/u.test(text) ? Number(text) * (text.length > 11 ? 1 : 1000) : null;
  if (seconds !== null) return new Date(seconds).toISOString().slice(0, 10);
  const [, y1, m1, d1] = /^(\d{4})[-/. ]?(\d{1,2})[-/. ]?(\d{1,2})$/u.exec(text) ?? [];
  if (y1 !== undefined) return dayOf(Number(y1), Number(m1), Number(d1));
  const [, first, sign, second, y2] = /^(\d{1,2})([/.-])(\d{1,2})\2(\d{4})$/u.exec(text) ?? [];
  if (first !== undefined) {
    const [a, b] = [Number(first), Number(second)];
    // With slashes, day and month may be exchanged: 04/05/2026 is ambiguous.
    if (sign === '.' || a > 12) return dayOf(Number(y2), b, a);
    return b > 12 || a === b ? dayOf(Number(y2), a, b) : null;
  }
  const words = text.toLowerCase().match(/\p{L}{3,}|\d{1,4}/gu) ?? [];
  const month = MONTHS.findIndex((name) => words.some((word) => word.startsWith(name)));
  const year = words.find((word) => /^\d{4}$/u.test(word));
  const day = words.find((word) => /^\d{1,2}$/u.test(word));
  return month < 0 || year === undefined || day === undefined ? null : dayOf(Number(year), month + 1, Number(day));
}

function dayOf(year: number, month: number, day: number): string | null {
  const date = new Date(Date.UTC(year, month - 1, day));
  const same = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return same ? date.toISOString().slice(0, 10) : null;
}

/** Names of formats and steps in other APIs. */
const WORDS: Record<string, readonly string[]> = {
  md: ['markdown', 'text/markdown', 'mdown'],
  json: ['application/json', 'geojson'],
  csv: ['text/csv', 'xlsx', 'xls', 'excel', 'tsv'],
  ndjson: ['jsonl', 'jsonlines', 'application/x-ndjson'],
  jsonl: ['ndjson', 'json', 'jsonlines'],
  arrow: ['feather', 'ipc', 'parquet'],
  day: ['daily', '1d', 'd', '24h'],
  week: ['weekly', '1w', 'w', '7d'],
  rise: [
    ...['up', 'increase', 'increased', 'increasing', 'rising', 'risen', 'rose', 'higher', 'grow', 'gain', 'positive'],
    ...['+', 'asc'],
  ],
  fall: [
    ...['down', 'decrease', 'decreased', 'decreasing', 'falling', 'fallen', 'fell', 'lower', 'drop', 'dropped', 'cut'],
    ...['loss', 'negative', '-', 'desc'],
  ],
  added: ['new', 'created', 'insert'],
  changed: ['change', 'update', 'updated', 'modified'],
};

/** The word of a closed list that another word means; null without one. */
export function guessWord<T extends string>(raw: string, allowed: readonly T[]): T | null {
  const typed = raw.trim().toLowerCase();
  return (
    allowed.find((word) => WORDS[word]?.includes(typed)) ??
    allowed.find((word) => typed === `${word}s` || word === `${typed}s` || word.replaceAll('_', '-') === typed) ??
    null
  );
}
