// What a host needs to say what the published list says, and in which order: what is gone first, what leads to the rest last.
import type { FileEntry } from '../static/publish-manifest.ts';

/** Files by path below the folder, with `/`. */
export type Listing = ReadonlyMap<string, FileEntry>;

/** A file that may be there in any state: somebody was interrupted. */
const UNKNOWN: FileEntry = { bytes: 0, sha256: 'unknown', key: '' };

/** One step of an upload; the next begins when the host has all of it. */
export interface Step {
  title: string;
  /** Sorted. */
  put: string[];
  /** Sorted; names that the host does not have are nothing. */
  remove: string[];
}

/** Named by what it holds: never replaced, so that pages of before and of now find theirs. */
const named = (path: string) => path.startsWith('assets/') || /[-.][0-9a-f]{16}\.\w+(\.(br|gz))?$/.test(path);

/** Texts and files of many records: what they say of one that is opted out is replaced before anything else. */
const holdsMany = (path: string) => /^(v1\/[^/]+\/(llms-full|samples|examples)|files\/[^/]+\/public\.)/.test(path);

const isRecord = (path: string) => /^datasets\/[^/]+\/(?!index\.html)[^/]+$/.test(path);

/**
 * The steps from what the host has to what is published, those without work left out. A compressed copy goes with its file. Deleted first of
 * all is everything but style sheets and the like, which pages still load until they are replaced.
 */
export function stepsBetween(host: Listing, published: Listing): Step[] {
  const changed = [...published].flatMap(([path, { sha256 }]) => (host.get(path)?.sha256 === sha256 ? [] : [path]));
  const gone = [...host.keys()].filter((path) => !published.has(path));
  const loaded = (path: string) => path.startsWith('assets/');
  const rest = (path: string) => !named(path) && !holdsMany(path) && !isRecord(path);
  const front = (path: string) => path === 'index.html' || path.startsWith('sitemap') || path.startsWith('llms.txt');
  const steps: Step[] = [
    { title: 'delete what is gone', put: [], remove: gone.filter((path) => !loaded(path)) },
    { title: 'files named by their content', put: changed.filter(named), remove: [] },
    {
      title: 'texts and files of many records',
      put: changed.filter((path) => !named(path) && holdsMany(path)),
      remove: [],
    },
    { title: 'records', put: changed.filter((path) => !named(path) && isRecord(path)), remove: [] },
    { title: 'pages and guides', put: changed.filter((path) => rest(path) && !front(path)), remove: [] },
    { title: 'what leads to them', put: changed.filter((path) => rest(path) && front(path)), remove: [] },
    { title: 'delete what no page loads any more', put: [], remove: gone.filter(loaded) },
  ];
  const sorted = steps.map(({ title, put, remove }) => ({ title, put: put.sort(), remove: remove.sort() }));
  return sorted.filter(({ put, remove }) => put.length + remove.length > 0);
}

/**
 * What the host may hold while an upload is under way: everything of before and everything to come, unknown where it is touched. It is left
 * there first, so that whoever goes on after a kill knows of every file that may have arrived.
 */
export function underWay(host: Listing, published: Listing): Map<string, FileEntry> {
  const all = new Map(host);
  for (const { put, remove } of stepsBetween(host, published))
    for (const path of [...put, ...remove]) all.set(path, UNKNOWN);
  return all;
}

/** Bytes that the steps send. */
export function bytesOf(steps: readonly Step[], published: Listing): number {
  return steps.flatMap(({ put }) => put).reduce((sum, path) => sum + (published.get(path)?.bytes ?? 0), 0);
}
