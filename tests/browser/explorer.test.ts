// The explorer in Chromium: facets, filters, sort and map from the schema, the state in the URL, and the
// shown API call.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { barriers, inEachLook, NONE, overflow, picture } from '../support/browser.ts';
import { balance, newKey } from '../support/money-on-stores.ts';
import { scratchOfAll } from '../support/night-pack.ts';
import { LOOKS, mistakes, type Opened, openStage, type Stage } from '../support/pages-stage.ts';

const run = promisify(execFile);
const folder = scratchOfAll();
let stage: Stage | null = null;
beforeAll(async () => {
  stage = await openStage(folder);
}, 180_000);
afterAll(() => stage?.close());

const names = ({ page }: Opened) => page.locator('#explore-table tbody th').allTextContents();
const status = ({ page }: Opened) => page.locator('#explore-status');
/** Searches that use up the daily quota. */
const searches = ({ asked }: Opened) => asked.filter((url) => url.includes('/entities?'));

/** Waits for a text in the status. */
const says = (opened: Opened, text: string | RegExp) => status(opened).filter({ hasText: text }).waitFor();

/** Clicks the button for the records of a link. */
async function take(opened: Opened): Promise<void> {
  await opened.page.click('#explore-take');
  await says(opened, /shown\./);
}

/** Delays requests until they are released. */
async function holdBack(page: Page, pattern: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(pattern, (route) => promise.then(() => route.continue()));
  return resolve;
}

async function filter(opened: Opened, attribute: string) {
  const details = opened.page.locator(`details[data-attribute="${attribute}"]`);
  if ((await details.getAttribute('open')) === null) await details.locator('summary').click();
  return details;
}

describe('the explorer', () => {
  test('begins with free showcase records', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await stage.open('/explore/harbours/');
    await says(opened, 'sample rows. Search or filter');
    expect((await names(opened)).length).toBeGreaterThan(2);
    const total = stage.app.records['harbours']!.length;
    await opened.page.locator('#explore-head', { hasText: `${total} records` }).waitFor();
    expect(searches(opened)).toEqual([]);
    expect(await opened.page.locator('.map-dots circle').count()).toBeGreaterThan(2);
    expect(opened.asked.filter((url) => !url.startsWith(stage!.base) && !url.startsWith('data:'))).toEqual([]);
    expect(opened.complaints).toEqual([]);
    await opened.close();
  });

  test('a facet narrows the count free of charge, and records are fetched on click', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await stage.open('/explore/harbours/');
    const coast = await filter(opened, 'coast');
    const north = stage.app.records['harbours']!.filter(({ attributes }) => attributes['coast'] === 'north');
    await coast.locator('label', { hasText: 'north' }).locator('input').check();
    await opened.page.locator('#explore-head', { hasText: new RegExp(`^${north.length} record`) }).waitFor();
    expect(new URL(opened.page.url()).search).toBe('?coast=north');
    await says(opened, 'Results are out of date. Search to update.');
    expect(searches(opened)).toEqual([]);
    await opened.page.click('#explore-run');
    await says(opened, /records? shown/);
    expect(searches(opened)).toHaveLength(1);
    const known = new Set(north.map(({ name }) => name));
    for (const name of await names(opened)) expect(known).toContain(name);
    // A chip removes its filter.
    await opened.page.getByRole('button', { name: 'Remove filter coast = north' }).click();
    expect(new URL(opened.page.url()).search).toBe('');
    await opened.close();
  });

  test('filters, words and order are in the address, and the back button restores them', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await stage.open('/explore/harbours/?min_depth=3&sort=-depth&limit=4');
    await take(opened);
    const deepest = stage.app.records['harbours']!.filter(
      ({ attributes }) => (attributes['depth'] as number) >= 3,
    ).sort((a, b) => (b.attributes['depth'] as number) - (a.attributes['depth'] as number));
    expect((await names(opened))[0]).toBe(deepest[0]?.name);
    expect(await opened.page.inputValue('[data-param="min_depth"]')).toBe('3');
    await opened.page.fill('#explore-q', 'zz-no-such-word');
    await opened.page.keyboard.press('Enter');
    await says(opened, 'No results');
    expect(new URL(opened.page.url()).searchParams.get('q')).toBe('zz-no-such-word');
    await opened.page.goBack();
    await says(opened, /shown\./);
    expect((await names(opened))[0]).toBe(deepest[0]?.name);
    // The same search was not repeated, because a day has few free records.
    expect(searches(opened).filter((url) => !url.includes('zz-no'))).toHaveLength(1);
    await opened.page.getByRole('button', { name: /^depth/ }).click();
    await opened.page.locator('[aria-sort="ascending"]').waitFor();
    expect(new URL(opened.page.url()).searchParams.get('sort')).toBe('depth');
    await opened.close();
  });

  test('a link shows its filters and count, and spends neither quota nor balance', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await stage.open('/explore/harbours/?coast=north&sort=-depth&limit=2');
    const { page } = opened;
    const north = stage.app.records['harbours']!.filter(({ attributes }) => attributes['coast'] === 'north');
    await page.locator('#explore-head', { hasText: new RegExp(`^${north.length} record`) }).waitFor();
    await says(opened, 'No record shown yet: a link does not spend your free records of the day.');
    expect(await page.textContent('#explore-cost')).toContain('Free: 2 of the 20 free records a day.');
    expect(await page.textContent('#explore-code')).toContain("'sort=-depth'");
    expect(await page.inputValue('#explore-sort')).toBe('-depth');
    expect(searches(opened)).toEqual([]);
    await take(opened);
    expect(searches(opened)).toHaveLength(1);
    const focused = () => page.locator('#explore-records').evaluate((e) => e === e.ownerDocument.activeElement);
    expect(await focused()).toBe(true);
    // Records shown in this tab are shown again from the cache.
    await page.reload();
    await says(opened, /shown\./);
    expect(searches(opened)).toHaveLength(1);

    const { key, headers } = await newKey(stage.app);
    await page.locator('.explore-key summary').click();
    await page.fill('#explore-key', key);
    await page.check('#explore-keep');
    await page.reload();
    await says(opened, 'No record shown yet: a link does not spend your balance.');
    expect(await balance(stage.app, headers)).toBe(0.5);
    await page.click('#explore-take');
    await says(opened, /Charged/);
    await page.fill('#explore-q', 'zz-no-such-word');
    await page.keyboard.press('Enter');
    await says(opened, 'No results');
    const spent = await balance(stage.app, headers);
    await page.goBack();
    await says(opened, /shown\./);
    expect(await balance(stage.app, headers)).toBe(spent);
    await opened.close();
  });

  test('a link without matches, or that needs a key, shows a message in place of the records', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await stage.open('/explore/harbours/?q=zz-no-such-word');
    await says(opened, 'No results.');
    expect(await opened.page.isVisible('#explore-none')).toBe(true);
    expect(await opened.page.isVisible('#explore-take')).toBe(false);
    await opened.page.goto(`${stage.base}/explore/tools/?min_runtime=1`);
    await opened.page.locator('#explore-problem', { hasText: 'runtime is not public: enter a key' }).waitFor();
    expect(await opened.page.isVisible('#explore-take')).toBe(false);
    // With these filters counting costs a search, so it is never automatic, with or without a key.
    const head = opened.page.locator('#explore-head');
    await head.filter({ hasText: 'Not counted' }).waitFor();
    await opened.page
      .getByText('Not counted: with these filters it costs a search.')
      .first()
      .waitFor({ state: 'attached' });
    expect(opened.asked.filter((url) => url.includes('/facets?') && url.includes('min_runtime'))).toEqual([]);
    expect(opened.complaints).toEqual([]);
    const { key } = await newKey(stage.app);
    await opened.page.getByRole('button', { name: 'Enter a key' }).click();
    await opened.page.keyboard.type(key);
    await opened.page.keyboard.press('Tab');
    await opened.page.waitForSelector('#explore-take:visible');
    await head.filter({ hasText: 'Not counted' }).waitFor();
    expect(await opened.page.isVisible('#explore-problem')).toBe(false);
    expect(searches(opened)).toEqual([]);
    await opened.close();
  });

  test('a list of values says that there are no others only when it is complete', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await stage.open('/explore/harbours/?name=Nordpolhavn');
    const list = async (attribute: string) => {
      const details = await filter(opened, attribute);
      await details.locator('meter').first().waitFor({ state: 'attached' });
      return details.locator('[data-facet] > li');
    };
    const names = await list('name');
    expect(await names.locator('meter').count()).toBe(12);
    expect(await names.allTextContents()).not.toContain('No other value.');
    // A complete list has the height of its values, for any selection.
    await opened.page.goto(`${stage.base}/explore/harbours/?coast=north`);
    const coasts = await list('coast');
    expect(await coasts.locator('meter').count()).toBe(await coasts.count());
    await opened.page.goto(`${stage.base}/explore/harbours/?q=nordpolhavn`);
    expect((await (await list('coast')).allTextContents())[1]).toBe('No other value.');
    // No language has enough harbours to be shown.
    await opened.page.goto(`${stage.base}/explore/harbours/`);
    const languages = await filter(opened, 'languages');
    await languages.getByText('Values of fewer than 5 records are hidden.').waitFor();
    await opened.close();
  });

  test('going back during a request does not wait for it', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await stage.open('/explore/harbours/?coast=north');
    const { page } = opened;
    const release = await holdBack(page, '**/entities?*');
    await page.locator('#explore-sort').selectOption('name');
    await page.click('#explore-take');
    await says(opened, 'Loading …');
    await page.goBack();
    await says(opened, 'No record shown yet');
    expect(await page.getAttribute('#explore', 'aria-busy')).toBe(null);
    release();
    await opened.close();
  });

  test('late records of earlier filters are marked as outdated', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await stage.open('/explore/harbours/');
    const { page } = opened;
    await says(opened, 'sample rows');
    const release = await holdBack(page, '**/entities?*');
    await page.click('#explore-run');
    await says(opened, 'Loading …');
    await page.locator('#explore-sort').selectOption('name');
    release();
    await page.waitForSelector('#explore:not([aria-busy])');
    expect(await status(opened).textContent()).toBe('Results are out of date. Search to update.');
    await opened.close();
  });

  test('the message about a key appears once, and keeps the focus when the count arrives', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await stage.open('/explore/harbours/');
    const { page } = opened;
    const release = await holdBack(page, '**/facets?*');
    await page.goto(`${stage.base}/explore/harbours/?fields=name,berths`);
    const enter = page.getByRole('button', { name: 'Enter a key' });
    await enter.focus();
    release();
    await page.locator('#explore-head', { hasText: /^\d+ records/ }).waitFor();
    await page.waitForSelector('#explore-head:not(.waiting)');
    expect(await enter.evaluate((e) => e === e.ownerDocument.activeElement)).toBe(true);
    await opened.close();
  });

  test('a click on the map filters by distance', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await stage.open('/explore/harbours/');
    await says(opened, 'sample rows');
    const box = (await opened.page.locator('#explore-map').boundingBox())!;
    await opened.page.mouse.click(box.x + box.width / 2, box.y + box.height / 4);
    await opened.page.locator('.map-near').waitFor();
    const point = new URL(opened.page.url()).searchParams.get('near') ?? '';
    const [lat, lng, km] = point.split(',').map(Number);
    expect(Math.abs(lng!)).toBeLessThan(2);
    expect(lat).toBeGreaterThan(20);
    expect(km).toBe(250);
    expect(await opened.page.inputValue('#near-km')).toBe('250');
    await opened.close();
  });

  test('a used-up quota shows a message about keys, and shown records stay', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await stage.open('/explore/harbours/?limit=19');
    await take(opened);
    const before = await names(opened);
    await opened.page.locator('#explore-sort').selectOption('name');
    await opened.page.click('#explore-run');
    await says(opened, /shown/);
    await opened.page.locator('#explore-sort').selectOption('-name');
    await opened.page.click('#explore-run');
    const problem = opened.page.locator('#explore-problem');
    await problem.getByText('You have used the free records of today').waitFor();
    expect((await names(opened)).length).toBeGreaterThan(0);
    expect(before.length).toBeGreaterThan(0);
    await opened.page.waitForTimeout(300);
    expect(await problem.isVisible()).toBe(true);
    expect(await barriers(opened.page)).toEqual([]);
    await problem.getByRole('button', { name: 'Enter a key' }).click();
    expect(await opened.page.locator('#explore-key').evaluate((e) => e === e.ownerDocument.activeElement)).toBe(true);
    await opened.close();
  });

  test('paid attributes need a key, which is sent only in a header', async (context) => {
    if (stage === null) return context.skip(NONE);
    const { app } = stage;
    const opened = await stage.open('/explore/tools/');
    await says(opened, 'sample rows');
    const runtime = await filter(opened, 'runtime');
    await runtime.locator('[data-param="min_runtime"]').fill('1');
    await opened.page.keyboard.press('Tab');
    await opened.page.locator('#explore-price', { hasText: 'Needs a key: runtime is not public.' }).waitFor();
    await opened.page.click('#explore-run');
    await opened.page.locator('#explore-problem', { hasText: 'runtime is not public' }).waitFor();
    expect(searches(opened)).toEqual([]);
    const { key, headers } = await newKey(app);
    await opened.page.locator('.explore-key summary').click();
    await opened.page.fill('#explore-key', key);
    await opened.page.keyboard.press('Tab');
    await opened.page.locator('#explore-price', { hasText: '€0.008 for this call' }).waitFor();
    await opened.page.click('#explore-run');
    await says(opened, /Charged €0.008, balance €0.492/);
    expect(await balance(app, headers)).toBe(0.492);
    for (const url of [...opened.asked, opened.page.url()]) expect(url).not.toContain(key);
    expect(await opened.page.textContent('#explore-code')).not.toContain(key);
    expect(
      await opened.page.evaluate(() =>
        JSON.stringify((globalThis as unknown as { sessionStorage: object }).sessionStorage),
      ),
    ).not.toContain(key);
    await opened.page.check('#explore-keep');
    expect(
      await opened.page.evaluate(() =>
        (globalThis as unknown as { sessionStorage: { getItem(k: string): string } }).sessionStorage.getItem(
          'register key',
        ),
      ),
    ).toBe(key);
    await opened.page.fill('#explore-key', `${key.slice(0, -3)}xxx`);
    await opened.page.keyboard.press('Tab');
    await opened.page.click('#explore-run');
    await opened.page.locator('#explore-problem', { hasText: 'Key not recognised' }).waitFor();
    await opened.close();
  });

  test('the shown calls return the shown records', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await stage.open('/explore/harbours/?like_name=o&sort=name&limit=3');
    await take(opened);
    const shown = await names(opened);
    expect(shown.length).toBeGreaterThan(0);
    const curl = (await opened.page.textContent('#explore-code')) ?? '';
    const { stdout } = await run('sh', ['-c', `${curl} --silent -H 'X-Forwarded-For: 2001:db8:bb::1'`]);
    expect((JSON.parse(stdout) as { items: { name: string }[] }).items.map(({ name }) => name)).toEqual(shown);
    await opened.page.getByRole('button', { name: 'TypeScript' }).click();
    const program = (await opened.page.textContent('#explore-code')) ?? '';
    const printed = program.replace(
      'console.log(body.items, body.next_cursor)',
      'console.log(JSON.stringify(body.items.map((each) => each.name)))',
    );
    expect(printed).not.toBe(program);
    const node = await run(process.execPath, ['--input-type=module-typescript', '--eval', printed]);
    expect(JSON.parse(node.stdout)).toEqual(shown);
    await opened.page.getByRole('button', { name: 'Python' }).click();
    expect(await opened.page.textContent('#explore-code')).toContain('"like_name": "o",');
    await opened.close();
  });

  // The initially open parts depend on the width, so each width needs its own page.
  const WIDTHS = Map.groupBy(LOOKS, ([, { viewport }]) => viewport.width);
  test.for([...WIDTHS])(
    '%s px: fits the screen and passes axe',
    { timeout: 60_000 },
    async ([width, looks], context) => {
      if (stage === null) return context.skip(NONE);
      const opened = await stage.open('/explore/harbours/?coast=north', looks[0]![1]);
      const { page } = opened;
      await says(opened, 'No record shown yet');
      await inEachLook(page, looks, async (look) => {
        await picture(page, `explore-offer-${look}`);
        expect(await barriers(page), look).toEqual([]);
      });
      await take(opened);
      const more = page.locator('#explore-more');
      expect((await more.getAttribute('open')) === null).toBe(width < 960);
      if ((await more.getAttribute('open')) === null) await more.locator('> summary').click();
      await (await filter(opened, 'coast')).locator('label input[type="checkbox"]').first().waitFor();
      await inEachLook(page, looks, async (look) => {
        await picture(page, `explore-${look}`);
        expect(await overflow(page), look).toBeLessThanOrEqual(0);
        expect(await barriers(page), look).toEqual([]);
      });
      await opened.close();
    },
  );

  test('can be used by keyboard alone', async (context) => {
    if (stage === null) return context.skip(NONE);
    const { page, ...opened } = await stage.open('/explore/harbours/');
    await page.locator('#explore-status', { hasText: 'sample rows' }).waitFor();
    await page.locator('#explore-q').focus();
    await page.keyboard.type('o');
    await page.keyboard.press('Enter');
    await page.locator('#explore-status', { hasText: /shown|No results/ }).waitFor();
    const seen: string[] = [];
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press('Tab');
      const at = page.locator(':focus');
      if ((await at.count()) === 0) break;
      seen.push(await at.evaluate((e) => `${e.tagName} ${e.id || e.textContent.trim().slice(0, 20)}`));
      expect(
        await at.evaluate((e) => e.ownerDocument.defaultView?.getComputedStyle(e).outlineStyle),
        seen.at(-1)!,
      ).not.toBe('none');
    }
    expect(seen).toContain('BUTTON explore-run');
    expect(seen.some((each) => each.startsWith('A '))).toBe(true);
    await opened.close();
  });

  test('its HTML is valid', async (context) => {
    if (stage === null) return context.skip(NONE);
    for (const id of ['tools', 'harbours'])
      expect(await mistakes(join(stage.dist, `explore/${id}/index.html`))).toEqual([]);
  });
});
