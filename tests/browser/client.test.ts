// The TypeScript client in a page of another origin in Chromium: its modules without types, and the service over CORS.
/// <reference lib="dom" />
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type * as Client from '../../clients/typescript/index.ts';
import { ADMIN, testApp } from '../support/app.ts';
import { NONE, openBrowser, openPage } from '../support/browser.ts';
import { served } from '../support/served.ts';

/** Vitest rewrites imports in functions for the page, so the page itself imports the client. */
const PAGE = `<title>host</title><script type="module">globalThis.client = await import('/index.ts')</script>`;

const browser = await openBrowser();
const server = await served((base) => testApp({ base }));
const host = createServer((request, response) => {
  const [, name] = /^\/([\w-]+\.ts)$/.exec(request.url ?? '') ?? [];
  if (name === undefined) return response.setHeader('Content-Type', 'text/html').end(PAGE);
  const source = readFileSync(join(import.meta.dirname, '../../clients/typescript', name), 'utf8');
  return response.setHeader('Content-Type', 'text/javascript').end(stripTypeScriptTypes(source));
}).listen(0, '127.0.0.1');
afterAll(async () => {
  await browser?.close();
  host.close();
  await server.close();
});

test('searches, gets, and throws errors as classes', async (context) => {
  context.skip(browser === null, NONE);
  const { page } = await openPage(browser!);
  await page.goto(`http://127.0.0.1:${(host.address() as AddressInfo).port}/`);
  await page.waitForFunction(() => 'client' in globalThis);
  const seen = await page.evaluate(
    async ({ url, key }) => {
      const { NotFoundError, Register } = (globalThis as unknown as { client: typeof Client }).client;
      const tools = new Register({ url, key }).dataset('tools');
      const [first] = await tools.search().first(1);
      const record = await tools.get(first!.slug);
      const missing = await tools.get('nothing-like-it').catch((error: unknown) => error);
      return [record.slug === first!.slug, missing instanceof NotFoundError];
    },
    { url: server.base, key: ADMIN },
  );
  expect(seen).toEqual([true, true]);
});
