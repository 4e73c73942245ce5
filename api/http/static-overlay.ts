// Removes opted-out and changed records from stale static files at serve time, or replaces the file by a live
// answer.
import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { z } from 'zod';
import { type Edits, getEdits } from '../../data/queries/edits.ts';
import type { CallDeps, Release } from '../gate/context.ts';
import { fullTextRecord } from '../operations/dataset/dataset_full_text.ts';
import { FileList, fileListHtml, fileListJson, LIST_FILES } from '../pages/file-list.ts';
import { searchLine } from '../pages/search-line.ts';
import { bulkFileDataset, bulkFiles } from '../render/data-files.ts';

/**
 * `as_is`: the file is current. `gone`: page of an opted-out record. `live`: page of a record that changed,
 * to generate anew. `withheld`: contains an opted-out record, and is written again in about so many seconds. Else the
 * text to send in its place.
 */
export type FileState = 'as_is' | 'gone' | 'live' | { withheld: number } | { text: string };

const PAGE = /^\/datasets\/([^/]+)\/(?!index\.html$)([^/]+?)(?:\.md|\.html|\/index\.html)?$/;
/** Addresses of record pages in any text. */
const MENTION = /\/datasets\/([a-z0-9-]+)\/([a-z0-9-]+)/g;
/** Content about one record in HTML pages; site/parts/Record.astro writes the marks. */
const MARKED = /<!--record ([a-z0-9-]+)\/([a-z0-9-]+)-->[\s\S]*?<!--\/record-->/g;
/** The list of a dataset's files. */
const LIST = /^\/files\/([^/]+)\/index\.(html|json)$/;
const PARTS = /^\/v1\/([^/]+)\/llms-full\//;
/** Files of the search index: a line for each record (build/static/search.ts). */
const SEARCH = /^\/search\/[0-9a-f]+\.txt$/;

const Published = z.looseObject({
  releases: z.record(z.string(), z.string()).default({}),
  overlays: z.record(z.string(), z.number()).default({}),
  edits: z.record(z.string(), z.number()).default({}),
  rewritten: z.record(z.string(), z.number()).default({}),
  base_url: z.string().nullable().default(null),
  code: z.string().nullable().default(null),
});
type Published = z.infer<typeof Published>;
const UNPUBLISHED: Published = Published.parse({});

/**
 * Content of `.build/published` (docs/static-hosting.md) and when it was written. Empty if nothing is published; a
 * truncated file counts as empty, and the next nightly run writes it again.
 */
async function readPublished(root: string): Promise<Published & { at: number }> {
  const path = join(root, '.build', 'published');
  try {
    const { mtimeMs } = await stat(path);
    return { ...Published.parse(JSON.parse(await readFile(path, 'utf8'))), at: mtimeMs };
  } catch {
    return { ...UNPUBLISHED, at: 0 };
  }
}

/**
 * Whether a file of DIST_DIR, last modified at `written`, is up to date with the release and its overlay:
 * published for both, by this code and for this BASE_URL, and not replaced since (an unfinished run has not
 * published yet).
 */
export async function isPublished(
  root: string,
  release: Release,
  { base_url, code }: Pick<CallDeps, 'base_url' | 'code'>,
  written: Date,
): Promise<boolean> {
  const content = await readPublished(root);
  return (
    content.releases[release.pack.id] === release.manifest.release &&
    changesSince(release, content) === null &&
    // The store may be from a backup that is older than the files.
    (content.overlays[release.pack.id] ?? 0) <=
      Math.max(release.overlay?.version ?? 0, release.manifest.overlay ?? 0) &&
    content.base_url === base_url &&
    content.code === code &&
    written.getTime() <= content.at
  );
}

/** What the overlay changes in the files of a dataset, or in its release where there are none; null: nothing. */
export async function editsOf(root: string, release: Release): Promise<Edits | null> {
  const { overlays, edits } = await readPublished(root);
  const { [release.pack.id]: removals } = overlays;
  return getEdits(
    release,
    removals === undefined ? undefined : { removals, edits: edits[release.pack.id] ?? removals },
  );
}

/** Whether the files of a dataset lack changes of its overlay. */
export const isOutdated = async (root: string, release: Release): Promise<boolean> =>
  (release.overlay?.version ?? 0) > 0 && changesSince(release, await readPublished(root)) !== null;

/** BASE_URL of the links in DIST_DIR's files; null if no nightly run has recorded it. */
export async function publishedBaseUrl(dist: string): Promise<string | null> {
  return (await readPublished(dist)).base_url;
}

/** Changes of one dataset since its files were built. */
interface DatasetChanges {
  release: Release;
  /** Slugs and ids of opted-out records. */
  gone: ReadonlySet<string>;
  /** Ids of records with changed values. */
  changed: ReadonlySet<string>;
}

function changesSince(release: Release, { overlays, edits }: Published): DatasetChanges | null {
  const { overlay, pack } = release;
  if (!overlay) return null;
  const removed = [...overlay.removed.values()].filter(isAfter(overlays[pack.id], overlay));
  const isNew = isAfter(edits[pack.id] ?? overlays[pack.id], overlay);
  const lists = [...overlay.ownerFacts, ...overlay.decided].filter(([, list]) => list.some(isNew));
  const restored = [...overlay.restored].filter(([, version]) => isNew({ version }));
  const changed = new Set([...lists, ...restored].map(([entity]) => entity));
  if (removed.length + changed.size === 0) return null;
  return { release, gone: new Set(removed.flatMap(({ slug, entity }) => [slug, entity])), changed };
}

/** A test of whether a change is later than the version of files. */
function isAfter(version = 0, overlay: { version: number }): (change: { version: number }) => boolean {
  // Files newer than the store: the store was restored from a backup, so the version numbers cannot be compared.
  const from = version > overlay.version ? 0 : version;
  return (change) => change.version > from;
}

/** How to serve a file of DIST_DIR. Uses the file's real path, since several URLs may lead to one file. */
export async function fileState(
  gate: CallDeps,
  root: string,
  file: { path: string; content_type: string },
): Promise<FileState> {
  const leases = await gate.lease(null);
  try {
    if (!leases.releases.some(({ overlay }) => overlay && overlay.version > 0)) return 'as_is';
    const published = await readPublished(root);
    const changes = leases.releases.flatMap((release) => changesSince(release, published) ?? []);
    if (changes.length === 0) return 'as_is';
    const byDataset = new Map(changes.map((change) => [change.release.pack.id, change]));
    const pathname = `/${relative(await realpath(root), file.path)
      .split(sep)
      .join('/')}`;
    const [, dataset = '', slug] = PAGE.exec(pathname) ?? [];
    const datasetChanges = byDataset.get(dataset);
    if (datasetChanges && slug !== undefined) {
      if (datasetChanges.gone.has(slug)) return 'gone';
      // A restored record may still have its old page, while the release lacks the record.
      if (datasetChanges.changed.size > 0 && (await recordOf(datasetChanges.release, slug)) === null) return 'gone';
      return (await mentionsChange(await readFile(file.path, 'utf8'), slug, dataset, datasetChanges))
        ? 'live'
        : 'as_is';
    }
    // Data files cannot be edited at serve time.
    const bulk = byDataset.get(bulkFileDataset(pathname.slice(1)) ?? '');
    if (bulk !== undefined)
      return isStale(pathname.slice(1), bulk, published)
        ? withheldFor(root, pathname.slice(1), bulk, published)
        : 'as_is';
    const [, listDataset = '', format] = LIST.exec(pathname) ?? [];
    const listed = byDataset.get(listDataset);
    if (listed !== undefined && listed.gone.size > 0) {
      const list = FileList.parse(JSON.parse(await readFile(join(dirname(file.path), LIST_FILES.json), 'utf8')));
      const isWithheld = (name: string) => isStale(`files/${listDataset}/${name}`, listed, published);
      const files = list.files.map((entry) => (isWithheld(entry.name) ? { ...entry, withheld: true as const } : entry));
      const marked = { ...list, files };
      return { text: format === 'html' ? fileListHtml(marked, gate.base_url) : fileListJson(marked) };
    }
    if (!/^(text\/|application\/(json|xml|ld\+json))/.test(file.content_type)) return 'as_is';
    return await withoutStale(await readFile(file.path, 'utf8'), pathname, gate.base_url, byDataset);
  } finally {
    leases.done();
  }
}

/** Whether a file of all records contains one that was removed since it was written. */
function isStale(path: string, { release: { overlay, pack } }: DatasetChanges, { overlays, rewritten }: Published) {
  if (!overlay || bulkFileDataset(path) !== pack.id) return false;
  const version = Math.max(overlays[pack.id] ?? 0, rewritten[path] ?? 0);
  return [...overlay.removed.values()].some(isAfter(version, overlay));
}

/** Bytes of files that are written again in a second, at least, and seconds until the first is begun. */
const REWRITTEN = { rate: 3_000_000, start: 2 };

/** How long a file is withheld: the files before it are written first. */
async function withheldFor(root: string, path: string, changes: DatasetChanges, published: Published) {
  const paths = bulkFiles(changes.release.pack).map(([name]) => `files/${changes.release.pack.id}/${name}`);
  const waiting = paths.slice(0, paths.indexOf(path) + 1).filter((candidate) => isStale(candidate, changes, published));
  const sizes = await Promise.all(
    waiting.map((stalePath) =>
      stat(join(root, stalePath)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  return { withheld: Math.ceil(REWRITTEN.start + bytes / REWRITTEN.rate) };
}

async function recordOf({ engine }: Release, ref: string) {
  const [ordinal] = await engine.resolve([ref]);
  if (ordinal === null || ordinal === undefined) return null;
  const [stored] = await engine.bodies([ordinal]);
  return JSON.parse(stored!.body) as Parameters<typeof fullTextRecord>[0];
}

/** Whether a record's page contains a changed record, or a related one that changed or was opted out. */
async function mentionsChange(
  text: string,
  slug: string,
  dataset: string,
  { release, gone, changed }: DatasetChanges,
): Promise<boolean> {
  const slugs = [...text.matchAll(MENTION)].flatMap(([, of, other = '']) => (of === dataset ? [other] : []));
  for (const name of new Set([slug, ...slugs])) {
    if (gone.has(name)) return true;
    if (changed.size > 0 && changed.has((await recordOf(release, name))?.id ?? '')) return true;
  }
  return false;
}

/** For a text that the next build writes. */
const WITHHELD = { withheld: 60 };

/** A text without content about opted-out or changed records. */
async function withoutStale(
  text: string,
  pathname: string,
  base_url: string,
  byDataset: ReadonlyMap<string, DatasetChanges>,
): Promise<FileState> {
  if (SEARCH.test(pathname)) return freshLines(text, byDataset);
  const parts = PARTS.exec(pathname)?.[1];
  const part = parts === undefined ? undefined : byDataset.get(parts);
  // The index contains the first record of each part, and the parts' lengths.
  if (part && pathname.endsWith('/index.txt')) return WITHHELD;
  const fresh = part ? await freshPart(text, base_url, part) : await withoutMarked(text, byDataset);
  for (const [, dataset = '', slug = ''] of fresh.matchAll(MENTION))
    if (byDataset.get(dataset)?.gone.has(slug)) return WITHHELD;
  if (fresh === text) return 'as_is';
  return { text: fresh };
}

/** A part of the full text, without the blocks of opted-out records and with new blocks for changed ones. */
async function freshPart(text: string, base_url: string, { release, gone, changed }: DatasetChanges): Promise<string> {
  const blocks = text.split(/^(?=## )/m);
  const fresh: string[] = [];
  for (const block of blocks) {
    const [, , slug = ''] = [...block.matchAll(MENTION)][0] ?? [];
    if (block.startsWith('## ') && gone.has(slug)) continue;
    const record = block.startsWith('## ') && changed.size > 0 ? await recordOf(release, slug) : null;
    fresh.push(record && changed.has(record.id) ? fullTextRecord(record, release.pack, base_url) : block);
  }
  return fresh.join('');
}

/** A file of the search index, without the lines of opted-out records and with new lines for changed ones. */
async function freshLines(text: string, byDataset: ReadonlyMap<string, DatasetChanges>): Promise<FileState> {
  const lines = new Map<string, string>();
  for (const [dataset, { release, gone, changed }] of byDataset) {
    for (const ref of [...gone, ...changed]) lines.set(`/datasets/${dataset}/${ref}`, '');
    for (const record of await Promise.all([...changed].map((id) => recordOf(release, id))))
      if (record)
        lines.set(
          `/datasets/${dataset}/${record.slug}`,
          `${searchLine(release.pack, record, (name) => record.attributes[name])}\n`,
        );
  }
  const fresh = text.replace(/^.*\t(\S+)\n/gm, (line, path: string) => lines.get(path) ?? line);
  return fresh === text ? 'as_is' : { text: fresh };
}

async function withoutMarked(text: string, byDataset: ReadonlyMap<string, DatasetChanges>): Promise<string> {
  const out = new Set<string>();
  for (const [block, dataset = '', slug = ''] of text.matchAll(MARKED)) {
    const changes = byDataset.get(dataset);
    if (changes && (changes.gone.has(slug) || changes.changed.has((await recordOf(changes.release, slug))?.id ?? '')))
      out.add(block);
  }
  return text.replace(MARKED, (block) => (out.has(block) ? '' : block));
}
