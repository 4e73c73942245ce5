// What the files of DIST_DIR still say of records that were opted out or changed since they were made: it is cut out, or made live.
import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { z } from 'zod';
import type { Gate, Release } from '../gate/gate.ts';
import { fullTextRecord } from '../operations/dataset/dataset_full_text.ts';
import { FileList, fileListHtml, fileListJson, LIST_FILES } from '../pages/file-list.ts';

/**
 * `as_is`: the file says what is so. `gone`: it is the page of a record that is opted out. `live`: the page of one that says something else now.
 * `withheld`: it names a record that is opted out, and will be made again soon. Else the text to send in its place.
 */
export type Fresh = 'as_is' | 'gone' | 'live' | 'withheld' | { text: string };

const PAGE = /^\/datasets\/([^/]+)\/(?!index\.html$)([^/]+?)(?:\.md|\.html|\/index\.html)?$/;
/** Addresses of record pages, wherever a text names them. */
const MENTION = /\/datasets\/([a-z0-9-]+)\/([a-z0-9-]+)/g;
/** What pages for people say of one record; site/parts/Record.astro writes the marks. */
const MARKED = /<!--record ([a-z0-9-]+)\/([a-z0-9-]+)-->[\s\S]*?<!--\/record-->/g;
/** Values of every record of a dataset in one file. */
const FILES = /^\/files\/([^/]+)\/public\./;
/** The list of a dataset's files. */
const LIST = /^\/files\/([^/]+)\/index\.(html|json)$/;
const PARTS = /^\/v1\/([^/]+)\/llms-full\//;

const Published = z.looseObject({
  releases: z.record(z.string(), z.string()).default({}),
  overlays: z.record(z.string(), z.number()).default({}),
  base_url: z.string().nullable().default(null),
  code: z.string().nullable().default(null),
});
type Published = z.infer<typeof Published>;
const NOBODY: Published = { releases: {}, overlays: {}, base_url: null, code: null };

/** By dataset, the version of the overlay that the files were made with. */
type Made = Record<string, number>;

let read: { path: string; at: number; said: Published } | null = null;

/** What `.build/published` says (docs/static-hosting.md); nothing where nobody published. */
async function published(root: string): Promise<Published> {
  const path = join(root, '.build', 'published');
  const found = await stat(path).catch(() => null);
  if (found === null) return NOBODY;
  if (read?.path === path && read.at === found.mtimeMs) return read.said;
  read = { path, at: found.mtimeMs, said: saidBy(await readFile(path, 'utf8').catch(() => '{}')) };
  return read.said;
}

/** A file that was cut off says nothing; the next night writes it again. */
function saidBy(text: string): Published {
  try {
    return Published.parse(JSON.parse(text));
  } catch {
    return NOBODY;
  }
}

/**
 * Whether a file of DIST_DIR that was last written at `written` holds what the release and its overlay hold now: published for both, by this code
 * and for this BASE_URL, and not replaced since (a run that is under way, or was killed, has not published yet).
 */
export async function isPublished(
  root: string,
  { pack, manifest, overlay }: Release,
  { base_url, code }: Pick<Gate, 'base_url' | 'code'>,
  written: Date,
): Promise<boolean> {
  const known = await published(root);
  const at = read?.said === known ? read.at : 0;
  return (
    known.releases[pack.id] === manifest.release &&
    known.overlays[pack.id] === (overlay?.version ?? manifest.overlay ?? 0) &&
    known.base_url === base_url &&
    known.code === code &&
    written.getTime() <= at
  );
}

/** BASE_URL that the links of the files in DIST_DIR begin with; null where no night has told it. */
export async function filesMadeFor(dist: string): Promise<string | null> {
  return (await published(dist)).base_url;
}

/** Of one dataset: what was decided since its files were made. */
interface Since {
  release: Release;
  /** Slugs and ids of the records that are opted out. */
  gone: ReadonlySet<string>;
  /** Ids of the records that say something else. */
  changed: ReadonlySet<string>;
}

function since(release: Release, made: Made): Since | null {
  const { overlay, pack } = release;
  if (!overlay) return null;
  const version = made[pack.id] ?? 0;
  // Files of a later version than the store knows: it was put back to an earlier state, and nothing can be told from numbers.
  const from = version > overlay.version ? 0 : version;
  const removed = [...overlay.removed.values()].filter((each) => each.version > from);
  const lists = [...overlay.said, ...overlay.decided].filter(([, list]) => list.some((each) => each.version > from));
  const back = [...overlay.restored].filter(([, at]) => at > from);
  const changed = new Set([...lists, ...back].map(([entity]) => entity));
  if (removed.length + changed.size === 0) return null;
  return { release, gone: new Set(removed.flatMap(({ slug, entity }) => [slug, entity])), changed };
}

/**
 * How a file of DIST_DIR has to be served now. What it is about is told by its own place there: an address may be written in many ways that lead
 * to one file.
 */
export async function freshness(
  gate: Gate,
  root: string,
  file: { path: string; content_type: string },
): Promise<Fresh> {
  const leases = await gate.lease(null);
  try {
    if (!leases.releases.some(({ overlay }) => overlay && overlay.version > 0)) return 'as_is';
    const made = (await published(root)).overlays;
    const found = leases.releases.flatMap((release) => since(release, made) ?? []);
    if (found.length === 0) return 'as_is';
    const byDataset = new Map(found.map((each) => [each.release.pack.id, each]));
    const pathname = `/${relative(await realpath(root), file.path)
      .split(sep)
      .join('/')}`;
    const [, dataset = '', slug] = PAGE.exec(pathname) ?? [];
    const own = byDataset.get(dataset);
    if (own && slug !== undefined) {
      if (own.gone.has(slug)) return 'gone';
      // One that is back may lie there as it was long ago, while the release still lacks it.
      if (own.changed.size > 0 && (await recordOf(own.release, slug)) === null) return 'gone';
      return (await namesOne(await readFile(file.path, 'utf8'), slug, dataset, own)) ? 'live' : 'as_is';
    }
    // Files for analysts are no text to cut from.
    const [, files = ''] = FILES.exec(pathname) ?? [];
    if ((byDataset.get(files)?.gone.size ?? 0) > 0) return 'withheld';
    const [, listed = '', format] = LIST.exec(pathname) ?? [];
    if ((byDataset.get(listed)?.gone.size ?? 0) > 0) {
      const list = await withheldList(join(dirname(file.path), LIST_FILES.json));
      return { text: format === 'html' ? fileListHtml(list, gate.base_url) : fileListJson(list) };
    }
    if (!/^(text\/|application\/(json|xml|ld\+json))/.test(file.content_type)) return 'as_is';
    return await rewritten(await readFile(file.path, 'utf8'), pathname, gate.base_url, byDataset);
  } finally {
    leases.done();
  }
}

/** A list of files with those marked that are withheld. */
async function withheldList(path: string): Promise<FileList> {
  const list = FileList.parse(JSON.parse(await readFile(path, 'utf8')));
  const files = list.files.map((file) =>
    FILES.test(`/files/${list.dataset}/${file.name}`) ? { ...file, withheld: true as const } : file,
  );
  return { ...list, files };
}

async function recordOf({ engine }: Release, ref: string) {
  const [ordinal] = await engine.resolve([ref]);
  if (ordinal === null || ordinal === undefined) return null;
  const [stored] = await engine.bodies([ordinal]);
  return JSON.parse(stored!.body) as Parameters<typeof fullTextRecord>[0];
}

/** Whether the page of a record is about one that says something else now, or names one beside it that does or that is gone. */
async function namesOne(
  text: string,
  slug: string,
  dataset: string,
  { release, gone, changed }: Since,
): Promise<boolean> {
  const named = [...text.matchAll(MENTION)].flatMap(([, of, other = '']) => (of === dataset ? [other] : []));
  for (const each of new Set([slug, ...named])) {
    if (gone.has(each)) return true;
    if (changed.size > 0 && changed.has((await recordOf(release, each))?.id ?? '')) return true;
  }
  return false;
}

/** A text without what it says of records that are gone, and without what is no longer so of others. */
async function rewritten(
  text: string,
  pathname: string,
  base_url: string,
  byDataset: ReadonlyMap<string, Since>,
): Promise<Fresh> {
  const parts = PARTS.exec(pathname)?.[1];
  const part = parts === undefined ? undefined : byDataset.get(parts);
  // The index of the parts names the record that each begins with, and its lengths.
  if (part && pathname.endsWith('/index.txt')) return 'withheld';
  const fresh = part ? await freshPart(text, base_url, part) : await withoutMarked(text, byDataset);
  for (const [, dataset = '', slug = ''] of fresh.matchAll(MENTION))
    if (byDataset.get(dataset)?.gone.has(slug)) return 'withheld';
  if (fresh === text) return 'as_is';
  return { text: fresh };
}

/** A part of the full text: the block of a record that is gone is left out, that of another is what it says now. */
async function freshPart(text: string, base_url: string, { release, gone, changed }: Since): Promise<string> {
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

async function withoutMarked(text: string, byDataset: ReadonlyMap<string, Since>): Promise<string> {
  const out = new Set<string>();
  for (const [block, dataset = '', slug = ''] of text.matchAll(MARKED)) {
    const since = byDataset.get(dataset);
    if (since && (since.gone.has(slug) || since.changed.has((await recordOf(since.release, slug))?.id ?? '')))
      out.add(block);
  }
  return text.replace(MARKED, (block) => (out.has(block) ? '' : block));
}
