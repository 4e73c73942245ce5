// Publishing to a host: a folder and a bucket get the published files, in order, also after a kill.
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hostingRules } from '../../api/discovery/hosting.ts';
import { OPERATIONS } from '../../api/operations/table.ts';
import { silentProgress } from '../../build/effects/progress.ts';
import { possibleFiles, stepsBetween } from '../../build/hosting/plan.ts';
import { type PublishOptions, publishTo } from '../../build/hosting/run.ts';
import { LIST, PublishError } from '../../build/hosting/target.ts';
import { Output } from '../../build/static/output.ts';
import { publish } from '../../build/static/publish.ts';
import { parseManifest } from '../../build/static/publish-manifest.ts';
import { lockFolder } from '../../data/model/lock.ts';
import { removeS3, S3_CREDENTIALS, startS3 } from '../support/s3-server.ts';

let root: string;
let dist: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'publish-to-'));
  dist = join(root, 'dist');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const LONG = 'One line of a guide, again and again.\n'.repeat(200);

/** The files of a register with some records, by path. */
const site = (records: readonly string[], word = 'first'): Record<string, string> => ({
  'index.html': `<h1>${word}</h1>`,
  'sitemap.xml': records.join(),
  'llms.txt': LONG,
  'v1/tools/llms-full.txt': `${word}: ${records.join()}`,
  'datasets/tools/index.html': word,
  [`assets/${word}.css`]: 'body{}',
  ...Object.fromEntries(records.map((slug) => [`datasets/tools/${slug}.md`, `# ${slug}`])),
});

/** The result of a night: the files, the list and the pointer. */
async function night(files: Record<string, string>): Promise<void> {
  const output = new Output(dist);
  for (const [path, text] of Object.entries(files)) output.write(path, text);
  output.finish();
  await publish(dist, { files: 0, bytes: 0, releases: {} });
}

const to = (name: string, more: Partial<PublishOptions> = {}) =>
  publishTo({ dist, to: name, dry_run: false, compress: false, adopt: false, progress: silentProgress, ...more });

/** Every file below a folder except the notes, by path. */
function files(folder: string): Record<string, string> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = found.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
  const shown = paths.filter((path) => !path.startsWith('.build/')).sort();
  return Object.fromEntries(shown.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}
const sorted = (all: Record<string, string>) =>
  Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));

describe('the order', () => {
  const listing = (paths: string[], sha256 = 'new') =>
    new Map(paths.map((path) => [path, { bytes: 1, sha256, key: '' }]));

  test('deletions first, home and lists last, style sheets after their pages', () => {
    const host = listing(
      ['datasets/tools/b.md', 'datasets/tools/b.html', 'assets/first.css', 'index.html', 'same'],
      'old',
    );
    const published = listing(Object.keys(site(['a', 'c'], 'second')));
    published.set('same', { bytes: 1, sha256: 'old', key: '' });
    published.set('data/tools-0123456789abcdef.parquet', { bytes: 1, sha256: 'new', key: '' });
    const order = stepsBetween(host, published).map(({ put, remove }) => [...remove.map((path) => `-${path}`), ...put]);
    expect(order).toEqual([
      ['-datasets/tools/b.html', '-datasets/tools/b.md'],
      ['assets/second.css', 'data/tools-0123456789abcdef.parquet'],
      ['v1/tools/llms-full.txt'],
      ['datasets/tools/a.md', 'datasets/tools/c.md'],
      ['datasets/tools/index.html'],
      ['index.html', 'llms.txt', 'sitemap.xml'],
      ['-assets/first.css'],
    ]);
  });

  test('the list during an upload has all old and all new files', () => {
    const all = possibleFiles(listing(['a', 'b'], 'old'), new Map([...listing(['a'], 'old'), ...listing(['c'])]));
    expect([...all].map(([path, { sha256 }]) => [path, sha256])).toEqual([
      ['a', 'old'],
      ['b', 'unknown'],
      ['c', 'unknown'],
    ]);
  });
});

describe('a folder', () => {
  test('gets the published files; a second run touches nothing; later only changes', async () => {
    const host = join(root, 'deep/host');
    await night(site(['a', 'b']));
    expect(await to(host)).toMatchObject({ files: 8, deleted: 0 });
    expect(files(host)).toEqual(sorted(site(['a', 'b'])));
    const kept = statSync(join(host, 'datasets/tools/a.md'), { bigint: true }).ctimeNs;
    expect(await to(host)).toEqual({ files: 0, bytes: 0, deleted: 0 });
    await night(site(['a', 'c'], 'second'));
    expect(await to(host)).toMatchObject({ files: 6, deleted: 2 });
    expect(files(host)).toEqual(sorted(site(['a', 'c'], 'second')));
    expect(statSync(join(host, 'datasets/tools/a.md'), { bigint: true }).ctimeNs).toBe(kept);
    const list = parseManifest(readFileSync(join(host, LIST), 'utf8'));
    expect([...list.keys()]).toEqual(Object.keys(sorted(site(['a', 'c'], 'second'))));
  });

  test('a dry run prints its steps and touches nothing', async () => {
    const lines: string[] = [];
    await night(site(['a']));
    const progress = { ...silentProgress, note: (text: string) => void lines.push(text) };
    expect(await to(join(root, 'host'), { dry_run: true, progress })).toMatchObject({ files: 7 });
    expect(lines.join('\n')).toContain('records: 1 to send\n    datasets/tools/a.md');
    expect(existsSync(join(root, 'host'))).toBe(false);
  });

  test('foreign files are kept, and need --adopt', async () => {
    const host = join(root, 'host');
    mkdirSync(host);
    writeFileSync(join(host, 'CNAME'), 'register.example');
    await night(site(['a']));
    await expect(to(host)).rejects.toThrow('--adopt');
    expect(files(host)).toEqual({ CNAME: 'register.example' });
    await to(host, { adopt: true });
    await night(site([]));
    await to(host);
    expect(files(host)).toEqual(sorted({ ...site([]), CNAME: 'register.example' }));
  });

  test('compressed copies are next to the long files, and are deleted with them', async () => {
    const host = join(root, 'host');
    await night(site(['a']));
    await to(host, { compress: true });
    expect(brotliDecompressSync(readFileSync(join(host, 'llms.txt.br'))).toString()).toBe(LONG);
    expect(gunzipSync(readFileSync(join(host, 'llms.txt.gz'))).toString()).toBe(LONG);
    expect(existsSync(join(host, 'index.html.br')), 'too short to be worth it').toBe(false);
    const made = statSync(join(dist, '.build/compressed/llms.txt.br'), { bigint: true }).ctimeNs;
    expect(await to(host, { compress: true })).toMatchObject({ files: 0, deleted: 0 });
    expect(statSync(join(dist, '.build/compressed/llms.txt.br'), { bigint: true }).ctimeNs).toBe(made);
    await to(host);
    expect(Object.keys(files(host)).filter((path) => /\.(br|gz)$/.test(path))).toEqual([]);
  });

  test('refuses invalid targets and the published folder itself', async () => {
    await night(site(['a']));
    writeFileSync(join(root, 'file'), '');
    for (const place of ['', ' ', dist, join(dist, 'below'), root, join(root, 'file')])
      await expect(to(place), place).rejects.toThrow(PublishError);
  });

  test('reports when nothing was published, during a night, and when one came between', async () => {
    const host = join(root, 'host');
    mkdirSync(dist);
    await expect(to(host)).rejects.toThrow('npm run nightly');
    await night(site(['a']));
    writeFileSync(join(dist, '.build/unfinished'), '');
    await expect(to(host)).rejects.toThrow('being changed by a nightly run');
    rmSync(join(dist, '.build/unfinished'));
    // A file that differs from the list.
    writeFileSync(join(dist, 'datasets/tools/a.md'), '# another');
    await expect(to(host)).rejects.toThrow('a nightly run changed it');
    expect(existsSync(join(host, 'datasets/tools/a.md'))).toBe(false);
    expect(existsSync(join(host, 'index.html')), 'what leads to it').toBe(false);
  });

  test('one at a time', async () => {
    await night(site(['a']));
    const unlock = lockFolder(join(dist, '.build'), 'publish', 'publishing');
    await expect(to(join(root, 'host'))).rejects.toThrow('another publishing is in progress');
    unlock();
    expect(await to(join(root, 'host'))).toMatchObject({ files: 7 });
  });

  test('after a kill the next run repairs it: nothing stale stays, not even of a night in between', async () => {
    const host = join(root, 'host');
    const many = Array.from({ length: 3000 }, (_, i) => `record-${i}`);
    await night(site(many));
    const child = spawn(process.execPath, ['build/cli/upload.ts', '--to', host], {
      env: { ...process.env, BASE_URL: '', DIST_DIR: dist, DATA_DIR: join(root, 'data') },
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => child.on('close', resolve));
    while (!existsSync(join(host, 'datasets/tools/record-10.md')) && child.exitCode === null)
      await new Promise((resolve) => setTimeout(resolve, 1));
    child.kill('SIGKILL');
    await ended;
    expect(existsSync(join(host, 'index.html')), 'it was killed before its end').toBe(false);
    // A record that was already sent is opted out before the next publishing.
    await night(site(many.slice(100), 'second'));
    await to(host);
    expect(files(host)).toEqual(sorted(site(many.slice(100), 'second')));
  });

  test('a full disk ends it with the system’s message, and loses nothing', async (context) => {
    const small = join(root, 'small');
    mkdirSync(small);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', small]).status !== 0)
      context.skip('a small file system cannot be mounted here');
    try {
      const host = join(small, 'host');
      await night(site(['a']));
      await to(host);
      const before = files(host);
      await night({ ...site(['a']), 'datasets/tools/large.md': 'x'.repeat(1 << 20) });
      await expect(to(host)).rejects.toThrow('ENOSPC');
      expect(files(host)).toEqual(before);
      await night(site(['a', 'b']));
      await to(host);
      expect(files(host)).toEqual(sorted(site(['a', 'b'])));
    } finally {
      spawnSync('umount', [small]);
    }
  });
});

describe('rsync', () => {
  test('the commands of the documents delete first, then send, and leave an equal folder', async (context) => {
    if (spawnSync('rsync', ['--version']).status !== 0) return context.skip('rsync is not installed');
    const guide = readFileSync(join(import.meta.dirname, '../../docs/static-hosting.md'), 'utf8');
    const commands = guide.match(/^rsync .*$/gm) ?? [];
    expect(commands).toHaveLength(2);
    const host = join(root, 'host');
    mkdirSync(host);
    const run = (command: string) => {
      const local = command.replace('deploy@host.example:/srv/register/', `${host}/`).replace(' dist/ ', ` ${dist}/ `);
      const { status, stderr } = spawnSync('sh', ['-c', local], { encoding: 'utf8' });
      expect([status, stderr], local).toEqual([0, '']);
    };
    await night(site(['a', 'b']));
    for (const command of commands) run(command);
    expect(files(host)).toEqual(sorted(site(['a', 'b'])));
    await night(site(['a', 'c'], 'second'));
    run(commands[0]!);
    // What is gone is deleted, and nothing is sent yet.
    expect(existsSync(join(host, 'datasets/tools/b.md'))).toBe(false);
    expect(existsSync(join(host, 'datasets/tools/c.md'))).toBe(false);
    run(commands[1]!);
    expect(files(host)).toEqual(sorted(site(['a', 'c'], 'second')));
    await expect(to('deploy@host.example:/srv/register')).rejects.toThrow('see "With rsync" in docs/static-hosting.md');
  });
});

describe('a bucket', () => {
  test('gets files with their headers, loses removed ones, and continues after an interruption', async () => {
    Object.assign(process.env, S3_CREDENTIALS);
    const server = await startS3(['site']);
    const rules = hostingRules({ base_url: 'https://register.example', operations: OPERATIONS });
    const toBucket = (port = server.port) =>
      to('s3://site/www', { compress: true, bucket: { rules, endpoint: `http://127.0.0.1:${port}` } });
    const head = async (path: string) => {
      const note = readFileSync(join(server.folder('site'), `www/${path}._S3rver_metadata.json`), 'utf8');
      return JSON.parse(note) as Record<string, string>;
    };
    await night({ ...site(['a', 'b']), 'v1/datasets': '{}' });
    expect(await toBucket()).toMatchObject({ files: 11, deleted: 0 });
    const meta = 'x-amz-meta-content-security-policy';
    expect(await head('index.html')).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'public, no-cache',
      [meta]: expect.stringContaining("default-src 'none'"),
    });
    expect(await head('v1/datasets')).toMatchObject({ 'content-type': 'application/json' });
    expect(await head('assets/first.css')).toMatchObject({ 'cache-control': expect.stringContaining('immutable') });
    expect(await head('llms.txt.br')).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-encoding': 'br',
    });
    expect(await toBucket()).toEqual({ files: 0, bytes: 0, deleted: 0 });

    // The storage refuses after the list and three of the new files; the next run sends the others only.
    await night(site(['a', 'c', 'd', 'e'], 'second'));
    server.refuseAfter(4);
    await expect(toBucket()).rejects.toThrow(PublishError);
    server.refuseAfter(Number.POSITIVE_INFINITY);
    const before = server.requests.length;
    const all = await toBucket();
    const sent = server.requests.slice(before).filter((line) => line.startsWith('PUT ') && !line.includes('/.build/'));
    expect(sent.length).toBe(all.files - 3);
    const there = readdirSync(join(server.folder('site'), 'www/datasets/tools')).filter((name) =>
      name.endsWith('_object'),
    );
    expect(there.map((name) => name.replace('._S3rver_object', '')).sort()).toEqual([
      'a.md',
      'c.md',
      'd.md',
      'e.md',
      'index.html',
    ]);
    expect(await toBucket()).toEqual({ files: 0, bytes: 0, deleted: 0 });
    await server.close();
    removeS3(server);
  });
});

test('the command prints host configurations, and rejects unknown options', () => {
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['build/cli/upload.ts', ...args], {
      env: { ...process.env, BASE_URL: '', DIST_DIR: dist },
      encoding: 'utf8',
    });
    return { status, out: stdout + stderr };
  };
  expect(run()).toMatchObject({ status: 2, out: expect.stringContaining('usage:') });
  expect(run('--nonsense')).toMatchObject({ status: 2, out: expect.stringContaining('usage:') });
  expect(run('--rules', 'apache')).toMatchObject({
    status: 1,
    out: "--rules must be one of nginx, caddy, _headers, _redirects (got 'apache')\n",
  });
  expect(run('--rules', 'nginx', '--root', '/srv/x')).toMatchObject({
    status: 0,
    out: expect.stringContaining('root "/srv/x"'),
  });
  expect(run('--to', join(root, 'host'))).toMatchObject({ status: 1, out: expect.stringContaining('npm run nightly') });
});
