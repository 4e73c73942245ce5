// `npm run dev`: changes of a pack are visible at its address, and a mistake leaves the last valid state.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { CHILD_ENV } from '../support/child-env.ts';
import { freePort } from '../support/free-port.ts';
import { scratchOfAll } from '../support/night-pack.ts';
import { withCopies } from '../support/whole-night.ts';

const ROOT = join(import.meta.dirname, '../..');
const folder = scratchOfAll();
const pack = join(folder, 'packs/bells');
let dev: ChildProcess;
let base = '';
let output = '';

/** Generous: on a quiet machine a change is visible in four seconds. */
const BUILT = 60_000;

async function startDev(): Promise<void> {
  const port = await freePort();
  base = `http://localhost:${port}`;
  dev = spawn(process.execPath, ['build/cli/dev.ts'], {
    cwd: ROOT,
    env: {
      ...CHILD_ENV,
      PORT: String(port),
      PACK_DIRS: join(folder, 'packs'),
      DATA_DIR: join(folder, 'data'),
      DIST_DIR: join(folder, 'dist'),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  dev.stdout?.on('data', (piece) => {
    output += String(piece);
  });
}

/** Resolves with the milliseconds until `check` holds; throws with the output after `limit`. */
async function waitUntil(check: () => boolean | Promise<boolean>, limit: number): Promise<number> {
  const from = performance.now();
  while (!(await check())) {
    if (performance.now() - from > limit) throw new Error(`not within ${limit} ms:\n${output}`);
    await sleep(25);
  }
  return performance.now() - from;
}

async function page(path: string, accept = 'text/html'): Promise<string> {
  return (await fetch(base + path, { headers: { accept } })).text();
}

const shows = (path: string, text: string, accept?: string) => async () => (await page(path, accept)).includes(text);

function edit(file: string, from: string, to: string): void {
  const path = join(pack, file);
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
}

beforeAll(async () => {
  cpSync(join(ROOT, 'build/skeleton'), pack, { recursive: true });
  await withCopies(join(folder, 'dist'));
  await startDev();
  await waitUntil(() => output.includes('Pages reload when'), 2 * BUILT);
}, 3 * BUILT);

afterAll(() => {
  dev.kill('SIGKILL');
});

test('builds what is missing, and prints the addresses of each dataset', () => {
  expect(output).toContain('bells: consolidate');
  expect(output).toContain(`Skeleton: ${base}/datasets/bells/, guide ${base}/v1/bells/llms.txt`);
});

test('a changed text is visible, and no source is read', { timeout: 4 * BUILT }, async () => {
  const before = output.length;
  edit('record.md', '# {{ record.name }}', '# {{ record.name }}\n\nIts bell weighs a ton.');
  const took = await waitUntil(shows('/datasets/bells/first-thing.md', 'Its bell weighs a ton.'), BUILT);
  console.info(`a changed template is visible after ${Math.round(took)} ms`);
  edit('samples.json', 'Sample thing', 'Brass handbell');
  await waitUntil(shows('/datasets/bells/brass-handbell', '<h1>Brass handbell</h1>'), BUILT);
  await waitUntil(shows('/v1/bells/samples', 'Brass handbell', 'application/json'), BUILT);
  edit('guide.md', 'Tell an agent', 'Bells ring. Tell an agent');
  await waitUntil(shows('/v1/bells/llms.txt', 'Bells ring.', 'text/plain'), BUILT);
  expect(output.slice(before)).not.toContain('bells: fetch');
});

test('a page for people with the template is built again', { timeout: BUILT }, async () => {
  await waitUntil(shows('/', 'Its bell weighs a ton.'), BUILT);
});

test(
  'a mistake is reported, the last valid state stays, and its correction is visible',
  async () => {
    const before = output.length;
    edit('pack.ts', "title: 'Skeleton'", "tilte: 'Bronze bells'");
    await waitUntil(() => output.slice(before).includes("nearest   'title'"), BUILT);
    expect(output.slice(before)).toContain('bells/pack.ts: tilte');
    expect(await page('/datasets/bells/first-thing')).toContain('First thing · Skeleton');
    edit('pack.ts', "tilte: 'Bronze bells'", "title: 'Bronze bells'");
    await waitUntil(shows('/datasets/bells/first-thing', 'First thing · Bronze bells'), BUILT);
  },
  3 * BUILT,
);

test('a changed collector with a new revision is collected again', { timeout: 2 * BUILT }, async () => {
  edit('collect.ts', 'things.json of', 'a list of');
  edit('pack.ts', 'revision: 1', 'revision: 2');
  await waitUntil(shows('/datasets/bells/first-thing', 'a list of skeleton-source'), BUILT);
});

test('pages have a script that the events of the server concern', async () => {
  // The rebuild after the test before may still change the state between the page and the first event.
  const opened = await vi.waitFor(
    async () => {
      const text = await page('/datasets/bells/first-thing');
      const [, path = '', state = ''] = /<script src="(\/__dev\/reload\.js)\?state=([\w-]+)"/.exec(text) ?? [];
      const events = await fetch(`${base}/__dev/events`);
      const reader = events.body!.getReader();
      const next = async () => new TextDecoder().decode((await reader.read()).value);
      const first = await next();
      if (first !== `data: ${state}\n\n`) await reader.cancel();
      expect(first).toBe(`data: ${state}\n\n`);
      return { path, state, reader, next };
    },
    { timeout: 20_000, interval: 200 },
  );
  const { path, state, reader, next } = opened;
  expect(await page(path)).toContain('EventSource');
  edit('guide.md', 'Bells ring.', 'Bells toll.');
  expect(await next()).not.toContain(state);
  await reader.cancel();
  // An answer for programs is not changed.
  expect(await page('/v1/bells/samples', 'application/json')).not.toContain('__dev');
});

test('ends with its children', { timeout: BUILT }, async () => {
  const children = execFileSync('pgrep', ['-P', String(dev.pid)], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(Number);
  const ended = once(dev, 'exit');
  dev.kill('SIGINT');
  await ended;
  await expect(fetch(base)).rejects.toThrow();
  expect(children.length).toBeGreaterThan(0);
  for (const pid of children) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});
