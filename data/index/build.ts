// Derives the packed index of a release from its Parquet files. The same release gives the same bytes.

import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Pack } from '../../packs/define/model.ts';
import { packApart, packHere } from './build-thread.ts';
import { isContainer, writeContainer } from './container.ts';

/** Files of an index, inside the folder `index` of a release. */
export const INDEX_FOLDER = 'index';
export const INDEX_FILES = { columns: 'columns.bin', bodies: 'bodies.bin' } as const;

/** Builds the index of a release that has none, or one of an earlier program. */
export async function ensureIndex(release: string, pack: Pack): Promise<void> {
  const columns = join(release, INDEX_FOLDER, INDEX_FILES.columns);
  if (!existsSync(columns) || !isContainer(columns)) await buildIndex(release, pack);
}

/**
 * Reads a release's Parquet and writes `index/` beside it, whole or not at all. `apart`: in threads, which is worth their start for large
 * releases; the bytes are the same.
 */
export async function buildIndex(release: string, pack: Pack, apart = false): Promise<void> {
  const folder = join(release, INDEX_FOLDER);
  const temporary = `${folder}.new`;
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true });
  const attributes = pack.attributes.map(({ name, type }) => ({ name, type }));
  const work = apart ? packApart : packHere;
  const [columns, bodies] = await Promise.all([
    work({ pack: 'columns', release, attributes, spill: temporary }),
    work({ pack: 'bodies', release, file: join(temporary, INDEX_FILES.bodies) }),
  ]);
  writeContainer(join(temporary, INDEX_FILES.columns), { ...columns, ...bodies });
  rmSync(folder, { recursive: true, force: true });
  renameSync(temporary, folder);
}
