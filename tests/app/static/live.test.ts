// A prerendered file equals the answer of the running API at the same moment.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { silentProgress } from '../../../build/effects/progress.ts';
import { type PrerenderOptions, prerender } from '../../../build/static/prerender.ts';
import { BASE, type TestApp, testApp } from '../../support/app.ts';

let app: TestApp;
let dist: string;
let files: string[];

/** One run of the build with pages for people made by the test. */
async function run(
  site: NonNullable<PrerenderOptions['site']>,
  settings: Pick<PrerenderOptions['config'], 'RECORD_PAGES_MAX'> = {},
): Promise<string[]> {
  const config = { DATA_DIR: app.dataDir, DIST_DIR: dist, BASE_URL: BASE, EUR_USD: 1.1, ...settings };
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

interface Route {
  path: string;
  pathType: 'Exact' | 'Prefix';
  backend: { service: { name: string } };
}

/** The service of deploy/kubernetes that answers a path: an exact path first, then the longest prefix. */
function serviceOf(path: string): string | undefined {
  const text = readFileSync(join(import.meta.dirname, '../../../deploy/kubernetes/ingress.yaml'), 'utf8');
  const routes = (parse(text) as { spec: { rules: [{ http: { paths: Route[] } }] } }).spec.rules[0].http.paths;
  const match = ({ path: at, pathType }: Route) =>
    at === path || (pathType === 'Prefix' && path.startsWith(at.endsWith('/') ? at : `${at}/`));
  const rank = ({ path: at, pathType }: Route) => at.length + (pathType === 'Exact' ? 1000 : 0);
  return routes.filter(match).sort((a, b) => rank(b) - rank(a))[0]?.backend.service.name;
}

test('in Kubernetes, what an API without files cannot answer goes to the one that has them', async () => {
  // Parts of a long text exist as files only, and the text takes seconds of processor time.
  expect((await app.ask('/v1/tools/llms-full/0001.txt')).status).toBe(404);
  const packs = readdirSync(join(import.meta.dirname, '../../../packs')).filter((name) => name !== 'define');
  expect(packs.length).toBeGreaterThan(2);
  for (const pack of packs) {
    for (const file of ['llms-full.txt', 'llms-full/index.txt', 'llms-full/0001.txt'])
      expect(serviceOf(`/v1/${pack}/${file}`), `${pack} ${file}`).toBe('pages');
    expect(serviceOf(`/v1/${pack}/llms.txt`)).toBe('api');
  }
  // Every other file that the replicas would have to answer is one that they answer (the test above).
  const replicas = files.filter((path) => serviceOf(`/${path}`) === 'api');
  expect(replicas).toEqual(expect.arrayContaining(['v1/datasets', 'v1/tools/llms.txt', 'v1/harbours/examples.md']));
  for (const path of ['/files/places/public.parquet', '/search/places.json', '/datasets/places/', '/llms.txt'])
    expect(serviceOf(path), path).toBe('pages');
});

test('when the pages for people cannot be made, the old ones stay and the run reports it', async () => {
  const torn = async () => {
    throw new Error('the pages are torn');
  };
  expect(await run(torn)).toEqual(['the pages are torn']);
  expect(readFileSync(join(dist, 'about.html'), 'utf8')).toBe('old');
  expect(await run(async () => {})).toEqual([]);
  expect(existsSync(join(dist, 'about.html'))).toBe(false);
});

test('above RECORD_PAGES_MAX no page of a record is a file, the other files stay, and at the limit all are written', async () => {
  const written = () =>
    Object.fromEntries(
      readdirSync(dist, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(dist.length + 1))
        .filter((path) => !path.startsWith('.build/'))
        .map((path) => [path, readFileSync(join(dist, path), 'utf8')]),
    );
  const all = written();
  const isPage = (path: string) => /^datasets\/[^/]+\/[^/]+\.md$/.test(path);
  const others = Object.fromEntries(Object.entries(all).filter(([path]) => !isPage(path)));
  expect(Object.keys(all).length - Object.keys(others).length).toBe(40);
  const read: NonNullable<PrerenderOptions['site']> = async ({ data }) => {
    for (const { page } of (await data()).datasets) expect(page).toMatch(/^# /);
  };
  expect(await run(read, { RECORD_PAGES_MAX: 19 })).toEqual([]);
  expect(written()).toEqual(others);
  expect(await run(async () => {}, { RECORD_PAGES_MAX: 20 })).toEqual([]);
  expect(written()).toEqual(all);
}, 60_000);
