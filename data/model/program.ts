// How this program is started: from a clone of the repository, or as the package dataset-register.
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';

const ROOT = join(import.meta.dirname, '../..');

/** `.ts`, or `.js` where the package contains the JavaScript. */
const EXTENSION = extname(import.meta.filename);

/** Whether this file belongs to an installed package. Node strips no types there. */
const INSTALLED = import.meta.url.includes('/node_modules/');

/** Options with which Node loads the modules of this program: a hook where it strips no types. */
export const LOADER_OPTIONS: readonly string[] =
  INSTALLED && EXTENSION === '.ts'
    ? ['--import', new URL('../../packs/define/typescript-hooks.js', import.meta.url).href]
    : [];

/** Path of a module of this program, given by its path in the repository (`api/server.ts`). */
export function modulePath(source: string): string {
  return join(ROOT, source.replace(/\.ts$/, EXTENSION));
}

/** Starts a thread whose program is a module of this repository (`api/worker.ts`). */
export function startThread(source: string, options: Pick<WorkerOptions, 'workerData' | 'transferList'>): Worker {
  return new Worker(new URL('./thread.mjs', import.meta.url), { ...options, argv: [modulePath(source)] });
}

/** Whether a package is installed, given by its name. */
export function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(`${name}/package.json`);
    return true;
  } catch {
    return false;
  }
}

/** The line that a person types to start a command: `npm run …`, or `npx dataset-register …`. */
export function commandLine(name: string, args = ''): string {
  const start = INSTALLED ? `npx dataset-register ${name}` : `npm run ${name}`;
  if (args === '') return start;
  return INSTALLED ? `${start} ${args}` : `${start} -- ${args}`;
}

/** Milliseconds between two checks of the parent process. */
const PARENT_CHECK = 500;

/** Variable that a process sets for a child that must not outlive it. */
export const STOP_WITH_PARENT = 'STOP_WITH_PARENT';

/**
 * Stops this process, as SIGTERM does, when its parent has ended: a service that was killed, or the shell that npm
 * started it with. npm passes a signal to that shell, which may end without passing it on.
 */
export function stopWithParent(env: NodeJS.ProcessEnv): void {
  if (env['npm_lifecycle_event'] === undefined && env[STOP_WITH_PARENT] === undefined) return;
  // Its output went to the parent.
  process.stdout.on('error', () => process.exit(143));
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, PARENT_CHECK);
  timer.unref();
}
