// Pages with scripts, on a night of the fictional packs behind a real socket, opened in Chromium.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HtmlValidate } from 'html-validate';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { runNight } from '../../build/night/run.ts';
import { readConfig } from '../../config.ts';
import { type TestApp, testApp } from './app.ts';
import { type Look, openBrowser } from './browser.ts';
import { still } from './night-pack.ts';
import { served } from './served.ts';
import { withCopies } from './whole-night.ts';

/** Screens for tests of pages. */
export const LOOKS: readonly Look[] = [
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
  /** A page in a new browser context, with an address of its own; records its complaints and requests. */
  open(path: string, look?: BrowserContextOptions): Promise<Opened>;
  close(): Promise<void>;
}

export interface Opened {
  page: Page;
  /** Console messages, and failed requests. */
  complaints: string[];
  /** Every address that the page or its workers requested. */
  asked: string[];
  close(): Promise<void>;
}

/** Waits until the service has made the tables of a dataset: the process that makes them has the lowest priority. */
export async function tablesMade({ base }: Stage, dataset: string): Promise<void> {
  const body = JSON.stringify({ sql: `SELECT count(*) FROM ${dataset}` });
  const headers = { 'content-type': 'application/json' };
  while ((await fetch(`${base}/v1/${dataset}/sql`, { method: 'POST', headers, body })).status === 503)
    await new Promise((retried) => setTimeout(retried, 1000));
}

let visitors = 0;

/** Null when there is no browser. */
export async function openStage(folder: string): Promise<Stage | null> {
  const browser = await openBrowser();
  if (browser === null) return null;
  const dist = join(folder, 'dist');
  const { app, base, close } = await served(async (own) => {
    const config = readConfig({
      DATA_DIR: join(folder, 'data'),
      DIST_DIR: dist,
      PACK_DIRS: join(import.meta.dirname, '../packs'),
      BASE_URL: own,
    });
    await withCopies(dist);
    const { failures } = await runNight(config, still(), { only: null, accept: false });
    if (failures.length > 0) throw new Error(failures.join('\n'));
    return testApp({ dist, nights: true, base: own });
  });
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
      page.on('console', (message) => {
        // A dataset without edits has no list of them, and Chromium reports each 404.
        if (!message.location().url.endsWith('/edits.json')) complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      context.on('requestfailed', (request) => {
        // The next address ends requests of the page before it.
        if (request.failure()?.errorText !== 'net::ERR_ABORTED') complaints.push(request.url());
      });
      await page.goto(`${base}${path}`);
      return { page, complaints, asked, close: () => context.close() };
    },
    async close() {
      await browser.close();
      await close();
    },
  };
}

/** Mistakes in the HTML of a file, except void elements and long titles, which are matters of style. */
export const mistakes = (path: string): Promise<string[]> => mistakesIn(readFileSync(path, 'utf8'));

/** The same of a text. */
export async function mistakesIn(text: string): Promise<string[]> {
  const validator = new HtmlValidate({
    extends: ['html-validate:standard'],
    rules: { 'void-style': 'off', 'long-title': 'off', 'no-inline-style': 'error' },
  });
  const { results } = await validator.validateString(text);
  return results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, line }) => `${line} ${ruleId}: ${message}`),
  );
}
