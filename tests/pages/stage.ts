// Pages that compute in the browser, on a night of the fictional packs behind a real socket, looked at in Chromium.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import axe from 'axe-core';
import { HtmlValidate } from 'html-validate';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { runNight } from '../../build/nightly-run.ts';
import { readConfig } from '../../config.ts';
import { type TestApp, testApp } from '../app.ts';
import { still } from '../night-pack.ts';

const CHROMIUM = '/usr/bin/chromium';
/** Why a test is skipped where there is no browser. */
export const NONE = `there is no ${CHROMIUM}`;
/** Where pictures go, for whoever wants to look. */
const PICTURES = process.env['SCREENSHOTS'];

/** Screens that pages are looked at on. */
export const LOOKS: readonly (readonly [string, BrowserContextOptions])[] = [
  ['phone', { colorScheme: 'light', viewport: { width: 390, height: 844 } }],
  ['phone-dark', { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
  ['tablet', { colorScheme: 'light', viewport: { width: 768, height: 1024 } }],
  ['wide', { colorScheme: 'light', viewport: { width: 1440, height: 900 } }],
  ['wide-dark', { colorScheme: 'dark', viewport: { width: 1440, height: 900 } }],
];

export interface Stage {
  app: TestApp;
  base: string;
  browser: Browser;
  dist: string;
  /** A page of a browser of its own, under an address of its own; what it complains of and asks elsewhere is kept. */
  open(path: string, look?: BrowserContextOptions): Promise<Opened>;
  close(): Promise<void>;
}

export interface Opened {
  page: Page;
  /** Messages of the console, and requests that failed. */
  complaints: string[];
  /** Every address that was asked for, by the page or its workers. */
  asked: string[];
  close(): Promise<void>;
}

let visitors = 0;

/** Null where there is no browser. */
export async function openStage(folder: string): Promise<Stage | null> {
  if (!existsSync(CHROMIUM)) return null;
  let app: TestApp | undefined;
  const listener = getRequestListener((request) => app?.fetch(request) ?? new Response(null, { status: 503 }));
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const base = `http://localhost:${(server.address() as AddressInfo).port}`;
  const dist = join(folder, 'dist');
  const config = readConfig({
    DATA_DIR: join(folder, 'data'),
    DIST_DIR: dist,
    PACK_DIRS: join(import.meta.dirname, '../packs'),
    BASE_URL: base,
  });
  const { failures } = await runNight(config, still(), { only: null, accept: false });
  if (failures.length > 0) throw new Error(failures.join('\n'));
  app = await testApp({ dist, nights: true, base });
  const own = app;
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  return {
    app,
    base,
    browser,
    dist,
    async open(path, look = {}) {
      visitors += 1;
      const context = await browser.newContext({
        ...look,
        acceptDownloads: true,
        extraHTTPHeaders: { 'X-Forwarded-For': `2001:db8:aa:${visitors.toString(16)}::1` },
      });
      const complaints: string[] = [];
      const asked: string[] = [];
      context.on('request', (request) => asked.push(request.url()));
      const page = await context.newPage();
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      context.on('requestfailed', (request) => complaints.push(request.url()));
      await page.goto(`${base}${path}`);
      return { page, complaints, asked, close: () => context.close() };
    },
    async close() {
      await browser.close();
      await new Promise((resolve) => server.close(resolve));
      await own.close();
    },
  };
}

/** What axe finds to be in somebody's way on a page as it stands, contrast included. */
export async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(
    () =>
      (globalThis as unknown as { axe: typeof axe }).axe.run() as unknown as Promise<{
        violations: { id: string; nodes: { html: string }[] }[];
      }>,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
}

/** How much wider than its screen a page is, in pixels. */
export const overflow = (page: Page): Promise<number> =>
  page.locator('html').evaluate((html) => html.scrollWidth - html.clientWidth);

export async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
}

/** Mistakes in the HTML of a file. Void elements and long titles are a matter of taste and left out. */
export async function mistakes(path: string): Promise<string[]> {
  const validator = new HtmlValidate({
    extends: ['html-validate:standard'],
    rules: { 'void-style': 'off', 'long-title': 'off', 'no-inline-style': 'error' },
  });
  const { results } = await validator.validateString(readFileSync(path, 'utf8'));
  return results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, line }) => `${line} ${ruleId}: ${message}`),
  );
}
