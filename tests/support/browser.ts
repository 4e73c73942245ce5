// Chromium for tests of pages: the browser when it is installed, screen sizes, screenshots, and axe.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page, type ViewportSize } from 'playwright-core';

/** Debian's name first. */
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
/** Reason for a skipped test without a browser. */
export const NONE = 'there is no Chromium in /usr/bin';
/** The small build of axe: Chromium compiles it for every page. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Folder of screenshots. */
const PICTURES = process.env['SCREENSHOTS'];

/** A browser, to be closed by the caller; null when there is none. */
export async function openBrowser(): Promise<Browser | null> {
  return CHROMIUM === undefined ? null : chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
}

/**
 * A page in a context of its own, with collected complaints: of the console, of scripts, and failed requests. A page that
 * is left ends its requests itself, such as the next reading of a poll: that is no complaint.
 */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; complaints: string[] }> {
  const page = await (await browser.newContext(options)).newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    if (reason !== 'net::ERR_ABORTED') complaints.push(`${request.url()} failed: ${reason}`);
  });
  return { page, complaints };
}

const WIDE = { width: 1200, height: 900 };
const PHONE = { width: 390, height: 844 };
/** A named screen: size and color scheme. */
export type Look = readonly [name: string, look: { colorScheme: 'light' | 'dark'; viewport: ViewportSize }];

/** Screens for tests of forms. */
export const LOOKS: readonly Look[] = [
  ['light', { colorScheme: 'light', viewport: WIDE }],
  ['dark', { colorScheme: 'dark', viewport: WIDE }],
  ['phone', { colorScheme: 'light', viewport: PHONE }],
  ['phone-dark', { colorScheme: 'dark', viewport: PHONE }],
];

/**
 * Runs `check` on an open page in each look; loading the page and axe for each would take most of the time.
 */
export async function inEachLook(
  page: Page,
  looks: readonly Look[],
  check: (look: string) => Promise<void>,
): Promise<void> {
  for (const [name, { colorScheme, viewport }] of looks) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    await check(name);
  }
}

/**
 * Returns the violations that axe finds on a page, contrast included. Works under the page's policy, and
 * needs scripts.
 */
export async function barriers(page: Page): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(AXE);
  // Returns only violations: the rules that pass list every element, and sending that took longer than axe
  // itself.
  return page.evaluate(async () => {
    const { axe: own } = globalThis as unknown as { axe: typeof axe };
    const { violations } = await own.run({ resultTypes: ['violations'] });
    return violations.map(
      ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`,
    );
  });
}

/** Pixels by which a page is wider than its screen. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

/** Stores a screenshot of the complete page when SCREENSHOTS is set. */
export async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
}
