// Atomic writes: files appear complete or not, also when the process is killed or the power fails.
import { randomUUID } from 'node:crypto';
import { mkdtemp, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Names with this prefix are unfinished; the next run may remove them. */
export const UNFINISHED = '.unfinished-';

/** A new folder for each run, since a child process of a killed one may still write into the old folder, which is removed. */
export async function scratchFolder(parent: string, name: string): Promise<string> {
  const prefix = `${UNFINISHED}${name}-`;
  for (const old of await readdir(parent))
    if (old.startsWith(prefix)) await rm(join(parent, old), { recursive: true, force: true });
  return mkdtemp(join(parent, prefix));
}

/** A temporary name in the folder of `path`, to write to before `putInPlace`. */
export function temporaryPath(path: string): string {
  return join(dirname(path), `${UNFINISHED}${randomUUID()}`);
}

/** Flushes a finished file or folder to the disk, then renames it to its final name. */
export async function putInPlace(from: string, to: string): Promise<void> {
  await flushAll(from);
  await rename(from, to);
  await flush(dirname(to), true);
}

/** Replaces a small file in one step. */
export async function replaceFile(path: string, content: string): Promise<void> {
  const temporary = temporaryPath(path);
  try {
    const file = await open(temporary, 'w');
    // Close the handle also when the disk is full; otherwise it stays open until garbage collection.
    await file.writeFile(content).finally(() => file.close());
    await putInPlace(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Files flushed in parallel: a flush waits for the disk and needs no processor time. */
const AT_ONCE = 8;
/**
 * Error codes of systems that cannot flush a folder; they order renames themselves. Files are always flushed.
 */
const NO_FOLDERS = new Set(['EINVAL', 'ENOTSUP', 'EISDIR', 'EPERM', 'EBADF']);

/**
 * Flushes a file, or every file below a folder and then the folders. Throws when the disk reports an error
 * (EIO, ENOSPC).
 */
export async function flushAll(path: string): Promise<void> {
  if (!(await stat(path)).isDirectory()) return flush(path);
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const at = (folders: boolean) =>
    entries.filter((entry) => entry.isDirectory() === folders).map(({ parentPath, name }) => join(parentPath, name));
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
