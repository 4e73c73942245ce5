// Paid values in place in a real browser: from a record to a session, the values for the price on the button, once for
// each release; a comparison and the consent page with the same session.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest';
import { barriers, inEachLook, LOOKS, NONE, openBrowser, openPage, overflow, picture } from '../support/browser.ts';
import { balance, newKey } from '../support/money-on-stores.ts';
import { authorizeUrl, pkce, register } from '../support/oauth-client.ts';
import { type Listening, listen } from '../support/oauth-server.ts';

let stage: (Listening & { browser: Browser }) | null = null;

beforeAll(async () => {
  const browser = await openBrowser();
  if (browser !== null) stage = { ...(await listen()), browser };
});

afterAll(async () => {
  await stage?.browser.close();
  await stage?.close();
});

/** A page at a path, and the calls that it pays. */
async function opened(context: TestContext, path: string) {
  if (stage === null) context.skip(NONE);
  const { browser, base, app } = stage!;
  const { page, complaints } = await openPage(browser);
  const runs: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/account/run')) runs.push(request.postData() ?? '');
  });
  await page.goto(base + path);
  return { page, complaints, runs, app, base };
}

async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
}

const runtime = (page: Page) => page.locator('#field-runtime .value-text').first().textContent();

test('a record shows its paid values after a sign-in and one click, and again without a charge', async (context) => {
  const { page, complaints, runs, app, base } = await opened(context, '/');
  const record = app.records['tools']!.find(({ attributes }) => typeof attributes['runtime'] === 'number')!;
  const { key, headers } = await newKey(app);
  await page.goto(`${base}/datasets/tools/${record.slug}`);
  const looked = (name: string) =>
    inEachLook(page, LOOKS, async (look) => {
      await picture(page, `paid-${name}-${look}`);
      expect(await overflow(page), `${name} ${look}`).toBeLessThanOrEqual(0);
      expect(await barriers(page), `${name} ${look}`).toEqual([]);
    });
  await looked('visitor');
  expect(await page.getByRole('button', { name: /^Load/ }).count()).toBe(0);
  await page.getByRole('link', { name: /^Sign in to load \d+ values?: €0.004$/ }).click();
  await signIn(page, key);
  await page.waitForURL(`${base}/datasets/tools/${record.slug}`);
  await page.getByText('Balance: €0.50').waitFor();
  await looked('signed-in');
  expect([runs, await balance(app, headers)]).toEqual([[], 0.5]);
  await page.getByRole('button', { name: /^Load \d+ values?: €0.004$/ }).click();
  await page.getByText('Charged €0.004. Balance: €0.496.').waitFor();
  expect(await runtime(page)).toContain(String(record.attributes['runtime']));
  await looked('loaded');
  await page.reload();
  await page.getByText('Loaded again, free. Balance: €0.496.').waitFor();
  expect(await runtime(page)).toContain(String(record.attributes['runtime']));
  expect(await balance(app, headers)).toBe(0.496);
  for (const call of runs) expect(call).not.toContain(key);
  // The session ends: the values are locked, and the page says how to go on.
  const other = app.records['tools']!.find(({ slug }) => slug !== record.slug)!;
  await page.goto(`${base}/datasets/tools/${other.slug}`);
  await page.getByText('Balance: €0.496').waitFor();
  await page.context().clearCookies({ name: 'register_account' });
  await page.getByRole('button', { name: /^Load/ }).click();
  await page.getByText('Your session has ended. Sign in again.').waitFor();
  expect(await page.getByRole('link', { name: /^Sign in to load/ }).count()).toBe(1);
  expect(complaints).toEqual([]);
  await page.context().close();
}, 120_000);

test('a comparison with the same session loads what is locked', async (context) => {
  const { page, complaints, runs, app, base } = await opened(context, '/account');
  const { key, headers } = await newKey(app);
  await signIn(page, key);
  const slugs = app.records['tools']!.slice(0, 3).map(({ slug }) => slug);
  await page.goto(`${base}/compare/tools?ids=${slugs.slice(0, 2).join()}`);
  await page.getByRole('button', { name: 'Load the locked values: €0.012' }).click();
  await page.getByText('Charged €0.012. Balance: €0.488.').waitFor();
  expect(await page.locator('td.locked').count()).toBe(0);
  // A third record is paid alone; afterwards a reload shows all three from stored answers.
  await page.goto(`${base}/compare/tools?ids=${slugs.join()}`);
  await expect.poll(() => page.locator('td.locked').count()).toBe(2);
  await page.getByRole('button', { name: 'Load the locked values: €0.012' }).click();
  await page.getByText('Charged €0.012. Balance: €0.476.').waitFor();
  expect(JSON.parse(runs.at(-1) ?? '')).toMatchObject({ arguments: { ids: slugs[2] } });
  await page.reload();
  await expect.poll(() => page.locator('td.locked').count()).toBe(0);
  expect(await balance(app, headers)).toBe(0.476);
  expect(complaints).toEqual([]);
  await page.context().close();
});

test('a consent continues with the session, without the key', async (context) => {
  const { page, app, base } = await opened(context, '/account');
  const { key } = await newKey(app);
  const redirect_uri = 'http://127.0.0.1:9/callback';
  const { body } = await register(base, { client_name: 'Claude', redirect_uris: [redirect_uri] });
  const url = authorizeUrl(base, body.client_id, pkce().challenge, { redirect_uri });
  await page.goto(url);
  expect(await page.getByRole('button', { name: 'Continue with your account' }).count()).toBe(0);
  await page.goto(`${base}/account`);
  await signIn(page, key);
  await page.goto(url);
  await page.getByRole('button', { name: 'Continue with your account' }).click();
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Allow Claude to spend from your key?');
  // The token of one interaction is worth nothing in another.
  const { page: stranger } = await openPage(stage!.browser);
  await stranger.goto(url);
  const token = 'a'.repeat(43);
  await stranger.goto(`${stranger.url()}?session=${token}`);
  expect(await stranger.getByRole('heading', { level: 1 }).textContent()).toBe('Sign in with your API key');
  await Promise.all([page, stranger].map((each) => each.context().close()));
});
