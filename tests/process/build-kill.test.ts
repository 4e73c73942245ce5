// A build that is killed while it writes static files leaves a folder that the next run repairs.
import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { silentProgress } from '../../build/effects/progress.ts';
import { prerender } from '../../build/static/prerender.ts';
import { appOfAll, BASE } from '../support/app.ts';
import { scratchOfAll } from '../support/night-pack.ts';
import { random } from '../support/random-records.ts';

/** The killed runs use another base URL, so that every file differs. */
const OTHER = 'https://elsewhere.example';
/** The databases, and the files with hashes of these. */
const VARYING = /^\/(\.build\/manifest\.tsv|files\/\w+\/(public\.duckdb|croissant\.jsonld|index\.(html|json)))$/;
const ROOT = join(import.meta.dirname, '../..');
const PROGRAM = `
const [, root, data, dist, base] = process.argv;
const { loadPacks } = await import(root + '/packs/define/load.ts');
const { prerender } = await import(root + '/build/static/prerender.ts');
const { silentProgress } = await import(root + '/build/effects/progress.ts');
const packs = await loadPacks([root + '/tests/packs']);
const config = { DATA_DIR: data, DIST_DIR: dist, BASE_URL: base, EUR_USD: 1.1 };
console.log('begun');
await prerender({ config, packs, untouched: [], effects: { progress: silentProgress }, site: async () => {} });
`;

const folder = scratchOfAll();
const app = await appOfAll({ records: 200 });

async function whole(dist: string): Promise<number> {
  const config = { DATA_DIR: app.dataDir, DIST_DIR: dist, BASE_URL: BASE, EUR_USD: 1.1 };
  const began = performance.now();
  const packs = [...app.register.packs.values()];
  await prerender({ config, packs, untouched: [], effects: { progress: silentProgress }, site: async () => {} });
  return performance.now() - began;
}

async function killed(dist: string, after: number): Promise<boolean> {
  const args = ['--input-type=module', '-e', PROGRAM, ROOT, app.dataDir, dist, OTHER];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  await once(child.stdout, 'data');
  await Promise.race([wait(after), exit]);
  child.kill('SIGKILL');
  await exit;
  return existsSync(join(dist, '.build', 'unfinished'));
}

/**
 * The files by path, with their hashes. DuckDB pads `public.duckdb` with other bytes each time: the lists must have the
 * hash of the file that is there, and are compared without it.
 */
function state(dist: string): Record<string, string> {
  const entries = readdirSync(dist, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => join(entry.parentPath, entry.name)).sort();
  const hashes = new Map(paths.map((path) => [path.slice(dist.length), hash('sha256', readFileSync(path))]));
  const varying = [...hashes].filter(([path]) => VARYING.test(path));
  expect(varying.filter(([path]) => path.endsWith('/public.duckdb'))).toHaveLength(2);
  for (const [path] of varying) {
    if (path.endsWith('/public.duckdb')) {
      hashes.set(path, String(statSync(join(dist, path)).size));
      continue;
    }
    const list = varying.reduce(
      (text, [name, sha256]) => text.replaceAll(sha256, name),
      readFileSync(join(dist, path), 'utf8'),
    );
    expect(list, path).toContain('/public.duckdb');
    hashes.set(path, list);
  }
  return Object.fromEntries(hashes);
}

test('several times, while every file changes', async () => {
  const undisturbed = join(folder, 'undisturbed');
  const took = await whole(undisturbed);
  const expected = state(undisturbed);
  expect(Object.keys(expected).length).toBeGreaterThan(400);
  const next = random(11);
  const dist = join(folder, 'dist');
  let unfinished = 0;
  // With a varying load some kills come too early or too late: then there are more of them.
  for (let i = 0; i < 5 || (unfinished < 2 && i < 25); i++) {
    unfinished += (await killed(dist, (((i % 5) + next()) / 5) * took)) ? 1 : 0;
    // Two killed runs follow each other, the others start with a complete folder.
    if (i === 1) continue;
    await whole(dist);
    expect(state(dist)).toEqual(expected);
  }
  expect(unfinished).toBeGreaterThan(1);
}, 180_000);
