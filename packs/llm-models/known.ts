// Records that the pinned versions list, for what one reading alone does not show: other providers of a model,
// and models that are no longer listed.
import type { CollectContext, Identity } from 'dataset-register/pack';
import { genaiProviders } from './genai.ts';
import { providerId, recordKey } from './identity.ts';
import { piModels } from './pi-ai.ts';
import { GENAI_PINS, PI_PINS } from './pins.ts';

export interface KnownRecord {
  identity: Identity;
  /** Whether the newest pinned version of a source still lists it. */
  listed: boolean;
}

/** Records in the pinned versions of genai-prices and pi-ai, by key. */
export async function knownRecords(context: CollectContext): Promise<Map<string, KnownRecord>> {
  const records = new Map<string, KnownRecord>();
  const add = (provider: string, model_id: string, newest: boolean) => {
    const identity = { provider, model_id };
    const key = recordKey(identity);
    records.set(key, { identity, listed: newest || records.get(key)?.listed === true });
  };
  for (const pin of GENAI_PINS) {
    const providers = await genaiProviders(await context.folder(pin.package, pin.version));
    for (const { id, models } of providers) for (const model of models) add(id, model.id, pin === GENAI_PINS.at(-1));
  }
  for (const pin of PI_PINS) {
    const files = await piModels(await context.folder(pin.package, pin.version));
    const models = files.flatMap((file) => file.models);
    for (const { provider, id } of models) add(providerId(provider), id, pin === PI_PINS.at(-1));
  }
  return records;
}
