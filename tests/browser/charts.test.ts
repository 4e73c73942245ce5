// Charts of a record in a real browser: a tooltip, the PNG, and the chart in a frame of another site.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { barriers, inEachLook, LOOKS, NONE, openBrowser, openPage, overflow, picture } from '../support/browser.ts';
import { type Listening, listen } from '../support/oauth-server.ts';

let stage: (Listening & { browser: Browser; site: Server }) | null = null;

beforeAll(async () => {
  const browser = await openBrowser();
  if (browser === null) return;
  const listening = await listen();
  const site = createServer((request, response) => {
    response.setHeader('Content-Type', 'text/html');
    const query = new URL(request.url ?? '', 'http://site.example').searchParams;
    response.end(`<iframe src="${query.get('src')}"></iframe>`);
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  stage = { ...listening, browser, site };
});

afterAll(async () => {
  await stage?.browser.close();
  stage?.site.close();
  await stage?.close();
});

test('a chart has a tooltip, a PNG and an address for frames of other sites', async (context) => {
  if (stage === null) return context.skip(NONE);
  const { app, base, browser, site } = stage;
  const pages = await Promise.all(
    app.records['tools']!.map(async ({ slug }) => {
      const response = await app.ask(`/datasets/tools/${slug}`, { headers: { Accept: 'text/html' } });
      expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      return { slug, text: await response.text() };
    }),
  );
  const record = pages.find(({ text }) => text.includes('class="course"'))!;
  const { page, complaints } = await openPage(browser);
  await page.goto(`${base}/datasets/tools/${record.slug}`);
  const figure = page.locator('.course').first();
  await figure.scrollIntoViewIfNeeded();
  await figure.locator('.range-all .plot').hover();
  expect(await page.locator('.chart-tip').textContent()).toMatch(/ since \w{3} \d+, 20\d\d$/);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    figure.getByRole('button', { name: 'PNG' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/\.png$/);
  if (process.env['SCREENSHOTS'] !== undefined) await download.saveAs(`${process.env['SCREENSHOTS']}/chart.png`);
  const csv = await figure.getByRole('link', { name: 'CSV' }).getAttribute('href');
  expect(csv).toContain('record%2Csince');
  await page.mouse.move(0, 0);
  await inEachLook(page, LOOKS, async (look) => {
    await picture(page, `record-${look}`);
    expect(await overflow(page), look).toBeLessThanOrEqual(0);
    expect(await barriers(page), look).toEqual([]);
  });
  const frame = await figure.getByRole('button', { name: 'Copy embed code' }).getAttribute('data-copy');
  const src = /src="([^"]+)"/.exec(frame ?? '')?.[1] ?? '';
  const there = `http://127.0.0.1:${(site.address() as AddressInfo).port}/?src=`;
  await page.goto(there + encodeURIComponent(src));
  await page.frameLocator('iframe').locator('.course').waitFor();
  // The page itself may not be framed.
  await page.goto(there + encodeURIComponent(src.split('?')[0]!));
  await expect.poll(() => page.frames().length).toBe(2);
  expect(await page.frames()[1]?.locator('.record-page').count()).toBe(0);
  expect(complaints.filter((text) => !/frame-ancestors|BLOCKED_BY_RESPONSE/.test(text))).toEqual([]);
  await page.context().close();
});
