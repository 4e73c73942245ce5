// File permissions under a permissive umask, as the entry points and another user see them.
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { restrictDataDir } from '../../data/model/permissions.ts';
import { openStore } from '../../data/state/store.ts';
import { CHILD_ENV } from '../support/child-env.ts';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'permissions-'));
  // Other users may traverse it, as most folders that contain a DATA_DIR.
  chmodSync(folder, 0o755);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('the database and its companions are readable only by the user, whatever the umask', async () => {
  const store = await openStore({ dataDir: folder });
  await store.db.selectFrom('keys').selectAll().execute();
  const state = join(folder, 'state');
  expect(modeOf(state)).toBe('700');
  const files = readdirSync(state);
  expect(files).toContain('register.db-wal');
  expect(files.map((name) => modeOf(join(state, name)))).toEqual(files.map(() => '600'));
  await store.close();
});

test('readable files are restricted, with one line for each folder', () => {
  for (const [path, mode] of [
    ['state', 0o755],
    ['facts', 0o755],
    ['releases', 0o775],
  ] as const) {
    mkdirSync(join(folder, path));
    chmodSync(join(folder, path), mode);
  }
  const file = join(folder, 'state', 'register.db');
  writeFileSync(file, '');
  chmodSync(file, 0o644);
  const log: string[] = [];
  restrictDataDir(folder, (line) => log.push(line));
  const now = [join(folder, 'state'), file, join(folder, 'facts'), join(folder, 'releases')].map(modeOf);
  expect(now).toEqual(['700', '600', '750', '770']);
  expect(log).toHaveLength(3);
  restrictDataDir(folder, (line) => log.push(line));
  restrictDataDir(join(folder, 'none'), (line) => log.push(line));
  expect(log).toHaveLength(3);
});

test('a night keeps facts, releases and state from other users, and lets them read the static files', async (context) => {
  if (process.platform === 'win32') context.skip('there are no permissions of this kind');
  const env = {
    ...CHILD_ENV,
    HOME: process.env['HOME'],
    DATA_DIR: join(folder, 'data'),
    DIST_DIR: join(folder, 'dist'),
    PACK_DIRS: join(ROOT, 'tests/packs'),
  };
  mkdirSync(env.DATA_DIR, { mode: 0o755 });
  await run(process.execPath, ['build/nightly.ts', '--only', 'harbours'], { cwd: ROOT, env });
  const all = (root: string) =>
    readdirSync(root, { recursive: true, withFileTypes: true }).map((each) => join(each.parentPath, each.name));
  const wide = ['facts', 'releases', 'state'].flatMap((each) =>
    [join(env.DATA_DIR, each), ...all(join(env.DATA_DIR, each))].filter((path) => (statSync(path).mode & 0o077) !== 0),
  );
  expect(wide).toEqual([]);
  const shut = [env.DIST_DIR, ...all(env.DIST_DIR)].filter((path) => {
    const needed = statSync(path).isDirectory() ? 0o755 : 0o644;
    return !path.includes('/.build') && (statSync(path).mode & 0o777) !== needed;
  });
  expect(shut).toEqual([]);
  if (process.getuid?.() !== 0) return;
  const asNobody = (path: string) => () =>
    execFileSync('su', ['nobody', '-s', '/bin/sh', '-c', `cat '${path}'`], { stdio: 'pipe' });
  for (const path of ['state/register.db', 'releases/harbours/current'])
    expect(asNobody(join(env.DATA_DIR, path))).toThrow();
  expect(asNobody(join(env.DIST_DIR, 'llms.txt'))).not.toThrow();
}, 180_000);

test('every entry point begins with it', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const started = Object.values(scripts).flatMap((line) => line.match(/\b(?:api|build)\/[\w-]+\.ts/g) ?? []);
  for (const entry of new Set([...started, 'build/night/rewrite.ts']))
    expect(readFileSync(join(ROOT, entry), 'utf8'), entry).toMatch(/^ +createPrivateFiles\(\);$/m);
});
