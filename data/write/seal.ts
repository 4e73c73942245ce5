// Makes a finished draft a release: names it by its content, dates its changes, writes the manifest, and makes it the current one.
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { byCodePoint } from '../../packs/text.ts';
import { type Manifest, paths, RELEASE_FILES } from '../layout.ts';
import { contentName, makeCurrent, measure } from '../manifest.ts';
import { putInPlace, unfinished } from './atomic.ts';
import { writeChanges } from './changes.ts';
import { Duck } from './duck.ts';

/** What the manifest says beside what `seal` finds out itself. */
export type Told = Omit<Manifest, 'schema_version' | 'release' | 'files'>;

/**
 * Moves the draft's files to their place and switches to them. `current` is the release before, if it can still be read; `now` is when the
 * changes become visible. Tells the release's id, and
 * whether it is another one than before: the same content again changes nothing. A folder of the same name that never became current,
 * because a run died before the switch, is replaced: its changes had not been visible.
 */
export async function seal(
  dataDir: string,
  folder: string,
  rows: Readonly<Record<string, number>>,
  told: Told,
  current: string | null,
  now: () => Date,
): Promise<{ release: string; fresh: boolean }> {
  const files: Manifest['files'] = {};
  for (const [file, count] of Object.entries(rows).sort(([a], [b]) => byCodePoint(a, b))) {
    files[file] = { ...(await measure(join(folder, file))), rows: count };
  }
  const release = contentName(files);
  if (release === current) return { release, fresh: false };
  const before = current === null ? null : paths.release(dataDir, told.dataset, current);
  const changes = await dated(folder, before, now().getTime());
  files[RELEASE_FILES.changes] = { ...(await measure(join(folder, RELEASE_FILES.changes))), rows: changes };
  const manifest: Manifest = { schema_version: 1, release, ...told, files };
  await writeFile(join(folder, RELEASE_FILES.manifest), `${JSON.stringify(manifest, null, 1)}\n`);
  const place = paths.release(dataDir, told.dataset, release);
  if (await stat(place).catch(() => null)) {
    const aside = unfinished(place);
    await rename(place, aside);
    await putInPlace(folder, place);
    await rm(aside, { recursive: true, force: true });
  } else await putInPlace(folder, place);
  await makeCurrent(dataDir, told.dataset, release);
  return { release, fresh: true };
}

async function dated(folder: string, before: string | null, now: number): Promise<number> {
  const spill = join(folder, '..', 'spill-changes');
  await mkdir(spill, { recursive: true });
  const duck = await Duck.open(spill);
  try {
    return await writeChanges(duck, folder, before, now);
  } finally {
    duck.close();
  }
}
