// A prerendered file is an answer given early: every one of them against the running API at the same moment.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { prerender } from '../../build/prerender.ts';
import { silent } from '../../build/progress.ts';
import { BASE, type TestApp, testApp } from '../app.ts';

let app: TestApp;
let dist: string;
let files: string[];

beforeAll(async () => {
  dist = mkdtempSync(join(tmpdir(), 'live-'));
  // The app looks for files elsewhere, so that it answers everything itself; its clock stands where the releases were made.
  const made: { at?: Date } = {};
  app = await testApp({
    dist: join(dist, 'nowhere'),
    records: 20,
    now: () => made.at ?? new Date('2026-11-20T12:00:00Z'),
  });
  const packs = [...app.register.packs.values()];
  made.at = new Date(app.register.current(packs[0]!.id)!.manifest.created_at);
  const config = { DATA_DIR: app.dataDir, DIST_DIR: dist, BASE_URL: BASE, EUR_USD: 1.1 };
  await prerender({ config, packs, untouched: [], effects: { progress: silent }, site: async () => {} });
  files = readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dist.length + 1))
    .filter((path) => !path.startsWith('.build/'));
}, 60_000);
afterAll(async () => {
  await app.close();
  rmSync(dist, { recursive: true, force: true });
});

test('there are answers, documents and a page for every record', () => {
  const pages = files.filter((path) => path.startsWith('datasets/'));
  expect(pages).toHaveLength(40);
  for (const path of [
    'llms.txt',
    'v1/datasets',
    'v1/tools/llms-full.txt',
    'v1/tools/llms.txt',
    'v1/harbours/examples.md',
  ])
    expect(files).toContain(path);
});

test('each file is what the API answers at its address', async () => {
  for (const path of files) {
    const live = await app.ask(`/${path}`);
    expect(live.status, path).toBe(200);
    expect(await live.text(), path).toBe(readFileSync(join(dist, path), 'utf8'));
  }
}, 60_000);
