// Collects the real packs once for the live suite, through the same command that users run.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';

/** Where the live suite keeps its sources and releases; a second run finds them there and only asks for news. */
const FOLDER = resolve(process.env['LIVE_DIR'] ?? 'node_modules/.cache/live');

/** An existing DATA_DIR to ask, with a release of every pack: then no night is run, and nothing is fetched. */
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
