// What a service lacks at its start: datasets without a release, or without files in DIST_DIR.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { olderFormat } from '../index/container.ts';
import { INDEX_FILE, INDEX_FOLDER, paths } from '../model/layout.ts';

/** The settings that decide, as config.ts reads them. */
interface Folders {
  DATA_DIR: string;
  DIST_DIR: string;
  RELEASES_URL?: string | undefined;
}

/** The datasets of PACK_DIRS: names of the folders with a pack.ts, which is not read. */
export const packIds = (dirs: readonly string[]): string[] =>
  dirs.flatMap((dir) =>
    existsSync(dir) ? readdirSync(dir).filter((name) => existsSync(join(dir, name, 'pack.ts'))) : [],
  );

/** What is missing of some datasets. */
export interface Missing {
  /** The datasets without a release that this program can read. */
  releases: string[];
  /** Whether a dataset with a release has no page. */
  files: boolean;
}

/**
 * What is missing of these datasets. Reads only some bytes, so that a start is not delayed. Null: nothing, as with
 * RELEASES_URL: such a machine fetches what another one built.
 *
 *     findMissing(config, packIds(config.PACK_DIRS)); // { releases: ['airports'], files: true }
 */
export function findMissing(
  { DATA_DIR, DIST_DIR, RELEASES_URL }: Folders,
  datasets: readonly string[],
): Missing | null {
  if (RELEASES_URL) return null;
  const releases = datasets.filter((id) => !isReadable(paths.releases(DATA_DIR, id)));
  const hasPage = (id: string) => existsSync(join(DIST_DIR, 'datasets', id, 'index.html'));
  const files = datasets.some((id) => !releases.includes(id) && !hasPage(id));
  return releases.length === 0 && !files ? null : { releases, files };
}

/** Whether a dataset has a release, and its index is not of an earlier program version. */
function isReadable(releases: string): boolean {
  const current = join(releases, 'current');
  if (!existsSync(current)) return false;
  const index = join(releases, readFileSync(current, 'utf8').trim(), INDEX_FOLDER, INDEX_FILE);
  return !existsSync(index) || !olderFormat(index);
}
