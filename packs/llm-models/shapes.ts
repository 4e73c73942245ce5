// Converts prices of genai-prices (a number, tiers, sets with conditions) to a number or a range.
import { type PriceRange, z } from 'dataset-register/pack';

const amount = z.number().nonnegative();

/** A price by prompt length: `base`, then `price` above `start` tokens. */
const Tiered = z.object({ base: amount, tiers: z.array(z.object({ start: z.number(), price: amount })) });

const PriceSet = z.record(z.string(), z.union([amount, Tiered]));

/**
 * When a set of prices applies: from a day on, or between two times of day (UTC); always without a
 * constraint.
 */
const Constraint = z.union([
  z.object({ type: z.literal('start_date'), start_date: z.iso.date() }),
  z.object({ type: z.literal('time_of_date'), start_time: z.string(), end_time: z.string() }),
]);

/** `prices` of a model: one set, or several of which the last applicable one is current. */
export const Prices = z.union([
  z.array(z.object({ constraint: Constraint.optional(), prices: PriceSet })),
  PriceSet.transform((prices) => [{ prices }]),
]);
export type ConditionalPrices = z.output<typeof Prices>;
type ConditionalSet = ConditionalPrices[number] & { constraint?: z.output<typeof Constraint> | undefined };

export interface TokenPrice {
  value: number | PriceRange;
  /** The price as text, for evidence: `0.27 at 00:30-16:30 UTC, else 0.135`. */
  words: string;
}

/** Zero limits and prices are unknown ones. */
export function positiveAmount(amount: number | undefined): number | undefined {
  return amount !== undefined && amount > 0 ? amount : undefined;
}

/** One number for equal bounds, else a range in USD. */
export function usdPrice(amounts: number[]): number | PriceRange {
  const min = Math.min(...amounts);
  const max = Math.max(...amounts);
  return min === max ? min : { min, max, currency: 'USD' };
}

type Written = z.output<typeof PriceSet>[string];

function amountsOf(price: Written): number[] {
  return typeof price === 'number' ? [price] : [price.base, ...price.tiers.map((tier) => tier.price)];
}

function wordsOf(price: Written): string {
  if (typeof price === 'number') return String(price);
  return [price.base, ...price.tiers.map((tier) => `${tier.price} above ${tier.start} tokens`)].join(', ');
}

function startsAfter({ constraint }: ConditionalSet, day: string): boolean {
  return constraint?.type === 'start_date' && constraint.start_date > day;
}

/**
 * Sets that apply at some hour of a day: the last one that has begun by then, and the times of day after it.
 * A set that begins later never counts, so an announced price does not become current.
 */
function current(sets: ConditionalSet[], day: string): ConditionalSet[] {
  const begun = sets.filter((set) => !startsAfter(set, day));
  const always = begun.findLastIndex((set) => set.constraint?.type !== 'time_of_date');
  return begun.slice(Math.max(0, always));
}

/** `from 2026-07-30`, `at 00:30-16:30 UTC`, or nothing for a set without a constraint. */
function when({ constraint }: ConditionalSet): string {
  if (constraint === undefined) return '';
  if (constraint.type === 'start_date') return ` from ${constraint.start_date}`;
  return ` at ${constraint.start_time.slice(0, 5)}-${constraint.end_time.slice(0, 5)} UTC`;
}

/**
 * Prices on a day, by their key in genai-prices (`input_mtok`). Tiers and times of day become a range from
 * the
 * lowest to the highest. Announced prices are only in the text.
 * @param day YYYY-MM-DD of the reading
 */
export function pricesOn(sets: ConditionalSet[], day: string): Map<string, TokenPrice> {
  const holding = current(sets, day);
  const later = sets.filter((set) => startsAfter(set, day));
  const prices = new Map<string, TokenPrice>();
  for (const key of new Set(holding.flatMap((set) => Object.keys(set.prices)))) {
    const named = (set: ConditionalSet) => (set.prices[key] === undefined ? [] : [{ set, price: set.prices[key] }]);
    const words = [...holding, ...later].flatMap(named).map(({ set, price }) => `${wordsOf(price)}${when(set)}`);
    const value = usdPrice(holding.flatMap(named).flatMap(({ price }) => amountsOf(price)));
    prices.set(key, { value, words: words.join('; ') });
  }
  return prices;
}
