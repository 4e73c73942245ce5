// Files of a dataset after a removal: each is written again without the removed records, by the writer that also makes it
// in a night, and is published before the next one is begun (contract section 5, "Overlay").
import { chmod, copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { putInPlace, replaceFile, scratchFolder } from '../../data/model/atomic.ts';
import { paths } from '../../data/model/layout.ts';
import { currentRelease, readManifest } from '../../data/model/manifest.ts';
import { PUBLIC_MODES } from '../../data/model/permissions.ts';
import { type Overlay, removalsOf } from '../../data/plan/overlay.ts';
import type { OverlaySource } from '../../data/releases/overlay-source.ts';
import type { Release } from '../../data/releases/release.ts';
import { PUBLIC_FILES, type PublicFile, writeDataFile } from '../../data/write/analysts-files.ts';
import type { Pack } from '../../packs/define/model.ts';
import type { Progress } from '../effects/progress.ts';
import { isOfAllRecords, publicSource, writeCroissant, writeFileLists } from './analysts.ts';
import { BUILD_NOTES, Output } from './output.ts';
import { lockFiles, type PublishedPointer, publish, readPublished } from './publish.ts';

export interface RewriteOptions {
  config: Pick<Config, 'DATA_DIR' | 'DIST_DIR' | 'BASE_URL'>;
  pack: Pack;
  /** The packs of all datasets, whose files the lists of files name. */
  packs: readonly Pack[];
  overlays: OverlaySource;
  progress: Pick<Progress, 'note'>;
}

/** The release that the files are written from, and the state of DIST_DIR. */
interface Rewrite extends RewriteOptions {
  release: Omit<Release, 'engine'>;
  releases: readonly Pick<Release, 'pack' | 'manifest'>[];
  published: PublishedPointer;
  scratch: string;
}

/**
 * Writes the files of a dataset that contain a removed record again, until there is none; records may be removed
 * meanwhile. After a run that was killed, the next one goes on with the file that it was writing. Does nothing before the
 * first night.
 */
export async function rewriteFiles(options: RewriteOptions): Promise<void> {
  const { config, pack, packs, overlays, progress } = options;
  const { DATA_DIR, DIST_DIR } = config;
  const before = readPublished(DIST_DIR);
  if (before?.releases[pack.id] === undefined) return;
  if (staleFile(before, pack, await overlays.read(pack.id)) === undefined) return;
  const unlock = await lockFiles(DIST_DIR);
  const scratch = await scratchFolder(DATA_DIR, 'removals');
  try {
    const manifests = await Promise.all(packs.map((other) => manifestOf(DATA_DIR, other)));
    const releases = manifests.flatMap((manifest) => manifest ?? []);
    const release = releases.find((candidate) => candidate.pack === pack);
    if (release === undefined) return;
    const rewrite = { ...options, release, releases, published: readPublished(DIST_DIR) ?? before, scratch };
    let listed = false;
    for (;;) {
      const overlay = removalsOf(await overlays.read(pack.id));
      const path = staleFile(rewrite.published, pack, overlay);
      if (path === undefined) return;
      const began = performance.now();
      if (path === fullTextPath(pack)) await publishList(rewrite, overlay, true);
      else await rewriteFile(rewrite, path, overlay);
      // Hosts delete the pages of removed records first. The list has each page of a register: writing it takes longer
      // than most files, so that it follows the first one.
      if (path === rewrittenPaths(pack)[0] || (!listed && path !== fullTextPath(pack)))
        await publishList(rewrite, overlay, false);
      listed = true;
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      progress.note(`${path} written without opted-out records in ${seconds} s`);
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
    unlock();
  }
}

const fullTextPath = ({ id }: Pack) => `v1/${id}/llms-full.txt`;

/** The files in the order in which they are written; the last one is written together with the GeoJSON file. */
const rewrittenPaths = (pack: Pack): string[] => [
  ...PUBLIC_FILES.map((name) => `files/${pack.id}/${name}`),
  fullTextPath(pack),
];

/** The first file of a dataset that may contain a removed record. */
function staleFile({ overlays = {}, rewritten = {} }: PublishedPointer, pack: Pack, overlay: Overlay) {
  const { version } = removalsOf(overlay);
  return rewrittenPaths(pack).find((path) => Math.max(overlays[pack.id] ?? 0, rewritten[path] ?? 0) < version);
}

/** Writes a public file, and notes its version when it is in place: the API serves it from then on. */
async function rewriteFile(rewrite: Rewrite, path: string, overlay: Overlay): Promise<void> {
  const { config, pack, release, scratch, published } = rewrite;
  const name = path.slice(`files/${pack.id}/`.length) as PublicFile;
  const fresh = join(scratch, name);
  const pathOf = (other: PublicFile) => (other === name ? fresh : join(config.DIST_DIR, 'files', pack.id, other));
  await rm(fresh, { force: true });
  await writeDataFile(name, publicSource({ ...release, overlay }), pathOf, join(scratch, 'spill'));
  const arriving = join(config.DIST_DIR, BUILD_NOTES, name);
  await copyFile(fresh, arriving);
  await chmod(arriving, PUBLIC_MODES.file);
  await putInPlace(arriving, join(config.DIST_DIR, path));
  const rewritten = { ...published.rewritten, [path]: overlay.version };
  rewrite.published = { ...published, rewritten };
  await replaceFile(join(config.DIST_DIR, BUILD_NOTES, 'published'), `${JSON.stringify(rewrite.published)}\n`);
}

/**
 * Publishes the list of files for static hosts: without the pages of removed records, and with the files as they are now.
 * `texts`: also writes the full text and the GeoJSON file.
 */
async function publishList(rewrite: Rewrite, overlay: Overlay, texts: boolean): Promise<void> {
  const { config, pack, release, scratch, published } = rewrite;
  const output = new Output(config.DIST_DIR);
  output.remeasure(isOfAllRecords([pack.id]));
  output.keepOld(() => true);
  for (const { slug } of overlay.removed.values())
    for (const page of [`${slug}.md`, `${slug}/index.html`]) output.files.delete(`datasets/${pack.id}/${page}`);
  const written = texts ? await writeTexts(rewrite, overlay, output) : [];
  writeCroissant(release, config.BASE_URL, output, '');
  await writeFileLists(rewrite.releases, config.BASE_URL, scratch, output);
  output.finish({ complete: false });
  const rewritten = { ...published.rewritten, ...Object.fromEntries(written.map((path) => [path, overlay.version])) };
  const bytes = [...output.files.values()].reduce((sum, file) => sum + file.bytes, 0);
  rewrite.published = await publish(config.DIST_DIR, { ...published, files: output.files.size, bytes, rewritten });
}

/** Writes the full text and the GeoJSON file. Returns their paths. */
async function writeTexts({ config, pack, release, scratch }: Rewrite, overlay: Overlay, output: Output) {
  // Both modules load the operations of the API, which takes longer than some of the other files.
  const [{ writePages }, { closeRelease, sleepingRelease }] = await Promise.all([
    import('./pages.ts'),
    import('./sleeping-release.ts'),
  ]);
  // The new text may have fewer parts.
  for (const path of output.files.keys()) if (path.startsWith(`v1/${pack.id}/llms-full/`)) output.files.delete(path);
  const opened = await sleepingRelease(config.DATA_DIR, pack, release.manifest.release, overlay);
  try {
    const key = `removals.${pack.id}.${overlay.version}`;
    const options = { release: opened, base: config.BASE_URL, scratch, key, pages: false, progress: () => {} };
    await writePages(options, output);
  } finally {
    await closeRelease(opened);
  }
  const geojson = `files/${pack.id}/public.geojson`;
  return [fullTextPath(pack), ...(output.files.has(geojson) ? [geojson] : [])];
}

/** A release without its engine; null: the dataset has none. */
async function manifestOf(dataDir: string, pack: Pack): Promise<Omit<Release, 'engine'> | null> {
  const id = await currentRelease(dataDir, pack.id);
  if (id === null) return null;
  const folder = paths.release(dataDir, pack.id, id);
  return { pack, folder, manifest: await readManifest(folder) };
}
