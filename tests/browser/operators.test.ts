// The operators' pages in a real browser: from the login to a decision that is visible in the API, with htmx
// and without scripts, by keyboard, light, dark and on a phone, with axe.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { recordRun } from '../../data/releases/runs.ts';
import { openRequest } from '../../data/state/owners/requests.ts';
import { ADMIN } from '../support/app.ts';
import { barriers, inEachLook, type Look, NONE, openBrowser, openPage, overflow, picture } from '../support/browser.ts';
import { newKey } from '../support/money-on-stores.ts';
import { type Listening, listen } from '../support/oauth-server.ts';

interface Stand extends Listening {
  browser: Browser;
  key: string;
}
let at: Stand | null = null;

beforeAll(async () => {
  const browser = await openBrowser();
  if (browser === null) return;
  const listening = await listen({ nights: true });
  const { app } = listening;
  const { id, headers } = await newKey(app);
  for (const path of ['/v1/tools/entities?limit=2', '/v1/tools/status', '/v1/tools/entities?nonsense=1'])
    await (await app.ask(path, { headers })).text();
  const run = { release: null, records: 0, messages: ['the source is away'] };
  const steps = [{ step: 'fetch', seconds: 2 }];
  await recordRun(app.dataDir, 'tools', {
    ...run,
    at: new Date().toISOString(),
    seconds: 2,
    outcome: 'failed',
    steps,
  });
  const [record] = app.records['tools']!;
  const about = { dataset: 'tools', entity_id: record!.id, slug: record!.slug, name: record!.name };
  const asks = { kind: 'opt_out' as const, ...about, contact: 'office@tools.example', reason: 'We closed.' };
  await openRequest(app.state, { ...asks, because: 'Many records share the domain.' }, Date.now());
  await app.state.db.updateTable('balances').set({ amount: -1 }).where('account', '=', `key:${id}`).execute();
  at = { ...listening, browser, key: id };
});
afterAll(async () => {
  await at?.browser.close();
  await at?.close();
});

function standing(context: TestContext): Stand {
  if (at === null) context.skip(NONE);
  return at as Stand;
}

async function signIn(page: Page, base: string): Promise<void> {
  await page.goto(`${base}/ops`);
  await page.getByLabel('Operator’s key').fill(ADMIN);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

const published = async ({ app }: Stand, entity: string, attribute: string) => {
  const { body } = await app.json(`/v1/tools/entities/${entity}`, { admin: true });
  return (body['attributes'] as Record<string, unknown>)[attribute];
};

/** An open item about facts. */
async function question({ app }: Stand) {
  const { items } = (await app.json('/ops/review.json?dataset=tools', { admin: true })).body as {
    items: { id: string; entity_id: string; attribute: string; facts: { value: unknown }[] }[];
  };
  return items.find(({ attribute }) => attribute !== null)!;
}

describe('a decision in the browser', () => {
  test('login, review, approve: the API has the other value, and the list shows it', async (context) => {
    const stand = standing(context);
    const item = await question(stand);
    const { page, complaints } = await openPage(stand.browser);
    await signIn(page, stand.base);
    await page.getByRole('link', { name: 'Review', exact: true }).click();
    const entry = page.locator(`#i-${item.id}`);
    await entry.getByRole('button', { name: /^Approve/ }).click();
    // htmx replaces the item by the answer; the page is not reloaded.
    await page.locator(`#i-${item.id}[role=status]`).waitFor();
    expect(await page.locator(`#i-${item.id}`).textContent()).toContain('Approved. Published in every channel.');
    expect(page.url()).toBe(`${stand.base}/ops/review`);
    expect(await published(stand, item.entity_id, item.attribute)).toEqual(item.facts[1]!.value);
    await page.getByRole('link', { name: 'Log', exact: true }).click();
    expect(await page.locator('tbody tr').first().textContent()).toMatch(/operator [0-9a-f]{8}\s*approve/);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('works without scripts, by keyboard only, and announces its effect', async (context) => {
    const stand = standing(context);
    const item = await question(stand);
    const { page, complaints } = await openPage(stand.browser, { javaScriptEnabled: false });
    await signIn(page, stand.base);
    await page.goto(`${stand.base}/ops/review/${item.id}`);
    for (const name of ['Effect', 'Decide', 'History'])
      await page.getByRole('heading', { name, exact: true }).waitFor();
    const rows = page.locator('section[aria-labelledby=effect] tbody tr');
    expect(await rows.locator('th').allTextContents()).toEqual(['Now', 'Approved', 'Rejected']);
    const reject = page.getByRole('button', { name: /^Reject/ });
    for (let i = 0; i < 40 && !(await reject.evaluate((e) => e === e.ownerDocument.activeElement)); i++) {
      await page.keyboard.press('Tab');
      const outline = await page
        .locator(':focus')
        .evaluate((e) => e.ownerDocument.defaultView?.getComputedStyle(e).outlineWidth);
      expect(outline).toBe('3px');
    }
    await page.keyboard.press('Enter');
    await page.locator('.badge', { hasText: /^rejected$/ }).waitFor();
    expect(await page.getByRole('button', { name: /^Approve/ }).count()).toBe(0);
    expect(await published(stand, item.entity_id, item.attribute)).toEqual(item.facts[0]!.value);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(`${stand.base}/ops/review`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('an open page leads to the login when its session ends', async (context) => {
    const stand = standing(context);
    const { page } = await openPage(stand.browser);
    await signIn(page, stand.base);
    await page.goto(`${stand.base}/ops/review`);
    await stand.app.state.db.deleteFrom('ops_sessions').execute();
    await page
      .locator('.queue .entry')
      .getByRole('button', { name: /^Reject/ })
      .first()
      .click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.context().close();
  });
});

describe('another site', () => {
  test('cannot show the pages in a frame, and its form changes nothing', async (context) => {
    const stand = standing(context);
    const item = await question(stand);
    const before = await published(stand, item.entity_id, item.attribute);
    const { page } = await openPage(stand.browser);
    await signIn(page, stand.base);
    // A browser treats localhost and 127.0.0.1 as different sites.
    const foreign = `${stand.base.replace('127.0.0.1', 'localhost')}/llms.txt`;
    await page.goto(foreign);
    await page.setContent(
      `<iframe src="${stand.base}/ops"></iframe><form method="post" action="${stand.base}/ops/review/${item.id}/approve"><button>Win</button></form>`,
    );
    await expect.poll(() => page.frames().length).toBe(2);
    expect(await page.frames()[1]?.getByRole('heading', { name: 'Overview' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Win' }).click();
    await page.waitForURL(/\/ops\//);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).not.toBe('Overview');
    expect(await published(stand, item.entity_id, item.attribute)).toEqual(before);
    expect((await question(stand)).id).toBe(item.id);
    await page.context().close();
  });
});

describe('every page', () => {
  const LOOKS: Look[] = [
    ['1440-light', { colorScheme: 'light', viewport: { width: 1440, height: 900 } }],
    ['1440-dark', { colorScheme: 'dark', viewport: { width: 1440, height: 900 } }],
    ['768-light', { colorScheme: 'light', viewport: { width: 768, height: 900 } }],
    ['768-dark', { colorScheme: 'dark', viewport: { width: 768, height: 900 } }],
    ['390-light', { colorScheme: 'light', viewport: { width: 390, height: 844 } }],
    ['390-dark', { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
  ];
  const PAGES: Record<string, (stand: Stand, item: string) => string> = {
    overview: () => '/ops',
    review: () => '/ops/review',
    item: (_, item) => `/ops/review/${item}`,
    nights: () => '/ops/nights',
    money: () => '/ops/money',
    keys: () => '/ops/keys',
    key: ({ key }) => `/ops/keys/${key}`,
    'opt-outs': () => '/ops/opt-outs',
    log: () => '/ops/log',
  };

  test('fits every screen, breaks no policy and passes axe', { timeout: 120_000 }, async (context) => {
    const stand = standing(context);
    const { page, complaints } = await openPage(stand.browser, { bypassCSP: false });
    const item = (await question(stand)).id;
    const looked = (title: string) =>
      inEachLook(page, LOOKS, async (look) => {
        expect(await overflow(page), `${title}, ${look}`).toBe(0);
        await picture(page, `ops-${title}-${look}`);
        expect(await barriers(page), `${title}, ${look}`).toEqual([]);
      });
    await page.goto(`${stand.base}/ops/login`);
    await looked('login');
    await signIn(page, stand.base);
    for (const [title, path] of Object.entries(PAGES)) {
      await page.goto(stand.base + path(stand, item));
      await looked(title);
    }
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});
