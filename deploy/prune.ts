// Reduces the installed dependencies to those of one image of the Dockerfile: `node deploy/prune.ts api`, in a
// folder with package.json, package-lock.json and node_modules. Prints what takes the space. Not for a working
// copy: it changes package.json.
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { sep } from 'node:path';

/** Files that no program loads: type declarations (but Astro reads its own), source maps, documents but licences. */
const UNUSED = /^node_modules\/(?!astro\/).*\.d\.[cm]?ts$|\.map$|\/(?!licen[cs]e|notice|copying)[^/]*\.(markdown|md)$/i;
/** DuckDB for browsers has three variants, and more for Node; the pages load this one (site/sql/engine.ts). */
const DUCKDB_WASM = /@duckdb\/duckdb-wasm\/dist\/duckdb-(?!eh\.wasm$|browser-eh\.|browser\.mjs$)[^/]*$/;

const { [process.argv[2] ?? '']: image } = JSON.parse(
  readFileSync(new URL('images.json', import.meta.url), 'utf8'),
) as Record<string, { omit: string[] }>;
if (image === undefined) throw new Error('usage: node deploy/prune.ts api|nightly');

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, Record<string, string>>;
for (const name of image.omit) delete manifest['dependencies']?.[name];
// The image has its own Node.
manifest['optionalDependencies'] = {};
manifest['devDependencies'] = {};
writeFileSync('package.json', `${JSON.stringify(manifest, null, 2)}\n`);
execFileSync('npm', ['prune', '--omit=dev', '--offline', '--loglevel=error'], { stdio: 'inherit' });

const sizes = new Map<string, number>();
for (const path of globSync('node_modules/**/*', { exclude: ['node_modules/.bin'] })) {
  const file = path.split(sep).join('/');
  const status = statSync(path);
  if (!status.isFile()) continue;
  if (UNUSED.test(file) || DUCKDB_WASM.test(file)) {
    rmSync(path);
    continue;
  }
  const [, name = ''] = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file) ?? [];
  sizes.set(name, (sizes.get(name) ?? 0) + status.size);
}
const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1).padStart(7);
const largest = [...sizes].sort(([, a], [, b]) => b - a);
for (const [name, bytes] of largest.slice(0, 20)) console.log(`${megabytes(bytes)} MB  ${name}`);
console.log(`${megabytes([...sizes.values()].reduce((a, b) => a + b, 0))} MB  ${sizes.size} packages`);
