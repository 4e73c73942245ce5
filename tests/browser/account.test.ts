// The page of an account in Chromium: spending, limits with the alert, and child keys, on every screen.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NOW, testApp } from '../support/app.ts';
import {
  barriers,
  inEachLook,
  LOOKS,
  type Look,
  NONE,
  openBrowser,
  openPage,
  overflow,
  picture,
} from '../support/browser.ts';
import { callStatus, newKey } from '../support/money-on-stores.ts';
import { type Served, served } from '../support/served.ts';

const SCREENS: readonly Look[] = [
  ...LOOKS,
  ['laptop', { colorScheme: 'light', viewport: { width: 1280, height: 800 } }],
];
const RECORD = '/v1/tools/entities/record-1';
const DAY = 86_400_000;

let clock = NOW;

describe('the page of an account in Chromium', () => {
  let at: (Served & { browser: Browser }) | null = null;
  beforeAll(async () => {
    const browser = await openBrowser();
    const open = (base: string) => testApp({ records: 5, base, now: () => clock });
    if (browser !== null) at = { ...(await served(open)), browser };
  });
  afterAll(async () => {
    await at?.browser.close();
    await at?.close();
  });

  test('shows spending by day, operation and key, and sets the alert and a child key', {
    timeout: 120_000,
  }, async (context) => {
    if (at === null) return context.skip(NONE);
    const { app, base, browser } = at;
    const { key, headers } = await newKey(app, 20);
    const { page, complaints } = await openPage(browser);
    await page.goto(`${base}/account`);
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).first().click();
    await page.getByText('Create a child key').click();
    await page.getByLabel('Name').fill('Research agent for prices');
    await page.getByLabel('Most in its life').fill('5');
    await page.getByLabel('Last day (UTC)').fill('2027-01-31');
    await page.getByRole('button', { name: 'Create child key' }).click();
    await page.getByRole('heading', { name: 'Your new child key' }).waitFor();
    await picture(page, 'account-child-created');
    const child = { Authorization: `Bearer ${await page.locator('.secret code').textContent()}` };
    for (let day = 12; day >= 0; day--) {
      clock = new Date(NOW.getTime() - day * DAY);
      for (let call = 0; call < 3 + (day % 4); call++)
        await app.ask(call % 2 ? RECORD : '/v1/tools/stats?attribute=price.list', {
          headers: call < 2 ? child : headers,
        });
    }
    clock = NOW;
    await page.getByRole('link', { name: 'Back to the account' }).click();
    await page.getByLabel('Most in a day (UTC)').first().fill('2');
    await page.getByLabel('Alert when the balance falls below').fill('7.5');
    await page.getByRole('button', { name: 'Save limits' }).click();
    await page.getByRole('status').getByText('The limits are saved').waitFor();
    expect(await page.getByLabel('Alert when the balance falls below').inputValue()).toBe('7.5');
    await page.getByRole('row', { name: /^Research agent for prices €0\.\d+ €5\.00 / }).waitFor();
    await page
      .getByRole('region', { name: 'Usage by key' })
      .getByRole('row', { name: /^This key/ })
      .waitFor();
    await inEachLook(page, SCREENS, async (look) => {
      expect(await overflow(page), look).toBeLessThanOrEqual(0);
      expect(await barriers(page), look).toEqual([]);
      await picture(page, `account-${look}`);
    });
    await page.getByRole('button', { name: '€20' }).click();
    await page.getByRole('button', { name: 'Pay €20.00 (play money)' }).click();
    await page.getByRole('link', { name: 'Back to your account' }).click();
    await page.getByRole('link', { name: 'Receipt' }).click();
    await page.getByRole('note').getByText('Play money').waitFor();
    await page.getByLabel('Buyer').fill('Example GmbH\nRing 1\n10115 Berlin');
    await inEachLook(page, SCREENS, async (look) => {
      expect(await overflow(page), look).toBeLessThanOrEqual(0);
      expect(await barriers(page), look).toEqual([]);
      await picture(page, `receipt-${look}`);
    });
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('banner').isVisible()).toBe(false);
    await picture(page, 'receipt-print');
    await page.emulateMedia({ media: 'screen' });
    await page.getByRole('link', { name: 'Back to the account' }).click();
    await page.getByText('End Research agent for prices').click();
    await page.getByRole('button', { name: 'End now' }).click();
    await page.getByRole('status').getByText('The child key has ended.').waitFor();
    expect(await callStatus(app, '/v1/keys/me', { headers: child })).toBe('401 invalid_key');
    await picture(page, 'account-ended');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('attaches an address by the link of a mail', { timeout: 60_000 }, async (context) => {
    if (at === null) return context.skip(NONE);
    const { app, base, browser } = at;
    const { headers } = await newKey(app);
    const body = JSON.stringify({ email: 'attached@example.org' });
    expect(await callStatus(app, '/v1/keys/me/email', { method: 'PUT', body, headers })).toBe('202');
    const outbox = join(app.dataDir, 'outbox');
    const mails = readdirSync(outbox).map((name) => readFileSync(join(outbox, name), 'utf8'));
    const link = mails.flatMap((mail) => /http\S+\/keys\/email\?token=[\w-]{43}/.exec(mail) ?? [])[0] ?? '';
    const { page } = await openPage(browser);
    for (const [name, heading] of [
      ['email-confirm', 'Confirm your e-mail address'],
      ['email-used', 'This link has expired or is invalid'],
    ] as const) {
      await page.goto(link);
      await page.getByRole('heading', { name: heading }).waitFor();
      await inEachLook(page, SCREENS, async (look) => {
        expect(await overflow(page), look).toBeLessThanOrEqual(0);
        await picture(page, `${name}-${look}`);
      });
      if (name === 'email-used') continue;
      await page.getByRole('button', { name: 'Attach this address' }).click();
      await page.getByRole('heading', { name: 'Address attached' }).waitFor();
      await picture(page, 'email-attached');
    }
    await page.getByRole('main').getByRole('link', { name: 'your account' }).click();
    expect(page.url()).toBe(`${base}/account`);
    await page.context().close();
  });
});
