// Makes a finished draft a release: names it by its content, dates its changes, writes the manifest, and makes it the current one.
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Manifest, paths, RELEASE_FILES } from '../layout.ts';
import { contentName, currentRelease, makeCurrent, measure } from '../manifest.ts';
import { putInPlace, unfinished } from './atomic.ts';
import type { Drafted } from './draft.ts';
import { Duck, quoted } from './duck.ts';
import { changesQuery } from './tables.ts';

/** What the manifest says beside what `seal` finds out itself. */
export type Told = Omit<Manifest, 'schema_version' | 'release' | 'files' | 'records'>;

/**
 * Moves the draft's files to their place and switches to them. `now` (milliseconds) is when the changes become visible. Tells the release's id, and
 * whether it is another one than before: the same content again changes nothing. A folder of the same name that never became current,
 * because a run died before the switch, is replaced: its changes had not been visible.
 */
export async function seal(
  dataDir: string,
  folder: string,
  drafted: Drafted,
  told: Told,
  now: () => Date,
): Promise<{ release: string; fresh: boolean }> {
  const files: Manifest['files'] = {};
  for (const [file, rows] of Object.entries(drafted.rows)) {
    files[file] = { ...(await measure(join(folder, file))), rows };
  }
  const release = contentName(files);
  const current = await currentRelease(dataDir, told.dataset);
  if (release === current) return { release, fresh: false };
  const before = current === null ? null : paths.release(dataDir, told.dataset, current);
  const rows = await writeChanges(folder, before, drafted.differences, now().getTime());
  files[RELEASE_FILES.changes] = { ...(await measure(join(folder, RELEASE_FILES.changes))), rows };
  const manifest: Manifest = { schema_version: 1, release, ...told, records: drafted.records, files };
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

/** Writes the change feed: the one before, then the new changes a microsecond apart, all after those before and, if there is room, none after now. */
async function writeChanges(
  folder: string,
  before: string | null,
  differences: Drafted['differences'],
  now: number,
): Promise<number> {
  const spill = join(folder, '..', 'spill-changes');
  await mkdir(spill, { recursive: true });
  const duck = await Duck.open(spill);
  try {
    const earlier = before === null ? null : join(before, RELEASE_FILES.changes);
    const last =
      earlier === null
        ? 0
        : await duck.count(`SELECT coalesce(max(epoch_us(recorded_at)), 0) FROM read_parquet(${quoted(earlier)})`);
    const first = Math.max(last + 1, now * 1000 - Math.max(0, differences.rows - 1));
    const engines = [folder, ...(before === null ? [] : [before])].map((each) => join(each, RELEASE_FILES.engine));
    const query = changesQuery(differences.path, engines, earlier, BigInt(first));
    return await duck.parquet(query, join(folder, RELEASE_FILES.changes));
  } finally {
    duck.close();
  }
}
