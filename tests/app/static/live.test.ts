// A prerendered file equals the answer of the running API at the same moment.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentProgress } from '../../../build/effects/progress.ts';
import { type PrerenderOptions, prerender } from '../../../build/static/prerender.ts';
import { BASE, type TestApp, testApp } from '../../support/app.ts';

let app: TestApp;
let dist: string;
let files: string[];

/** One run of the build with pages for people made by the test. */
async function run(site: NonNullable<PrerenderOptions['site']>): Promise<string[]> {
  const config = { DATA_DIR: app.dataDir, DIST_DIR: dist, BASE_URL: BASE, EUR_USD: 1.1 };
  const packs = [...app.register.packs.values()];
  return (await prerender({ config, packs, untouched: [], effects: { progress: silentProgress }, site })).failures;
}

beforeAll(async () => {
  dist = mkdtempSync(join(tmpdir(), 'live-'));
  // The app has another DIST_DIR, so that it answers everything itself; its clock stops at the time of the
  // releases.
  const made: { at?: Date } = {};
  app = await testApp({
    dist: join(dist, 'nowhere'),
    records: 20,
    now: () => made.at ?? new Date('2026-11-20T12:00:00Z'),
  });
  made.at = new Date(app.register.current('tools')!.manifest.created_at);
  expect(await run(async (_data, output) => output.write('about.html', 'old', 'site.1'))).toEqual([]);
  files = readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dist.length + 1))
    // `_headers` is for other hosts; downloads, their lists and the search index exist only as files.
    .filter((path) => !/^(\.build|files|search)\//.test(path) && path !== 'about.html' && path !== '_headers');
}, 60_000);
afterAll(async () => {
  await app.close();
  rmSync(dist, { recursive: true, force: true });
});

test('there are answers, documents and a page for every record', () => {
  const pages = files.filter((path) => path.startsWith('datasets/'));
  expect(pages.filter((path) => path.endsWith('.md'))).toHaveLength(40);
  // Showcase records have an HTML page as a file, too; the API renders all others.
  expect(pages.filter((path) => path.endsWith('/index.html'))).toHaveLength(20);
  for (const path of [
    'llms.txt',
    'openapi.json',
    'v1/datasets',
    'v1/tools/llms-full.txt',
    'v1/tools/llms.txt',
    'v1/harbours/examples.md',
  ])
    expect(files).toContain(path);
});

test('each file equals the API’s answer', async () => {
  for (const path of files) {
    const live = await app.ask(`/${path.replace(/\/index\.html$/, '')}`);
    expect(live.status, path).toBe(200);
    expect(await live.text(), path).toBe(readFileSync(join(dist, path), 'utf8'));
  }
}, 60_000);

test('when the pages for people cannot be made, the old ones stay and the run reports it', async () => {
  const torn = async () => {
    throw new Error('the pages are torn');
  };
  expect(await run(torn)).toEqual(['the pages are torn']);
  expect(readFileSync(join(dist, 'about.html'), 'utf8')).toBe('old');
  expect(await run(async () => {})).toEqual([]);
  expect(existsSync(join(dist, 'about.html'))).toBe(false);
});
