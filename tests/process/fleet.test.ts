// Several machines: two processes of the API with their own DATA_DIR fetch a release from object storage, stop
// without failed calls, and start on a database of a newer version.
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { runNight } from '../../build/night/run.ts';
import { readConfig } from '../../config.ts';
import { readPointers } from '../../data/state/pointers.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { freePort } from '../support/free-port.ts';
import { scratch, still } from '../support/night-pack.ts';
import { S3_CREDENTIALS } from '../support/s3-server.ts';
import { openSharedStorage } from '../support/shared-storage.ts';
import { PACKS } from '../support/whole-night.ts';

const ROOT = join(import.meta.dirname, '../..');
const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

test('processes on several machines serve what one of them built, and stop without a failed call', async (context) => {
  const url = process.env['TEST_DATABASE_URL'];
  if (!url) return context.skip('TEST_DATABASE_URL is not set');
  const { settings, remove } = await openSharedStorage(url, scratch());
  onTestFinished(remove);
  Object.assign(process.env, S3_CREDENTIALS);
  const shared = { ...settings, PACK_DIRS: PACKS };
  const builder = scratch();
  const folders = { DATA_DIR: join(builder, 'data'), DIST_DIR: join(builder, 'dist') };
  const night = await runNight(readConfig({ ...shared, ...folders }), still(), { only: ['tools'], accept: false });
  expect(night.failures).toEqual([]);
  const release = night.nights[0]?.release;

  const nodes = await Promise.all(
    [0, 1].map(async () => {
      const [folder, port] = [scratch(), String(await freePort())];
      const own = { DATA_DIR: join(folder, 'data'), DIST_DIR: join(folder, 'dist'), PORT: port, DRAIN_SECONDS: '2' };
      const child = spawn(process.execPath, [join(ROOT, 'api/server.ts')], {
        env: { ...CHILD_ENV, ...shared, ...own },
        stdio: 'ignore',
      });
      running.push(child);
      return {
        child,
        origin: `http://127.0.0.1:${port}`,
        exited: new Promise((resolve) => child.once('exit', resolve)),
      };
    }),
  );
  const status = (origin: string, path: string) =>
    fetch(`${origin}${path}`).then(
      ({ status: code }) => code,
      () => 0,
    );
  const until = async (origin: string, path: string, wanted: number) => {
    while ((await status(origin, path)) !== wanted) await new Promise((resolve) => setTimeout(resolve, 50));
  };
  for (const { origin } of nodes) await until(origin, '/readyz', 200);
  for (const { origin } of nodes) {
    const health = (await (await fetch(`${origin}/healthz`)).json()) as Record<string, unknown>;
    expect(health).toMatchObject({ release: { tools: release }, storage: { status: 'ok', waiting: {} } });
    expect(await status(origin, '/v1/tools/entities?limit=1')).toBe(200);
  }

  // A load balancer sees 503 while calls are answered, and sends the next ones to the other process.
  const [first, second] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
  first.child.kill('SIGTERM');
  await until(first.origin, '/readyz', 503);
  expect(await status(first.origin, '/v1/tools/status')).toBe(200);
  expect(await status(second.origin, '/readyz')).toBe(200);
  expect(await first.exited).toBe(0);
}, 180_000);

test('a night that cannot fetch the current release does not publish the older one of its disk', async (context) => {
  const url = process.env['TEST_DATABASE_URL'];
  if (!url) return context.skip('TEST_DATABASE_URL is not set');
  const { settings, server, store, remove } = await openSharedStorage(url, scratch());
  onTestFinished(remove);
  Object.assign(process.env, S3_CREDENTIALS);
  const machine = (weight: number) => {
    const folder = scratch();
    cpSync(join(PACKS, 'tools'), join(folder, 'packs/tools'), { recursive: true });
    const pack = join(folder, 'packs/tools/pack.ts');
    writeFileSync(pack, readFileSync(pack, 'utf8').replace(/\bweight: \d+/, `weight: ${weight}`));
    const folders = {
      DATA_DIR: join(folder, 'data'),
      DIST_DIR: join(folder, 'dist'),
      PACK_DIRS: join(folder, 'packs'),
    };
    const config = readConfig({ ...settings, ...folders });
    return () => runNight(config, still(), { only: ['tools'], accept: false, files: false });
  };
  const [older, newer] = [machine(3), machine(4)];
  await older();
  const { nights } = await newer();
  const pointer = async () => (await readPointers(store)).get('tools');
  const current = await pointer();
  expect(current?.release).toBe(nights[0]?.release);

  const objects = readdirSync(server.folder('register'), { recursive: true, withFileTypes: true })
    .filter(({ name }) => name.endsWith('_object'))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => statSync(path).size > 4_000);
  const contents = objects.map((path) => readFileSync(path));
  for (const [index, path] of objects.entries()) writeFileSync(path, contents[index]!.subarray(1));
  expect((await older()).failures).toEqual([expect.stringMatching(/is corrupted/)]);
  expect(await pointer()).toEqual(current);

  for (const [index, path] of objects.entries()) writeFileSync(path, contents[index]!);
  expect((await older()).failures).toEqual([]);
}, 180_000);
