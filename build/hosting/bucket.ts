// Publishing to a bucket with an S3 interface, which is then served as it is or by a CDN: types, caching and
// security headers are metadata of the objects.
import { hash } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CACHING, COPY_ENDINGS, EXTENSION_TYPES, FOR_EVER, type HostingRule } from '../../api/discovery/hosting.ts';
import { contentType } from '../../api/http/files.ts';
import type { ObjectHeaders, ObjectStorage } from '../../data/objects/objects.ts';
import { type FileEntry, parseManifest } from '../static/publish-manifest.ts';
import { UNKNOWN } from './plan.ts';
import { LIST, type PublishTarget } from './target.ts';

/** Files sent or deleted in parallel. */
const AT_ONCE = 16;

/**
 * A target in a bucket. `rules` has the headers of each path; `scratch` is a folder for the list. A compressed
 * copy is an object of its own, with `Content-Encoding`.
 */
export function bucketTarget(storage: ObjectStorage, rules: readonly HostingRule[], scratch: string): PublishTarget {
  const headersOf = objectHeaders(rules);
  /** Files that an interrupted run may have sent. */
  const uncertain = new Set<string>();
  return {
    name: storage.place,
    async read() {
      if ((await storage.size(LIST)) === null) return null;
      const list = Buffer.concat(await Array.fromAsync(await storage.read(LIST))).toString();
      for (const [path, { sha256 }] of parseManifest(list)) if (sha256 === UNKNOWN.sha256) uncertain.add(path);
      return list;
    },
    empty: () => storage.empty(),
    async write(list) {
      const file = join(scratch, 'list');
      await mkdir(scratch, { recursive: true });
      await writeFile(file, list);
      const sum = { bytes: Buffer.byteLength(list), sha256: hash('sha256', list, 'hex') };
      await storage.put(LIST, { file, ...sum }, { 'Content-Type': 'text/plain', 'Cache-Control': 'private, no-store' });
      await rm(file, { force: true });
    },
    put: (paths, from, published, onProgress) =>
      eachOf(paths, onProgress, async (path) => {
        const { bytes, sha256 } = published.get(path) as FileEntry;
        if (uncertain.has(path) && (await storage.sum(path)) === sha256) return;
        await storage.put(path, { file: from(path), bytes, sha256 }, { ...headersOf(path), sha256 });
      }),
    remove: (paths, onProgress) => eachOf(paths, onProgress, (path) => storage.remove(path)),
    close: () => storage.close(),
  };
}

/** Calls `work` for each path, some at a time. */
async function eachOf(
  paths: readonly string[],
  onProgress: (done: number) => void,
  work: (path: string) => Promise<void>,
): Promise<void> {
  const waiting = paths.toReversed();
  let done = 0;
  const worker = async () => {
    try {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        await work(next);
        done += 1;
        onProgress(done);
      }
    } finally {
      // After an error the others finish the file that they have.
      waiting.length = 0;
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker));
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
}

const endingOf = (path: string) => /\.(\w+)$/.exec(path)?.[1] ?? '';

/** Matches the path of a rule: `:name` is one segment, `/*` at the end any rest. */
function matcher(path: string): RegExp {
  const plain = path.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${plain.replace(/:\w+/g, '[^/]+').replace(/\/\*$/, '/')}${path.endsWith('/*') ? '' : '$'}`);
}

/**
 * The headers of a path on a host. The type, caching and coding are those of the object; the others are metadata of
 * the user (`x-amz-meta-…`), from which a CDN makes headers.
 */
function objectHeaders(rules: readonly HostingRule[]): (path: string) => ObjectHeaders {
  // S3 takes 2 kB of metadata, and the links of the home page are longer.
  const short = rules.filter(({ header }) => header !== 'Link');
  const matchers = short.map(({ path, header, value }) => ({ matches: matcher(path), path, header, value }));
  const codings = new Map(Object.entries(COPY_ENDINGS).map(([coding, ending]) => [ending as string, coding]));
  return (path) => {
    const ending = endingOf(path);
    const coding = codings.get(ending);
    const name = coding === undefined ? path : path.slice(0, -ending.length - 1);
    const url = name === 'index.html' ? '/' : `/${name}`;
    const fittingRules = matchers.filter(({ matches }) => matches.test(url));
    const headers = Object.fromEntries(fittingRules.map(({ header, value }) => [header, value]));
    return {
      'Cache-Control': matcher(FOR_EVER).test(url) ? CACHING.for_ever : CACHING.asked_again,
      ...headers,
      'Content-Type': headers['Content-Type'] ?? EXTENSION_TYPES[endingOf(name)] ?? contentType(name),
      ...(coding === undefined ? {} : { 'Content-Encoding': coding }),
    };
  };
}
