// Builds the packed index of a release from its files. Equal releases give equal bytes.

import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Pack } from '../../packs/define/model.ts';
import { INDEX_FILE, INDEX_FOLDER } from '../model/layout.ts';
import { packHere, packInThread } from './build-thread.ts';
import { isContainer, writeContainer } from './container.ts';

/** Builds the index of a release when it is missing or of an earlier program version. */
export async function ensureIndex(release: string, pack: Pack): Promise<void> {
  const columns = join(release, INDEX_FOLDER, INDEX_FILE);
  if (!existsSync(columns) || !isContainer(columns)) await buildIndex(release, pack);
}

/**
 * Reads the files of a release and writes its `index/` atomically. `apart`: packs in worker threads,
 * which pays off for large releases; the bytes are the same.
 */
export async function buildIndex(release: string, pack: Pack, apart = false): Promise<void> {
  const folder = join(release, INDEX_FOLDER);
  const temporary = `${folder}.new`;
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true });
  const attributes = pack.attributes.map(({ name, type }) => ({ name, type }));
  const work = apart ? packInThread : packHere;
  const [columns, bodies] = await Promise.all([
    work({ pack: 'columns', release, attributes, spill: temporary }),
    work({ pack: 'bodies', release, spill: temporary }),
  ]);
  writeContainer(join(temporary, INDEX_FILE), { ...columns, ...bodies });
  rmSync(folder, { recursive: true, force: true });
  renameSync(temporary, folder);
}
