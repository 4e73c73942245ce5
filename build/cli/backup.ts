// `npm run backup -- <folder>` copies what cannot be made again; `npm run restore -- <folder>` puts it into an empty register.
import { execFileSync } from 'node:child_process';
import { constants, existsSync, readdirSync, type Stats } from 'node:fs';
import { copyFile, link, mkdir, readdir, stat, utimes } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { sql } from 'kysely';
import { type Config, ConfigError, readConfig } from '../../config.ts';
import { putInPlace, scratchFolder, temporaryPath, UNFINISHED } from '../../data/model/atomic.ts';
import { paths } from '../../data/model/layout.ts';
import { LockedError, lockFolder } from '../../data/model/lock.ts';
import { currentRelease } from '../../data/model/manifest.ts';
import { createPrivateFiles } from '../../data/model/permissions.ts';
import { commandLine } from '../../data/model/program.ts';
import { openStore, StoreError } from '../../data/state/store.ts';

const USAGE = `usage: ${commandLine('backup', '<folder>')}
         copy database, facts, evidence, releases and packs into a new folder below it
       ${commandLine('restore', '<folder>')}
         put the newest copy, or the given one, into an empty DATA_DIR and an empty database`;

/** Name of a finished backup: its time, so that names sort by age. */
const STAMP = /^\d{4}-\d\d-\d\dT[\d-]+Z$/;

const print = (line: string) => void process.stdout.write(`${line}\n`);
const isEmpty = (folder: string) => !existsSync(folder) || readdirSync(folder).length === 0;

/** Returns `fallback` instead of the error for a file or folder that does not exist. */
const ifMissing =
  <T>(fallback: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code !== 'ENOENT') throw error;
    return fallback;
  };
const namesIn = (folder: string) => readdir(folder).catch(ifMissing<string[]>([]));

/** Whether a name at the top of DATA_DIR is a copy of other files, a lock, or the database, which is copied by itself. */
const isLeftOut = (name: string) => ['state', 'sql', 'transfers'].includes(name) || name.startsWith('nightly.');

/**
 * Copies a folder, following links. A file that `before` has with the same size and time is linked to it, so that a
 * backup needs space only for what is new. What disappears meanwhile is left out.
 */
async function copyTree(from: string, to: string, before: string | null, omit = (_: string) => false): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of await namesIn(from)) {
    if (name.startsWith(UNFINISHED) || name === 'node_modules' || omit(name)) continue;
    const [source, target] = [join(from, name), join(to, name)];
    const earlier = before === null ? null : join(before, name);
    const stats = await stat(source).catch(ifMissing(null));
    if (stats?.isDirectory()) await copyTree(source, target, earlier);
    else if (stats?.isFile()) await copyOne(source, target, { stats, earlier });
  }
}

async function copyOne(source: string, target: string, { stats, earlier }: { stats: Stats; earlier: string | null }) {
  const same = earlier === null ? null : await stat(earlier).catch(ifMissing(null));
  if (earlier !== null && same?.size === stats.size && Math.abs(same.mtimeMs - stats.mtimeMs) < 1) {
    const linked = link(earlier, target).then(() => true);
    if (await linked.catch(() => false)) return;
  }
  const copied = await copyFile(source, target, constants.COPYFILE_FICLONE).then(() => true, ifMissing(false));
  if (copied) await utimes(target, stats.atime, stats.mtimeMs / 1000);
}

/** Runs a program of PostgreSQL on the database; the password is passed outside the command line. */
function postgres(program: 'pg_dump' | 'pg_restore', databaseUrl: string, words: string[]): void {
  const url = new URL(databaseUrl);
  const env = { ...process.env, ...(url.password && { PGPASSWORD: decodeURIComponent(url.password) }) };
  url.password = '';
  try {
    execFileSync(program, [`--dbname=${url}`, ...words], { env, stdio: ['ignore', 'inherit', 'inherit'] });
  } catch (error) {
    throw new StoreError(`DATABASE_URL: ${program} failed: ${(error as Error).message.split('\n')[0]}`);
  }
}

/** Names of the finished backups in a folder, oldest first. */
const backupsIn = async (folder: string) => (await namesIn(folder)).filter((name) => STAMP.test(name)).sort();

async function backUp({ DATA_DIR, DATABASE_URL, PACK_DIRS }: Config, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const unlock = lockFolder(folder, 'backup', 'backup');
  try {
    const last = (await backupsIn(folder)).at(-1);
    const draft = await scratchFolder(folder, 'backup');
    // The database first: a release may be newer than the store, and the next night reconciles them.
    if (DATABASE_URL)
      postgres('pg_dump', DATABASE_URL, ['--format=custom', `--file=${join(draft, 'register.pgdump')}`]);
    else {
      const store = await openStore({ dataDir: DATA_DIR, existing: true });
      await sql`vacuum into ${join(draft, 'register.db')}`.execute(store.db).finally(() => store.close());
    }
    const before = last === undefined ? null : join(folder, last, 'data');
    await copyTree(DATA_DIR, join(draft, 'data'), before, isLeftOut);
    for (const dataset of await namesIn(join(draft, 'data/releases')))
      await currentRelease(join(draft, 'data'), dataset, (problem) => {
        throw new StoreError(`${problem}: a nightly run replaced it during the copy; back up again`);
      });
    for (const [i, packs] of PACK_DIRS.entries()) await copyTree(packs, join(draft, 'packs', String(i)), null);
    const place = join(folder, new Date().toISOString().replace(/[:.]/g, '-'));
    await putInPlace(draft, place);
    print(`backed up to ${place}`);
  } finally {
    unlock();
  }
}

async function restore({ DATA_DIR, DATABASE_URL, PACK_DIRS }: Config, folder: string): Promise<void> {
  const from = existsSync(join(folder, 'data')) ? folder : join(folder, (await backupsIn(folder)).at(-1) ?? 'none');
  const database = join(from, DATABASE_URL ? 'register.pgdump' : 'register.db');
  if (!existsSync(database))
    throw new StoreError(`${folder} has no backup with ${DATABASE_URL ? 'PostgreSQL' : 'SQLite'}`);
  if (!isEmpty(DATA_DIR)) throw new StoreError(`DATA_DIR: ${DATA_DIR} is not empty; restore into an empty folder`);
  await copyTree(join(from, 'data'), DATA_DIR, null);
  for (const [i, packs] of PACK_DIRS.entries())
    if (isEmpty(packs)) await copyTree(join(from, 'packs', String(i)), packs, null);
  if (DATABASE_URL)
    postgres('pg_restore', DATABASE_URL, ['--exit-on-error', '--single-transaction', '--no-owner', database]);
  else {
    await mkdir(paths.state(DATA_DIR), { recursive: true });
    const place = join(paths.state(DATA_DIR), 'register.db');
    const draft = temporaryPath(place);
    await copyFile(database, draft);
    await putInPlace(draft, place);
  }
  print(`restored from ${from}`);
  print(`next: ${commandLine('ledger', 'verify')}, then ${commandLine('nightly', '--rewrite')}, which reads no source`);
}

async function main([command, folder, ...rest]: string[]): Promise<void> {
  const run = { backup: backUp, restore }[command ?? ''];
  if (run === undefined || folder === undefined || rest.length > 0) {
    process.stderr.write(`${USAGE}\n`);
    process.exitCode = 2;
  } else await run(readConfig(process.env), resolve(process.env['INIT_CWD'] ?? '.', folder));
}

try {
  createPrivateFiles();
  await main(process.argv.slice(2));
} catch (error) {
  if (![ConfigError, StoreError, LockedError].some((kind) => error instanceof kind)) throw error;
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
