// Files that appear whole or not at all, also when the process is killed.
import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Names that begin like this are unfinished and may be removed by the next run. */
export const UNFINISHED = '.unfinished-';

/** A name beside `path` to write to before `putInPlace`. */
export function unfinished(path: string): string {
  return join(dirname(path), `${UNFINISHED}${randomUUID()}`);
}

/** Renames a finished file or folder to its name, after its bytes are on the disk. */
export async function putInPlace(from: string, to: string): Promise<void> {
  await sync(from);
  await rename(from, to);
  await sync(dirname(to));
}

/** Replaces a small file in one step. */
export async function replaceFile(path: string, content: string): Promise<void> {
  const temporary = unfinished(path);
  try {
    const file = await open(temporary, 'w');
    // Closed also when the disk is full, or the handle would stay open until it is collected.
    await file.writeFile(content).finally(() => file.close());
    await putInPlace(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Flushes a file or a folder's list of names. Some systems cannot flush a folder; they order renames themselves. */
async function sync(path: string): Promise<void> {
  const file = await open(path, 'r').catch(() => null);
  await file?.sync().catch(() => undefined);
  await file?.close();
}
