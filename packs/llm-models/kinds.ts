// Kind and input modalities of a model when its source lacks them: derived from its name, its prices, or the
// same model at another provider.
import type { CollectContext } from 'dataset-register/pack';
import { providerId, recordKey } from './identity.ts';
import { KINDS, piModels } from './pi-ai.ts';
import { PI_PINS } from './pins.ts';
import { leafOf } from './same-model.ts';

/** A derived value with its confidence and derivation. */
export interface DerivedValue<T> {
  value: T;
  confidence: number;
  how: string;
}

interface Facts {
  kind?: DerivedValue<string> | undefined;
  input_modalities?: DerivedValue<string[]> | undefined;
}

const BY_NAME = 0.6;
const BY_SAME_MODEL = 0.6;
const BY_PRICES = 0.5;

/** Words of ids that determine what a model does, first match wins; from each maker's documentation. */
const NAMES: [pattern: RegExp, kind: string, input: string[] | null][] = [
  [/rerank/, 'other', ['text']],
  [/embed|(^|[/-])(bge|e5|gte)-|^voyage-/, 'embedding', ['text']],
  [/(llama-|granite-)?guard(ian)?(-|$)|moderation|safeguard|distilbert-sst/, 'classifier', ['text']],
  [/whisper|transcribe|speech-to-text/, 'other', ['audio']],
  [/(^|[-/])tts(-|$)|text-to-speech/, 'other', ['text']],
  [/(^|[-/])ocr(-|$)/, 'other', ['image', 'pdf']],
  [/realtime|(^|[-/])live(-|$)|sonic|-voice-/, 'other', null],
  [/m2m100|indictrans/, 'other', ['text']],
  [/(^|[-/])(sora|veo)(-|$)|-video(-|$)/, 'other', null],
  [/(^|[-/])(gpt-image|dall-e|imagen|flux|stable-diffusion)|-image(-|$)/, 'image', null],
];

/** Names of chat models that reveal other inputs than text. */
const TAKES: [pattern: RegExp, input: string[]][] = [
  [/vision|(^|[-/\d])vl(-|$)|multimodal/, ['text', 'image']],
  [/audio/, ['text', 'audio']],
];

/** Prices that determine the kind of other models; the first billed key. */
const BILLED: [key: string, kind: string, how: string][] = [
  ['output_image_mtok', 'image', 'it bills made images'],
  ['output_video_mtok', 'other', 'it bills made video'],
  ['input_document_kpages', 'other', 'it bills pages of documents'],
  ['audio_hours', 'other', 'it bills hours of audio'],
  ['output_mtok', 'chat', 'it bills output tokens, and only text'],
];

/** Facts derived from an id. */
export function factsOfName(id: string): Facts {
  const name = id.toLowerCase();
  const [pattern, kind, input] = NAMES.find(([expression]) => expression.test(name)) ?? [];
  const derive = <T>(value: T, by: RegExp): DerivedValue<T> => {
    return { value, confidence: BY_NAME, how: `derived from the words ${by.exec(name)?.[0]} of the id` };
  };
  if (pattern !== undefined && kind !== undefined)
    return { kind: derive(kind, pattern), ...(input ? { input_modalities: derive(input, pattern) } : {}) };
  const takes = TAKES.find(([expression]) => expression.test(name));
  return takes === undefined ? {} : { input_modalities: derive(takes[1], takes[0]) };
}

/** Kind derived from the price keys of a provider. */
function kindOfPrices(keys: ReadonlySet<string>): DerivedValue<string> | undefined {
  const audio = [...keys].some((key) => /audio|voice/.test(key));
  const entry = BILLED.find(([key]) => keys.has(key) && !(key === 'output_mtok' && audio));
  return entry && { value: entry[1], confidence: BY_PRICES, how: `derived from prices: ${entry[2]}` };
}

export interface OtherListings {
  /** Keys of the records in a version of pi-ai, which states their kind itself. */
  named: ReadonlySet<string>;
  byLeaf: ReadonlyMap<string, Facts>;
}

const listings = new Map<string, Promise<OtherListings>>();

/** The value of all entries if they agree. */
function agreed<T>(values: readonly T[]): T | undefined {
  const texts = new Set(values.map((value) => JSON.stringify(value)));
  return texts.size === 1 ? values[0] : undefined;
}

async function readElsewhere(folders: readonly string[]): Promise<OtherListings> {
  const named = new Set<string>();
  const models = [];
  for (const folder of folders) {
    const files = await piModels(folder);
    // The last folder is the newest version; older ones only contribute names.
    models.splice(0);
    for (const model of files.flatMap((file) => file.models)) {
      named.add(recordKey({ provider: providerId(model.provider), model_id: model.id }));
      models.push(model);
    }
  }
  const byLeaf = new Map<string, Facts>();
  for (const [leaf, entries] of Map.groupBy(models, (model) => leafOf(model.id))) {
    if (leaf === null) continue;
    const kind = agreed(entries.map(({ type }) => (KINDS.includes(type) ? type : 'other')));
    const input = agreed(entries.flatMap(({ input: takes }) => (takes === undefined ? [] : [[...takes].sort()])));
    const how = `derived from the same model at ${entries[0]!.provider} in pi-ai`;
    byLeaf.set(leaf, {
      kind: kind === undefined ? undefined : { value: kind, confidence: BY_SAME_MODEL, how },
      input_modalities: input === undefined ? undefined : { value: input, confidence: BY_SAME_MODEL, how },
    });
  }
  return { named, byLeaf };
}

/** Reads the pinned versions of pi-ai, which states the kind of its models. */
export async function readOtherListings({ folder }: CollectContext): Promise<OtherListings> {
  const folders = await Promise.all(PI_PINS.map((pin) => folder(pin.package, pin.version)));
  const key = folders.join('\n');
  const read = listings.get(key) ?? readElsewhere(folders);
  listings.set(key, read);
  return read;
}

/**
 * Kind and input modalities of a record that pi-ai does not list; nothing for a listed one, since stated
 * values are better than derived ones.
 */
export function derivedFacts(
  provider: string,
  modelId: string,
  billed: ReadonlySet<string>,
  { named, byLeaf }: OtherListings,
): Facts {
  if (named.has(recordKey({ provider, model_id: modelId }))) return {};
  const byName = factsOfName(modelId);
  const leaf = leafOf(modelId);
  const same = leaf === null ? undefined : byLeaf.get(leaf);
  return {
    kind: byName.kind ?? same?.kind ?? kindOfPrices(billed),
    input_modalities: same?.input_modalities ?? byName.input_modalities,
  };
}
