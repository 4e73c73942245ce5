// A night that is killed at any moment ends with the same release when it runs again.
import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { scratch } from '../support/night-pack.ts';
import { random } from '../support/random-records.ts';
import { verifies } from '../support/verifies.ts';

verifies('fact.no-half-file', 'command.nightly');

const PROGRAM = `
const { loadPack } = await import(process.argv[1] + '/packs/define/load.ts');
const { datasetNight } = await import(process.argv[1] + '/build/night/dataset.ts');
const { lockNight } = await import(process.argv[1] + '/data/model/lock.ts');
const { npmClient } = await import(process.argv[1] + '/build/effects/npm.ts');
const { silentProgress } = await import(process.argv[1] + '/build/effects/progress.ts');
lockNight(process.argv[2]);
console.log('begun');
const effects = { now: () => new Date('2026-11-20T00:00:00Z'), ticks: () => 0, web: () => Promise.reject(new Error('no web')), npm: npmClient(), progress: silentProgress };
await datasetNight(await loadPack(process.argv[1] + '/tests/packs/tools'), process.argv[2], effects, { accept: false });
process.exit();
`;

/**
 * Runs the night in a child process and kills it after some milliseconds if it is still running; returns the
 * time since its first step.
 */
async function night(data: string, killAfter?: number): Promise<{ killed: boolean; took: number }> {
  const root = join(import.meta.dirname, '../..');
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, root, data], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  await once(child.stdout, 'data');
  const began = performance.now();
  const done = new AbortController();
  if (killAfter !== undefined)
    void wait(killAfter, null, { signal: done.signal }).then(
      () => child.kill('SIGKILL'),
      () => undefined,
    );
  const [code, signal] = await exit;
  done.abort();
  if (signal === null) expect(code).toBe(0);
  return { killed: signal === 'SIGKILL', took: performance.now() - began };
}

/** Every file of the dataset with the hash of its bytes. */
function state(data: string): Record<string, string> {
  const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const own = files.filter(({ name }) => !name.startsWith('nightly.'));
  return Object.fromEntries(
    own.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const bytes = readFileSync(path);
      // Leaves out the fingerprint of the code, which may be edited while the test runs.
      const content = path.endsWith('manifest.json') ? bytes.toString().replace(/"inputs": "[0-9a-f]+"/, '') : bytes;
      return [path.slice(data.length), hash('sha256', content)];
    }),
  );
}

test('ten times', async () => {
  const undisturbed = scratch();
  const { took } = await night(undisturbed);
  const expected = state(undisturbed);
  expect(Object.keys(expected).some((path) => path.endsWith('manifest.json'))).toBe(true);
  const next = random(2026);
  for (let i = 0; i < 10; i++) {
    let data = scratch();
    let after = ((i + next()) / 10) * took;
    // The undisturbed night may have been slower than this one, which then ends before it is killed.
    while (!(await night(data, after)).killed) {
      data = scratch();
      after *= 0.8;
    }
    await night(data);
    expect(state(data), `killed after ${after} of ${took} ms`).toEqual(expected);
  }
}, 300_000);
