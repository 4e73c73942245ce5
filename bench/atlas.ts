// Builds a release of the fictional atlas with any number of records by a nightly run; an existing one is
// reused.
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { npmClient } from '../build/effects/npm.ts';
import { silentProgress } from '../build/effects/progress.ts';
import { datasetNight } from '../build/night/dataset.ts';
import { ensureIndex } from '../data/index/build.ts';
import { fixtureFolder, loadPack } from '../packs/define/load.ts';
import { ISSUE, type Issue, READINGS } from './atlas/readings.ts';
import { cacheFolder, type Subject, subjectAt } from './subject.ts';

const SEED = 20_261_121;
const OURS = ['pack.ts', 'collect.ts'];
/** Files that the atlas shares with the places pack. */
const THEIRS = ['record.md', 'guide.md', 'samples.json'];

/**
 * The folder of the pack for a number of records: links to the code, so that its imports work, and an issue
 * for each reading.
 */
export function atlasPack(folder: string, issue: Issue): string {
  const pack = join(folder, 'packs/atlas');
  mkdirSync(pack, { recursive: true });
  for (const name of OURS) symlinkSync(join(import.meta.dirname, 'atlas', name), join(pack, name));
  for (const name of THEIRS) cpSync(join(import.meta.dirname, '../packs/places', name), join(pack, name));
  for (const { package: name, version } of READINGS) {
    const fixture = fixtureFolder(pack, name, version);
    mkdirSync(fixture, { recursive: true });
    writeFileSync(join(fixture, ISSUE), JSON.stringify(issue));
  }
  return pack;
}

/**
 * A release with this number of records. Takes about half a minute for 173,000, and some minutes for a
 * million.
 */
export async function generated(records: number, told: (line: string) => void): Promise<Subject> {
  const folder = join(cacheFolder(), `atlas-${records}`);
  const [dataDir, packs] = [join(folder, 'data'), `${resolve('packs')},${join(folder, 'packs')}`];
  const made = subjectAt(dataDir, 'atlas', packs);
  if (made !== null) {
    // Another checkout may have made it, which is gone, or has another index format.
    rmSync(join(folder, 'packs'), { recursive: true, force: true });
    await ensureIndex(made.folder, await loadPack(atlasPack(folder, { seed: SEED, records })));
    return made;
  }
  if (existsSync(folder)) rmSync(folder, { recursive: true });
  told(`atlas: a release of ${records.toLocaleString('en-US')} records is made in ${folder}`);
  const pack = await loadPack(atlasPack(folder, { seed: SEED, records }));
  const progress = {
    ...silentProgress,
    step: (_: string, step: string) => told(`atlas: ${step}`),
    note: told,
    warn: told,
  };
  // The clock stops at the last reading, so that the same release is made everywhere.
  const effects = {
    now: () => new Date('2026-11-20T00:00:00Z'),
    ticks: () => performance.now(),
    web: () => Promise.reject(new Error('the atlas has no source on the web')),
    npm: npmClient(),
    environment: () => undefined,
    progress,
  };
  await datasetNight(pack, dataDir, effects, { accept: true });
  const fresh = subjectAt(dataDir, 'atlas', packs);
  if (fresh === null) throw new Error('the atlas could not be released');
  return fresh;
}
