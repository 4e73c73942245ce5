// One run at a time, and none blocked by a run that died.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratch } from '../tests/night-pack.ts';
import { Busy, lockNight } from './nightly-lock.ts';

const MODULE = JSON.stringify(join(import.meta.dirname, 'nightly-lock.ts'));

/** A process that takes the lock, says so and waits. */
async function holder(data: string) {
  const program = `import { lockNight } from ${MODULE}; lockNight(${JSON.stringify(data)}); console.log('held'); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

test('a second run is told who holds the lock, and gets it once that process is dead, however it died', async () => {
  const data = scratch();
  const child = await holder(data);
  expect(() => lockNight(data)).toThrow(Busy);
  expect(() => lockNight(data)).toThrow(`process ${child.pid}`);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const unlock = lockNight(data);
  expect(() => lockNight(data)).toThrow(`process ${process.pid}`);
  unlock();
  lockNight(data)();
});

test('runs on other folders do not wait', () => {
  const [one, two] = [lockNight(scratch()), lockNight(scratch())];
  one();
  two();
});
