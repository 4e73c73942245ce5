// Files that appear whole or not at all, also when the process is killed or the power fails.
import { randomUUID } from 'node:crypto';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Names that begin like this are unfinished and may be removed by the next run. */
export const UNFINISHED = '.unfinished-';

/** A name beside `path` to write to before `putInPlace`. */
export function unfinished(path: string): string {
  return join(dirname(path), `${UNFINISHED}${randomUUID()}`);
}

/** Renames a finished file or folder to its name, after the bytes of all its files are on the disk. */
export async function putInPlace(from: string, to: string): Promise<void> {
  await flushAll(from);
  await rename(from, to);
  await flush(dirname(to), true);
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

/** Files flushed at once: each waits for the disk, not for the processor. */
const AT_ONCE = 8;
/** What systems answer that cannot flush a folder; they order renames themselves. A file must always be flushed. */
const NO_FOLDERS = new Set(['EINVAL', 'ENOTSUP', 'EISDIR', 'EPERM', 'EBADF']);

/** Flushes a file, or every file below a folder and then its lists of names. Throws when the disk cannot write them (EIO, ENOSPC). */
export async function flushAll(path: string): Promise<void> {
  if (!(await stat(path)).isDirectory()) return flush(path);
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const at = (folders: boolean) =>
    entries.filter((each) => each.isDirectory() === folders).map(({ parentPath, name }) => join(parentPath, name));
  const files = at(false);
  const worker = async () => {
    for (let next = files.pop(); next !== undefined; next = files.pop()) await flush(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  for (const folder of [...at(true).reverse(), path]) await flush(folder, true);
}

async function flush(path: string, folder = false): Promise<void> {
  try {
    const file = await open(path, 'r');
    await file.sync().finally(() => file.close());
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (folder && NO_FOLDERS.has(code)) return;
    throw Object.assign(new Error(`cannot write ${path} to the disk: ${message}`, { cause: error }), { code });
  }
}
