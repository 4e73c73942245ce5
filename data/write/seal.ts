// Turns a finished draft into a release: computes its content name, dates its changes, writes the manifest,
// makes it current.
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { byCodePoint } from '../../packs/define/text.ts';
import { Duck } from '../duckdb/duck.ts';
import { putInPlace, replaceFile, temporaryPath } from '../model/atomic.ts';
import { INDEX_FOLDER, type Manifest, paths, RELEASE_FILES } from '../model/layout.ts';
import { contentName, makeCurrent, measureFile, readManifest } from '../model/manifest.ts';
import { type FeedInput, writeChanges } from './changes.ts';

/** The parts of the manifest that `seal` does not compute. */
export type ManifestFields = Omit<Manifest, 'schema_version' | 'release' | 'files' | 'recorded_to'>;

/** What other machines need of a release. */
export interface Publication {
  /** Publishes the release to other machines, right before it becomes current here; absent: there are none. */
  announce?: ((release: string) => Promise<void>) | undefined;
  /** Signs the text of the manifest; absent: the release has no signature. */
  sign?: ((manifest: string) => Promise<string>) | undefined;
}

/** How the release follows the previous one. */
export interface SealInput extends Omit<FeedInput, 'now'>, Publication {
  /** Id of the previous release, if it is readable. */
  current: string | null;
  now: () => Date;
  /** Releases whose files stay, RELEASES_KEEP. */
  keep: number;
  /** Files outside the manifest that are built in parallel; awaited before the switch. */
  derived: () => Promise<unknown>;
  /** Writes the release's name into the files that contain it; `folder` is the draft's. */
  name: (folder: string, release: string) => Promise<void>;
}

/**
 * Moves the draft's files to their place and switches to them. Returns the release's id, and whether it is
 * new: equal content keeps the release (`renewDerived`). A folder of the same name that never became current,
 * because a run died before the switch, is replaced: its changes were never visible.
 */
export async function seal(
  dataDir: string,
  folder: string,
  rows: Readonly<Record<string, number>>,
  fields: ManifestFields,
  { current, now, keep, derived, name, announce, sign, ...feeding }: SealInput,
): Promise<{ release: string; fresh: boolean }> {
  const files: Manifest['files'] = {};
  for (const [file, count] of Object.entries(rows).sort(([a], [b]) => byCodePoint(a, b))) {
    files[file] = { ...(await measureFile(join(folder, file))), rows: count };
  }
  const release = contentName(files);
  if (release === current) {
    await derived();
    await renewDerived(folder, paths.release(dataDir, fields.dataset, release), { ...fields, sign });
    return { release, fresh: false };
  }
  const [changes] = await Promise.all([dated(folder, { ...feeding, now: now().getTime() }), name(folder, release)]);
  const { records } = RELEASE_FILES;
  files[records] = { ...(await measureFile(join(folder, records))), rows: rows[records] ?? null };
  files[RELEASE_FILES.changes] = { ...(await measureFile(join(folder, RELEASE_FILES.changes))), rows: changes.rows };
  const manifest: Manifest = { schema_version: 1, release, ...fields, recorded_to: changes.recorded_to, files };
  await writeManifest(folder, manifest, sign);
  await derived();
  const place = paths.release(dataDir, fields.dataset, release);
  if (await stat(place).catch(() => null)) {
    const aside = temporaryPath(place);
    await rename(place, aside);
    await putInPlace(folder, place);
    await rm(aside, { recursive: true, force: true });
  } else await putInPlace(folder, place);
  await announce?.(release);
  await makeCurrent(dataDir, fields.dataset, release, keep);
  return { release, fresh: true };
}

/**
 * Equal content from other code: the release stays, with the index of this build if it differs, and with its
 * inputs, so that the next run has nothing to do.
 */
async function renewDerived(
  folder: string,
  place: string,
  { inputs, run, sign }: Pick<ManifestFields, 'inputs' | 'run'> & Pick<SealInput, 'sign'>,
): Promise<void> {
  const [built, index] = [folder, place].map((parent) => join(parent, INDEX_FOLDER)) as [string, string];
  if (!(await sameIndex(built, index))) {
    const aside = temporaryPath(index);
    await rename(index, aside).catch(() => undefined);
    await putInPlace(built, index);
    await rm(aside, { recursive: true, force: true });
  }
  await writeManifest(place, { ...(await readManifest(place)), inputs, run }, sign);
}

/** Writes the manifest and its signature, the signature first: a killed run then writes both again. */
async function writeManifest(folder: string, manifest: Manifest, sign: SealInput['sign']): Promise<void> {
  const text = `${JSON.stringify(manifest, null, 1)}\n`;
  const signature = await sign?.(text);
  if (signature !== undefined) await replaceFile(join(folder, RELEASE_FILES.signature), `${signature}\n`);
  await replaceFile(join(folder, RELEASE_FILES.manifest), text);
}

/** Whether two folders of an index have the same files with the same bytes. */
async function sameIndex(one: string, other: string): Promise<boolean> {
  const filesOf = (folder: string) => readdir(folder).catch(() => [] as string[]);
  const [files, others] = await Promise.all([filesOf(one), filesOf(other)]);
  if (files.sort().join() !== others.sort().join()) return false;
  for (const file of files) {
    const [a, b] = await Promise.all([one, other].map((folder) => measureFile(join(folder, file))));
    if (a!.sha256 !== b!.sha256) return false;
  }
  return true;
}

async function dated(folder: string, feeding: FeedInput): ReturnType<typeof writeChanges> {
  const spill = join(folder, '..', 'spill-changes');
  const duck = await Duck.open(spill);
  try {
    return await writeChanges(duck, folder, feeding);
  } finally {
    duck.close();
  }
}
