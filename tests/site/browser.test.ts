// The pages in a real browser: axe on every type of page, light and dark; keyboard, search, colour scheme, and reading without JavaScript.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { openSite, type Site } from './world.ts';

const CHROMIUM = '/usr/bin/chromium';
/** Where pictures go, for whoever wants to look. */
const PICTURES = process.env['SCREENSHOTS'];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let site: Site;
let browser: Browser | null = null;
beforeAll(async () => {
  if (!existsSync(CHROMIUM)) return;
  site = await openSite();
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await site?.close();
});

/** Reports of the policy go to the console, and so do moves of what was already shown. */
const WATCH = `document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  console.error('policy: ' + violatedDirective + ' ' + blockedURI));
new PerformanceObserver((list) => { for (const { value, hadRecentInput } of list.getEntries())
  if (!hadRecentInput && value > 0.001) console.error('moved: ' + value); }).observe({ type: 'layout-shift', buffered: true });`;

/** A page, and what it complained of. */
async function opened(
  context: TestContext,
  path: string,
  look: BrowserContextOptions = {},
): Promise<{ page: Page; complaints: string[] }> {
  if (browser === null) context.skip(`there is no ${CHROMIUM}`);
  const page = await (await browser!.newContext({ bypassCSP: false, ...look })).newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(site.origin) && !request.url().startsWith('data:')) complaints.push(request.url());
  });
  if (look.javaScriptEnabled !== false) await page.addInitScript(WATCH);
  await page.goto(site.origin + path);
  return { page, complaints };
}

/** What axe finds, in a line each. */
async function axe(page: Page): Promise<string[]> {
  // Evaluated by the tool, not by the page: its policy stays as it is.
  await page.evaluate(AXE);
  const found = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as {
    violations: { id: string; help: string; nodes: { target: string[] }[] }[];
  };
  return found.violations.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}: ${nodes
        .map(({ target }) => target.join(' '))
        .slice(0, 4)
        .join(' | ')}`,
  );
}

/** Whether the first element of a selector has the focus. */
const focusedIn = (page: Page) => (selector: string) =>
  page.evaluate<boolean>(`document.activeElement === document.querySelector(${JSON.stringify(selector)})`);

const LOOKS: [string, BrowserContextOptions][] = [
  ['light', { colorScheme: 'light', viewport: { width: 1280, height: 900 } }],
  ['dark, on a phone', { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
];

describe.each(LOOKS)('%s', (name, look) => {
  test('no page type has anything that axe, the policy or the layout complains of', async (context) => {
    const wrong: string[] = [];
    for (const { name: type, path, headers = {}, ready, foreign } of site?.types ?? []) {
      const { page, complaints } = await opened(context, path, { ...look, extraHTTPHeaders: headers });
      if (ready !== undefined) await page.waitForSelector(ready, { state: 'attached' });
      const problems = [...(foreign ? [] : complaints), ...(await axe(page))];
      const wider = await page.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      if (wider > 0) problems.push(`scrolls sideways by ${wider}`);
      wrong.push(...problems.map((problem) => `${type}: ${problem}`));
      if (PICTURES !== undefined) {
        mkdirSync(PICTURES, { recursive: true });
        await page.screenshot({ path: join(PICTURES, `${type}-${name}.png`.replace(/[ ,]+/g, '-')), fullPage: true });
      }
      await page.context().close();
    }
    expect(wrong).toEqual([]);
    expect(site?.types.length).toBeGreaterThan(15);
  }, 300_000);
});

test('where a value comes from shows by keyboard alone, and by the pointer', async (context) => {
  const { page, complaints } = await opened(context, `/datasets/tools/${site?.other}`, {
    viewport: { width: 1280, height: 900 },
  });
  const value = page.locator('.sheet .value').first();
  const more = value.locator('.more');
  const seen = () =>
    page.evaluate<number>('Number(getComputedStyle(document.querySelector(".sheet .value .more")).opacity)');
  expect(await seen()).toBe(0);
  const focused = focusedIn(page);
  for (let presses = 0; presses < 40 && !(await focused('.sheet .value .provenance a')); presses++)
    await page.keyboard.press('Tab');
  expect(await focused('.sheet .value .provenance a')).toBe(true);
  expect(await seen()).toBe(1);
  expect(await more.textContent()).toMatch(/^seen .*confidence/);
  await page.keyboard.press('Shift+Tab');
  await value.hover();
  expect(await seen()).toBe(1);
  expect(complaints).toEqual([]);
});

test('the first press of the tabulator offers to skip to the content', async (context) => {
  const { page } = await opened(context, '/datasets/tools/');
  await page.keyboard.press('Tab');
  const skip = page.locator('.skip');
  const focused = focusedIn(page);
  expect(await focused('.skip')).toBe(true);
  expect((await skip.boundingBox())!.x).toBeGreaterThanOrEqual(0);
  await page.keyboard.press('Enter');
  expect(page.url()).toMatch(/#main$/);
});

test('the search of the guides answers while one types, and its answers lead to sections', async (context) => {
  const { page, complaints } = await opened(context, '/guides/');
  await page.getByRole('searchbox').fill('idempot');
  await page.waitForSelector('.found li');
  expect(await page.locator('[role=status]').textContent()).toMatch(/^\d+ sections?$/);
  const first = page.locator('.found a').first();
  const href = (await first.getAttribute('href'))!;
  await first.click();
  await page.waitForURL((url) => url.pathname + url.hash === href);
  expect(await page.locator(`[id="${href.split('#')[1]}"]`).count()).toBe(1);
  await page.goto(`${site.origin}/guides/`);
  await page.getByRole('searchbox').fill('xyzzyplugh');
  await page.getByText(/^Nothing in the guides/).waitFor();
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
  await page.locator('[data-theme-switch]').click();
  expect(await ground()).toBe(light);
});

describe('without JavaScript', () => {
  const bare = { javaScriptEnabled: false, viewport: { width: 1280, height: 900 } };

  test('everything can be read, and nothing is offered that would not work', async (context) => {
    const { page } = await opened(context, '/datasets/harbours/', bare);
    for (const id of ['records', 'where', 'profile', 'attributes', 'changes', 'call', 'prices', 'sources'])
      expect(await page.locator(`#${id}`).isVisible(), id).toBe(true);
    expect(await page.locator('.map svg path').count()).toBeGreaterThan(1);
    expect(await page.locator('.profile svg rect').count()).toBeGreaterThan(3);
    expect(await page.locator('.copy').first().isVisible()).toBe(false);
    expect(await page.locator('[data-theme-switch]').isVisible()).toBe(false);
    await page.getByRole('link', { name: 'All changes' }).click();
    expect(await page.locator('h1').textContent()).toMatch(/^What changed/);
  });

  test('a record says where its values come from', async (context) => {
    const { page } = await opened(context, `/datasets/tools/${site?.other}`, bare);
    expect(await page.locator('.sheet .value').count()).toBeGreaterThan(1);
    expect(await page.locator('.provenance a').first().getAttribute('href')).toMatch(/^https:/);
  });

  test('the search of the guides leads to all headings', async (context) => {
    const { page } = await opened(context, '/guides/', bare);
    await page.getByRole('searchbox').fill('errors');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/guides\/contents\/\?q=errors$/);
    expect(await page.locator('.columns li').count()).toBeGreaterThan(50);
  });
});
