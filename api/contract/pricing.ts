// Prices of calls and their wording. All code that charges or shows a price uses this file.
import type { Selection } from '../../data/input/parameters.ts';
import { SUBSCRIPTIONS } from '../../data/model/subscriptions.ts';
import { exceedsFreeAnswers } from '../../data/queries/facets.ts';
import type { Pack, PricedOperation } from '../../packs/define/model.ts';
import { eur, usd } from '../../packs/define/money.ts';
import type { Context, Operation, PriceCondition } from './operation.ts';

type Priced = Pick<Operation, 'access' | 'price'>;

/** The price of one call. `micros`: the pack's unit price in micro-euros. `times`: number of units. */
export interface CallPrice {
  of: PricedOperation | '';
  micros: number;
  times: number;
  /** The charge in micro-euros. */
  total: number;
}

/** Micro-euros for `times` units of a pack price. Any discount belongs here and in `unitWords`. */
export function totalPrice(_of: PricedOperation | '', micros: number, times: number): number {
  return micros * times;
}

/**
 * Facets and changelog are free, but with filters over a non-public attribute they cost one search (contract
 * section 3).
 */
export const PUBLIC_FREE: PriceCondition<Selection> = {
  label: 'free; one search when a non-public attribute is named',
  applies: (input, { release }) => release !== undefined && exceedsFreeAnswers(input, release.pack),
};

/** What a price is for: one call, or one id of a call. */
export const priceUnit = ({ price }: Priced): 'call' | 'id' => (price?.times ? 'id' : 'call');

/** The unit of a price, in words. */
const unitWords = (operation: Priced, call = ''): string => (priceUnit(operation) === 'id' ? ' for each id' : call);

/**
 * Whether every call of the operation has a price in this dataset; with `pack` null, in datasets as a rule.
 */
export function isSold({ access, price }: Priced, pack: Pack | null): boolean {
  return access === 'paid' && !(pack !== null && price?.free?.(pack));
}

/** Whether some calls of the operation have a price in this dataset. */
export function mayCost(operation: Priced, pack: Pack | null): boolean {
  return isSold(operation, pack) || operation.price?.condition !== undefined;
}

/**
 * Whether this call has a price: always where the operation has one, unless a condition on the input decides.
 */
export function isCharged({ price }: Priced, input: unknown, ctx: Context): boolean {
  return price !== undefined && (price.condition?.applies(input, ctx) ?? true);
}

/** The price of a call. Without `input` (parameters that cannot be parsed) it is the price of one unit. */
export function callPrice(operation: Priced, pack: Pack | undefined, input?: unknown): CallPrice {
  const { access, price } = operation;
  const of = price?.of ?? '';
  const free = of === '' || pack === undefined || (access === 'paid' && !isSold(operation, pack));
  const micros = free ? 0 : pack.prices[of];
  const times = input === undefined ? 1 : (price?.times?.(input) ?? 1);
  return { of, micros, times, total: totalPrice(of, micros, times) };
}

/**
 * Prices of one call in these datasets, ascending, without repetition, in micro-euros. Empty without
 * datasets.
 */
function unitPrices({ price }: Priced, packs: readonly Pack[]): number[] {
  if (price === undefined) return [];
  const prices = packs.map((pack) => (price.free?.(pack) ? 0 : pack.prices[price.of]));
  return [...new Set(prices)].sort((a, b) => a - b);
}

/** The order of calls by price in tables: free ones first, those of plans last. */
export function priceRank({ access, price }: Priced, pack: Pack | null): number {
  if (access === 'plan') return Number.POSITIVE_INFINITY;
  if (!price || price.condition) return 0;
  return pack === null ? 1 : pack.prices[price.of];
}

/** A price for a table with the heading EUR: `0.004`, `0.002 for each id`, `free`, `plan`. */
export function priceCell(operation: Priced, pack: Pack | null): string {
  const { access, price } = operation;
  if (access === 'plan') return 'plan';
  if (!price || (pack !== null && price.free?.(pack))) return 'free';
  if (price.condition) return price.condition.label;
  return `${pack === null ? `price of ${price.of}` : eur(pack.prices[price.of])}${unitWords(operation)}`;
}

/** Most datasets whose prices a sentence lists one by one. */
const LISTED = 2;

/**
 * A price as a sentence for tool descriptions; empty where the description itself mentions that the tool is
 * free.
 */
export function priceSentence(operation: Operation, packs: readonly Pack[]): string {
  const { access, price, description } = operation;
  if (access === 'free' && !price) return /\bfree\b/i.test(description) ? '' : 'Free.';
  if (access === 'plan') return `Part of the plans ${bulkPlans.join(' and ')}.`;
  if (!price) return '';
  const unit = unitWords(operation, ' a call');
  const amounts = unitPrices(operation, packs).map(eur);
  if (price.condition) {
    const range = amounts.length > 1 ? `${amounts[0]} to ${amounts.at(-1)}` : `${amounts[0] ?? 'price of a search'}`;
    return `${capital(price.condition.label)} (${range} EUR).`;
  }
  if (amounts.length === 1) return amounts[0] === 0 ? 'Free.' : `Costs ${amounts[0]} EUR${unit}.`;
  if (packs.length <= LISTED)
    return `Costs EUR${unit}: ${packs.map((pack) => `${pack.id} ${eur(callPrice(operation, pack).micros)}`).join(', ')}.`;
  return `Costs ${amounts[0]} to ${amounts.at(-1)} EUR${unit}, by dataset.`;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const bulkPlans = Object.entries(SUBSCRIPTIONS).flatMap(([name, { bulk, eur_per_month }]) =>
  bulk && eur_per_month !== null ? [name] : [],
);

/** Which calls have the price, in words; null for a price without a condition. */
export const priceCondition = ({ price }: Priced): string | null => price?.condition?.label ?? null;

/** The names of the pack prices that these operations take, each once. */
export function priceNames(operations: readonly Priced[]): PricedOperation[] {
  return [...new Set(operations.flatMap(({ price }) => (price ? [price.of] : [])))];
}

/** The prices that calls of a dataset have, cheapest first, in EUR. */
export function priceList(operations: readonly Priced[], pack: Pack): { name: PricedOperation; eur: number }[] {
  const selling = operations.filter((each) => each.price && !each.price.condition && !each.price.free?.(pack));
  return priceNames(selling)
    .map((name) => ({ name, eur: eur(pack.prices[name]) }))
    .sort((a, b) => a.eur - b.eur);
}

/** A pack price in EUR. */
export const packPrice = (pack: Pack, of: PricedOperation): number => eur(pack.prices[of]);

/** A pack price in both currencies. */
export function amounts(pack: Pack, of: PricedOperation, eur_usd: number): { eur: number; usd: number } {
  return { eur: packPrice(pack, of), usd: usd(pack.prices[of], eur_usd) };
}

/**
 * Lowest and highest price of a call in USD over these datasets; the lowest is 0 where a condition decides.
 * Null: no price.
 */
export function usdRange(
  { price }: Priced,
  packs: readonly Pack[],
  eur_usd: number,
): { least: number; most: number } | null {
  if (!price) return null;
  const selling = packs.filter((pack) => !price.free?.(pack)).map((pack) => pack.prices[price.of]);
  if (selling.length === 0) return null;
  const least = price.condition ? 0 : usd(Math.min(...selling), eur_usd);
  return { least, most: usd(Math.max(...selling), eur_usd) };
}
