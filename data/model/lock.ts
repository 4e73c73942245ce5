// One nightly run at a time on a DATA_DIR: a lock that the system releases when its process ends.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

/** Another run is in progress. */
export class LockedError extends Error {}

/** Exit code of a process that found the lock held: EX_TEMPFAIL of sysexits.h. */
export const EXIT_BUSY = 75;

/** The locks of this process: an unreferenced database would be garbage-collected, and its lock released. */
const held = new Set<DatabaseSync>();

/**
 * Acquires the lock and returns the function that releases it; throws LockedError when another process has
 * it. The lock is SQLite's on an empty file: the kernel ties it to the process, so that it is never stale.
 * `nightly.pid` only shows people which process it is.
 */
export function lockNight(dataDir: string): () => void {
  return lockFolder(dataDir, 'nightly', 'nightly run');
}

/**
 * The same for other work on a folder: `name` is the name of the lock files, `work` the description in
 * messages.
 */
export function lockFolder(folder: string, name: string, work: string): () => void {
  const note = join(folder, `${name}.pid`);
  const unlock = tryLock(folder, name);
  if (unlock === null) throw new LockedError(`another ${work} is in progress on ${folder} (process ${reader(note)})`);
  writeFileSync(note, `${process.pid}\n`);
  return unlock;
}

/** Acquires the lock and returns the function that releases it; null: another process has it. */
function tryLock(folder: string, name: string): (() => void) | null {
  mkdirSync(folder, { recursive: true });
  const lock = new DatabaseSync(join(folder, `${name}.lock`));
  try {
    lock.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if ((error as { errcode?: unknown }).errcode !== SQLITE_BUSY) throw error;
    return null;
  }
  held.add(lock);
  return () => {
    held.delete(lock);
    lock.close();
  };
}

/** Milliseconds between two tries of `waitForLock`. */
const WAIT = 200;

/** Waits until no other process has the lock, and acquires it. */
export async function waitForLock(folder: string, name: string): Promise<() => void> {
  for (;;) {
    const unlock = tryLock(folder, name);
    if (unlock !== null) return unlock;
    await sleep(WAIT);
  }
}

const SQLITE_BUSY = 5;

function reader(note: string): string {
  try {
    return readFileSync(note, 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
