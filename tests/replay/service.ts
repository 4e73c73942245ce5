// The service as a process with a stopped clock, on a copy of a data folder, so that every run begins with
// the same state.
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** The base URL in answers; the process listens on a free port. */
const BASE = 'http://localhost:8787';
export const ADMIN_KEY = 'an-admin-key-of-the-replay-0123456789';

export interface Replayed {
  /** The address at which it listens. */
  origin: string;
  stop(): Promise<void>;
}

/**
 * Starts the service on a copy of `data` (DATA_DIR), or in place, and with `dist` (DIST_DIR, read only).
 * Throws when it does not start.
 */
export async function startReplayed(data: string, dist: string, port: number, inPlace = false): Promise<Replayed> {
  const copy = inPlace ? data : mkdtempSync(join(tmpdir(), 'replay-'));
  if (!inPlace) cpSync(data, copy, { recursive: true, preserveTimestamps: true });
  const freeze = join(import.meta.dirname, 'freeze.ts');
  const child = spawn(process.execPath, ['--import', freeze, 'api/server.ts'], {
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'] ?? '',
      PORT: String(port),
      BASE_URL: BASE,
      DATA_DIR: copy,
      DIST_DIR: dist,
      ADMIN_KEYS: ADMIN_KEY,
      TRUST_PROXY: '1',
      LOG_LEVEL: 'error',
      // A fixed time after everything in the folder.
      REPLAY_AT: String(Math.ceil(statSync(join(data, 'releases')).mtimeMs / 3_600_000 + 1) * 3_600_000),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const origin = `http://127.0.0.1:${port}`;
  await listening(child, origin);
  return {
    origin,
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
      if (!inPlace) rmSync(copy, { recursive: true, force: true });
    },
  };
}

async function listening(child: ChildProcess, origin: string): Promise<void> {
  for (let i = 0; i < 600; i++) {
    if (child.exitCode !== null) throw new Error(`The service ended with ${child.exitCode}.`);
    const answer = await fetch(`${origin}/healthz`).catch(() => null);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('The service does not answer.');
}
