// `npm start` without data: it serves at once, builds in a child process, and each dataset answers when it is built.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { NightState } from '../../data/releases/night-state.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { freePort } from '../support/free-port.ts';
import { scratchOfAll } from '../support/night-pack.ts';
import { verifies } from '../support/verifies.ts';

const folder = scratchOfAll();
const PACKS = join(import.meta.dirname, '../packs');
const packDir = join(folder, 'packs');
const DATA_DIR = join(folder, 'var');

/** The build goes on when this file exists. */
const go = join(folder, 'go');
const WAIT = `while (!(await import('node:fs')).existsSync(${JSON.stringify(go)})) await new Promise((next) => setTimeout(next, 50));`;

interface Started {
  child: ChildProcess;
  port: number;
  /** Everything that it printed. */
  output(): string;
}

const started: ChildProcess[] = [];

/** Starts `npm start` and waits for the line that it listens. */
async function npmStart(settings: NodeJS.ProcessEnv = {}): Promise<Started> {
  const port = await freePort();
  // A new process group, since npm does not pass every signal on.
  const child = spawn('npm', ['start', '--silent'], {
    env: {
      ...process.env,
      ...{ BASE_URL: '', PORT: String(port), PACK_DIRS: packDir, DATA_DIR, DIST_DIR: join(folder, 'dist') },
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  started.push(child);
  let output = '';
  const append = (piece: Buffer) => {
    output += String(piece);
  };
  child.stdout.on('data', append);
  child.stderr.on('data', append);
  await vi.waitFor(() => expect(output).toContain('listening on'), { timeout: 30_000, interval: 50 });
  return { child, port, output: () => output };
}

const night = (): NightState => JSON.parse(readFileSync(join(DATA_DIR, 'nightly.json'), 'utf8')) as NightState;
const waitFor = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 90_000, interval: 100 });

let service: Started;
const ask = (path: string, accept = 'application/json') =>
  fetch(`http://127.0.0.1:${service.port}${path}`, { headers: { Accept: accept } });
const statusOf = async (path: string) => (await ask(path)).status;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

beforeAll(async () => {
  mkdirSync(packDir);
  cpSync(join(PACKS, 'harbours'), join(packDir, 'harbours'), { recursive: true });
  // Its build waits until the test lets it go on.
  const collector = join(packDir, 'harbours', 'collect.ts');
  const text = readFileSync(collector, 'utf8');
  writeFileSync(collector, text.replace(/async \*read\([^)]*\) \{/, `$&\n${WAIT}`));
  expect(readFileSync(collector, 'utf8')).toContain(WAIT);
  service = await npmStart();
}, 60_000);

afterAll(() => {
  for (const { pid, exitCode, signalCode } of started)
    if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
});

test('an empty machine answers at once, and says what is built', { timeout: 60_000 }, async () => {
  verifies('command.start');
  const state = await waitFor(night);
  expect(state.datasets).toEqual(['harbours']);
  expect(await (await ask('/healthz')).json()).toMatchObject({ status: 'empty' });
  const ready = await ask('/readyz');
  expect(ready.status).toBe(503);
  const { reasons } = (await ready.json()) as { reasons: string[] };
  expect(reasons[0]).toBe('no release is served yet');
  expect(reasons[1]).toMatch(/^harbours: (waiting for its build|building, step \d+ of 10: [a-zA-Z ]+)/);

  const search = await ask('/v1/harbours/entities');
  expect(search.status).toBe(503);
  expect(Number(search.headers.get('retry-after'))).toBe(5);
  expect(await search.json()).toMatchObject({ error: 'unavailable', is_retriable: true, retry_after_seconds: 5 });

  const home = await ask('/', 'text/html');
  expect(home.status).toBe(200);
  expect(home.headers.get('cache-control')).toBe('no-store');
  const page = await home.text();
  expect(page).toContain('<meta http-equiv="refresh"');
  expect(page).toContain('0 of 1 datasets answer');
  expect(page).toContain('<progress max="100"');
  expect((await ask('/datasets/harbours/', 'text/html')).status).toBe(503);
  expect((await ask('/guides/', 'text/html')).status).toBe(503);
  expect(await statusOf('/datasets/nowhere/')).toBe(404);
});

test('one process owns the run: a second service waits, and a run that was killed starts again', {
  timeout: 120_000,
}, async () => {
  const { pid: builder } = night();
  const second = await npmStart();
  await waitFor(() => expect(second.output()).toMatch(/Another nightly run \(process \d+\) works on/));
  process.kill(-second.child.pid!, 'SIGTERM');

  process.kill(builder, 'SIGKILL');
  await waitFor(() =>
    expect(service.output()).toContain('The build of harbours ended: SIGKILL. It starts again in 10 s'),
  );
  await waitFor(async () =>
    expect(await (await ask('/readyz')).json()).toMatchObject({
      reasons: [expect.any(String), 'harbours: no release was built yet'],
    }),
  );
  await waitFor(() => expect(night().pid).not.toBe(builder));
});

test('a dataset answers when its release exists, before the pages are written', { timeout: 120_000 }, async () => {
  writeFileSync(go, '');
  await waitFor(() => expect(service.output()).toContain('harbours answers now: '));
  expect(existsSync(join(folder, 'dist', 'datasets', 'harbours', 'index.html'))).toBe(false);
  const search = await ask('/v1/harbours/entities?limit=1');
  expect(search.status).toBe(200);
  const { items } = (await search.json()) as { items: { url: string; name: string }[] };
  const record = await ask(new URL(items[0]!.url).pathname, 'text/html');
  expect(record.status).toBe(200);
  expect(await record.text()).toContain(items[0]!.name);
  const page = await ask('/datasets/harbours/', 'text/html');
  expect(page.status).toBe(200);
  expect(await page.text()).toContain('Answers now');
  expect(await (await ask('/readyz')).json()).toEqual({ status: 'ready' });

  await waitFor(() => expect(service.output()).toContain('Every dataset and page is built'));
  const home = await (await ask('/', 'text/html')).text();
  expect(home).toContain('</html>');
  expect(home).not.toContain('http-equiv="refresh"');
  expect(existsSync(join(DATA_DIR, 'nightly.json'))).toBe(false);
});

test('a new pack is served when it is built, and a removed one is not', { timeout: 180_000 }, async () => {
  /** Answers of `path`, once a second: the limits of anonymous callers apply. */
  const waitForStatus = (path: string, status: number) =>
    vi.waitFor(async () => expect(await statusOf(path)).toBe(status), { timeout: 60_000, interval: 1_500 });
  cpSync(join(PACKS, 'tools'), join(packDir, 'tools'), { recursive: true });
  await waitFor(() =>
    expect(service.output()).toContain(
      'tools: a new pack; it is served when `npm run nightly -- --only tools` has built it',
    ),
  );
  const env = { ...CHILD_ENV, PACK_DIRS: packDir, DATA_DIR, DIST_DIR: join(folder, 'dist') };
  const run = spawn(process.execPath, ['build/nightly.ts', '--only', 'tools'], { env });
  let printed = '';
  for (const stream of [run.stdout, run.stderr]) stream.on('data', (piece: Buffer) => (printed += String(piece)));
  const [exitCode] = (await once(run, 'close')) as [number];
  expect(exitCode, printed).toBe(0);
  await waitForStatus('/v1/tools/schema', 200);
  expect(await statusOf('/datasets/tools/')).toBe(200);

  rmSync(join(packDir, 'tools'), { recursive: true });
  await waitForStatus('/v1/tools/schema', 404);
  expect(await statusOf('/datasets/tools/')).toBe(404);
  expect(await statusOf('/v1/harbours/schema')).toBe(200);
});

test('a service that is killed leaves no run behind, and npm alone stops it', { timeout: 120_000 }, async () => {
  rmSync(go);
  const shared = { DATA_DIR: join(folder, 'other'), DIST_DIR: join(folder, 'other-dist') };
  const other = await npmStart(shared);
  const state = join(shared.DATA_DIR, 'nightly.json');
  const { pid: builder } = await waitFor(() => JSON.parse(readFileSync(state, 'utf8')) as NightState);
  const [, parent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${builder}/stat`, 'utf8')) ?? [];
  process.kill(Number(parent), 'SIGKILL');
  await waitFor(() => expect(isAlive(builder)).toBe(false));
  expect(other.output()).toMatch(/^Building harbours.* in process \d+/m);

  // Only npm gets the signal, as from a service manager; its shell ends without passing it on.
  service.child.kill('SIGTERM');
  await waitFor(() => expect(ask('/healthz')).rejects.toThrow());
});
