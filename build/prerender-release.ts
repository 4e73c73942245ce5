// A release whose engine is opened by the first question, so that a night without news opens none.

import { paths } from '../data/layout.ts';
import { readManifest } from '../data/manifest.ts';
import type { Engine } from '../data/plan.ts';
import { openRelease, type Release } from '../data/release.ts';
import type { Pack } from '../packs/model.ts';

/** A build is in no hurry: its statements may run for long on a busy machine, and nobody else waits. */
const LIMITS = { statement: 600_000, patience: 600_000, bodies: 0, history: 0 };

/** Reads the manifest now and opens the rest when it is asked something. Close its engine in any case. */
export async function sleepingRelease(dataDir: string, pack: Pack, id: string): Promise<Release> {
  const folder = paths.release(dataDir, pack.id, id);
  let opening: Promise<Release> | undefined;
  const engine = async (): Promise<Engine> => {
    opening ??= openRelease(dataDir, pack, id, LIMITS);
    return (await opening).engine;
  };
  return {
    pack,
    manifest: await readManifest(folder),
    folder,
    engine: {
      search: async (plan, asking) => (await engine()).search(plan, asking),
      facets: async (plan, asking) => (await engine()).facets(plan, asking),
      similar: async (plan, asking) => (await engine()).similar(plan, asking),
      stats: async (plan, asking) => (await engine()).stats(plan, asking),
      timeseries: async (plan, asking) => (await engine()).timeseries(plan, asking),
      resolve: async (refs, asking) => (await engine()).resolve(refs, asking),
      bodies: async (ordinals, asking) => (await engine()).bodies(ordinals, asking),
      facts: async (plan, asking) => (await engine()).facts(plan, asking),
      past: async (ordinals, asking) => (await engine()).past(ordinals, asking),
      doubts: async (entity, asking) => (await engine()).doubts(entity, asking),
      changelog: async (plan, asking) => (await engine()).changelog(plan, asking),
      changes: async (plan, asking) => (await engine()).changes(plan, asking),
      close: async () => {
        if (opening) await (await opening).engine.close();
      },
    },
  };
}
