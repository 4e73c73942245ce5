// Reads the models.dev catalogue in TokenLens: one object literal per provider.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'dataset-register/pack';
import { providerId } from './identity.ts';
import { findLiteral } from './literal.ts';

const Model = z.object({
  id: z.string(),
  name: z.string(),
  reasoning: z.boolean(),
  tool_call: z.boolean(),
  open_weights: z.boolean(),
  /** `YYYY-MM-DD`, or `YYYY-MM` when only the month is known. */
  knowledge: z.string().optional(),
  release_date: z.string(),
  last_updated: z.string(),
  modalities: z.object({ input: z.array(z.string()), output: z.array(z.string()) }),
  cost: z
    .object({
      input: z.number(),
      output: z.number(),
      cache_read: z.number().optional(),
      cache_write: z.number().optional(),
    })
    .optional(),
  limit: z.object({ context: z.number(), output: z.number() }),
});
const Catalogue = z.object({ id: z.string(), models: z.record(z.string(), Model) });

/** A model of models.dev with the provider's id in this dataset. */
export type DevModel = z.output<typeof Model> & { provider: string };

const PROVIDERS = join('dist', 'providers');

/** Every model of the package. Throws when a file has a new layout. */
export async function devModels(folder: string): Promise<DevModel[]> {
  const files = (await readdir(join(folder, PROVIDERS))).filter((name) => name.endsWith('.js')).sort();
  const list: DevModel[] = [];
  for (const file of files) {
    const text = await readFile(join(folder, PROVIDERS, file), 'utf8');
    const { id, models } = Catalogue.parse(findLiteral(text, /export const \w+ = (?=\{)\{/));
    for (const model of Object.values(models)) list.push({ ...model, provider: providerId(id) });
  }
  return list;
}

/** The newest `last_updated` inside; null in an empty package. */
export async function devUpdatedAt(folder: string): Promise<string | null> {
  const newest = (await devModels(folder))
    .map((model) => model.last_updated)
    .sort()
    .at(-1);
  return newest === undefined ? null : `${newest}T00:00:00Z`;
}
