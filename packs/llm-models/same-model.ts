// Dates of a model that models.dev lists only at another provider: ids with the same last part are the same
// model.
import { comparableId } from './identity.ts';
import type { DevModel } from './models-dev.ts';
import { vendorOf } from './vendor.ts';

export interface SharedDates {
  /** One of the entries with these dates. */
  model: DevModel;
  release_date: string | undefined;
  knowledge: string | undefined;
}

/**
 * Regions and maker before a Bedrock id, and the version after it:
 * `us.anthropic.claude-3-haiku-20240307-v1:0`.
 */
const BEDROCK_PREFIX = /^(?:[a-z-]+\.)*(?=[a-z])/;
const BEDROCK_SUFFIX = /-v\d+:\d+$/;

/** The model's name in an id, comparable between providers; null for an alias of changing models. */
export function leafOf(modelId: string): string | null {
  const last = (modelId.toLowerCase().split('/').at(-1) ?? '').replace(/:free$/, '');
  const leaf = comparableId(last.replace(BEDROCK_PREFIX, '').replace(BEDROCK_SUFFIX, ''));
  return leaf === '' || leaf.endsWith('latest') ? null : leaf;
}

/** The value of more than half of the entries that have one; else undefined. */
function mostly(values: (string | undefined)[]): string | undefined {
  const present = values.filter((value) => value !== undefined);
  return present.find((value) => present.filter((other) => other === value).length * 2 > present.length);
}

/** Finds dates by model id: from the maker's own entry, else from the majority of entries. */
export function sameModel(models: DevModel[]): (modelId: string) => SharedDates | null {
  const byLeaf = Map.groupBy(models, (model) => leafOf(model.id));
  return (modelId) => {
    const leaf = leafOf(modelId);
    const entries = leaf === null ? undefined : byLeaf.get(leaf);
    if (entries === undefined) return null;
    const firstParty = entries.find(({ provider, id }) => vendorOf(provider, id)?.vendor === provider);
    const release_date = firstParty?.release_date ?? mostly(entries.map((entry) => entry.release_date));
    const knowledge = firstParty?.knowledge ?? mostly(entries.map((entry) => entry.knowledge));
    const model = firstParty ?? entries.find((entry) => entry.release_date === release_date) ?? entries[0]!;
    return release_date === undefined && knowledge === undefined ? null : { model, release_date, knowledge };
  };
}
