// The pages in a real browser: axe on every type of page, light and dark; keyboard, search, colour scheme,
// and reading without JavaScript.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { OPERATIONS } from '../../api/operations/table.ts';
import { barriers, inEachLook, type Look, NONE, openBrowser, overflow, picture } from '../support/browser.ts';
import { LONG } from '../support/draws.ts';
import { openSite, type Site } from '../support/site-world.ts';
import { verifies } from '../support/verifies.ts';

let site: Site;
let browser: Browser | null = null;
beforeAll(async () => {
  browser = await openBrowser();
  if (browser !== null) site = await openSite();
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await site?.close();
});

/** Sends reports of the policy, and of layout shifts, to the console. */
const WATCH = `document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  console.error('policy: ' + violatedDirective + ' ' + blockedURI));
new PerformanceObserver((list) => { for (const { value, hadRecentInput } of list.getEntries())
  if (!hadRecentInput && value > 0.001) console.error('moved: ' + value); }).observe({ type: 'layout-shift', buffered: true });`;

/**
 * A new page with lists of its errors, warnings and requests to other sites; it records them itself when it
 * has scripts.
 */
async function watched(
  context: TestContext,
  look: BrowserContextOptions = {},
): Promise<{ page: Page; complaints: string[] }> {
  if (browser === null) context.skip(NONE);
  const page = await (await browser!.newContext({ bypassCSP: false, ...look })).newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    // A dataset without edits has no list of them, and Chromium reports each 404.
    if (message.location().url.endsWith('/edits.json')) return;
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(site.origin) && !request.url().startsWith('data:')) complaints.push(request.url());
  });
  if (look.javaScriptEnabled !== false) await page.addInitScript(WATCH);
  return { page, complaints };
}

/** A page of the site in a new context. */
async function opened(
  context: TestContext,
  path: string,
  look: BrowserContextOptions = {},
): Promise<{ page: Page; complaints: string[] }> {
  const { page, complaints } = await watched(context, look);
  await page.goto(site.origin + path);
  return { page, complaints };
}

/** The layout shift that a complaint is about; infinite for any other complaint. */
const movedBy = (complaint: string) => Number(/^moved: ([\d.]+)$/.exec(complaint)?.[1] ?? Number.POSITIVE_INFINITY);

/** Whether the first element of a selector has the focus. */
const focusedIn = (page: Page) => (selector: string) =>
  page.evaluate<boolean>(`document.activeElement === document.querySelector(${JSON.stringify(selector)})`);

const LOOKS: Look[] = [
  ['light', { colorScheme: 'light', viewport: { width: 1280, height: 900 } }],
  ['dark, on a phone', { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
];

describe.each(LOOKS)('%s', (name, look) => {
  test('no page type violates axe, the policy or the layout', async (context) => {
    const wrong: string[] = [];
    // One page for all tests: new ones would load axe and the scripts of the site again.
    const { page, complaints } = await watched(context, look);
    for (const { name: type, path, headers = {}, ready, shift = 0 } of site?.types ?? []) {
      complaints.length = 0;
      await page.setExtraHTTPHeaders(headers);
      await page.goto(site.origin + path);
      if (ready !== undefined) await page.waitForSelector(ready, { state: 'attached' });
      const problems = [...complaints.filter((each) => movedBy(each) > shift), ...(await barriers(page))];
      const wider = await overflow(page);
      if (wider > 0) problems.push(`scrolls sideways by ${wider}`);
      wrong.push(...problems.map((problem) => `${type}: ${problem}`));
      await picture(page, `${type}-${name}`.replace(/[ ,]+/g, '-'));
    }
    await page.context().close();
    expect(wrong).toEqual([]);
    expect(site?.types.length).toBeGreaterThan(15);
  }, 300_000);
});

test('the reference finds a parameter and sends the request, and passes axe with an answer', async (context) => {
  verifies('discovery.docs');
  const { page, complaints } = await opened(context, '/docs', { viewport: { width: 1280, height: 900 } });
  await page.getByRole('searchbox', { name: 'Find an operation' }).fill('how to search by distance');
  const shown = page.locator('.reference-nav a[data-words]:not([hidden])');
  expect(await shown.first().textContent()).toBe('Search records');
  await page.keyboard.press('Enter');
  expect(new URL(page.url()).hash).toBe('#entity_search');
  await page.locator('#entity_search').getByRole('button', { name: 'Try it: By distance' }).click();
  await page.getByRole('button', { name: 'Send: free preview' }).click();
  await page.locator('.try [role=status]', { hasText: /^200 OK in / }).waitFor();
  expect(await page.locator('.try-result pre').textContent()).toContain('"distance_km"');
  await page.locator('#entity_get .try-open').click();
  // A paid call needs a session; afterwards the page is the same.
  await page.getByRole('button', { name: /^Sign in to send: €0\.\d+$/ }).click();
  await page.getByLabel('API key').fill(site.key);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/docs/);
  await page.locator('#entity_get .try-open').click();
  await page.getByRole('button', { name: /^Send: €0\.\d+$/ }).click();
  await page.locator('.try [role=status]', { hasText: /^200 OK in / }).waitFor();
  expect(await page.locator('.try-headers').textContent()).toContain('x-charge-eur');
  await page.locator('.reference-bar').getByText('Python').click();
  await page.locator('.reference-bar select').selectOption('tools');
  await page.waitForURL((url) => url.searchParams.get('lang') === 'Python');
  await page.locator('#entity_get [data-language=Python]', { hasText: '"dataset": "tools"' }).waitFor();
  await page.goto(`${site.origin}/docs`);
  expect(await page.locator('#entity_get [data-language=Python]').isVisible()).toBe(true);
  await page.locator('#dataset_status .try-open').click();
  await page.getByRole('button', { name: 'Send: free' }).click();
  await page.locator('.try [role=status]', { hasText: /^200 OK in / }).waitFor();
  await inEachLook(page, LOOKS, async (look) => {
    expect(await barriers(page), look).toEqual([]);
    expect(await overflow(page), look).toBe(0);
  });
  // An answer is as long as it is: it moves what follows.
  expect(complaints.filter((complaint) => !complaint.startsWith('moved:'))).toEqual([]);
  await page.context().close();
}, 120_000);

test('without a script the reference has every operation, and its language can be chosen', async (context) => {
  const { page } = await opened(context, '/docs', { javaScriptEnabled: false });
  for (const { name } of OPERATIONS) expect(await page.locator(`main #${name} h3`).count(), name).toBe(1);
  const program = page.locator('#entity_search [data-language=Python]');
  expect(await program.isVisible()).toBe(false);
  await page.locator('.reference-bar').getByText('Python').click();
  expect(await program.isVisible()).toBe(true);
  expect(await page.locator('.try-open').first().isVisible()).toBe(false);
  await page.context().close();
});

/**
 * A check that half a second passes without a request of the page. The event `networkidle` of Playwright did not always come
 * within 90 s, although no request was open.
 */
function requestsOf(page: Page): () => Promise<boolean> {
  let [begun, ended] = [0, 0];
  page.on('request', () => (begun += 1));
  for (const event of ['requestfinished', 'requestfailed'] as const)
    page.on(event as 'requestfailed', () => (ended += 1));
  return async () => {
    const before = begun;
    await sleep(500);
    return begun === before && ended >= begun;
  };
}

/** Links to views of a table: with rows, empty, wrong, and with paid attributes. */
const LINKS = [
  '/datasets/harbours/?coast=north&sort=-depth',
  '/datasets/harbours/?near=52,5,900',
  '/datasets/harbours/?coast=north,south&min_depth=1&has_depth=true&like_name=a&min_quality=0.1&sort=name',
  '/datasets/harbours/?q=o&fields=name,coast',
  '/datasets/harbours/?q=zz-no-such-word',
  '/datasets/harbours/?near=1,2',
  '/datasets/tools/?min_runtime=1',
];

test.for(LONG ? [390, 768, 1440] : [768])(
  '%s px: nothing moves on a link to a view of a table',
  { timeout: 120_000 },
  async (width, context) => {
    const moved: Record<string, number> = {};
    for (const path of LINKS) {
      const look = { viewport: { width, height: 900 } };
      const { page } = await opened(context, '/404.html', look);
      // Slower than our server, but much faster than the four seconds after which a page appears without its
      // script.
      const slow = await page.context().newCDPSession(page);
      await slow.send('Emulation.setCPUThrottlingRate', { rate: 2 });
      const quiet = requestsOf(page);
      await page.goto(site.origin + path);
      await page.waitForSelector('#viewer.ready:not([aria-busy])');
      await expect.poll(quiet).toBe(true);
      const shift = await page.evaluate<number>(`new Promise((told) => new PerformanceObserver((list) =>
      told(list.getEntries().reduce((sum, { value }) => sum + value, 0))).observe({ type: 'layout-shift', buffered: true })
      || setTimeout(() => told(0), 200))`);
      if (shift >= 0.002) moved[path] = shift;
      await page.context().close();
    }
    expect(moved).toEqual({});
  },
);

test('a page of another origin reads the files in ranges', async (context) => {
  if (browser === null) context.skip(NONE);
  const server = createServer((_, response) =>
    response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>Another origin</title>'),
  ).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const page = await browser!.newPage();
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const read = (headers: Record<string, string>) =>
    page.evaluate(
      async ({ url, headers }) => {
        const response = await fetch(url, { headers });
        const header = (name: string) => response.headers.get(name);
        const bytes = [...new Uint8Array(await response.arrayBuffer())];
        const [range, ranges, etag] = [header('content-range'), header('accept-ranges'), header('etag')];
        return { status: response.status, range, ranges, etag, bytes };
      },
      { url: `${site.origin}/files/tools/public.parquet`, headers },
    );
  const whole = await read({});
  const { etag, bytes } = whole;
  expect(whole).toMatchObject({ status: 200, ranges: 'bytes', etag: expect.stringMatching(/^"/) });
  const end = {
    status: 206,
    range: `bytes ${bytes.length - 8}-${bytes.length - 1}/${bytes.length}`,
    bytes: bytes.slice(-8),
  };
  expect(String.fromCharCode(...bytes.slice(-4))).toBe('PAR1');
  expect(await read({ Range: 'bytes=-8' })).toMatchObject(end);
  expect(await read({ Range: 'bytes=-8', 'If-Range': etag! })).toMatchObject(end);
  expect(await read({ Range: 'bytes=-8', 'If-Range': '"another"' })).toMatchObject({ status: 200, bytes });
  await page.close();
  await new Promise((closed) => server.close(closed));
});

test('a record opens evidence in place, and its charts change their range, by keyboard', async (context) => {
  const { page, complaints } = await opened(context, `/datasets/tools/${site?.other}`, {
    viewport: { width: 1280, height: 900 },
  });
  await page.locator('.fact summary').first().focus();
  await page.keyboard.press('Enter');
  expect(await page.locator('.fact details').first().textContent()).toContain('Read from');
  expect(await page.locator('.fact .origin-facts').first().isVisible()).toBe(true);
  expect(await page.locator('.range-all').first().isVisible()).toBe(true);
  await page.locator('.ranges input[value="all"]').focus();
  await page.keyboard.press('ArrowLeft');
  expect(await page.locator('.range-all').first().isVisible()).toBe(false);
  const link = page.locator('.range-year a').last();
  expect(await page.locator('.range-year').first().isVisible()).toBe(true);
  expect(await link.getAttribute('href')).toMatch(/^https:/);
  expect(complaints).toEqual([]);
});

test('where only files are hosted, a record is drawn from its Markdown file', async (context) => {
  const { page, complaints } = await opened(context, '/404.html', { viewport: { width: 390, height: 844 } });
  const body = site.pages.get('/record/tools/')!;
  // A host sends this page at the address of every record.
  await page.route(/\/datasets\/tools\/[^./]+$/, (route) => route.fulfill({ body, contentType: 'text/html' }));
  const stored = site.app.records['tools']!.find(({ slug }) => slug === site.other)!;
  await page.goto(`${site.origin}/datasets/tools/${site.other}`);
  await page.waitForSelector('#record:not([aria-busy])');
  expect(await page.locator('h1').textContent()).toBe(stored.name);
  expect(await page.title()).toContain(stored.name);
  expect(await page.locator('#record a[aria-label^="Source of"]').count()).toBeGreaterThan(0);
  expect(await page.locator('link[rel=canonical]').getAttribute('href')).toBe(
    `${site.origin}/datasets/tools/${site.other}`,
  );
  expect(await barriers(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
  expect(complaints).toEqual([]);
  await page.goto(`${site.origin}/datasets/tools/none`);
  await page.getByText('No such record').waitFor();
  expect(await page.locator('meta[name=robots]').getAttribute('content')).toBe('noindex');
});

test('the first press of Tab offers to skip to the content', async (context) => {
  const { page } = await opened(context, '/datasets/tools/');
  await page.keyboard.press('Tab');
  const skip = page.locator('.skip');
  const focused = focusedIn(page);
  expect(await focused('.skip')).toBe(true);
  await expect.poll(async () => (await skip.boundingBox())?.x).toBeGreaterThanOrEqual(0);
  await page.keyboard.press('Enter');
  await expect.poll(() => page.url()).toMatch(/#main$/);
});

test('the search of the guides shows results while typing, which link to sections', async (context) => {
  const { page, complaints } = await opened(context, '/guides/');
  const search = page.getByRole('main').getByRole('searchbox');
  await search.fill('idempot');
  await page.waitForSelector('.found li');
  expect(await page.locator('[role=status]').textContent()).toMatch(/^\d+ sections?$/);
  const first = page.locator('.found a').first();
  const href = (await first.getAttribute('href'))!;
  await first.click();
  await page.waitForURL((url) => url.pathname + url.hash === href);
  const [, id] = href.split('#');
  expect(await page.locator(id === undefined ? 'h1' : `[id="${id}"]`).count()).toBe(1);
  await page.goto(`${site.origin}/guides/`);
  await search.fill('xyzzyplugh');
  await page.getByText(/^No results/).waitFor();
  expect(complaints).toEqual([]);
});

test('the home page finds a record by keyboard, and the address has the query', async (context) => {
  const { page, complaints } = await opened(context, '/', { viewport: { width: 1280, height: 900 } });
  const record = site.app.records['harbours']![0]!;
  const input = page.getByRole('combobox');
  // The page has one search, and its key focuses it.
  expect(await page.getByRole('searchbox').count()).toBe(0);
  await page.keyboard.press('/');
  expect(await focusedIn(page)('#record')).toBe(true);
  await page.keyboard.type(record.name.slice(0, -1));
  await page.getByRole('option').first().waitFor();
  expect(await input.getAttribute('aria-expanded')).toBe('true');
  expect(new URL(page.url()).searchParams.get('q')).toBe(record.name.slice(0, -1));
  await page.keyboard.press('ArrowDown');
  const active = await input.getAttribute('aria-activedescendant');
  expect(await page.locator(`#${active}`).getAttribute('aria-selected')).toBe('true');
  expect(await barriers(page)).toEqual([]);
  await page.keyboard.press('Escape');
  expect(await input.getAttribute('aria-expanded')).toBe('false');
  expect(await input.getAttribute('aria-activedescendant')).toBeNull();
  await page.reload();
  const option = page.getByRole('option').filter({ hasText: record.name }).first();
  await option.waitFor();
  const path = await option.getAttribute('href');
  await input.press('ArrowDown');
  while ((await option.getAttribute('aria-selected')) !== 'true') await input.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.pathname === path);
  expect(await page.locator('h1').textContent()).toContain(record.name);
  await page.goto(`${site.origin}/?q=xyzzyplugh`);
  await page.getByText('No results.').waitFor();
  expect(complaints).toEqual([]);
});

test('the colour scheme can be chosen, and the choice is remembered', async (context) => {
  const { page } = await opened(context, '/', { colorScheme: 'light' });
  const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  const light = await ground();
  const button = page.locator('[data-theme-switch]');
  expect(await button.getAttribute('aria-label')).toBe('Colour scheme: system. Change it');
  await button.click();
  await button.click();
  expect(await button.getAttribute('aria-label')).toBe('Colour scheme: dark. Change it');
  const dark = await ground();
  expect(dark).not.toBe(light);
  await page.goto(`${site.origin}/status/`);
  expect(await ground()).toBe(dark);
  // The choice applies before any file has arrived, and on pages that the API renders.
  await page.route('**/assets/*.js', (route) => route.abort());
  for (const path of [
    '/',
    '/docs',
    `/owners/tools/${site?.other}`,
    '/checkout/cancelled',
    '/oauth/none',
    '/ops/login',
  ]) {
    await page.goto(site.origin + path);
    expect(await page.evaluate('document.documentElement.dataset.theme'), path).toBe('dark');
    expect(await ground(), path).toBe(dark);
  }
  await page.locator('[data-theme-switch]').click();
  expect(await ground()).toBe(light);
});

describe('without JavaScript', () => {
  const bare = { javaScriptEnabled: false, viewport: { width: 1280, height: 900 } };

  test('everything can be read, and nothing is shown that would not work', async (context) => {
    const { page } = await opened(context, '/datasets/harbours/', bare);
    expect(await page.locator('#records').isVisible()).toBe(true);
    // One part of the reference is open at a time.
    for (const id of ['profile', 'attributes', 'call', 'prices', 'sources', 'changes']) {
      await page.locator(`details.part:has(#${id}) > summary`).click();
      expect(await page.locator(`#${id}`).isVisible(), id).toBe(true);
    }
    expect(await page.locator('.profile svg rect').count()).toBeGreaterThan(3);
    expect(await page.locator('.copy').first().isVisible()).toBe(false);
    expect(await page.locator('[data-theme-switch]').isVisible()).toBe(false);
    await page.getByRole('link', { name: 'All changes' }).click();
    expect(await page.locator('h1').textContent()).toMatch(/^Changes in /);
  });

  test('a record shows the sources of its values', async (context) => {
    const { page } = await opened(context, `/datasets/tools/${site?.other}`, bare);
    expect(await page.locator('.fact').count()).toBeGreaterThan(1);
    expect(await page.locator('.fact .origin a').first().getAttribute('href')).toMatch(/^https:/);
  });

  test('the search of the guides leads to all headings', async (context) => {
    const { page } = await opened(context, '/guides/', bare);
    await page.getByRole('main').getByRole('searchbox').fill('errors');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/guides\/contents\/\?q=errors$/);
    expect(await page.locator('.columns li').count()).toBeGreaterThan(50);
  });
});
