// How a column writes numbers: decimal sign, sign between thousands, currency or unit around the number.
import { cellNumber } from '../../sources/values.ts';
import { currencyOf } from './names.ts';

/** Signs of a number as text. */
export interface NumberStyle {
  decimal: '.' | ',';
  thousands: '.' | ',' | ' ' | "'" | null;
  /** Share of the values, by count, that are such a number. */
  share: number;
  /** Whether a value has decimals. */
  fraction: boolean;
  negative: boolean;
  /** Whether a value has a decimal sign or a sign between thousands. */
  signs: boolean;
  /** Whether the values are also numbers, other ones, with the signs exchanged: `1.234`. */
  ambiguous: boolean;
  /**
   * Currency sign, code or unit that the values have before or after the number; '' when they have other
   * characters, such as no-break spaces, that are removed first; null: none.
   */
  affix: string | null;
  min: number;
  max: number;
}

type Signs = Pick<NumberStyle, 'decimal' | 'thousands'>;

/** In order of preference when several fit equally well. */
const SIGNS: readonly Signs[] = [
  { decimal: '.', thousands: null },
  { decimal: '.', thousands: ',' },
  { decimal: ',', thousands: null },
  { decimal: ',', thousands: '.' },
  { decimal: '.', thousands: ' ' },
  { decimal: ',', thousands: ' ' },
  { decimal: '.', thousands: "'" },
  { decimal: ',', thousands: "'" },
];

/** The value of a text that the night reads as a number with these signs; NaN: it does not. */
function numberOf(text: string, { decimal, thousands }: Signs): number {
  // `0,125` has decimals and no thousands, `1.` is a place in a list.
  if (/[.,]$/.test(text) || (thousands !== null && text.replace(/^[+-]/, '').startsWith(`0${thousands}`)))
    return Number.NaN;
  return Number(cellNumber(text, { decimal, thousands: thousands ?? undefined }));
}

const AFFIX =
  /^([^\d+\-.,\s]{1,12})?[ \u00a0\u202f]?([+-]?[\d.,'’ \u00a0\u202f]*\d)[ \u00a0\u202f]?([^\d\s+\-.,][^\s]{0,11})?$/u;

/** The number inside `€ 12,50` or `12 kg`, and what is around it. */
function splitAffix(text: string): { number: string; affix: string } | null {
  const parts = AFFIX.exec(text);
  if (parts === null) return null;
  const [, before, number, after] = parts;
  if (before !== undefined && after !== undefined) return null;
  // `T1000` is a code, not tonnes: units follow the number.
  if (before !== undefined && currencyOf(before) === null) return null;
  const normal = number!
    .trim()
    .replace(/[\u00a0\u202f]/g, ' ')
    .replaceAll('’', "'");
  return { number: normal, affix: before ?? after ?? '' };
}

/**
 * The style that most values have, or null when less than `least` of them are numbers. `hint` is the decimal
 * sign of other columns: it decides when both signs are possible.
 */
export function numberStyle(
  counts: ReadonlyMap<string, number>,
  hint: '.' | ',' | null = null,
  least = 0.98,
): NumberStyle | null {
  if (!mayHaveNumbers(counts)) return null;
  const plain = bestStyle(counts, hint);
  if (plain !== null && plain.share >= least) return plain;
  const stripped = new Map<string, number>();
  const affixes = new Map<string, number>();
  for (const [text, count] of counts) {
    const parts = splitAffix(text);
    if (parts === null) continue;
    stripped.set(parts.number, (stripped.get(parts.number) ?? 0) + count);
    if (parts.affix !== '') affixes.set(parts.affix, (affixes.get(parts.affix) ?? 0) + count);
  }
  // One sign or unit only: `12 kg` next to `300 g` are not one quantity.
  if (affixes.size > 1) return null;
  const style = bestStyle(stripped, hint);
  if (style === null) return null;
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const fitting = [...stripped.values()].reduce((sum, count) => sum + count, 0) * style.share;
  return fitting / all >= least ? { ...style, share: fitting / all, affix: [...affixes.keys()][0] ?? '' } : null;
}

/** Values that are looked at first, so that long columns of texts cost little. */
const LOOKED_AT_FIRST = 200;

/** Whether half of the most frequent values have digits and at most a few other characters. */
function mayHaveNumbers(counts: ReadonlyMap<string, number>): boolean {
  const texts = [...counts.keys().take(LOOKED_AT_FIRST)];
  const fitting = texts.filter((text) => /\d/.test(text) && text.replace(/[\d.,\s'’+-]/g, '').length <= 12);
  return fitting.length >= texts.length / 2;
}

/** Values that are looked at: enough for a decision, also in a column with a million different ones. */
const LOOKED_AT = 20_000;

function bestStyle(counts: ReadonlyMap<string, number>, hint: '.' | ',' | null): NumberStyle | null {
  const values = [...counts].slice(0, LOOKED_AT);
  const all = values.reduce((sum, [, count]) => sum + count, 0);
  const scored = SIGNS.map((signs) => {
    const fitting = values.filter(([text]) => !Number.isNaN(numberOf(text, signs)));
    return { signs, fitting, fits: fitting.reduce((sum, [, count]) => sum + count, 0) };
  });
  const most = Math.max(...scored.map(({ fits }) => fits));
  if (most === 0) return null;
  const best = scored.filter(({ fits }) => fits === most);
  const { signs, fitting } = best.find((format) => format.signs.decimal === hint) ?? best[0]!;
  const texts = fitting.map(([text]) => text);
  const numbers = texts.map((text) => numberOf(text, signs));
  const separated = texts.filter((text) => /[.,]/.test(text));
  return {
    ...signs,
    share: most / all,
    fraction: texts.some((text) => text.includes(signs.decimal)) || numbers.some((number) => !Number.isInteger(number)),
    negative: numbers.some((number) => number < 0),
    signs: texts.some((text) => /\d[., ']|^[+-]?[.,]/.test(text)),
    ambiguous: separated.length > 0 && separated.every((text) => /^[+-]?[1-9]\d{0,2}[.,]\d{3}$/.test(text)),
    affix: null,
    min: numbers.reduce((least, number) => Math.min(least, number), Number.POSITIVE_INFINITY),
    max: numbers.reduce((greatest, number) => Math.max(greatest, number), Number.NEGATIVE_INFINITY),
  };
}
