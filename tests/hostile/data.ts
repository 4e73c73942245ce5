// The data of a run of its own: a night of the fictional packs, or hard links to the releases of a real register.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { wholeNight } from '../support/whole-night.ts';

const ROOT = join(import.meta.dirname, '../..');

export interface HostileData {
  dataDir: string;
  distDir: string;
  packDirs: string;
  /** What the data is, for a report. */
  title: string;
  remove(): void;
}

/**
 * Prepares a folder that a run may change. Files of `from` (a DATA_DIR) are linked, since finished ones are replaced and
 * never written to; its state is not taken over.
 */
export async function hostileData(from: string | undefined): Promise<HostileData> {
  if (from === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'hostile-'));
    await wholeNight(folder);
    return {
      ...{ dataDir: join(folder, 'data'), distDir: join(folder, 'dist'), packDirs: join(ROOT, 'tests/packs') },
      title: 'the fictional packs',
      remove: () => rmSync(folder, { recursive: true, force: true }),
    };
  }
  // On the disk of the data: links reach no further.
  const folder = mkdtempSync(join(dirname(resolve(from)), 'hostile-'));
  mkdirSync(join(folder, 'data'));
  for (const name of ['releases', 'facts', 'runs'])
    if (existsSync(join(from, name))) execFileSync('cp', ['-al', join(from, name), join(folder, 'data', name)]);
  const dist = resolve(from, '../dist');
  if (existsSync(dist)) execFileSync('cp', ['-al', dist, join(folder, 'dist')]);
  return {
    ...{ dataDir: join(folder, 'data'), distDir: join(folder, 'dist'), packDirs: join(ROOT, 'packs') },
    title: 'the real packs',
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
