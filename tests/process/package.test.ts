// The npm package: packed, unpacked below node_modules and used from a folder with one pack. No network: the
// dependencies are links to those of this repository.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { extract } from 'tar';
import { afterAll, expect, test } from 'vitest';
import { CHILD_ENV } from '../support/child-env.ts';
import { freePort } from '../support/free-port.ts';
import { verifies } from '../support/verifies.ts';
import { withCopies } from '../support/whole-night.ts';

verifies('command.package');

const ROOT = join(import.meta.dirname, '../..');
const NODE = process.execPath;

let server: ChildProcess | undefined;

const folder = await realpath(await mkdtemp(join(tmpdir(), 'package-')));
const modules = join(folder, 'node_modules');
const installed = join(modules, 'dataset-register');
await mkdir(installed, { recursive: true });
await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], {
  cwd: ROOT,
  env: process.env,
});
const [tarball = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
await extract({ file: join(folder, tarball), cwd: installed, strip: 1 });
// npm nests a dependency of which the user's folder has another version.
await mkdir(join(installed, 'node_modules'));
for (const name of await readdir(join(ROOT, 'node_modules'))) {
  const to = name === '@observablehq' ? join(installed, 'node_modules') : modules;
  if (!name.startsWith('.')) await symlink(join(ROOT, 'node_modules', name), join(to, name));
}
// As `npm init` writes it: Node takes the TypeScript of such a folder for CommonJS.
await writeFile(join(folder, 'package.json'), '{"name":"towers","version":"1.0.0","type":"commonjs"}');

afterAll(async () => {
  server?.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
});

interface Ended {
  code: number;
  out: string;
  err: string;
}

function run(program: string, args: string[], options: { cwd: string; env: NodeJS.ProcessEnv }): Promise<Ended> {
  return new Promise((resolve) =>
    execFile(program, args, options, (error, out, err) => resolve({ code: Number(error?.code ?? 0), out, err })),
  );
}

const launcher = () => join(installed, 'bin/dataset-register.js');
const command = (args: string[], env: NodeJS.ProcessEnv = {}) =>
  run(NODE, [launcher(), ...args], { cwd: folder, env: { ...CHILD_ENV, ...env } });

test('the package contains no data and no tests', async () => {
  const files = (await readdir(installed, { recursive: true })).filter((name) => !name.startsWith('node_modules'));
  expect(files).toContain(join('build', 'skeleton', 'pack.ts'));
  expect(files.filter((name) => /\.test\.|^data\/var|^tests|\.env$/.test(name))).toEqual([]);
});

test('the usage has a line for every command', async () => {
  const { code, out } = await command(['--help']);
  expect(code).toBe(0);
  expect(out.match(/^ {2}\w+/gm)?.map((name) => name.trim())).toEqual(
    'nightly serve dev pack publish keys ledger backup restore'.split(' '),
  );
  expect(await command([])).toMatchObject({ code: 2, err: out });
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  expect(await command(['--version'])).toMatchObject({ code: 0, out: `${version}\n` });
});

test('an unknown command exits with 2 and the nearest name', async () => {
  expect(await command(['nigthly'])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^unknown command 'nigthly'\. Did you mean 'nightly'\?\n/),
  });
  expect((await command(['xyz'])).err).toMatch(/^unknown command 'xyz'\.\n/);
});

test('arguments and exit codes pass through, and messages name the command', async () => {
  expect(await command(['ledger', 'mend'])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^usage: npx dataset-register ledger verify\n/),
  });
});

test('a folder with one pack becomes a register', { timeout: 180_000 }, async () => {
  expect(await command(['pack', 'new', 'bell-towers'])).toMatchObject({ code: 0, err: '' });
  expect(await command(['pack', 'check', 'packs/bell-towers'])).toMatchObject({ code: 0, err: '' });
  await publishedPack();

  // What `prepack` does: without its JavaScript the package runs its TypeScript, as above.
  expect(existsSync(join(installed, 'api/server.js'))).toBe(false);
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const build = [tsc, '-p', 'tsconfig.build.json', '--outDir', installed];
  expect(await run(NODE, build, { cwd: ROOT, env: CHILD_ENV })).toMatchObject({ code: 0, out: '' });
  expect(existsSync(join(installed, 'api/server.js'))).toBe(true);

  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const env = { BASE_URL: base, PORT: String(port), PACK_DIRS: 'packs, node_modules/clocks/packs' };
  await withCopies(join(folder, 'dist'));
  expect(await command(['nightly'], env)).toMatchObject({ code: 0, err: '' });
  expect(existsSync(join(folder, 'data/var')) && existsSync(join(folder, 'dist'))).toBe(true);

  server = spawn(NODE, [launcher(), 'serve'], {
    cwd: folder,
    env: { ...CHILD_ENV, ...env, LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await printed(server, 'listening on');
  const get = async (path: string, accept = '*/*') => (await fetch(base + path, { headers: { accept } })).text();
  const { datasets } = JSON.parse(await get('/v1/datasets')) as { datasets: { id: string; records: number }[] };
  expect(datasets.map(({ id }) => id).sort()).toEqual(['bell-towers', 'clock-towers']);
  expect(datasets.every(({ records }) => records > 0)).toBe(true);
  // Pages that Astro built, one from a document of the package.
  expect(await get('/datasets/bell-towers/', 'text/html')).toContain('Bell towers');
  expect(await get('/guides/install/', 'text/html')).toContain('<title>Install from npm');
  const search = JSON.parse(await get('/v1/clock-towers/entities')) as { items: { attributes: { name: string } }[] };
  expect(search.items.map(({ attributes }) => attributes.name)).toEqual(
    expect.arrayContaining([expect.stringMatching(/^Clock /)]),
  );

  server.kill('SIGTERM');
  expect(await once(server, 'exit')).toEqual([0, null]);
  server = undefined;
});

/** A dataset as a package: packs/clock-towers with TypeScript of its own and a dependency of its own. */
async function publishedPack(): Promise<void> {
  const home = join(folder, 'node_modules/clocks');
  const pack = join(home, 'packs/clock-towers');
  await cp(join(folder, 'packs/bell-towers'), pack, { recursive: true });
  await mkdir(join(home, 'node_modules/prefix'), { recursive: true });
  await writeFile(join(home, 'package.json'), '{"name":"clocks","version":"1.0.0"}');
  await writeFile(join(home, 'node_modules/prefix/package.json'), '{"name":"prefix","main":"index.js"}');
  await writeFile(join(home, 'node_modules/prefix/index.js'), "module.exports = 'Clock ';");
  await writeFile(
    join(pack, 'named.ts'),
    "import prefix from 'prefix';\nexport const named = (name: string): string => prefix + name;\n",
  );
  const collect = await readFile(join(pack, 'collect.ts'), 'utf8');
  const changed = collect
    .replace(/^import \{ defineCollector/m, "import { named } from './named.ts';\n$&")
    .replace('values: { name: entry.name', 'values: { name: named(entry.name)');
  expect(changed).not.toBe(collect);
  await writeFile(join(pack, 'collect.ts'), changed);
}

/** Waits until a process prints a text. */
async function printed(child: ChildProcess, text: string): Promise<void> {
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (piece) => {
      output += String(piece);
      if (output.includes(text)) resolve();
    });
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${output}`)));
  });
}
