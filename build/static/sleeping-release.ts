// Releases as static files show them: without opted-out records, and with the edits that the release contains.
import { duckMemory } from '../../data/duckdb/duck.ts';
import { lazyEngine, localEngines } from '../../data/duckdb/engines.ts';
import { paths } from '../../data/model/layout.ts';
import { readManifest } from '../../data/model/manifest.ts';
import { DEFAULT_LIMITS, type EngineLimits } from '../../data/plan/limits.ts';
import { type Overlay, removalsOf } from '../../data/plan/overlay.ts';
import { applyOverlay } from '../../data/releases/apply-overlay.ts';
import { openRelease, type Release } from '../../data/releases/release.ts';
import type { Pack } from '../../packs/define/model.ts';

/**
 * Long time limits: a build may run on a busy machine, and no request waits for it. A run has few queries for
 * DuckDB, and loading the tables would take longer than all of them. Their memory is that of other databases of a night:
 * long lists need more than a service allows.
 */
const limits = (): EngineLimits => ({
  ...DEFAULT_LIMITS,
  ...{ statement: 600_000, patience: 600_000, bodies: 0, history: 0, tables: false },
  working_memory: Math.max(DEFAULT_LIMITS.working_memory, duckMemory()),
});

/**
 * Reads the manifest now and opens the engine at its first use, for example to apply an overlay. The caller
 * closes it. Throws when the overlay cannot be applied, because files without it could show removed records.
 */
export async function sleepingRelease(dataDir: string, pack: Pack, id: string, overlay: Overlay): Promise<Release> {
  const folder = paths.release(dataDir, pack.id, id);
  const open = async () => (await openRelease(dataDir, pack, id, { engines: localEngines(limits()) })).engine;
  const base = { pack, manifest: await readManifest(folder), folder, engine: lazyEngine(open) };
  // Files contain edits when a release does: until then, `edits.json` lists them (contract section 5, "Overlay").
  const { release, problem } = await applyOverlay(base, removalsOf(overlay));
  if (problem === null) return release;
  await closeRelease(release);
  throw new Error(`the overlay of ${pack.id} cannot be applied to release ${id}: ${problem}`);
}

/** Closes a release and the base under its overlay. */
export async function closeRelease({ engine, base }: Release): Promise<void> {
  await engine.close();
  if (base && base.engine !== engine) await base.engine.close();
}
