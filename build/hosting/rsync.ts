// Publishing by rsync, over ssh or to its daemon: rsync compares, resumes and replaces files atomically.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { LIST, PublishError, type PublishTarget } from './target.ts';

/** Exit code and message of rsync when a file to read is missing. */
const NOT_THERE = { code: 23, said: /No such file or directory/ };

/**
 * An rsync target; `scratch` is a folder for lists. Throws PublishError with the message of rsync when it
 * fails.
 */
export function rsyncTarget(name: string, scratch: string): PublishTarget {
  const root = name.endsWith('/') ? name : `${name}/`;
  mkdirSync(scratch, { recursive: true });
  const own = () => mkdtempSync(join(scratch, 'rsync-'));

  const send = async (flags: string[], paths: readonly string[], from: string, onProgress: (done: number) => void) => {
    if (paths.length === 0) return;
    const folder = own();
    try {
      const list = join(folder, 'files');
      writeFileSync(list, paths.map((path) => `${path}\0`).join(''));
      let done = 0;
      const count = () => {
        done += 1;
        onProgress(Math.min(done, paths.length));
      };
      const options = [
        '--checksum',
        '--times',
        '--perms',
        '--chmod=D755,F644',
        '--mkpath',
        '--from0',
        `--files-from=${list}`,
      ];
      await rsync([...options, '--out-format=%n', ...flags, `${from}/`, root], count);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };

  return {
    name,
    async read() {
      const folder = own();
      try {
        const copy = join(folder, 'list');
        const found = await rsync(['--times', root + LIST, copy], () => {}, true);
        return found && existsSync(copy) ? readFileSync(copy, 'utf8') : null;
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
    async empty() {
      const names: string[] = [];
      const found = await rsync(['--list-only', root], (line) => names.push(line), true);
      return !found || names.filter((line) => !line.endsWith(' .')).length === 0;
    },
    async write(list) {
      const folder = own();
      try {
        mkdirSync(join(folder, dirname(LIST)), { recursive: true });
        writeFileSync(join(folder, LIST), list);
        await send([], [LIST], folder, () => {});
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
    async put(paths, from, _published, onProgress) {
      // One call for each source folder: rsync takes a list of paths below one folder.
      const bySource = Map.groupBy(paths, (path) => from(path).slice(0, -path.length - 1));
      let before = 0;
      for (const [source, list] of bySource) {
        await send([], list, source, (done) => onProgress(before + done));
        before += list.length;
      }
    },
    async remove(paths, onProgress) {
      // `--delete-missing-args` deletes listed paths that are missing in the source, here an empty folder.
      const folder = own();
      for (const below of new Set(paths.map(dirname))) mkdirSync(join(folder, below), { recursive: true });
      try {
        await send(['--delete-missing-args', '--force'], paths, folder, onProgress);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

/** Runs rsync. Returns false when the file to read is missing and `may` allows it. */
function rsync(args: string[], line: (text: string) => void, may = false): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn('rsync', args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-2000);
    });
    createInterface({ input: child.stdout }).on('line', line);
    child.on('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'ENOENT' ? new PublishError('rsync is not installed on this machine') : error);
    });
    child.on('close', (code) => {
      if (code === 0) resolve(true);
      else if (may && code === NOT_THERE.code && NOT_THERE.said.test(said)) resolve(false);
      else reject(new PublishError(`rsync exited with ${code ?? 'a signal'}: ${said.trim()}`));
    });
  });
}
