// Collects the real packs once for the live suite, with the command that users run.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * Folder of the live suite's sources and releases; a second run reuses them and fetches only new versions.
 */
const FOLDER = resolve(process.env['LIVE_DIR'] ?? 'node_modules/.cache/live');

/** An existing DATA_DIR with a release of every pack: then no night runs, and nothing is fetched. */
const READY = process.env['LIVE_DATA_DIR'];

export default function setup(): void {
  if (READY !== undefined) {
    process.env['DATA_DIR'] = resolve(READY);
    process.env['DIST_DIR'] = resolve(READY, '../dist');
    return;
  }
  mkdirSync(FOLDER, { recursive: true });
  process.env['DATA_DIR'] = resolve(FOLDER, 'data');
  process.env['DIST_DIR'] = resolve(FOLDER, 'dist');
  const night = spawnSync(process.execPath, ['build/nightly.ts'], { stdio: 'inherit' });
  if (night.status !== 0)
    throw new Error(`the nightly run ended with ${night.status ?? night.signal}; see its lines above`);
}
