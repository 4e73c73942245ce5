// The complete site of the fictional packs, made by a nightly run and served from a socket.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { prerender } from '../../build/static/prerender.ts';
import { loadPack } from '../../packs/define/load.ts';
import { type TestApp, testApp } from './app.ts';
import { still } from './night-pack.ts';
import { served } from './served.ts';
import { type PageType, pageTypes } from './site-types.ts';

export interface Site {
  app: TestApp;
  /** DIST_DIR. */
  dist: string;
  /** Its address, without a trailing slash. */
  origin: string;
  /** Pages below `dist`, by the path of their URL. */
  pages: ReadonlyMap<string, string>;
  /** One address of each type of page. */
  types: readonly PageType[];
  /** Slug of a record of `tools` that is no showcase. */
  other: string;
  /** An API key with credit. */
  key: string;
  close(): Promise<void>;
}

/** Builds and serves the site. */
export async function openSite(): Promise<Site> {
  const dist = mkdtempSync(join(tmpdir(), 'site-'));
  // Pages call the API at the base address, so it must be the address of the server.
  const { app, base: origin, close } = await served((base) => testApp({ dist, nights: true, base }));
  const packs = await Promise.all(
    ['tools', 'harbours'].map((name) => loadPack(join(import.meta.dirname, '../packs', name))),
  );
  const config = { DATA_DIR: app.dataDir, DIST_DIR: dist, BASE_URL: origin, EUR_USD: 1.1 };
  const { failures } = await prerender({ config, packs, untouched: [], effects: still() });
  if (failures.length > 0) throw new Error(failures.join('\n'));
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
  const made = await app.json('/v1/keys', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: 'types@site.example' }),
  });
  return {
    app,
    dist,
    origin,
    pages,
    types: pageTypes({ showcase: (record ?? '').replace(/\/$/, ''), other, key: String(made.body['key']) }),
    other,
    key: String(made.body['key']),
    close: async () => {
      await close();
      rmSync(dist, { recursive: true, force: true });
    },
  };
}
