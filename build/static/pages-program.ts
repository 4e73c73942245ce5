// The pages for people as a program: Astro compiles them once, then each night runs the program with new data.
import { spawn } from 'node:child_process';
import { hash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { errorTables } from '../../api/contract/error-help.ts';
import { codeFingerprint } from '../../data/model/code.ts';
import { packReference } from './pack-reference.ts';

const ROOT = join(import.meta.dirname, '../..');
/** npm installs the dependencies of a package next to it, not in it. */
const ASTRO = dirname(createRequire(import.meta.url).resolve('astro/package.json'));
/** Astro's own folder. Programs are in it, because they import packages relative to their place. */
const FOLDER = join(ROOT, '.astro');
const PREFIX = 'pages-';
/** Programs that are kept: one has 40 MB. */
const KEPT = 3;
/**
 * A program used in this time is not deleted, in milliseconds: a run starts it at once, and it loads pages when the data
 * of all datasets are written.
 */
const IN_USE = 3_600_000;

export interface PagesProgram {
  /** The module to run. */
  entry: string;
  /** Folder of the scripts and styles. */
  assets: string;
}

/** The tables of guides that are not written by hand, by document. */
const TABLES = { 'errors.md': errorTables, 'packs-reference.md': packReference };
/** In a document with tables: what follows is for readers of the file, who do not see them. */
const TABLES_HERE = '<!-- tables -->\n';

/** Writes the documents of docs/ into a folder, as the guides show them: with their tables. */
async function writeGuides(folder: string): Promise<void> {
  const docs = join(ROOT, 'docs');
  await mkdir(folder, { recursive: true });
  for (const entry of await readdir(docs, { withFileTypes: true }))
    if (entry.isFile()) await writeFile(join(folder, entry.name), await readFile(join(docs, entry.name)));
  for (const [name, tables] of Object.entries(TABLES)) {
    const [text, note] = (await readFile(join(docs, name), 'utf8')).split(TABLES_HERE);
    if (note === undefined) throw new Error(`docs/${name} has no line ${TABLES_HERE.trim()} where its tables belong`);
    await writeFile(join(folder, name), text + tables());
  }
}

const programIn = (folder: string): PagesProgram => ({
  entry: join(folder, 'server/entry.mjs'),
  assets: join(folder, 'client'),
});

/**
 * The compiled pages; compiles them, unless they are there. `code`: fingerprint of their sources; `path`: the path of
 * BASE_URL, which the addresses of scripts contain; `scratch`: a folder for temporary files. Throws with the end of
 * Astro's output.
 */
export async function pagesProgram(code: string, path: string, scratch: string): Promise<PagesProgram> {
  const key = hash('sha256', JSON.stringify([code, codeFingerprint(), path]), 'hex').slice(0, 16);
  const folder = join(FOLDER, PREFIX + key);
  const now = new Date();
  if (existsSync(folder)) {
    // A program in a folder that cannot be written is used, too.
    await utimes(folder, now, now).catch(() => {});
    return programIn(folder);
  }
  const compiled = `${folder}.${randomUUID()}`;
  const guides = join(scratch, 'guides');
  await writeGuides(guides);
  const settings = {
    SITE_COMPILED: compiled,
    SITE_CACHE: join(scratch, 'cache'),
    SITE_PATH: path,
    SITE_GUIDES: guides,
  };
  // Astro writes temporary modules into the working directory, where another night would delete them.
  const work = join(scratch, 'astro');
  await mkdir(work, { recursive: true });
  const build = [join(ASTRO, 'bin/astro.mjs'), 'build', '--silent', '--root', ROOT];
  try {
    await run('compiled', build, { cwd: work, settings, input: async () => '' });
    // Another process may have compiled the same pages in the meantime.
    await rename(compiled, folder).catch((error: Error) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(compiled, { recursive: true, force: true });
  }
  // A program of another user cannot be deleted.
  await deleteOld(now).catch(() => {});
  return programIn(folder);
}

/** Deletes programs that were not used for a long time, and what killed processes left. */
async function deleteOld(now: Date): Promise<void> {
  const names = (await readdir(FOLDER)).filter((name) => name.startsWith(PREFIX));
  const used = async (name: string) =>
    (await stat(join(FOLDER, name)).catch(() => null))?.mtimeMs ?? Number.POSITIVE_INFINITY;
  const programs = await Promise.all(names.map(async (name) => ({ name, at: await used(name) })));
  const old = programs.toSorted((a, b) => b.at - a.at).slice(KEPT);
  for (const { name, at } of old) {
    if (now.getTime() - at <= IN_USE) continue;
    // Under another name first: a killed process leaves no half of a program.
    const deleted = join(FOLDER, `${PREFIX}old.${randomUUID()}`);
    await rename(join(FOLDER, name), deleted);
    await rm(deleted, { recursive: true, force: true });
  }
}

/**
 * Renders the pages into a new folder, with the data as JSON. The program starts at once and waits for the data. Throws
 * with the end of its output.
 */
export async function renderPages({ entry }: PagesProgram, out: string, data: () => Promise<unknown>): Promise<void> {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const input = async () => JSON.stringify(await data());
  await run('rendered', [entry], { cwd: out, settings: { SITE_OUT: out }, input });
}

interface Running {
  cwd: string;
  settings: Record<string, string>;
  /** What the program reads from its standard input. */
  input: () => Promise<string>;
}

/** Runs Node as a child process, which frees its memory. `done`: what happens to the pages, for the error. */
async function run(done: string, args: readonly string[], { cwd, settings, input }: Running): Promise<void> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH, HOME, NODE_ENV: 'production', ASTRO_TELEMETRY_DISABLED: '1', NO_COLOR: '1', ...settings },
    stdio: 'pipe',
  });
  let outputTail = '';
  const append = (chunk: Buffer) => {
    outputTail = (outputTail + chunk.toString()).slice(-4000);
  };
  child.stdout.on('data', append);
  child.stderr.on('data', append);
  // A child that has failed no longer reads; its exit code is reported below.
  child.stdin.on('error', () => {});
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  const send = async () => {
    try {
      child.stdin.end(await input());
    } catch (error) {
      child.kill();
      // The caller deletes the folder, in which the child must not write any more.
      await ended.catch(() => {});
      throw error;
    }
  };
  const [code] = await Promise.all([ended, send()]);
  if (code !== 0)
    throw new Error(`the pages for people could not be ${done} (exit code ${code}):\n${outputTail.trim()}`);
}
