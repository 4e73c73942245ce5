// A release whose engine is opened by the first question, so that a night without news opens none.
import { later } from '../../data/duckdb/later.ts';
import { paths } from '../../data/model/layout.ts';
import { readManifest } from '../../data/model/manifest.ts';
import type { Overlay } from '../../data/plan/overlay.ts';
import { overlaid } from '../../data/releases/overlaid.ts';
import { openRelease, type Release } from '../../data/releases/release.ts';
import type { Pack } from '../../packs/define/model.ts';

/** A build is in no hurry: its statements may run for long on a busy machine, and nobody else waits. */
const LIMITS = { statement: 600_000, patience: 600_000, bodies: 0, history: 0 };

/**
 * Reads the manifest now and opens the rest when it is asked something, such as what an overlay changes of it. Close it in any case. Throws where
 * the overlay cannot be put over it: files that show less than everything of it are not worth making.
 */
export async function sleepingRelease(dataDir: string, pack: Pack, id: string, overlay: Overlay): Promise<Release> {
  const folder = paths.release(dataDir, pack.id, id);
  const open = async () => (await openRelease(dataDir, pack, id, LIMITS)).engine;
  const base = { pack, manifest: await readManifest(folder), folder, engine: later(open, null) };
  const { release, problem } = await overlaid(base, overlay);
  if (problem === null) return release;
  await closeRelease(release);
  throw new Error(`the overlay of ${pack.id} cannot be put over release ${id}: ${problem}`);
}

/** Closes a release, and what lies under it. */
export async function closeRelease({ engine, base }: Release): Promise<void> {
  await engine.close();
  if (base && base.engine !== engine) await base.engine.close();
}
