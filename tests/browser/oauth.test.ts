// Sign-in, consent and connections in a real browser: light, dark, on a phone, by keyboard only.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { barriers, inEachLook, LOOKS, NONE, openBrowser, openPage, overflow, picture } from '../support/browser.ts';
import { newKey } from '../support/money-on-stores.ts';
import { authorizeUrl, bearer, pkce, register, token } from '../support/oauth-client.ts';
import { type Listening, listen } from '../support/oauth-server.ts';
import { verifies } from '../support/verifies.ts';

verifies('auth.oauth-consent');

interface Stand extends Listening {
  browser: Browser;
  /** A client's server: its callback, and a page that posts a form to another site. */
  client: { url: string; server: Server; posts: string };
}

let at: Stand | null = null;

beforeAll(async () => {
  const browser = await openBrowser();
  if (browser === null) return;
  const listening = await listen();
  const client = { url: '', posts: '', server: createServer() };
  client.server.on('request', (request, response) => {
    response.setHeader('Content-Type', 'text/html');
    const form = `<form method="post" action="${client.posts}"><input name="action" value="allow"><button>Win</button></form>`;
    response.end(request.url?.startsWith('/attack') ? form : '<title>Back at the client</title>');
  });
  client.server.listen(0, '127.0.0.1');
  await new Promise((resolve) => client.server.once('listening', resolve));
  client.url = `http://127.0.0.1:${(client.server.address() as AddressInfo).port}`;
  at = { ...listening, browser, client };
});

afterAll(async () => {
  await at?.browser.close();
  at?.client.server.close();
  await at?.close();
});

/** The test set-up; skips the test when there is no browser. */
function standing(context: TestContext): Stand {
  if (at === null) context.skip(NONE);
  return at as Stand;
}

/** An authorization request of a new client, and the function that exchanges its code. */
async function request({ base, client }: Stand, metadata: Record<string, unknown> = {}) {
  const redirect_uri = `${client.url}/callback`;
  const { body } = await register(base, { client_name: 'Claude', redirect_uris: [redirect_uri], ...metadata });
  const { verifier, challenge } = pkce();
  const url = authorizeUrl(base, body.client_id, challenge, { redirect_uri });
  const exchange = (code: string) =>
    token(base, {
      grant_type: 'authorization_code',
      client_id: body.client_id,
      code,
      redirect_uri,
      code_verifier: verifier,
    });
  return { url, exchange };
}

/** Checks a page in each look: nothing is cut off or scrolls sideways, and axe finds nothing. */
const looked = (page: Page, name: string): Promise<void> =>
  inEachLook(page, LOOKS, async (look) => {
    expect(await overflow(page), `${name}, ${look} scrolls sideways`).toBeLessThanOrEqual(0);
    expect(await barriers(page), `${name}, ${look}`).toEqual([]);
    await picture(page, `oauth-${name}-${look}`);
  });

const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent();

describe('the complete flow', () => {
  test('fits every screen and passes axe', { timeout: 60_000 }, async (context) => {
    const stand = standing(context);
    const { key } = await newKey(stand.app, 12);
    const { url } = await request(stand);
    const { page, complaints } = await openPage(stand.browser);
    await page.goto(url);
    await looked(page, 'signin');
    await page.getByLabel('Your API key').fill('dsr_not-a-key');
    await page.getByRole('button', { name: 'Sign in' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('Key not recognised');
    await looked(page, 'signin-wrong');
    await page.getByLabel('Your API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    expect(await heading(page)).toBe('Allow Claude to spend from your key?');
    await looked(page, 'consent');
    await page.getByLabel('Spending limit').fill('a lot');
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    expect(await page.getByRole('alert').textContent()).toContain('Enter an amount');
    expect(await page.getByLabel('Spending limit').inputValue()).toBe('a lot');
    await looked(page, 'consent-wrong');
    await page.getByLabel('Spending limit').fill('2,50');
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.waitForURL(`${stand.client.url}/callback?*`);
    await page.goto(`${stand.base}/oauth/authorize?client_id=none`);
    expect(await heading(page)).toBe('Authorization failed');
    await looked(page, 'error');
    // The browser reports three answers with an error status; there must be no other message.
    expect(complaints.filter((text) => !/status of 4/.test(text))).toEqual([]);
    await page.context().close();
  });

  test('works by keyboard only', async (context) => {
    const stand = standing(context);
    const { key } = await newKey(stand.app);
    const { url, exchange } = await request(stand);
    const { page } = await openPage(stand.browser);
    await page.goto(url);
    const focused = () => page.evaluate<string>('document.activeElement?.id');
    // A browser sets the focus shortly after the page has loaded, and earlier key presses are lost.
    await expect.poll(focused).toBe('key');
    await page.keyboard.type(key);
    await page.keyboard.press('Enter');
    // Waits for the page itself, since waiting for an address may begin after the page has loaded.
    await page.getByRole('heading', { name: 'Allow Claude to spend from your key?' }).waitFor();
    for (let i = 0; i < 12 && (await focused()) !== 'cap'; i++) await page.keyboard.press('Tab');
    await page.keyboard.type('1');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${stand.client.url}/callback?*`);
    const code = new URL(page.url()).searchParams.get('code') ?? '';
    const { status, body } = await exchange(code);
    expect(status).toBe(200);
    const grants = await stand.app.state.db.selectFrom('grants').selectAll().orderBy('created_at', 'desc').execute();
    expect(grants[0]).toMatchObject({ client_name: 'Claude', cap: 1_000_000, spent: 0 });
    expect((await stand.app.json('/v1/keys/me', { headers: bearer(body['access_token'] ?? '') })).status).toBe(200);
    await page.context().close();
  });

  test('can be refused at each step, and the client gets the error', async (context) => {
    const stand = standing(context);
    const { key } = await newKey(stand.app);
    const { url } = await request(stand);
    const { page } = await openPage(stand.browser);
    const denied = () => {
      const { searchParams } = new URL(page.url());
      return [searchParams.get('error'), searchParams.get('state'), searchParams.get('iss'), searchParams.has('code')];
    };
    await page.goto(url);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.waitForURL(`${stand.client.url}/callback?*`);
    expect(denied()).toEqual(['access_denied', 'a state', stand.base, false]);
    await page.goto(url);
    await page.getByLabel('Your API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.waitForURL(`${stand.client.url}/callback?*`);
    expect(denied()).toEqual(['access_denied', 'a state', stand.base, false]);
    await page.context().close();
  });

  test('asks for consent again each time, and allows another key', async (context) => {
    const stand = standing(context);
    const [one, two] = [await newKey(stand.app), await newKey(stand.app)];
    const { page } = await openPage(stand.browser);
    await page.goto((await request(stand)).url);
    await page.getByLabel('Your API key').fill(one.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.waitForURL(`${stand.client.url}/callback?*`);
    // The sign-in is valid for a quarter of an hour: the next client gets the consent page directly.
    const { url, exchange } = await request(stand, { client_name: '<b>Second</b>' });
    await page.goto(url);
    expect(await heading(page)).toBe('Allow <b>Second</b> to spend from your key?');
    await page.getByRole('button', { name: 'Use another key' }).click();
    await page.getByLabel('Your API key').fill(two.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.waitForURL(`${stand.client.url}/callback?*`);
    const { body } = await exchange(new URL(page.url()).searchParams.get('code') ?? '');
    const me = await stand.app.json('/v1/keys/me', { headers: bearer(body['access_token'] ?? '') });
    expect(me.body['id']).toBe(two.id);
    await page.context().close();
  });
});

describe('connections', () => {
  test('are ended immediately by their button', async (context) => {
    const stand = standing(context);
    const { key } = await newKey(stand.app);
    const { url, exchange } = await request(stand);
    const { page } = await openPage(stand.browser);
    await page.goto(url);
    await page.getByLabel('Your API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.waitForURL(`${stand.client.url}/callback?*`);
    const { body } = await exchange(new URL(page.url()).searchParams.get('code') ?? '');
    const headers = bearer(body['access_token'] ?? '');
    expect((await stand.app.json('/v1/keys/me', { headers })).status).toBe(200);
    await page.goto(`${stand.base}/account#apps`);
    expect(page.url()).toBe(`${stand.base}/account#apps`);
    await page.getByLabel('API key').fill(key);
    await page.locator('main').getByRole('button', { name: 'Sign in' }).click();
    await expect.poll(() => page.getByText('Spent €0.00, no limit').count()).toBe(1);
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await expect.poll(() => page.getByText('can no longer spend from your key').count()).toBe(1);
    expect((await stand.app.json('/v1/keys/me', { headers })).status).toBe(401);
    await page.context().close();
  });
});

describe('another site', () => {
  test('can neither answer a consent with a form of its own nor show our page in a frame', async (context) => {
    const stand = standing(context);
    const { key } = await newKey(stand.app);
    const { page } = await openPage(stand.browser);
    await page.goto((await request(stand)).url);
    await page.getByLabel('Your API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    const consent = page.url();
    stand.client.posts = consent;
    await page.goto(`${stand.client.url}/attack`);
    await page.getByRole('button', { name: 'Win' }).click();
    expect(await heading(page)).toBe('This form came from another site');
    await page.goto(`${stand.client.url}/callback`);
    await page.setContent(`<iframe src="${consent}"></iframe>`);
    await expect.poll(() => page.frames().length).toBe(2);
    await expect.poll(async () => (await page.frames()[1]?.content())?.includes('Allow Claude') ?? true).toBe(false);
    // The person's own page is unchanged.
    await page.goto(consent);
    expect(await heading(page)).toBe('Allow Claude to spend from your key?');
    await page.context().close();
  });
});
