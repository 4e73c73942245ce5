// The whole site of the fictional packs, made as a night makes it, behind a socket: what its tests look at.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { serve } from '@hono/node-server';
import { prerender } from '../../build/prerender.ts';
import { loadPack } from '../../packs/index.ts';
import { BASE, type TestApp, testApp } from '../app.ts';
import { still } from '../night-pack.ts';

export interface Site {
  app: TestApp;
  /** DIST_DIR. */
  dist: string;
  /** Where it is served, without a trailing slash. */
  origin: string;
  /** Pages below `dist`, by the path of their URL. */
  pages: ReadonlyMap<string, string>;
  /** One address of each type of page. */
  types: readonly (readonly [string, string])[];
  /** Slug of a record of `tools` that is no showcase. */
  other: string;
  close(): Promise<void>;
}

/** Makes and serves the site. */
export async function openSite(): Promise<Site> {
  const dist = mkdtempSync(join(tmpdir(), 'site-'));
  const app = await testApp({ dist, nights: true });
  const packs = await Promise.all(
    ['tools', 'harbours'].map((name) => loadPack(join(import.meta.dirname, '../packs', name))),
  );
  const config = { DATA_DIR: app.dataDir, DIST_DIR: dist, BASE_URL: BASE, EUR_USD: 1.1 };
  const { failures } = await prerender({ config, packs, untouched: [], effects: still() });
  if (failures.length > 0) throw new Error(failures.join('\n'));
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  await new Promise((listening) => server.once('listening', listening));
  const found = readdirSync(dist, { recursive: true, withFileTypes: true }).filter(({ name }) =>
    name.endsWith('.html'),
  );
  const pages = new Map(
    found
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((file) => [`/${relative(dist, file).replace(/index\.html$/, '')}`, readFileSync(file, 'utf8')]),
  );
  const other = app.records['tools']!.find(({ slug }) => !pages.has(`/datasets/tools/${slug}/`))?.slug ?? '';
  const [record] = [...pages.keys()].filter((path) => /^\/datasets\/harbours\/[^/]+\/$/.test(path));
  return {
    app,
    dist,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pages,
    types: [
      ['home', '/'],
      ['dataset with a map', '/datasets/harbours/'],
      ['dataset', '/datasets/tools/'],
      ['showcase record', (record ?? '').replace(/\/$/, '')],
      ['record made on request', `/datasets/tools/${other}`],
      ['changes', '/changes/'],
      ['changes of a dataset', '/changes/tools/'],
      ['status', '/status/'],
      ['guides', '/guides/'],
      ['guide', '/guides/api/'],
      ['reference', '/guides/reference/'],
      ['headings', '/guides/contents/'],
      ['nothing', '/404.html'],
    ],
    other,
    close: async () => {
      await new Promise((closed) => server.close(closed));
      await app.close();
      rmSync(dist, { recursive: true, force: true });
    },
  };
}
