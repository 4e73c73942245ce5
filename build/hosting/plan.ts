// Plans an upload: which files to send and delete, in an order in which no page links to a missing file.
import { bulkFileDataset } from '../../api/render/data-files.ts';
import type { FileEntry } from '../static/publish-manifest.ts';

/** Files by path below the folder, with `/`. */
export type FileEntries = ReadonlyMap<string, FileEntry>;

/** A file in an unknown state, left by an interrupted upload. */
export const UNKNOWN: FileEntry = { bytes: 0, sha256: 'unknown', key: '' };

/** One step of an upload; the next begins after it is complete. */
export interface UploadStep {
  title: string;
  /** Sorted. */
  put: string[];
  /** Sorted; the host may lack some of these names. */
  remove: string[];
}

/** Named by its content: never replaced, so that old and new pages find their files. */
const isImmutable = (path: string) => path.startsWith('assets/') || /[-.][0-9a-f]{16}\.\w+(\.(br|gz))?$/.test(path);

/** Texts and files of many records: replaced first, because they may contain a record that is opted out. */
const holdsMany = (path: string) =>
  /^v1\/[^/]+\/(llms-full|samples|examples)/.test(path) || bulkFileDataset(path.replace(/\.(br|gz)$/, '')) !== null;

const isRecord = (path: string) => /^datasets\/[^/]+\/(?!index\.html)[^/]+$/.test(path);

/**
 * The steps from the files of the host to the published ones, without empty steps. A compressed copy is sent
 * with its file. Deletions are first, except assets, which old pages still load until they are replaced.
 */
export function stepsBetween(host: FileEntries, published: FileEntries): UploadStep[] {
  const changed = [...published].flatMap(([path, { sha256 }]) => (host.get(path)?.sha256 === sha256 ? [] : [path]));
  const gone = [...host.keys()].filter((path) => !published.has(path));
  const loaded = (path: string) => path.startsWith('assets/');
  const rest = (path: string) => !isImmutable(path) && !holdsMany(path) && !isRecord(path);
  const front = (path: string) => path === 'index.html' || path.startsWith('sitemap') || path.startsWith('llms.txt');
  const steps: UploadStep[] = [
    { title: 'delete removed files', put: [], remove: gone.filter((path) => !loaded(path)) },
    { title: 'immutable files', put: changed.filter(isImmutable), remove: [] },
    {
      title: 'texts and files of many records',
      put: changed.filter((path) => !isImmutable(path) && holdsMany(path)),
      remove: [],
    },
    { title: 'records', put: changed.filter((path) => !isImmutable(path) && isRecord(path)), remove: [] },
    { title: 'pages and guides', put: changed.filter((path) => rest(path) && !front(path)), remove: [] },
    { title: 'home page, sitemaps and llms.txt', put: changed.filter((path) => rest(path) && front(path)), remove: [] },
    { title: 'delete unused assets', put: [], remove: gone.filter(loaded) },
  ];
  const sorted = steps.map(({ title, put, remove }) => ({ title, put: put.sort(), remove: remove.sort() }));
  return sorted.filter(({ put, remove }) => put.length + remove.length > 0);
}

/**
 * The files that the host may have during an upload: all old and all new ones, unknown where a step touches
 * them. The list is written first, so that the run after an interrupted one knows every file.
 */
export function possibleFiles(host: FileEntries, published: FileEntries): Map<string, FileEntry> {
  const all = new Map(host);
  for (const { put, remove } of stepsBetween(host, published))
    for (const path of [...put, ...remove]) all.set(path, UNKNOWN);
  return all;
}

/** Bytes that the steps send. */
export function bytesOf(steps: readonly UploadStep[], published: FileEntries): number {
  return steps.flatMap(({ put }) => put).reduce((sum, path) => sum + (published.get(path)?.bytes ?? 0), 0);
}
