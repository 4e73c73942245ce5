// The packages that programs of this repository load, from their import statements.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path/posix';
import { importsOf, packageOf, target } from '../structure/imports.ts';

const ROOT = join(import.meta.dirname, '../..');

/** `createRequire(…)('x/file')` and `resolve('x/file')`: files of packages that are read, not imported. */
const READ = /(?:require|resolve)(?:\(import\.meta\.url\))?(?:\.resolve)?\(\s*['"`]([^'"`\n]+)['"`]/gi;

/** Child processes and threads. */
const PROGRAM = /(?:modulePath|startThread)\('([^']+)'\)/g;

/** Packages of `import type` and of node: are left out; so is what the modules in `without` load. */
export function packagesOf(programs: readonly string[], without: readonly string[] = []): Set<string> {
  const seen = new Set(without);
  const packages = new Set<string>();
  const open = [...programs];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const text = readFileSync(join(ROOT, path), 'utf8');
    for (const { specifier, type } of importsOf(text)) {
      if (type || specifier.startsWith('node:')) continue;
      const file = target(path, specifier);
      if (file === null) packages.add(packageOf(specifier));
      else if (existsSync(join(ROOT, file)) && /\.(ts|astro|mjs)$/.test(file)) open.push(file);
    }
    for (const [, program = ''] of text.matchAll(PROGRAM)) open.push(program);
    for (const [, specifier = ''] of text.matchAll(READ)) packages.add(packageOf(specifier));
  }
  return packages;
}
