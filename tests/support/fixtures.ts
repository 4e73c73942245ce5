// Initial data folders of many tests: made once in a run, and copied for each test.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { constants, cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { TestProject } from 'vitest/node';

/** Environment variable with the folder of the run's fixtures. */
const VARIABLE = 'TEST_FIXTURES';

/** Vitest's global set-up: a folder for the run, emptied when a watched file may have changed its content. */
export default function setup(project: TestProject): () => void {
  // Modules of tests import the generated operations of the clients, which a clone does not have.
  if (!existsSync('clients/typescript/operations.ts')) execFileSync(process.execPath, ['.ci/client-operations.ts']);
  const root = mkdtempSync(join(tmpdir(), 'fixtures-'));
  process.env[VARIABLE] = root;
  project.onTestsRerun(() => {
    rmSync(root, { recursive: true, force: true });
    mkdirSync(root);
  });
  return () => rmSync(root, { recursive: true, force: true });
}

/**
 * Milliseconds after which a process makes a fixture itself, since the one that makes it may have been
 * killed.
 */
const PATIENCE = 120_000;

/**
 * Copies into `folder` what `make` writes to its folder. `key` identifies it: two calls with one key must
 * make the same. The other processes wait while one makes it. Outside a run of vitest it is made in `folder`
 * itself.
 */
export async function fixture(key: string, folder: string, make: (folder: string) => Promise<void>): Promise<void> {
  const root = process.env[VARIABLE];
  if (root === undefined) return make(folder);
  const made = join(root, encodeURIComponent(key));
  const lock = `${made}.lock`;
  const end = Date.now() + PATIENCE;
  while (!existsSync(made) && !locked(lock) && Date.now() < end) await wait(20);
  if (!existsSync(made)) {
    const draft = join(root, `.${randomBytes(6).toString('hex')}`);
    mkdirSync(draft);
    try {
      await make(draft);
      renameSync(draft, made);
    } catch (error) {
      // Another process was first.
      if (!existsSync(made)) throw error;
      rmSync(draft, { recursive: true, force: true });
    } finally {
      rmSync(lock, { recursive: true, force: true });
    }
  }
  cpSync(made, folder, { recursive: true, preserveTimestamps: true, mode: constants.COPYFILE_FICLONE });
}

/** Whether this process has taken the lock. */
function locked(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}
