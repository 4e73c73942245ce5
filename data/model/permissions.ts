// File permissions: only the user of the service may read its files, except the static files of DIST_DIR.
import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { paths } from './layout.ts';

/** Modes for folders and files that a static web server under another user must be able to read. */
export const PUBLIC_MODES = { folder: 0o755, file: 0o644 } as const;

/**
 * Sets the umask: files of this process and its children are private to the user. Every entry point calls it
 * first.
 */
export function createPrivateFiles(): void {
  process.umask(0o077);
}

/**
 * Restricts files that were copied with wider permissions: the state to the user; facts and releases, which contain paid
 * values, to user and group.
 */
export function restrictDataDir(dataDir: string, log: (line: string) => void): void {
  restrict(paths.state(dataDir), 'user', log);
  for (const folder of ['facts', 'releases']) restrict(join(dataDir, folder), 'group', log);
}

/**
 * Removes permissions from a folder, and from its files when only the user may read them. Logs one line when
 * permissions were wider, or when the folder belongs to another user and stays unchanged.
 */
function restrict(folder: string, keep: 'user' | 'group', log: (line: string) => void): void {
  const wide = keep === 'user' ? 0o077 : 0o007;
  const narrow = (path: string): boolean => {
    const { mode } = statSync(path);
    if ((mode & wide) === 0) return false;
    chmodSync(path, mode & 0o777 & ~wide);
    return true;
  };
  try {
    const files = keep === 'user' ? readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile()) : [];
    const wider = [folder, ...files.map(({ name }) => join(folder, name))].filter(narrow);
    if (wider.length > 0)
      log(`${folder} was readable by other users of this machine; its permissions are now restricted`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    log(`${folder} cannot be made private; other users of this machine may read it: ${(error as Error).message}`);
  }
}
