// Prices of calls and their wording. All code that charges or shows a price uses this file.
import type { Selection } from '../../data/input/parameters.ts';
import { isPublicQuestion } from '../../data/input/selection.ts';
import { SUBSCRIPTIONS } from '../../data/model/subscriptions.ts';
import { exceedsFreeAnswers } from '../../data/queries/facets.ts';
import type { Pack, PricedOperation } from '../../packs/define/model.ts';
import { eur, usd } from '../../packs/define/money.ts';
import type { Context, Operation, PriceCondition, Result } from './operation.ts';

type Priced = Pick<Operation, 'charge'>;

/** The price of one call, and what it is for. */
export interface Price {
  operation: string;
  /** Empty for a call of no dataset. */
  dataset: string;
  /** Micro-euros: the pack's price `of`, which is `unit` micro-euros, for a number of units. */
  micros: number;
  of: PricedOperation | '';
  unit: number;
  times: number;
  /** What x402 names as sold; its URL has no credential. */
  resource: { url: string; description: string; mimeType: string };
  /** The request as payment indexers describe it; absent in channels besides REST. */
  request?:
    | {
        method: string;
        /** The path with `:entity_id` where a record is named. */
        route: string;
        path: Record<string, string>;
        query: Record<string, string>;
        body: unknown;
      }
    | undefined;
  request_id: string;
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
  label: 'free; one search where a paid field is used',
  applies: (input, { release }) => release !== undefined && exceedsFreeAnswers(input, release.pack),
};

/** What a price is for: one call, or one id or attribute of a call. */
export const priceUnit = ({ charge: { price } }: Priced): 'call' | 'id' | 'attribute' =>
  price?.times ? (price.unit ?? 'id') : 'call';

/** The unit of a price, in words. */
const unitWords = (operation: Priced, call = ''): string => {
  const unit = priceUnit(operation);
  return unit === 'call' ? call : ` for each ${unit}`;
};

/**
 * Whether every call of the operation has a price in this dataset; with `pack` null, in datasets as a rule.
 */
export function isSold({ charge: { access, price } }: Priced, pack: Pack | null): boolean {
  return access === 'paid' && !(pack !== null && price?.free?.(pack));
}

/** Whether some calls of the operation have a price in this dataset. */
export function mayCost(operation: Priced, pack: Pack | null): boolean {
  return isSold(operation, pack) || operation.charge.price?.condition !== undefined;
}

/**
 * Whether this call has a price: always where the operation has one, unless a condition on the input decides.
 */
export function isCharged({ charge: { price, amount } }: Priced, input: unknown, ctx: Context): boolean {
  if (amount) return true;
  return price !== undefined && (price.condition?.applies(input, ctx) ?? true);
}

/**
 * Whether an answer of a priced call is free: it has no records, rows or values, and public values alone decide that
 * (contract section 3). A free answer to other conditions would reveal that no hidden value meets them.
 */
export function isFreeAnswer({ empty }: Result<unknown>, input: unknown, { release }: Context): boolean {
  if (empty !== true) return false;
  const { names = [], conditions = names, words = [], statuses = [] } = input as Partial<Selection>;
  return !release || isPublicQuestion({ names: conditions, words, statuses }, release.pack);
}

/** The price of a call. Without `input` (parameters that cannot be parsed) it is the price of one unit. */
export function callPrice(
  operation: Priced,
  pack: Pack | undefined,
  input?: unknown,
): Pick<Price, 'micros' | 'of' | 'unit' | 'times'> {
  const { access, price, amount } = operation.charge;
  if (amount) return { of: '', unit: amount(input), times: 1, micros: amount(input) };
  const of = price?.of ?? '';
  const free = of === '' || pack === undefined || (access === 'paid' && !isSold(operation, pack));
  const unit = free ? 0 : pack.prices[of];
  const times = input === undefined ? 1 : (price?.times?.(input) ?? 1);
  return { of, unit, times, micros: totalPrice(of, unit, times) };
}

/**
 * Prices of one call in these datasets, ascending, without repetition, in micro-euros. Empty without
 * datasets.
 */
function unitPrices({ charge: { price } }: Priced, packs: readonly Pack[]): number[] {
  if (price === undefined) return [];
  const prices = packs.map((pack) => (price.free?.(pack) ? 0 : pack.prices[price.of]));
  return [...new Set(prices)].sort((a, b) => a - b);
}

/** The order of calls by price in tables: free ones first, those of plans last. */
export function priceRank({ charge: { access, price } }: Priced, pack: Pack | null): number {
  if (access === 'plan') return Number.POSITIVE_INFINITY;
  if (!price || price.condition) return 0;
  return pack === null ? 1 : pack.prices[price.of];
}

/** A price for a table with the heading EUR: `0.004`, `0.002 for each id`, `free`, `plan`. */
export function priceCell(operation: Priced, pack: Pack | null): string {
  const { access, price } = operation.charge;
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
  const { description } = operation;
  const { access, price } = operation.charge;
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
    return `Costs EUR${unit}: ${packs.map((pack) => `${pack.id} ${eur(callPrice(operation, pack).unit)}`).join(', ')}.`;
  return `Costs ${amounts[0]} to ${amounts.at(-1)} EUR${unit}, by dataset.`;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const bulkPlans = Object.entries(SUBSCRIPTIONS).flatMap(([name, { bulk, eur_per_month }]) =>
  bulk && eur_per_month !== null ? [name] : [],
);

/** Which calls have the price, in words; null for a price without a condition. */
export const priceCondition = ({ charge: { price } }: Priced): string | null => price?.condition?.label ?? null;

/** The names of the pack prices that these operations take, each once. */
export function priceNames(operations: readonly Priced[]): PricedOperation[] {
  return [...new Set(operations.flatMap(({ charge: { price } }) => (price ? [price.of] : [])))];
}

/** The prices that calls of a dataset have, cheapest first, in EUR. */
export function priceList(operations: readonly Priced[], pack: Pack): { name: PricedOperation; eur: number }[] {
  const selling = operations.filter(
    (priced) => priced.charge.price && !priced.charge.price.condition && !priced.charge.price.free?.(pack),
  );
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
  { charge: { price } }: Priced,
  packs: readonly Pack[],
  eur_usd: number,
): { least: number; most: number } | null {
  if (!price) return null;
  const selling = packs.filter((pack) => !price.free?.(pack)).map((pack) => pack.prices[price.of]);
  if (selling.length === 0) return null;
  const least = price.condition ? 0 : usd(Math.min(...selling), eur_usd);
  return { least, most: usd(Math.max(...selling), eur_usd) };
}
