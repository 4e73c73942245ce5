// Files of a dataset after a removal: each is written again without the removed records, by the writer that also makes it
// in a night, and is published before the next one is begun (contract section 5, "Overlay").
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { scratchFolder } from '../../data/model/atomic.ts';
import { paths } from '../../data/model/layout.ts';
import { currentRelease, readManifest } from '../../data/model/manifest.ts';
import { type Overlay, removalsOf } from '../../data/plan/overlay.ts';
import type { OverlaySource } from '../../data/releases/overlay-source.ts';
import type { Release } from '../../data/releases/release.ts';
import { PUBLIC_FILES, type PublicFile, writePublicFile } from '../../data/write/analysts-files.ts';
import type { Pack } from '../../packs/define/model.ts';
import type { Progress } from '../effects/progress.ts';
import { publicSource, writeCroissant, writeFileLists } from './analysts.ts';
import { Output } from './output.ts';
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
  output: Output;
  published: PublishedPointer;
  scratch: string;
}

/**
 * Writes the files of a dataset that contain a removed record again, until there is none; records may be removed
 * meanwhile. A run that is killed goes on with the file that it was writing. Does nothing before the first night.
 */
export async function rewriteFiles(options: RewriteOptions): Promise<void> {
  const { config, pack, packs, overlays } = options;
  const { DATA_DIR, DIST_DIR } = config;
  const published = readPublished(DIST_DIR);
  if (published?.releases[pack.id] === undefined) return;
  if (staleFile(published, pack, await overlays.read(pack.id)) === undefined) return;
  const unlock = await lockFiles(DIST_DIR);
  const scratch = await scratchFolder(DATA_DIR, 'removals');
  try {
    const releases = (await Promise.all(packs.map((each) => manifestOf(DATA_DIR, each)))).flatMap((each) => each ?? []);
    const release = releases.find((each) => each.pack === pack);
    if (release === undefined) return;
    const output = new Output(DIST_DIR);
    output.keepOld(() => true);
    // The next night makes all of them: files are only kept together with the others of their key.
    for (const [path, entry] of output.files)
      if (path.startsWith(`files/${pack.id}/`) || path.startsWith(`v1/${pack.id}/llms-full`))
        output.files.set(path, { ...entry, key: '' });
    const rewrite = { ...options, release, releases, output, published: readPublished(DIST_DIR) ?? published, scratch };
    for (;;) {
      const overlay = removalsOf(await overlays.read(pack.id));
      const path = staleFile(rewrite.published, pack, overlay);
      if (path === undefined) return;
      await rewriteFile(rewrite, path, overlay);
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

/** Writes a file, deletes the pages of the removed records, and publishes the state. */
async function rewriteFile(rewrite: Rewrite, path: string, overlay: Overlay): Promise<void> {
  const { config, pack, release, output, scratch, progress } = rewrite;
  const began = performance.now();
  const written = [path];
  if (path === fullTextPath(pack)) written.push(...(await writeTexts(rewrite, overlay)));
  else {
    const name = path.slice(`files/${pack.id}/`.length) as PublicFile;
    const fresh = join(scratch, name);
    const pathOf = (other: PublicFile) => (other === name ? fresh : join(config.DIST_DIR, 'files', pack.id, other));
    await rm(fresh, { force: true });
    await writePublicFile(name, publicSource({ ...release, overlay }), pathOf, join(scratch, 'spill'));
    output.take(path, fresh);
  }
  for (const { slug } of overlay.removed.values())
    for (const page of [`${slug}.md`, `${slug}/index.html`]) output.files.delete(`datasets/${pack.id}/${page}`);
  writeCroissant(release, config.BASE_URL, output, '');
  await writeFileLists(rewrite.releases, config.BASE_URL, scratch, output);
  output.finish({ complete: false });
  const { published } = rewrite;
  const rewritten = { ...published.rewritten, ...Object.fromEntries(written.map((each) => [each, overlay.version])) };
  const bytes = [...output.files.values()].reduce((sum, file) => sum + file.bytes, 0);
  rewrite.published = await publish(config.DIST_DIR, { ...published, files: output.files.size, bytes, rewritten });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  progress.note(`${pack.id}: ${written.join(', ')} written without opted-out records in ${seconds} s`);
}

/** Writes the full text, and the GeoJSON file, whose path is returned. */
async function writeTexts(
  { config, pack, release, output, scratch }: Rewrite,
  overlay: Overlay,
): Promise<readonly string[]> {
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
  return output.files.has(geojson) ? [geojson] : [];
}

/** A release without its engine; null: the dataset has none. */
async function manifestOf(dataDir: string, pack: Pack): Promise<Omit<Release, 'engine'> | null> {
  const id = await currentRelease(dataDir, pack.id);
  if (id === null) return null;
  const folder = paths.release(dataDir, pack.id, id);
  return { pack, folder, manifest: await readManifest(folder) };
}
