// Bounds of child keys and of limited keys: what is left of each, from the rows of the store. Amounts in micro-euros.
import type { ChildTable, KeyLimitTable } from './tables/budgets.ts';

/** A bound on spending, and the rest of it. */
export interface Bound {
  /** `cap` and `per_day` of a child key; `key_per_day` and `key_per_month` of the key. */
  name: 'cap' | 'per_day' | 'key_per_day' | 'key_per_month';
  left: number;
}

/** The UTC day of a time, YYYY-MM-DD. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
/** The month of a day. */
export const monthOf = (day: string): string => day.slice(0, 7);

const bound = (name: Bound['name'], limit: number | null, spent: number): Bound[] =>
  limit === null ? [] : [{ name, left: Math.max(0, limit - spent) }];

type ChildSpending = Pick<ChildTable, 'cap' | 'spent' | 'per_day' | 'day' | 'day_spent'>;
type KeySpending = Pick<KeyLimitTable, 'per_day' | 'per_month' | 'day' | 'day_spent' | 'month' | 'month_spent'>;

export const childBounds = (child: ChildSpending, day: string): Bound[] => [
  ...bound('cap', child.cap, child.spent),
  ...bound('per_day', child.per_day, child.day === day ? child.day_spent : 0),
];

export const keyBounds = (limits: KeySpending, day: string): Bound[] => [
  ...bound('key_per_day', limits.per_day, limits.day === day ? limits.day_spent : 0),
  ...bound('key_per_month', limits.per_month, limits.month === monthOf(day) ? limits.month_spent : 0),
];

/** The bound with the least left; undefined without bounds. */
export const tightestBound = (bounds: readonly Bound[]): Bound | undefined =>
  bounds.toSorted((a, b) => a.left - b.left)[0];
