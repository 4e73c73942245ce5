// Claim and removal in a real browser without scripts: light, dark, on a phone, by keyboard; and the pages of
// invalid links.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NOW } from '../support/app.ts';
import { barriers, inEachLook, LOOKS, NONE, openBrowser, openPage, overflow, picture } from '../support/browser.ts';
import { claim, linkTo, optOut, owned, verify } from '../support/owners-stage.ts';
import { type Served, served } from '../support/served.ts';

interface Stand extends Served {
  browser: Browser;
}

let clock = NOW;

/** A browser logs every error status, also of pages that are meant to have one. */
const isNoStatus = (complaint: string) => !/Failed to load resource/.test(complaint);

describe('an owner in Chromium', () => {
  let at: Stand | null = null;
  beforeAll(async () => {
    const browser = await openBrowser();
    if (browser !== null) at = { ...(await served((base) => owned({ base, now: () => clock }))), browser };
  }, 60_000);
  afterAll(async () => {
    await at?.browser.close();
    await at?.close();
  });

  /** A page with scripts: axe is a script, so it checks a copy of the page's HTML in it. */
  let copy: Promise<Page> | undefined;

  /**
   * Checks a page in each look: it fits the screen, its buttons can be pressed on a phone, and axe finds
   * nothing.
   */
  async function looked({ browser }: Stand, page: Page, name: string): Promise<void> {
    await inEachLook(page, LOOKS, async (look) => {
      expect(await overflow(page), `${name}, ${look} is as wide as the screen`).toBeLessThanOrEqual(0);
      for (const button of await page.getByRole('button').all())
        expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44);
      await picture(page, `owners-${name}-${look}`);
    });
    copy ??= browser.newContext({ bypassCSP: true }).then((context) => context.newPage());
    const scripted = await copy;
    await scripted.setContent(await page.content());
    await inEachLook(scripted, LOOKS, async (look) => expect(await barriers(scripted), `${name}, ${look}`).toEqual([]));
  }

  /** Presses a button by keyboard: every stop on the way is visible. */
  async function press(page: Page, name: string): Promise<void> {
    const button = page.getByRole('button', { name });
    for (let i = 0; i < 40 && !(await button.evaluate((e) => e === e.ownerDocument.activeElement)); i++) {
      await page.keyboard.press('Tab');
      const outline = await page
        .locator(':focus')
        .evaluate((e) => e.ownerDocument.defaultView?.getComputedStyle(e).outlineStyle);
      expect(outline).not.toBe('none');
    }
    await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
  }

  test('claims a record, corrects it, and sees mistakes, on every screen', {
    timeout: 120_000,
  }, async (context) => {
    if (at === null) return context.skip(NONE);
    const { app, base } = at;
    const email = 'master@null.example';
    const { page, complaints } = await openPage(at.browser, { javaScriptEnabled: false });
    await page.goto(`${base}/owners/harbours/harbour-8`);
    expect(await page.title()).toContain('Is Null Island Marina yours?');
    await looked(at, page, 'start');
    await page.locator('#edit').fill('somebody@elsewhere.example');
    await press(page, 'Send link');
    expect(await page.getByRole('alert').textContent()).toContain('can’t be verified. Use an address at the domain of');
    expect(await page.locator('#edit').inputValue()).toBe('somebody@elsewhere.example');
    await looked(at, page, 'start-wrong');
    await page.locator('#edit').fill(email);
    await press(page, 'Send link');
    expect(await page.locator('h1').textContent()).toBe('Check your e-mail');
    await looked(at, page, 'mailed');

    const { url } = linkTo(app, email);
    await page.goto(url);
    await page.reload();
    expect(await page.locator('h1').textContent()).toBe('Edit Null Island Marina');
    await looked(at, page, 'begin');
    await press(page, 'Start editing (30 minutes)');
    expect(await page.locator('main').textContent()).toContain('another 30 minutes');
    await looked(at, page, 'edit');
    await page.getByLabel('Berths').fill('a few');
    await page.getByLabel('Languages').fill('<img src=x onerror=alert(1)>\nFøroyskt');
    await press(page, 'Save');
    expect(await page.getByRole('alert').textContent()).toContain('Not saved');
    expect(await page.getByLabel('Berths').inputValue()).toBe('a few');
    await looked(at, page, 'edit-wrong');
    await page.getByLabel('Berths').fill('17');
    await page.getByLabel('Fuel').selectOption('Yes');
    await press(page, 'Save');
    expect(await page.getByRole('status').textContent()).toContain('Saved');
    // Input is shown as text, also when it looks like markup.
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.getByLabel('Languages').inputValue()).toBe('<img src=x onerror=alert(1)>\nFøroyskt');
    await looked(at, page, 'saved');
    const { body } = await app.json('/v1/harbours/entities/harbour-8', { admin: true });
    expect(body).toMatchObject({
      verified_owner: true,
      attributes: { berths: 17, fuel: true, languages: ['<img src=x onerror=alert(1)>', 'Føroyskt'] },
    });
    await press(page, 'Save');
    expect(await page.getByRole('status').textContent()).toContain('No changes to save');
    // When the field is emptied, the owner's value is removed and that of the sources is published again.
    for (const [label, value] of [
      ['Berths', ''],
      ['Languages', ''],
    ] as const)
      await page.getByLabel(label).fill(value);
    await page.getByLabel('Fuel').selectOption('Not set');
    await press(page, 'Save');
    expect(await page.getByLabel('Berths').inputValue()).toBe('3');
    clock = new Date(NOW.getTime() + 31 * 60_000);
    await page.reload();
    expect(await page.locator('h1').textContent()).toBe('This link has expired');
    await looked(at, page, 'over');
    clock = NOW;
    expect(complaints.filter(isNoStatus)).toEqual([]);
  });

  test('removes a record, and restores it, on every screen', { timeout: 120_000 }, async (context) => {
    if (at === null) return context.skip(NONE);
    const { app, base } = at;
    const slug = 'harbour-3';
    const email = 'office@aether.example';
    const { page, complaints } = await openPage(at.browser, { javaScriptEnabled: false });
    await page.goto(`${base}/owners/harbours/${slug}`);
    await page.locator('#remove').fill(email);
    await page.getByLabel('Reason (optional)').fill('"><script>alert(1)</script>');
    await press(page, 'Remove this record…');
    const name = /^Remove (.*)\?$/.exec((await page.locator('h1').textContent()) ?? '')?.[1] ?? '';
    // The preview changes nothing.
    expect(await page.locator('dl.sum dd').count()).toBeGreaterThan(0);
    await press(page, `Remove ${name}`);
    expect(await page.locator('h1').textContent()).toBe(`${name} has been removed`);
    await looked(at, page, 'removed');
    const status = async () => (await app.json(`/v1/harbours/entities/${slug}`, { admin: true })).status;
    expect(await status()).toBe(404);
    await page.goto(linkTo(app, email).url);
    expect(await page.locator('h1').textContent()).toMatch(/^Restore .+\?$/);
    await looked(at, page, 'restore');
    expect(await status()).toBe(404);
    const restore = page.url();
    await press(page, 'Restore record');
    expect(await page.locator('h1').textContent()).toBe('Record restored');
    await looked(at, page, 'restored');
    expect(await status()).toBe(200);
    await page.goto(restore);
    expect(await page.locator('h1').textContent()).toBe('This link was already used');
    await looked(at, page, 'used');
    // So soon after a restore, a mail must confirm it first.
    await optOut(app, slug, email);
    await page.goto(linkTo(app, email).url);
    await looked(at, page, 'confirm');
    expect(await status()).toBe(200);
    await page.goto(`${base}/optout/confirm?token=${'a'.repeat(43)}`);
    expect(await page.locator('h1').textContent()).toBe('This link has expired or is invalid');
    await looked(at, page, 'unknown');
    expect(complaints.filter(isNoStatus)).toEqual([]);
  });

  test('a replaced link shows a message, and where to request another', async (context) => {
    if (at === null) return context.skip(NONE);
    const { app, base } = at;
    await claim(app, 'harbour-8', 'twice@null.example');
    const former = linkTo(app, 'twice@null.example');
    // A mailbox gets at most one unopened link an hour.
    clock = new Date(NOW.getTime() + 61 * 60_000);
    await claim(app, 'harbour-8', 'twice@null.example');
    const { token } = linkTo(app, 'twice@null.example');
    const { page } = await openPage(at.browser, { javaScriptEnabled: false });
    await page.goto(former.url);
    expect(await page.locator('h1').textContent()).toBe('There is a newer link');
    await page.getByRole('link', { name: 'Request another link' }).click();
    expect(page.url()).toBe(`${base}/owners/harbours/harbour-8`);
    // A program that followed the link has verified it: the page shows the form directly.
    await verify(app, token);
    await page.goto(`${base}/claim?token=${token}`);
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(1);
    // The record is removed during the edit.
    await optOut(app, 'harbour-8', 'office@null.example');
    await page.getByLabel('Berths').fill('9');
    await page.getByRole('button', { name: 'Save' }).click();
    expect(await page.locator('h1').textContent()).toBe('This record was removed');
    clock = NOW;
  });

  test('there was no internal error', () => expect(at?.app.faults ?? []).toEqual([]));
});
