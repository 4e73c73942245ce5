// /docs in a real browser: files from this host only, no policy report, every operation, light and dark.
import { serve } from '@hono/node-server';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../support/app.ts';
import { NONE, openBrowser, picture } from '../support/browser.ts';
import { verifies } from '../support/verifies.ts';

/** Swagger UI searches a special field for dates, finds none, and uses the plain one. */
const HARMLESS = /Could not find component: JsonSchema_string_date/;

let app: TestApp;
let browser: Browser | null;
let server: ReturnType<typeof serve>;
let base: string;
beforeAll(async () => {
  app = await testApp();
  await new Promise<void>((listening) => {
    server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
      base = `http://127.0.0.1:${port}`;
      listening();
    });
  });
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  server?.close();
  await app.close();
});

/** Runs in the page: sends reports of its policy to the console. */
const REPORT = `document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  console.error('policy: ' + violatedDirective + ' ' + blockedURI))`;

test('loads only from this host, breaks no policy, shows every operation, light and dark, wide and narrow', async (context) => {
  verifies('discovery.docs');
  if (!browser) return context.skip(NONE);
  const page: Page = await browser.newPage({ colorScheme: 'light', viewport: { width: 1200, height: 900 } });
  page.setDefaultTimeout(180_000);
  const asked: string[] = [];
  const wrong: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('console', (message) => {
    const trouble = message.type() === 'error' || message.type() === 'warning';
    if (trouble && !HARMLESS.test(message.text())) wrong.push(message.text());
  });
  await page.addInitScript(REPORT);
  await page.goto(`${base}/docs`);
  await page.waitForSelector('.opblock-tag');
  const tags = await page.locator('.opblock-tag').allInnerTexts();
  expect(tags.map((tag) => tag.split('\n')[0])).toEqual(expect.arrayContaining(['records', 'tools', 'harbours']));

  const red = async () =>
    Number(/\d+/.exec(await page.evaluate('getComputedStyle(document.body).backgroundColor'))?.[0]);
  expect(await red()).toBeGreaterThan(240);
  await picture(page, 'docs-light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.waitForSelector('html.dark-mode', { state: 'attached' });
  expect(await red()).toBeLessThan(64);
  await picture(page, 'docs-dark');
  await page.setViewportSize({ width: 390, height: 900 });
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  await picture(page, 'docs-phone');

  await page.locator('.opblock-tag', { hasText: 'tools' }).first().click();
  await page.locator('#operations-tools-tools_facets .opblock-summary-control').click();
  await page.waitForSelector('#operations-tools-tools_facets .responses-wrapper');
  const text = await page.locator('#operations-tools-tools_facets').textContent();
  expect(text).toContain('max_price.list');
  expect(text).toContain('Codes: validation_failed');
  await picture(page, 'docs-operation');
  expect([wrong, asked.filter((url) => !url.startsWith(base) && !url.startsWith('data:'))]).toEqual([[], []]);
}, 300_000);

test('its policy allows only this host', async () => {
  const response = await app.ask('/docs');
  const policy = response.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  const html = await response.text();
  expect(html).not.toMatch(/<script>|<style|(src|href)="https?:\/\//);
});
