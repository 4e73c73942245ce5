// Rows of a comparison: equal or different values, the best number, and amounts of a calculator as text. Runs in
// the browser too.
import type { Amount, Total } from '../../packs/define/calculator.ts';
import type { Better } from '../../packs/define/model.ts';
import { printNumber } from './print.ts';

/** `locked`: some value is not loaded, so it is unknown whether the values differ. */
export type RowState = 'same' | 'differs' | 'locked';

/** The state of a row. `texts` are the printed values; null: none, undefined: locked. */
export function rowState(texts: readonly (string | null | undefined)[]): RowState {
  if (texts.includes(undefined)) return 'locked';
  return new Set(texts).size > 1 ? 'differs' : 'same';
}

/**
 * Which numbers are the best: those whose whole range is at least as good as every other one. None where all
 * are equal, or only one is known.
 */
export function bestOf(numbers: readonly (Amount | null)[], better: Better | undefined): boolean[] {
  const values = numbers.filter((number) => number !== null);
  const isAhead = (a: Amount, b: Amount) => (better === 'low' ? a.max <= b.min : a.min >= b.max);
  const best = numbers.map(
    (number) =>
      better !== undefined && number !== null && values.every((other) => other === number || isAhead(number, other)),
  );
  return best.filter(Boolean).length === values.length ? best.map(() => false) : best;
}

/** Label of the best number of a row. */
export const BEST_LABEL: Readonly<Record<Better, string>> = { low: 'lowest', high: 'highest' };

/** Cents from 1 on, three digits below. */
const printAmount = (value: number): string =>
  printNumber(value >= 1 ? Math.round(value * 100) / 100 : Number(value.toPrecision(3)));

/** `12.5 USD`, `12.5 to 15 USD`. */
export function amountText({ min, max }: Amount, unit: string): string {
  const [low, high] = [printAmount(min), printAmount(max)];
  return low === high ? `${low} ${unit}` : `${low} to ${high} ${unit}`;
}

/** A total with what it does not include: `5 USD + price.output (locked)`. */
export function totalText(total: Total, unit: string): string {
  const rest = [
    ...total.locked.map((name) => `${name} (locked)`),
    ...total.missing.map((name) => `${name} (no value)`),
  ];
  if (rest.length > 0 && total.max === 0) return rest.join(' + ');
  return [amountText(total, unit), ...rest].join(' + ');
}
