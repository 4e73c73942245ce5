// One nightly run at a time on a DATA_DIR: a lock that the system drops when its process dies, however it dies.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Another run is under way. */
export class Busy extends Error {}

/** The locks of this process: an open database that nobody refers to would be collected, and its lock dropped with it. */
const held = new Set<DatabaseSync>();

/**
 * Takes the lock and gives what releases it; throws Busy when another process has it. The lock is SQLite's on an empty file: the kernel
 * holds it for the process, so that none is ever stale. `nightly.pid` beside it only tells a person who that is.
 */
export function lockNight(dataDir: string): () => void {
  return lockFolder(dataDir, 'nightly', 'nightly run');
}

/** The same for other work on a folder: `name` is that of the lock's files there, `work` what a person calls it. */
export function lockFolder(folder: string, name: string, work: string): () => void {
  mkdirSync(folder, { recursive: true });
  const note = join(folder, `${name}.pid`);
  const lock = new DatabaseSync(join(folder, `${name}.lock`));
  try {
    lock.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if ((error as { errcode?: unknown }).errcode !== SQLITE_BUSY) throw error;
    throw new Busy(`another ${work} is under way on ${folder} (process ${reader(note)})`);
  }
  writeFileSync(note, `${process.pid}\n`);
  held.add(lock);
  return () => {
    held.delete(lock);
    lock.close();
  };
}

const SQLITE_BUSY = 5;

function reader(note: string): string {
  try {
    return readFileSync(note, 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
