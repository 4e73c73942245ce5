// The sandbox checkout in a real browser without scripts: light, dark, on a phone, by keyboard only.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testApp } from '../support/app.ts';
import { barriers, inEachLook, LOOKS, NONE, openBrowser, openPage, overflow, picture } from '../support/browser.ts';
import { balance, newKey } from '../support/money-on-stores.ts';
import { type Served, served } from '../support/served.ts';

interface Stand extends Served {
  browser: Browser;
}

describe('the sandbox checkout in Chromium', () => {
  let at: Stand | null = null;
  beforeAll(async () => {
    const browser = await openBrowser();
    if (browser !== null) at = { ...(await served((base) => testApp({ records: 5, base }))), browser };
  });
  afterAll(async () => {
    await at?.browser.close();
    await at?.close();
  });

  /** Checks in each look that axe finds nothing. It is a script, so it runs in a context with scripts. */
  async function passesAxe(browser: Browser, url: string): Promise<void> {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(url);
    await inEachLook(page, LOOKS, async (look) => expect(await barriers(page), look).toEqual([]));
    await context.close();
  }

  async function topup({ app }: Stand): Promise<{ url: string; headers: Record<string, string> }> {
    const { headers } = await newKey(app);
    const body = JSON.stringify({ amount_eur: 20 });
    const answer = await app.json('/v1/keys/topup', { method: 'POST', body, headers });
    return { url: String(answer.body['checkout_url']), headers };
  }

  test('says that it is play money, fits every screen, and pays by keyboard', { timeout: 60_000 }, async (context) => {
    if (at === null) return context.skip(NONE);
    const { url, headers } = await topup(at);
    const { page, complaints } = await openPage(at.browser, { javaScriptEnabled: false });
    await page.goto(url);
    expect(await page.getByRole('note').textContent()).toContain('No real money');
    await inEachLook(page, LOOKS, async (look) => {
      expect(await overflow(page), look).toBeLessThanOrEqual(0);
      for (const button of await page.getByRole('button').all()) {
        const box = await button.boundingBox();
        expect(box?.height).toBeGreaterThanOrEqual(44);
      }
      await picture(page, `checkout-${look}`);
    });
    // Tabs through the page: every stop is visible, and the first button pays.
    const pay = page.getByRole('button', { name: 'Pay €20.00 (play money)' });
    for (let i = 0; i < 12 && !(await pay.evaluate((e) => e === e.ownerDocument.activeElement)); i++) {
      await page.keyboard.press('Tab');
      const outline = await page
        .locator(':focus')
        .evaluate((e) => e.ownerDocument.defaultView?.getComputedStyle(e).outlineWidth);
      expect(outline).toBe('3px');
    }
    await picture(page, 'checkout-focus');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Paid' }).waitFor();
    expect(page.url()).toContain('/checkout/done?session=sandbox_');
    await picture(page, 'checkout-paid');
    await passesAxe(at.browser, page.url());
    expect(await balance(at.app, headers)).toBe(20.5);
    // Back, and pressed again: still one payment.
    await page.goBack();
    await page.goto(url);
    expect(await page.getByRole('button').count()).toBe(0);
    expect(await balance(at.app, headers)).toBe(20.5);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('takes three clicks from the account, and a key with a first call three from any page', {
    timeout: 120_000,
  }, async (context) => {
    if (at === null) return context.skip(NONE);
    const page = await (await at.browser.newContext()).newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    const looks = (name: string) =>
      inEachLook(page, LOOKS, async (look) => {
        expect(await overflow(page), `${name} ${look}`).toBeLessThanOrEqual(0);
        expect(await barriers(page), `${name} ${look}`).toEqual([]);
        await picture(page, `${name}-${look}`);
      });
    await page.goto(`${at.base}/checkout/cancelled`);
    await page.getByRole('link', { name: 'Get an API key' }).click();
    await page.getByLabel('E-mail address').fill('three.clicks@example.org');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText(/^200 in \d+ ms\. Charged €0\.0\d+, balance €0\.4\d+\.$/).waitFor();
    expect(await page.locator('[data-answer]').textContent()).toContain('"attributes"');
    await looks('key');
    const key = (await page.locator('.secret code').textContent()) ?? '';
    await page.getByRole('navigation', { name: 'Account' }).getByRole('link').click();
    await page.getByRole('button', { name: '€20' }).click();
    await page.getByRole('button', { name: 'Pay €20.00 (play money)' }).click();
    await page.getByRole('link', { name: 'Back to your account' }).click();
    await page.getByRole('heading', { name: 'Account', exact: true }).waitFor();
    await looks('account');
    await page.getByText('Replace the key').click();
    await page.getByRole('button', { name: 'Replace now' }).click();
    await page.getByRole('heading', { name: 'Your new API key' }).waitFor();
    const fresh = { Authorization: `Bearer ${await page.locator('.secret code').textContent()}` };
    expect(await balance(at.app, fresh)).toBeGreaterThan(20.4);
    expect(await balance(at.app, { Authorization: `Bearer ${key}` })).toBeUndefined();
    await page.getByRole('link', { name: 'Back to the account' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Get an API key' }).first().waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('is cancelled by the other button, and then closed', async (context) => {
    if (at === null) return context.skip(NONE);
    const { url, headers } = await topup(at);
    const { page } = await openPage(at.browser, { javaScriptEnabled: false });
    await page.goto(url);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'Checkout cancelled' }).waitFor();
    await picture(page, 'checkout-cancelled');
    await page.goto(url);
    await page.getByRole('heading', { name: 'This checkout has expired' }).waitFor();
    await picture(page, 'checkout-over');
    expect(await balance(at.app, headers)).toBe(0.5);
    await page.context().close();
  });

  test('cannot be pressed from another page: a foreign form lacks the address, and a frame stays empty', async (context) => {
    if (at === null) return context.skip(NONE);
    const { url, headers } = await topup(at);
    const { page } = await openPage(at.browser, { javaScriptEnabled: false });
    await page.setContent(`<iframe src="${url}"></iframe>`);
    await page.waitForLoadState();
    const framed = page.frames()[1];
    expect(await framed?.getByRole('button').count()).toBe(0);
    expect(await balance(at.app, headers)).toBe(0.5);
    await page.context().close();
  });
});
