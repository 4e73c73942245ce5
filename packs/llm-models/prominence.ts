// Prominence of a model at a provider as one number for sorting: the maker's own record first, then the models
// that most providers sell, then the larger provider.
import type { CollectContext, Observed, Reading } from 'dataset-register/pack';
import { knownRecords } from './known.ts';
import { GENAI_PINS, PI_PINS } from './pins.ts';
import { leafOf } from './same-model.ts';
import { REGION, type Seller, sellerOf } from './vendor.ts';

/** Points for the maker's own service, and for its other services such as plans and regional ones. */
const MAKER: Record<Seller, number> = { maker: 500, 'another service of the maker': 400, reseller: 0 };
/** Points each time that the number of providers of the model doubles. */
const DOUBLING = 100;
const MOST_FOR_PROVIDERS = 400;
/** Points for each power of ten of the models that the provider sells. */
const TENFOLD = 33;
const MOST_FOR_SIZE = 100;

/** Confidence of values derived from other values. */
const DERIVED = 0.6;

/** `:free`, `:batch`: another way to buy a model. The number after a colon is a version. */
const VARIANT = /:[a-z]+$/;

type Listed = { provider: string; model_id: string };

/** What the listed records show: providers by model, and models by provider. */
export interface Listings {
  providers: ReadonlyMap<string, number>;
  models: ReadonlyMap<string, number>;
}

/** The model's name in an id; null for an alias, a variant or a route, which count as one provider. */
const modelOf = (id: string): string | null => (VARIANT.test(id) || REGION.test(id) ? null : leafOf(id));

export function countListings(records: readonly Listed[]): Listings {
  const byModel = Map.groupBy(records, ({ model_id }) => modelOf(model_id));
  const providers = new Map<string, number>();
  for (const [model, entries] of byModel)
    if (model !== null) providers.set(model, new Set(entries.map(({ provider }) => provider)).size);
  const byProvider = Map.groupBy(records, ({ provider }) => provider);
  return { providers, models: new Map([...byProvider].map(([provider, entries]) => [provider, entries.length])) };
}

const counted = (n: number, noun: string) => `${n} ${noun}${n === 1 ? '' : 's'}`;

/**
 * 0 to 1000 and its explanation. The counts are those of the pinned versions, which stay the same from night to
 * night; those of the reading for a model or a provider that is newer.
 */
export function modelProminence(
  { provider, model_id }: Listed,
  vendor: string | undefined,
  pinned: Listings,
  listings: Listings,
): { value: number; evidence: string } {
  const seller = sellerOf(provider, vendor);
  const model = modelOf(model_id);
  const sellers = model === null ? 1 : (pinned.providers.get(model) ?? listings.providers.get(model) ?? 1);
  const models = pinned.models.get(provider) ?? listings.models.get(provider) ?? 1;
  const sum =
    MAKER[seller] +
    Math.min(MOST_FOR_PROVIDERS, DOUBLING * Math.log2(sellers)) +
    Math.min(MOST_FOR_SIZE, TENFOLD * Math.log10(models));
  const evidence = `derived: ${seller}; ${counted(sellers, 'provider')} of the model; ${counted(models, 'model')} at ${provider}`;
  return { value: Math.round(sum), evidence };
}

const pinnedListings = new WeakMap<CollectContext, Promise<Listings>>();

const identityOf = ({ identity }: { identity: Observed['identity'] }): Listed => ({
  provider: String(identity['provider']),
  model_id: String(identity['model_id']),
});

async function readPinned(context: CollectContext): Promise<Listings> {
  const records = await knownRecords(context);
  return countListings([...records.values()].filter(({ listed }) => listed).map(identityOf));
}

/** Whether a newer version of the source is pinned: what only such versions list has no prominence. */
const isReplaced = ({ source, version }: Reading): boolean =>
  (source === 'pi-ai' ? PI_PINS : GENAI_PINS).slice(0, -1).some((pin) => pin.version === version);

const byAttribute = (evidence: Observed['evidence']) => (typeof evidence === 'string' ? { '*': evidence } : evidence);

/** Adds `prominence` to every record of a reading. */
export async function* withProminence(
  records: AsyncIterable<Observed>,
  reading: Reading,
  context: CollectContext,
): AsyncGenerator<Observed> {
  if (isReplaced(reading)) return yield* records;
  const pending = pinnedListings.get(context) ?? readPinned(context);
  pinnedListings.set(context, pending);
  const all = await Array.fromAsync(records);
  const [pinned, listings] = [await pending, countListings(all.map(identityOf))];
  for (const observed of all) {
    const vendor = observed.values['vendor'];
    const { value, evidence } = modelProminence(
      identityOf(observed),
      vendor === undefined ? vendor : String(vendor),
      pinned,
      listings,
    );
    yield {
      ...observed,
      values: { ...observed.values, prominence: value },
      evidence: { ...byAttribute(observed.evidence), prominence: evidence },
      confidence: { ...(typeof observed.confidence === 'object' ? observed.confidence : {}), prominence: DERIVED },
    };
  }
}
