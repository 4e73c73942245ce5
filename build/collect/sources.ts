// Sources on disk: pinned npm packages, fetched once, verified by their integrity and unpacked; or shipped
// with the pack.
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { UnpackSync } from 'tar';
import { putInPlace, replaceFile, UNFINISHED } from '../../data/model/atomic.ts';
import { paths } from '../../data/model/layout.ts';
import { fixtureFolder } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';
import { crawlFolder, crawlPackage } from '../crawl/source.ts';
import type { Npm } from '../effects/npm.ts';
import { declaredPackage, versionsFolder } from '../sources/store.ts';

/** A version of a package, with the required hash of its tarball; '' means that the pack ships it. */
export interface PackageVersion {
  package: string;
  version: string;
  integrity: string;
}

/** Versions that the register stores itself: their package names begin so, and where their folders are. */
const STORED = [
  { prefix: crawlPackage(''), folder: crawlFolder },
  { prefix: declaredPackage(''), folder: versionsFolder },
];

/** Whether the versions of a package are stored by the register, by crawling or from a declared source. */
const storedAs = (pkg: string) => STORED.find(({ prefix }) => pkg.startsWith(prefix));

/** Maximal bytes of an unpacked source, so that a small tarball cannot fill the disk. */
const LARGEST = 2 ** 30;

/**
 * Whether a tarball has one of the SHA-512 hashes of an integrity text (W3C Subresource Integrity; weaker
 * hashes do not count).
 */
export function hasIntegrity(tarball: Buffer, integrity: string): boolean {
  const digest = createHash('sha512').update(tarball).digest('base64');
  return integrity.split(/\s+/).some((entry) => entry.split('?')[0] === `sha512-${digest}`);
}

/** Folder of an unpacked source, whether or not it exists yet. */
function cached(dataDir: string, { package: pkg, version }: PackageVersion): string {
  return join(paths.sources(dataDir), ...pkg.split('/'), version);
}

/**
 * Returns the folder of a source, and fetches it when it is missing. The folder appears by a rename, with a
 * note of its integrity next to it: a pin with another integrity is fetched again. Throws when it cannot be
 * fetched or verified.
 */
export async function obtain(npm: Npm, dataDir: string, pack: Pack, wanted: PackageVersion): Promise<string> {
  const stored = storedAs(wanted.package);
  if (stored !== undefined) {
    const source = wanted.package.slice(stored.prefix.length);
    const folder = join(stored.folder(dataDir, pack.id, source), wanted.version);
    if (await isFolder(folder)) return folder;
    throw new Error(`this version is no longer stored: ${folder}`);
  }
  const shipped = fixtureFolder(pack.folder, wanted.package, wanted.version);
  if (wanted.integrity === '') {
    if (await isFolder(shipped)) return shipped;
    throw new Error('it has no integrity, and the pack does not contain it');
  }
  const folder = cached(dataDir, wanted);
  const note = `${folder}.integrity`;
  const notedHash = await readFile(note, 'utf8').catch(() => '');
  if (notedHash.trim() === wanted.integrity && (await isFolder(folder))) return folder;
  await mkdir(dirname(folder), { recursive: true });
  const work = await mkdtemp(join(paths.sources(dataDir), UNFINISHED));
  try {
    const tarball = await readFile(await npm.pack(wanted.package, wanted.version, work));
    if (!hasIntegrity(tarball, wanted.integrity)) {
      throw new Error('the tarball does not match its integrity');
    }
    const inside = join(work, 'inside');
    await mkdir(inside);
    await unpackTarball(tarball, inside);
    await rm(folder, { recursive: true, force: true });
    await putInPlace(inside, folder);
    await replaceFile(note, `${wanted.integrity}\n`);
    return folder;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false;
}

/**
 * Unpacks a gzipped npm tarball into an empty folder, without its top folder, and returns the number of
 * files. Throws on absolute paths, `..`, links, devices, a damaged archive, and more than a gigabyte; the
 * caller then removes the folder.
 */
export async function unpackTarball(tarball: Buffer, folder: string): Promise<number> {
  const tar = await promisify(gunzip)(tarball, { maxOutputLength: LARGEST });
  let files = 0;
  const filter: UnpackSync['filter'] = (path, entry) => {
    const steps = path.split('/').filter((step) => step !== '');
    if (path.startsWith('/') || /[\\\0:]/.test(path) || steps.includes('..'))
      throw new Error(`the tarball contains a path outside its folder: ${JSON.stringify(path)}`);
    if (!('type' in entry) || entry.type === 'Directory') return false;
    if (!['File', 'OldFile', 'ContiguousFile'].includes(entry.type))
      throw new Error(`the tarball contains ${path}, which is not a plain file`);
    if (steps.length < 2) return false;
    entry.mode = 0o444;
    files++;
    return true;
  };
  // `strict` turns the warnings of node-tar into errors.
  new UnpackSync({ cwd: folder, strict: true, strip: 1, preserveOwner: false, noMtime: true, filter })
    .on('error', (error) => {
      throw new Error(`cannot unpack the tarball: ${String(error)}`, { cause: error });
    })
    .end(tar);
  if (files === 0) throw new Error('the tarball contains no files');
  return files;
}
