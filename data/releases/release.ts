// An open release of one dataset: pack, manifest and engine. Opening verifies its files.
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pack } from '../../packs/define/model.ts';
import { type Engines, localEngines } from '../duckdb/engines.ts';
import { INDEX_FORMAT, newerFormat } from '../index/container.ts';
import { withIndex } from '../index/indexed-engine.ts';
import { PackedIndex } from '../index/packed-index.ts';
import { DataError } from '../model/errors.ts';
import { INDEX_FILE, INDEX_FOLDER, type Manifest, paths, RELEASE_FILES } from '../model/layout.ts';
import { measureFile, readManifest } from '../model/manifest.ts';
import type { AppliedOverlay } from '../plan/applied-overlay.ts';
import { DEFAULT_LIMITS } from '../plan/limits.ts';
import type { Overlay } from '../plan/overlay.ts';
import type { Engine } from '../plan/plan.ts';
import { acceptKeys } from './record-keys.ts';

export interface Release {
  pack: Pack;
  manifest: Manifest;
  /** Absolute path of the release folder. */
  folder: string;
  engine: Engine;
  /** Whether every engine has loaded; absent: yes. */
  warm?: () => boolean;
  /** The overlay that `engine` and `manifest` include. */
  overlay?: Overlay;
  /** Its effect on the records. */
  applied?: AppliedOverlay;
  /** The same release without its overlay. */
  base?: Release;
  /** Ordinals of records in the files that the overlay removed or changed. */
  touched?: { gone: readonly number[]; changed: readonly number[] };
  /** The files contain an opted-out record, so none may be sent whole. */
  withheld?: boolean;
}

/** Identifies a release with its overlay; changes with either. */
export function releaseTag({ manifest, overlay }: Pick<Release, 'manifest' | 'overlay'>): string {
  const { version } = overlay ?? { version: 0 };
  return version > (manifest.overlay ?? 0) ? `${manifest.release}+${version}` : manifest.release;
}

/** Ids of releases are content names; no other text may be part of a path. */
export const RELEASE_ID = /^[0-9a-f]{16}$/u;

/** Files that opening loads completely, verified by hash; for the others only the size is compared. */
const HASHED: readonly string[] = [RELEASE_FILES.engine, RELEASE_FILES.terms];

/** Throws for the first file that does not match the manifest. */
async function checkFiles(folder: string, { files }: Manifest): Promise<void> {
  for (const file of [...HASHED, RELEASE_FILES.bodies])
    if (!files[file]) throw new Error(`the manifest has no file ${file}`);
  for (const [file, { bytes, sha256 }] of Object.entries(files)) {
    const stats = await stat(join(folder, file)).catch(() => null);
    if (stats?.size !== bytes) throw new Error(`${file} has ${stats?.size ?? 'no'} bytes (expected ${bytes})`);
    if (HASHED.includes(file) && (await measureFile(join(folder, file))).sha256 !== sha256)
      throw new Error(`${file} does not have the SHA-256 of the manifest`);
  }
}

/** Milliseconds until DuckDB loads a release that has an index, so that a process listens sooner. */
const GRACE = 1_000;

/** How a release is opened. */
export interface OpenOptions {
  /** The releases of a process should share them; absent: engines with the default limits. */
  engines?: Engines;
  /** Content of an index file that threads share; null and absent: it is read into memory of this thread. */
  indexContent?: (file: string) => Promise<Buffer | null>;
  log?: (message: string) => void;
  /** An index of a newer program version is an error, for a process that has another release to serve. */
  refuseNewer?: boolean;
}

/**
 * Verifies a release and opens its engine. Throws when the release is missing or damaged. A missing or damaged
 * packed index is logged, and DuckDB answers everything. Close it with `release.engine.close()`.
 */
export async function openRelease(
  dataDir: string,
  pack: Pack,
  release: string,
  { engines = localEngines(DEFAULT_LIMITS), indexContent, log = () => {}, refuseNewer = false }: OpenOptions = {},
): Promise<Release> {
  if (!RELEASE_ID.test(release)) throw new Error(`release id must be 16 hex digits (got ${release})`);
  const folder = paths.release(dataDir, pack.id, release);
  const manifest = await readManifest(folder);
  if (manifest.dataset !== pack.id || manifest.release !== release)
    throw new Error(`the manifest is of ${manifest.dataset} ${manifest.release} (expected ${pack.id} ${release})`);
  await checkFiles(folder, manifest);
  if (refuseNewer) refuseNewerIndex(folder);
  const tell = (message: string) => log(`${pack.id}: ${message}`);
  const content = await indexContent?.(join(folder, INDEX_FOLDER, INDEX_FILE));
  const index = openIndex(folder, pack, manifest, tell, content);
  const duckdb = engines.open({ pack, folder, indexed: index !== null });
  if (index === null) {
    await duckdb.ready();
    return { pack, manifest, folder, engine: acceptKeys(duckdb, pack) };
  }
  // The index answers most queries while DuckDB loads.
  let loaded = false;
  const load = async () => {
    try {
      await duckdb.ready();
      loaded = true;
    } catch (error) {
      // Other errors are of a release that was closed, or a process that starts again.
      if (!(error instanceof DataError)) tell(`DuckDB cannot be opened: ${(error as Error).message}`);
    }
  };
  setTimeout(load, GRACE).unref();
  return { pack, manifest, folder, engine: acceptKeys(withIndex(duckdb, index, tell), pack), warm: () => loaded };
}

/** Throws when the index of a release has a newer format than this program reads. */
function refuseNewerIndex(folder: string): void {
  const file = join(folder, INDEX_FOLDER, INDEX_FILE);
  const format = existsSync(file) ? newerFormat(file) : null;
  if (format === null) return;
  throw new Error(
    `its index has the format ${format} and this version of the program reads ${INDEX_FORMAT}; start the newer version`,
  );
}

/** The packed index of a release; null, and a log line, when it is missing or damaged. */
function openIndex(
  folder: string,
  pack: Pack,
  manifest: Manifest,
  tell: (message: string) => void,
  content: Buffer | null | undefined,
): PackedIndex | null {
  try {
    return new PackedIndex(folder, pack, { records: manifest.records, ...(content && { content }) });
  } catch (error) {
    tell(`the packed index is not used, DuckDB answers instead: ${(error as Error).message}`);
    return null;
  }
}
