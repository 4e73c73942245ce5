// One run at a time, and a killed run blocks none.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { LockedError, lockNight } from '../../data/model/lock.ts';
import { scratch } from '../support/night-pack.ts';

const MODULE = JSON.stringify(join(import.meta.dirname, '../../data/model/lock.ts'));

/** A process that takes the lock, reports it and waits, with garbage collection forced. */
async function holder(data: string) {
  const program = `import { lockNight } from ${MODULE}; lockNight(${JSON.stringify(data)}); gc(); console.log('held'); setInterval(gc, 10);`;
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module-typescript', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

test('a second run gets the process id of the lock, and the lock after that process ended in any way', async () => {
  const data = scratch();
  const child = await holder(data);
  expect(() => lockNight(data)).toThrow(LockedError);
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
