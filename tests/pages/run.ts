// Checks every type of page of a running service in Chromium: `npm run pages -- <address> [<address of static files>]`.
// Compressed bytes of scripts (workers counted), axe and width in light and dark at 390 and 1440 pixels, HTML, and
// internal links. Prints a line for each page; exits with 1 after a problem.
import type { Browser, Page } from 'playwright-core';
import { barriers, inEachLook, type Look, NONE, openBrowser, overflow } from '../support/browser.ts';
import { htmlValidator } from '../support/html-validator.ts';

const LOOKS: Look[] = ([390, 1440] as const).flatMap((width) =>
  (['light', 'dark'] as const).map(
    (colorScheme): Look => [`${width} px ${colorScheme}`, { colorScheme, viewport: { width, height: 900 } }],
  ),
);
/** Budgets in kB by path, the first that matches; 10 for all others. */
const BUDGETS: readonly (readonly [path: RegExp, kilobytes: number])[] = [
  [/^\/(datasets\/[^/]+\/|sql\/.+|guides\/reference\/|docs)$/, 60],
  [/^\/(|datasets\/.+|compare\/.+|changes\/.*)$/, 20],
  [/^/, 10],
];
const HTML = { Accept: 'text/html' };

/** Paths of one page of each type, and of each dataset and one of its records. */
async function pathsOf(origin: string): Promise<string[]> {
  const { datasets } = (await (await fetch(`${origin}/v1/datasets`)).json()) as { datasets: { id: string }[] };
  const paths = ['/', '/changes/', '/status/', '/files/', '/guides/', '/guides/api/', '/nothing'];
  for (const { id } of datasets) {
    paths.push(`/datasets/${id}/`, `/changes/${id}/`, `/files/${id}/`, `/sql/${id}/`, `/datasets/${id}/none`);
    const records = await recordPaths(origin, id);
    const refs = records.map((path) => path.split('/').at(-1)).join();
    paths.push(...records.slice(0, 1), `/compare/${id}`, `/compare/${id}?ids=${refs}`);
  }
  return paths;
}

/** The paths of the first two records in the table of a dataset. */
async function recordPaths(origin: string, id: string): Promise<string[]> {
  const table = await (await fetch(`${origin}/datasets/${id}/`, { headers: HTML })).text();
  return [...table.matchAll(new RegExp(`href="(/datasets/${id}/[^"/#?]+)"`, 'g'))].slice(0, 2).map(([, path]) => path!);
}

/** Opens a page; returns it with the compressed kB of its scripts and workers until the network is idle. */
async function opened(browser: Browser, url: string): Promise<{ page: Page; script: number; faults: string[] }> {
  const page = await (await browser.newContext({ bypassCSP: true })).newPage();
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(`error: ${message}`));
  const sizes: Promise<number>[] = [];
  page.context().on('requestfinished', (request) => {
    if (!/\.js(\?|$)/.test(request.url())) return;
    sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  });
  await page.goto(url, { waitUntil: 'networkidle', timeout: 120_000 });
  const script = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) / 1000;
  return { page, script, faults };
}

/** Problems of one page, as sentences. `links` collects its internal links. */
async function check(browser: Browser, url: string, links: Map<string, string>): Promise<string> {
  const { origin, pathname } = new URL(url);
  const text = await (await fetch(url, { headers: HTML })).text();
  const { results } = await htmlValidator.validateString(text);
  const { page, script, faults } = await opened(browser, url);
  const budget = BUDGETS.find(([path]) => path.test(pathname))![1];
  if (script > budget) faults.push(`scripts are larger than ${budget} kB`);
  for (const { messages } of results)
    for (const { ruleId, message, line } of messages) faults.push(`HTML, line ${line}: ${ruleId}: ${message}`);
  await inEachLook(page, LOOKS, async (look) => {
    const wider = await overflow(page);
    if (wider > 0) faults.push(`${look}: ${wider} px too wide`);
    faults.push(...(await barriers(page)).map((barrier) => `${look}: ${barrier}`));
  });
  const targets = await page.evaluate<string[]>('[...document.links].map(({ href }) => href)');
  // The pages of a wrong address link to themselves: their forms and skip links.
  for (const target of targets.map((href) => new URL(href)))
    if (target.origin === origin && target.pathname !== pathname) links.set(target.pathname + target.search, pathname);
  await page.context().close();
  process.stdout.write(`${pathname}: ${script.toFixed(1)} of ${budget} kB, ${faults.length} problems\n`);
  return faults.map((fault) => `${url}: ${fault}\n`).join('');
}

/** Links that lead nowhere, with one page that has each. */
async function deadLinks(origin: string, links: ReadonlyMap<string, string>): Promise<string> {
  const dead: string[] = [];
  for (const [path, page] of links) {
    const response = await fetch(origin + path, { headers: HTML });
    await response.body?.cancel();
    if (response.status >= 400 && response.status !== 429) dead.push(`${page} → ${path}: ${response.status}\n`);
  }
  process.stdout.write(`${links.size} internal links, ${dead.length} dead\n`);
  return dead.join('');
}

async function main([origin, files]: string[]): Promise<string> {
  if (origin === undefined) return 'usage: npm run pages -- <address> [<address of static files>]\n';
  const browser = await openBrowser();
  if (browser === null) return `${NONE}\n`;
  const links = new Map<string, string>();
  let problems = '';
  const paths = await pathsOf(origin);
  const records = paths.filter((path) => /^\/datasets\/[^/]+\/(?!none$)[^/]+$/.test(path));
  const hosted = files === undefined ? [] : records.map((path) => files + path);
  for (const url of [...paths.map((path) => origin + path), ...hosted]) problems += await check(browser, url, links);
  await browser.close();
  return problems + (await deadLinks(origin, links));
}

const problems = await main(process.argv.slice(2));
process.stdout.write(problems);
process.exitCode = problems === '' ? 0 : 1;
