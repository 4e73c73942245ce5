// An open release of one dataset: its pack, its manifest and the engine over its files. Opening checks that it is whole.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Pack } from '../packs/model.ts';
import { openEngine } from './duckdb/engine.ts';
import type { Gate } from './duckdb/gate.ts';
import type { EngineLimits } from './duckdb/limits.ts';
import { type Manifest, paths, RELEASE_FILES } from './layout.ts';
import type { Engine } from './plan.ts';

export interface Release {
  pack: Pack;
  manifest: Manifest;
  /** Absolute path of the release folder. */
  folder: string;
  engine: Engine;
}

/** Ids of releases are content names: nothing else is ever joined to a path. */
export const RELEASE_ID = /^[0-9a-f]{16}$/u;

/** The id that a dataset's `current` file holds; null when there is no release yet. Throws when it holds anything else. */
export async function currentRelease(dataDir: string, dataset: string): Promise<string | null> {
  const file = await readFile(paths.current(dataDir, dataset), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (file === null) return null;
  const id = file.trim();
  if (!RELEASE_ID.test(id)) throw new Error(`${dataset}: the file "current" holds no release id`);
  return id;
}

/** Reads the manifest of a release folder. Throws when it is missing, unreadable or of another release. */
export async function readManifest(folder: string, dataset: string, release: string): Promise<Manifest> {
  const manifest = JSON.parse(await readFile(join(folder, RELEASE_FILES.manifest), 'utf8')) as Manifest;
  if (manifest.schema_version !== 1) throw new Error(`the manifest has schema version ${manifest.schema_version}`);
  if (manifest.dataset !== dataset || manifest.release !== release)
    throw new Error(`the manifest is of ${manifest.dataset} ${manifest.release}`);
  return manifest;
}

/** Files that are hashed before they are opened; of the others the size is compared. */
const HASHED: readonly string[] = [RELEASE_FILES.engine, RELEASE_FILES.terms];

/** Compares every file with the manifest: sizes of all, hashes of those in `hashed`. Throws naming the first that differs. */
export async function checkFiles(
  folder: string,
  { files }: Manifest,
  hashed: readonly string[] = HASHED,
): Promise<void> {
  for (const file of [RELEASE_FILES.engine, RELEASE_FILES.terms, RELEASE_FILES.bodies])
    if (!files[file]) throw new Error(`the manifest does not name ${file}`);
  for (const [file, { bytes, sha256 }] of Object.entries(files)) {
    const found = await stat(join(folder, file)).catch(() => null);
    if (found?.size !== bytes) throw new Error(`${file} has ${found?.size ?? 'no'} bytes instead of ${bytes}`);
    if (hashed.includes(file) && (await hashOf(join(folder, file))) !== sha256)
      throw new Error(`${file} is not the file that the manifest names`);
  }
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}

/** Checks a release and opens its engine. Throws with one plain sentence when it is damaged. */
export async function openRelease(
  dataDir: string,
  pack: Pack,
  release: string,
  limits: Partial<EngineLimits> = {},
  gate?: Gate,
): Promise<Release> {
  const folder = paths.release(dataDir, pack.id, release);
  const manifest = await readManifest(folder, pack.id, release);
  await checkFiles(folder, manifest);
  return { pack, manifest, folder, engine: await openEngine(folder, pack, manifest, limits, gate) };
}
