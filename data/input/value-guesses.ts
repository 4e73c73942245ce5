// Guesses for values in another notation: numbers with units, comparisons, other date formats, yes and no. A guess
// means the same as the text, or is null.

const MULTIPLES: Readonly<Record<string, number>> = {
  ...{ k: 1e3, thousand: 1e3, M: 1e6, mio: 1e6, mn: 1e6, million: 1e6 },
  ...{ b: 1e9, bn: 1e9, billion: 1e9 },
};

/** Units that can be converted into others of the same dimension, each with its size. */
const DIMENSIONS = [
  'mm:0.001 cm:0.01 m:1 metre:1 meter:1 km:1000 kilometre:1000 kilometer:1000 in:0.0254 inch:0.0254 inches:0.0254 ft:0.3048 foot:0.3048 feet:0.3048 yd:0.9144 yard:0.9144 mi:1609.344 mile:1609.344 nmi:1852',
  'mg:0.000001 g:0.001 gram:0.001 kg:1 kilogram:1 t:1000 tonne:1000 oz:0.028349523125 ounce:0.028349523125 lb:0.45359237 pound:0.45359237',
  'ms:0.001 s:1 sec:1 second:1 m:60 min:60 minute:60 h:3600 hr:3600 hour:3600 d:86400 day:86400 w:604800 week:604800',
].map((units) => new Map(units.split(' ').map((unit) => unit.split(':') as [name: string, size: string])));

const CURRENCIES: Readonly<Record<string, string>> = { $: 'usd', '€': 'eur', '£': 'gbp' };

/** Digits with separators of thousands, and a decimal point; or a decimal comma. */
const GROUPED = /^[+-]?\d{1,3}(?:,\d{2,3})*(?:[,_' ]\d{3})+(?:\.\d+)?$/u;
const DECIMAL_COMMA = /^[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+$/u;
const PLAIN = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/iu;
/** Characters of a text that is guessed. */
const LONGEST = 60;
/** Digits of a converted number, and of an exact one that a double holds. */
const [CONVERTED, EXACT] = [7, 15];

/**
 * The number of `unit` in `1,000`, `1,5`, `128k`, `$5` or `300 m`; null without a number, or with another unit
 * that cannot be converted. `400 m` in ft is 1312.336. With a unit, `m` and `t` are units, never multiples.
 */
export function guessNumber(raw: string, unit: string | null = null): number | null {
  const text = raw
    .trim()
    .slice(0, LONGEST + 1)
    .replace('−', '-');
  const {
    sign = '',
    digits = '',
    tail = '',
  } = /^(?<sign>[$€£]?)\s*(?<digits>[+-]?[\d.,][\d.,_' ]*(?:e[+-]?\d{1,3}(?![\d\p{L}]))?)(?<tail>.*)$/iu.exec(text)
    ?.groups ?? {};
  const value = numberIn(digits.trim());
  if (value === null || text.length > LONGEST) return null;
  const factor = factorOf(`${CURRENCIES[sign] ?? ''} ${tail}`.trim(), unit);
  if (factor === null) return null;
  const converted = Math.log10(factor) % 1 === 0 ? EXACT : CONVERTED;
  const scaled = Number((value * factor).toPrecision(converted));
  return Number.isFinite(scaled) ? scaled : null;
}

/** The number that digits with separators mean; null when that is unclear, or not exact as a double. */
function numberIn(digits: string): number | null {
  // `1,000` is a thousand; `0,500` is a half.
  const grouped = GROUPED.test(digits) && !/^[+-]?0/u.test(digits);
  const comma = !grouped && DECIMAL_COMMA.test(digits);
  const plain = grouped
    ? digits.replaceAll(/[,_' ]/gu, '')
    : comma
      ? digits.replaceAll('.', '').replace(',', '.')
      : digits;
  // `000` is the end of a number.
  return PLAIN.test(plain) && !/^[+-]?0\d/u.test(plain) && plain.replaceAll(/e.*|\D/giu, '').length <= EXACT
    ? Number(plain)
    : null;
}

/** Factor of a unit, a multiple or both in units of `unit`; null for other words. */
function factorOf(tail: string, unit: string | null): number | null {
  if (tail === '') return 1;
  if (tail === '%' && unit === null) return 0.01;
  const direct = unit === null || tail === 'M' ? null : unitFactor(tail, unit);
  if (direct !== null) return direct;
  const [word = '', ...rest] = tail.split(/\s+/u);
  const multiple = MULTIPLES[word === 'm' || word === 'M' ? word : word.toLowerCase()];
  // `M` may be metres where the unit is a length.
  if (multiple === undefined || (unit !== null && unitFactor(word, unit) !== null)) return null;
  const scale = rest.length === 0 ? 1 : unit === null ? null : unitFactor(rest.join(' '), unit);
  return scale === null ? null : multiple * scale;
}

const perSign = (gap: string): string => (gap.includes('per') ? '/' : '');

/** Size of one unit in another; null if they have no common dimension. Of `USD/1M tokens`, `USD` is equal. */
function unitFactor(text: string, unit: string): number | null {
  const plain = (name: string) => name.toLowerCase().replaceAll(/\s*\b(?:per)\b\s*|\s+/gu, perSign);
  const [typed, wanted] = [plain(text), plain(unit)];
  const singular = (name: string) => name.replace(/(?<=..)s$/u, '');
  if ([wanted, wanted.split('/')[0]].some((name) => singular(name ?? '') === singular(typed))) return 1;
  for (const sizes of DIMENSIONS) {
    const [from, to] = [typed, wanted].map((name) => sizes.get(name) ?? sizes.get(singular(name)));
    if (from !== undefined && to !== undefined) return Number(from) / Number(to);
  }
  return null;
}

/** A comparison before a value: the filter that has it, and whether the value itself is left out. */
interface Comparison {
  operator: 'min' | 'max' | 'not' | 'any';
  strict: boolean;
  /** The value after the sign. */
  value: string;
}

/** The comparison in `>=1000000`; null without a sign. */
export function guessComparison(raw: string): Comparison | null {
  const [, sign, value = ''] = /^\s*(<>|[<>]=?|=[<>]|[≥≤]|!=|==?)\s*(.*)$/su.exec(raw) ?? [];
  if (sign === undefined) return null;
  const not = sign === '<>' || sign === '!=';
  const operator = not ? 'not' : /[>≥]/u.test(sign) ? 'min' : /[<≤]/u.test(sign) ? 'max' : 'any';
  return { operator, strict: sign === '>' || sign === '<', value };
}

const YES = ['true', 'yes', 'y', 't', '1', 'on', 'ja', 'si', 'oui'];
const NO = ['false', 'no', 'n', 'f', '0', 'off', 'nein', 'non'];

/** `true` or `false` for words such as yes and no, in several languages; null for other words. */
export function guessBoolean(raw: string): boolean | null {
  const word = raw.trim().toLowerCase();
  return YES.includes(word) ? true : NO.includes(word) ? false : null;
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');

/** The moment of seconds or milliseconds since 1970, or the day that a text means; null without one. */
export function guessTime(raw: string): string | null {
  const since = epoch(raw);
  return since === null ? guessDay(raw) : new Date(since).toISOString().replace('.000Z', 'Z');
}

/** Milliseconds since 1970 of a number of seconds or milliseconds; null for other texts. */
function epoch(raw: string): number | null {
  const digits = /^\s*(?:(\d{10})|(\d{13}))\s*$/u.exec(raw);
  return digits === null ? null : Number(digits[2] ?? Number(digits[1]) * 1000);
}

/**
 * The day that a text means, as `YYYY-MM-DD`; null if it is not a day or is ambiguous. Words relative to
 * today are not supported.
 */
export function guessDay(raw: string): string | null {
  const text = raw.trim().slice(0, LONGEST);
  const since = epoch(text);
  if (since !== null) return new Date(since).toISOString().slice(0, 10);
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
  // Two small numbers are a day and a time of day.
  const [day, other] = words.filter((word) => /^\d{1,2}$/u.test(word));
  const clear = month >= 0 && year !== undefined && day !== undefined && other === undefined;
  return clear ? dayOf(Number(year), month + 1, Number(day)) : null;
}

function dayOf(year: number, month: number, day: number): string | null {
  const date = new Date(Date.UTC(year, month - 1, day));
  const same = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return same ? date.toISOString().slice(0, 10) : null;
}

/** Names of formats and steps in other APIs. */
const WORDS: Readonly<Record<string, string>> = {
  md: 'markdown text/markdown mdown',
  json: 'application/json geojson',
  csv: 'text/csv xlsx xls excel tsv',
  ndjson: 'jsonl jsonlines application/x-ndjson',
  jsonl: 'ndjson json jsonlines',
  arrow: 'feather ipc parquet',
  day: 'daily 1d d 24h',
  week: 'weekly 1w w 7d',
  rise: 'up increase increased increasing rising risen rose higher grow gain positive + asc',
  fall: 'down decrease decreased decreasing falling fallen fell lower drop dropped cut loss negative - desc',
  added: 'new created insert',
  changed: 'change update updated modified',
};

/** The word of a closed list that another word means; null without one. */
export function guessWord<T extends string>(raw: string, allowed: readonly T[]): T | null {
  const typed = raw.trim().toLowerCase();
  return (
    allowed.find((word) => WORDS[word]?.split(' ').includes(typed)) ??
    allowed.find((word) => typed === `${word}s` || word === `${typed}s` || word.replaceAll('_', '-') === typed) ??
    null
  );
}
