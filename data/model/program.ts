// How this program is started: from a clone of the repository, or as the package dataset-register.
import { extname, join } from 'node:path';

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

/** The line that a person types to start a command: `npm run …`, or `npx dataset-register …`. */
export function commandLine(name: string, args = ''): string {
  const start = INSTALLED ? `npx dataset-register ${name}` : `npm run ${name}`;
  if (args === '') return start;
  return INSTALLED ? `${start} ${args}` : `${start} -- ${args}`;
}
