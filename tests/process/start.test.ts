// `npm start` without data: it collects, builds, shows its progress, and serves.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { scratchOfAll } from '../support/night-pack.ts';
import { verifies } from '../support/verifies.ts';

const folder = scratchOfAll();
let server: ChildProcess | undefined;
afterAll(() => {
  if (server?.pid !== undefined && server.exitCode === null && server.signalCode === null)
    process.kill(-server.pid, 'SIGTERM');
});

test('on an empty machine', { timeout: 120_000 }, async () => {
  verifies('command.start');
  const port = await freePort();
  // A new process group, since npm does not pass every signal on.
  server = spawn('npm', ['start', '--silent'], {
    env: {
      ...process.env,
      BASE_URL: '',
      PORT: String(port),
      PACK_DIRS: join(import.meta.dirname, '../packs'),
      DATA_DIR: join(folder, 'var'),
      DIST_DIR: join(folder, 'dist'),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    server?.stdout?.on('data', (piece) => {
      said += String(piece);
      if (said.includes('listening on')) resolve();
    });
    server?.once('exit', (code) => reject(new Error(`npm start ended with ${code}: ${said}`)));
  });
  const steps = ['tools: collect', 'tools: consolidate', 'register: prerender', 'listening on'];
  const places = steps.map((step) => said.indexOf(step));
  expect(places, said).toEqual(places.toSorted((a, b) => a - b));
  expect(places[0], said).toBeGreaterThanOrEqual(0);
  const found = (await (await fetch(`http://127.0.0.1:${port}/v1/datasets`)).json()) as { datasets: { id: string }[] };
  expect(found.datasets.map(({ id }) => id)).toEqual(expect.arrayContaining(['harbours', 'tools']));
  const page = await fetch(`http://127.0.0.1:${port}/`, { headers: { Accept: 'text/html' } });
  expect(await page.text()).toContain('</html>');

  // Only npm gets the signal, as from a service manager; its shell ends without passing it on.
  server.kill('SIGTERM');
  await vi.waitFor(() => expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow(), {
    timeout: 10_000,
    interval: 200,
  });
});
