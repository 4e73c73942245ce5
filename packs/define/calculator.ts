// The calculator of a dataset: amounts from attributes of a record and inputs of a reader, such as the cost of a
// month from prices and numbers of tokens. Runs in the browser too.
import type { Calculator, CalculatorTerm, Value } from './model.ts';

/** An amount; both ends are equal unless a value is a range. */
export interface Amount {
  min: number;
  max: number;
}

/** `locked`: the value is paid and not loaded. `missing`: the record has none. */
export type TermResult = Amount | 'locked' | 'missing';

/** The sum of the known terms; `locked` and `missing`: attributes that it does not include. */
export interface Total extends Amount {
  locked: string[];
  missing: string[];
}

/** The two ends of a number or a range; null for any other value. */
export function endsOf(value: Value | null | undefined): Amount | null {
  if (typeof value === 'number') return { min: value, max: value };
  return typeof value === 'object' && value !== null && 'min' in value ? { min: value.min, max: value.max } : null;
}

/**
 * The amount of one term. `read` returns the ends of an attribute's value, or why there is none. A record
 * without a value of `attribute` counts with its value of `otherwise`. An input of 0 needs no value.
 */
export function termAmount(
  { attribute, otherwise, input, factor }: CalculatorTerm,
  inputs: Readonly<Record<string, number>>,
  read: (attribute: string) => TermResult,
): TermResult {
  const count = inputs[input] ?? 0;
  if (count === 0) return { min: 0, max: 0 };
  const termResult = read(attribute);
  const value = termResult === 'missing' && otherwise !== null ? read(otherwise) : termResult;
  return typeof value === 'string' ? value : { min: value.min * count * factor, max: value.max * count * factor };
}

/** The sum of all terms. */
export function totalAmount(
  { terms }: Calculator,
  inputs: Readonly<Record<string, number>>,
  read: (attribute: string) => TermResult,
): Total {
  const total: Total = { min: 0, max: 0, locked: [], missing: [] };
  for (const term of terms) {
    const amount = termAmount(term, inputs, read);
    if (typeof amount === 'string') total[amount].push(term.attribute);
    else {
      total.min += amount.min;
      total.max += amount.max;
    }
  }
  return total;
}

/** An input from an address or a field: a number from 0 to 10^15; the default for any other text. */
export function readInput(text: string | null | undefined, fallback: number): number {
  const value = Number(text?.trim() || Number.NaN);
  return value >= 0 && value <= 1e15 ? value : fallback;
}
