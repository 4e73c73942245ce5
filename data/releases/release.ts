// An open release of one dataset: its pack, its manifest and the engine over its files. Opening checks that it is whole.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pack } from '../../packs/define/model.ts';
import { openEngine } from '../duckdb/engine.ts';
import { later } from '../duckdb/later.ts';
import { PackedIndex } from '../index/engine.ts';
import { withIndex } from '../index/indexed.ts';
import { type Manifest, paths, RELEASE_FILES } from '../model/layout.ts';
import { measure, readManifest } from '../model/manifest.ts';
import type { Gate } from '../plan/gate.ts';
import type { EngineLimits } from '../plan/limits.ts';
import type { Overlay } from '../plan/overlay.ts';
import type { Engine } from '../plan/plan.ts';

export interface Release {
  pack: Pack;
  manifest: Manifest;
  /** Absolute path of the release folder. */
  folder: string;
  engine: Engine;
  /** Whether everything that answers questions is loaded; absent: it is. */
  warm?: () => boolean;
  /** What lies over it; `engine` and `manifest` are then those of the release under it. */
  overlay?: Overlay;
  /** The same without what lies over it. */
  base?: Release;
  /** Ordinals of the records that its files hold and that are gone, and of those that say something else than the files have them say. */
  touched?: { gone: readonly number[]; changed: readonly number[] };
  /** Its files hold a record that is opted out: none of them may be handed out whole. */
  withheld?: boolean;
  /** A release made of the same facts now would hold other records: one went, or came back. */
  outdated?: boolean;
}

/** Names what a release and its overlay say together: another name after every change of either. */
export function releaseTag({ manifest, overlay }: Pick<Release, 'manifest' | 'overlay'>): string {
  const { version } = overlay ?? { version: 0 };
  return version > (manifest.overlay ?? 0) ? `${manifest.release}+${version}` : manifest.release;
}

/** Ids of releases are content names; nothing else is ever joined to a path. */
export const RELEASE_ID = /^[0-9a-f]{16}$/u;

/** Files that are loaded whole when a release is opened, and hashed before; of the others only the size is compared. */
const HASHED: readonly string[] = [RELEASE_FILES.engine, RELEASE_FILES.terms];

/** Throws one plain sentence about the first file that is not as the manifest says. */
async function checkFiles(folder: string, { files }: Manifest): Promise<void> {
  for (const file of [...HASHED, RELEASE_FILES.bodies])
    if (!files[file]) throw new Error(`the manifest does not name ${file}`);
  for (const [file, { bytes, sha256 }] of Object.entries(files)) {
    const found = await stat(join(folder, file)).catch(() => null);
    if (found?.size !== bytes) throw new Error(`${file} has ${found?.size ?? 'no'} bytes instead of ${bytes}`);
    if (HASHED.includes(file) && (await measure(join(folder, file))).sha256 !== sha256)
      throw new Error(`${file} has other content than the manifest says`);
  }
}

/**
 * Checks a release and opens its engine; engines of one process should share a gate. Throws when the release is missing
 * or damaged; a packed index that is missing or damaged is told to `log`, and DuckDB answers alone. Close it by `release.engine.close()`.
 */
export async function openRelease(
  dataDir: string,
  pack: Pack,
  release: string,
  limits: Partial<EngineLimits> = {},
  gate?: Gate,
  log: (message: string) => void = () => {},
): Promise<Release> {
  if (!RELEASE_ID.test(release)) throw new Error('not the id of a release');
  const folder = paths.release(dataDir, pack.id, release);
  const manifest = await readManifest(folder);
  if (manifest.dataset !== pack.id || manifest.release !== release)
    throw new Error(`the manifest is that of ${manifest.dataset} ${manifest.release}`);
  await checkFiles(folder, manifest);
  const tell = (message: string) => log(`${pack.id}: ${message}`);
  const index = openIndex(folder, pack, manifest, tell);
  // The index answers most questions at once; the tables of DuckDB load meanwhile, and without it they are waited for.
  const open = () => openEngine(folder, pack, manifest, limits, gate, index !== null);
  if (index === null) return { pack, manifest, folder, engine: await open() };
  let loaded = false;
  const duckdb = later(async () => {
    try {
      const engine = await open();
      loaded = true;
      return engine;
    } catch (error) {
      tell(`DuckDB cannot be opened: ${(error as Error).message}`);
      throw error;
    }
  });
  return { pack, manifest, folder, engine: withIndex(duckdb, index, tell), warm: () => loaded };
}

/** The packed index of a release; null where it is missing or damaged, which is told. */
function openIndex(
  folder: string,
  pack: Pack,
  manifest: Manifest,
  tell: (message: string) => void,
): PackedIndex | null {
  try {
    return new PackedIndex(folder, pack, { records: manifest.records });
  } catch (error) {
    tell(`the packed index is not used: ${(error as Error).message}`);
    return null;
  }
}
