// The packs of PACK_DIRS for a nightly run, which goes on without those that have mistakes.
import { basename } from 'node:path';
import { loadPack, PackError, packFolders } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';

/** Loads every valid pack; mistakes are returned as `failures`, with the ids of their packs as `broken`. */
export async function loadValidPacks(
  dirs: readonly string[],
): Promise<{ packs: Pack[]; broken: string[]; failures: string[] }> {
  const packs: Pack[] = [];
  const broken: string[] = [];
  const failures: string[] = [];
  for (const folder of await distinctFolders(dirs)) {
    try {
      packs.push(await loadPack(folder));
    } catch (error) {
      if (!(error instanceof PackError)) throw error;
      broken.push(basename(folder));
      failures.push(error.message);
    }
  }
  return { packs, broken, failures };
}

/** The packs that load without mistakes. */
export async function goodPacks(dirs: readonly string[]): Promise<Pack[]> {
  return (await loadValidPacks(dirs)).packs;
}

/** Pack folders in PACK_DIRS, by dataset id; of two with one id the first is used. */
async function distinctFolders(dirs: readonly string[]): Promise<string[]> {
  const folders = await packFolders(dirs);
  return folders.filter((folder, i) => i === 0 || basename(folders[i - 1] as string) !== basename(folder));
}
