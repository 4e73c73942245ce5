// A complete nightly run of the fictional packs, made once in a test run: initial DATA_DIR and DIST_DIR, and
// the steps that every night repeats.

import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COPIES } from '../../api/discovery/hosting.ts';
import { runNight } from '../../build/night/run.ts';
import { readConfig } from '../../config.ts';
import { BASE } from './app.ts';
import { fixture } from './fixtures.ts';
import { still } from './night-pack.ts';

export const PACKS = join(import.meta.dirname, '../packs');

/** Settings of a night below `folder`, in `data` and `dist`. */
export const nightConfig = (folder: string) =>
  readConfig({ DATA_DIR: join(folder, 'data'), DIST_DIR: join(folder, 'dist'), PACK_DIRS: PACKS, BASE_URL: BASE });

/** Fills `data` and `dist` below `folder` with the results of a first night. */
export const wholeNight = (folder: string): Promise<void> =>
  fixture('whole night', folder, async (draft) => {
    const { failures } = await runNight(nightConfig(draft), still(), { only: null, accept: false });
    if (failures.length > 0) throw new Error(failures.join('\n'));
  });

/**
 * Copies the compressed copies of an earlier night into a DIST_DIR. A night compresses only files without a
 * copy; the 34 MB engine of the console takes longer than the rest of a night of the fictional packs.
 */
export async function withCopies(dist: string): Promise<void> {
  if (existsSync(join(dist, COPIES))) return;
  await fixture('compressed copies', dist, async (draft) => {
    const folder = mkdtempSync(join(tmpdir(), 'whole-night-'));
    await wholeNight(folder);
    cpSync(join(folder, 'dist', COPIES), join(draft, COPIES), { recursive: true, preserveTimestamps: true });
    rmSync(folder, { recursive: true, force: true });
  });
}
