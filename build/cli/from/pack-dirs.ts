// The folders of packs that commands for publishers write to.
import { resolve } from 'node:path';

/** PACK_DIRS as absolute paths; new packs are written to the first. Unset: `packs` in the working directory. */
export function packDirs(cwd: string, environment: Readonly<Record<string, string | undefined>>): string[] {
  const list = environment['PACK_DIRS'];
  return list ? list.split(',').map((path) => resolve(path.trim())) : [resolve(cwd, 'packs')];
}
