// Counts by day and month, and the bounds of child keys, clients and limited keys. Amounts in micro-euros.
import type { ChildTable, KeyLimitTable } from './tables/budgets.ts';

/** A bound on spending, and the rest of it. */
export interface Bound {
  name: 'cap' | 'per_day' | 'per_month';
  /** Whose bound it is: that of a child key, of an OAuth client, or of the key. */
  of: 'child' | 'client' | 'key';
  limit: number;
  left: number;
  /** When it is full again, in milliseconds since 1970; null: never. */
  resets_at: number | null;
}

/** The UTC day of a time, YYYY-MM-DD. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
/** The month of a day. */
export const monthOf = (day: string): string => day.slice(0, 7);

/** What was spent in a period: a day (YYYY-MM-DD) or a month (YYYY-MM); empty: never. */
interface Count {
  period: string;
  spent: number;
}

/**
 * The count that a charge in `period` adds to. The later period counts, so that a clock that goes back over midnight,
 * or two machines on both sides of it, reset no bound.
 */
export const currentCount = (period: string, spent: number, current: string): Count =>
  period >= current ? { period, spent } : { period: current, spent: 0 };

/** The first moment after a day or month. */
function endOf(period: string): number {
  const [year = 0, month = 1, day] = period.split('-').map(Number);
  return day === undefined ? Date.UTC(year, month) : Date.UTC(year, month - 1, day + 1);
}

function periodBound(name: Bound['name'], of: Bound['of'], limit: number | null, { period, spent }: Count): Bound[] {
  return limit === null ? [] : [{ name, of, limit, left: Math.max(0, limit - spent), resets_at: endOf(period) }];
}

/** The bound of a cap, which never resets. */
export const capBound = (of: Bound['of'], limit: number | null, spent: number): Bound[] =>
  limit === null ? [] : [{ name: 'cap', of, limit, left: Math.max(0, limit - spent), resets_at: null }];

type ChildSpending = Pick<ChildTable, 'cap' | 'spent' | 'per_day' | 'day' | 'day_spent'>;
type KeySpending = Pick<KeyLimitTable, 'per_day' | 'per_month' | 'day' | 'day_spent' | 'month' | 'month_spent'>;

/** The bounds of a child key on a day. */
export const childBounds = (child: ChildSpending, day: string): Bound[] => [
  ...capBound('child', child.cap, child.spent),
  ...periodBound('per_day', 'child', child.per_day, currentCount(child.day, child.day_spent, day)),
];

/** The limits of a key on a day. */
export const keyBounds = (limits: KeySpending, day: string): Bound[] => [
  ...periodBound('per_day', 'key', limits.per_day, currentCount(limits.day, limits.day_spent, day)),
  ...periodBound('per_month', 'key', limits.per_month, currentCount(limits.month, limits.month_spent, monthOf(day))),
];

/** What a key spent on a day and in its month. */
export type CountedSpending = Pick<KeyLimitTable, 'day' | 'day_spent' | 'month' | 'month_spent'>;

/** The counts of a key that a charge on a day adds to. */
export function spendingOn(row: CountedSpending, day: string): CountedSpending {
  const today = currentCount(row.day, row.day_spent, day);
  const month = currentCount(row.month, row.month_spent, monthOf(day));
  return { day: today.period, day_spent: today.spent, month: month.period, month_spent: month.spent };
}

/** The bound with the least left; undefined without bounds. */
export const tightestBound = (bounds: readonly Bound[]): Bound | undefined =>
  bounds.toSorted((a, b) => a.left - b.left)[0];
