// A release whose engine is opened by the first question, so that a night without news opens none.
import { later } from '../data/duckdb/later.ts';
import { paths } from '../data/layout.ts';
import { readManifest } from '../data/manifest.ts';
import { openRelease, type Release } from '../data/release.ts';
import type { Pack } from '../packs/model.ts';

/** A build is in no hurry: its statements may run for long on a busy machine, and nobody else waits. */
const LIMITS = { statement: 600_000, patience: 600_000, bodies: 0, history: 0 };

/** Reads the manifest now and opens the rest when it is asked something. Close its engine in any case. */
export async function sleepingRelease(dataDir: string, pack: Pack, id: string): Promise<Release> {
  const folder = paths.release(dataDir, pack.id, id);
  const open = async () => (await openRelease(dataDir, pack, id, LIMITS)).engine;
  return { pack, manifest: await readManifest(folder), folder, engine: later(open, null) };
}
