// Who may read what the program writes: the service's own user alone, except for the static files of DIST_DIR.
import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { paths } from './layout.ts';

/** Modes of a folder and a file that a static web server, which has another user, must be able to read. */
export const PUBLIC = { folder: 0o755, file: 0o644 } as const;

/** Makes files and folders that this process and its children create private to the user. Called first by every entry. */
export function createPrivateFiles(): void {
  process.umask(0o077);
}

/** Restricts what an earlier version left readable: the state to the user, facts and releases, which hold paid values, to user and group. */
export function restrictDataDir(dataDir: string, log: (line: string) => void): void {
  restrict(paths.state(dataDir), 'user', log);
  for (const folder of ['facts', 'releases']) restrict(join(dataDir, folder), 'group', log);
}

/**
 * Takes permissions away from a folder, and from the files in it where only the user is to read them. One line is logged where any were wider. A
 * folder that belongs to another user stays as it is, which is logged too.
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
    const files = keep === 'user' ? readdirSync(folder, { withFileTypes: true }).filter((each) => each.isFile()) : [];
    const wider = [folder, ...files.map(({ name }) => join(folder, name))].filter(narrow);
    if (wider.length > 0)
      log(`${folder} could be read by other users of this machine: its permissions were restricted`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    log(`${folder} cannot be made private, other users of this machine may read it: ${(error as Error).message}`);
  }
}
