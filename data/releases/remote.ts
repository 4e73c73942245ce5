// Releases in object storage and their copies in DATA_DIR: listing, storing and fetching one.
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { putInPlace, temporaryPath } from '../model/atomic.ts';
import { paths, RELEASE_FILES } from '../model/layout.ts';
import { completeReleases, measureFile, readManifest } from '../model/manifest.ts';
import { download, type FileListing, type FileSum, readListing, type Transferred, textOf } from '../objects/listing.ts';
import type { ObjectStorage } from '../objects/objects.ts';
import type { Store } from '../state/store.ts';
import { verifySignature } from './signature.ts';

/** Object storage, and the folder that has copies of its files. */
export interface RemoteCopy {
  storage: ObjectStorage;
  dataDir: string;
}

/** The files of a release of DATA_DIR. Those of the manifest have its sums; an upload verifies them. */
export async function releaseListing(dataDir: string, dataset: string, release: string): Promise<FileListing> {
  const folder = paths.release(dataDir, dataset, release);
  const { files } = await readManifest(folder);
  const sums = new Map<string, FileSum>(
    Object.entries(files).map(([path, { bytes, sha256 }]) => [path, { bytes, sha256 }]),
  );
  const index = await readdir(join(folder, 'index')).catch(() => [] as string[]);
  const signature = existsSync(join(folder, RELEASE_FILES.signature)) ? [RELEASE_FILES.signature] : [];
  for (const path of [RELEASE_FILES.manifest, ...signature, ...index.map((name) => `index/${name}`)])
    sums.set(path, await measureFile(join(folder, path)));
  return { kind: 'release', dataset, release, files: sums };
}

/** Whether DATA_DIR has the files of this listing of a release. */
export async function hasRelease(dataDir: string, dataset: string, release: string, listing: string): Promise<boolean> {
  return (await textOf(paths.listing(dataDir, dataset, release))) === listing;
}

/** Notes that DATA_DIR has the files of this listing. */
export const noteRelease = (dataDir: string, dataset: string, release: string, listing: string): Promise<void> =>
  writeFile(paths.listing(dataDir, dataset, release), listing);

/** The release that the store names as current. */
export interface NamedRelease {
  release: string;
  listing: string;
  /** SHA-256 of its manifest. */
  manifest: string | null;
}

/**
 * Brings a release into DATA_DIR; it appears there complete, with the sums of its listing, the digest of the store and the
 * signature of its manifest verified, or not at all. Returns null when it is there already. Files that an earlier release has too are copied from there. A killed call continues.
 */
export async function fetchRelease(
  { storage, dataDir, store }: RemoteCopy & { store: Store },
  dataset: string,
  { release, listing, manifest }: NamedRelease,
): Promise<Transferred | null> {
  if (await hasRelease(dataDir, dataset, release, listing)) return null;
  const fileListing = await readListing(storage, listing);
  if (fileListing.kind !== 'release' || fileListing.dataset !== dataset || fileListing.release !== release)
    throw new Error(
      `${storage.place}: the listing ${listing} is of ${fileListing.dataset} ${fileListing.release} (expected ${dataset} ${release})`,
    );
  if (fileListing.files.get(RELEASE_FILES.manifest)?.sha256 !== manifest)
    throw new Error(`${storage.place}: the manifest of ${dataset} ${release} is not the one that the store names`);
  const arriving = join(paths.transfers(dataDir), listing);
  const local = await localFiles(dataDir, dataset);
  const done = await download(storage, fileListing.files, arriving, ({ sha256 }) => local.get(sha256) ?? null);
  await verifySignature(store, arriving, dataset);
  await writeFile(join(arriving, '.listing'), listing);
  const place = paths.release(dataDir, dataset, release);
  await mkdir(dirname(place), { recursive: true });
  if (await stat(place).catch(() => null)) {
    const aside = temporaryPath(place);
    await rename(place, aside);
    await putInPlace(arriving, place);
    await rm(aside, { recursive: true, force: true });
  } else await putInPlace(arriving, place);
  return done;
}

/** Files of the local releases of a dataset, by SHA-256. */
async function localFiles(dataDir: string, dataset: string): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  for (const id of await completeReleases(dataDir, dataset)) {
    const folder = paths.release(dataDir, dataset, id);
    const { files } = await readManifest(folder);
    for (const [path, { sha256 }] of Object.entries(files)) hashes.set(sha256, join(folder, path));
  }
  return hashes;
}

/** Removes unfinished downloads of listings that are not current any more. */
export async function clearTransfers(dataDir: string, current: ReadonlySet<string | null>): Promise<void> {
  const folder = paths.transfers(dataDir);
  for (const name of await readdir(folder).catch(() => [] as string[]))
    if (/^[0-9a-f]{64}$/.test(name) && !current.has(name))
      await rm(join(folder, name), { recursive: true, force: true });
}
