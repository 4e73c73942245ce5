// The table of a dataset in Chromium: the service answers its rows, its views are addresses, and the API is called only
// by buttons that show the price.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StoredRecord } from '../../data/model/record.ts';
import { editRecord, type RecordEdit, withEntry } from '../../data/releases/overlay-edit.ts';
import { barriers, inEachLook, NONE, overflow, picture } from '../support/browser.ts';
import { balance, newKey } from '../support/money-on-stores.ts';
import { scratchOfAll } from '../support/night-pack.ts';
import { LOOKS, mistakes, type Opened, openStage, type Stage, tablesMade } from '../support/pages-stage.ts';

const run = promisify(execFile);
const folder = scratchOfAll();
let stage: Stage | null = null;
beforeAll(async () => {
  stage = await openStage(folder);
}, 600_000);
afterAll(() => stage?.close());

const names = ({ page }: Pick<Opened, 'page'>) => page.locator('#viewer-table tbody th a').allTextContents();
/** Calls of the API: none of them is made without a click on a price. */
const calls = ({ asked }: Opened) => asked.filter((url) => url.includes('/v1/'));

/** Waits until the rows of the address are shown. */
const settled = ({ page }: Pick<Opened, 'page'>) => page.waitForSelector('#viewer.ready:not([aria-busy])');

async function open(path: string, look = {}): Promise<Opened> {
  const opened = await stage!.open(path, look);
  await settled(opened);
  return opened;
}

describe('the table of a dataset', () => {
  test('shows its first rows without a script, and requests nothing until they are used', async (context) => {
    if (stage === null) return context.skip(NONE);
    const bare = await stage.open('/datasets/harbours/', { javaScriptEnabled: false });
    const first = await names(bare);
    expect(first.length).toBe(Math.min(50, stage.app.records['harbours']!.length));
    expect(await bare.page.locator('.from').first().isVisible()).toBe(true);
    expect(await bare.page.locator('.viewer-bar').isVisible()).toBe(false);
    await bare.close();
    const opened = await open('/datasets/harbours/');
    expect(await names(opened)).toEqual(first);
    expect(opened.asked.filter((url) => url.includes('.parquet') || url.includes('/v1/'))).toEqual([]);
    expect(opened.complaints).toEqual([]);
    await opened.close();
  });

  /** Views that the API answers too. */
  const VIEWS = [
    'sort=name',
    'sort=-name',
    'sort=depth',
    'coast=north&sort=-depth',
    'coast=north,south&min_depth=1&has_depth=true&sort=name',
    'not_coast=north&sort=name',
    'like_name=O&sort=-name',
    'q=o&sort=name',
    'near=52,5,900&sort=name',
    'bbox=-20,30,40,70&sort=name',
    'bbox=170,-90,-170,90&sort=name',
    'fuel=true&max_depth=20&sort=code',
    'min_quality=0.5&sort=name',
    'has_fuel=false&sort=name',
    'coast=north&page=2&sort=name',
  ];
  test('the rows of an address are in its HTML, and a wrong address is reported', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await stage.open('/datasets/harbours/?coast=north&sort=name', { javaScriptEnabled: false });
    const north = stage.app.records['harbours']!.filter(({ attributes }) => attributes['coast'] === 'north');
    expect((await names(opened)).toSorted()).toEqual(north.map(({ name }) => name).toSorted());
    expect(await opened.page.textContent('#viewer-count')).toContain(`${north.length} of `);
    for (const [query, text, shown] of [
      ['colour=red', 'Not a filter of this dataset: colour.', false],
      ['min_depth=deep', 'min_depth: must be a number of m (got "deep")', false],
      ['page=99999', 'There is no page 99999; the last page is', false],
      ['sort=nope', 'The table cannot be sorted by nope', true],
      ['fields=nope', 'Not a column of this dataset: nope.', true],
    ] as const)
      for (const javaScriptEnabled of [false, true]) {
        const wrong = await stage.open(`/datasets/harbours/?${query}`, { javaScriptEnabled });
        await wrong.page.locator('#viewer-problem', { hasText: text }).waitFor();
        if (javaScriptEnabled) await settled(wrong);
        expect((await names(wrong)).length > 0, query).toBe(shown);
        expect(await wrong.page.getByRole('button', { name: 'Retry' }).count(), query).toBe(0);
        await wrong.close();
      }
    await opened.close();
  }, 60_000);

  test('a host of files shows its first rows and one sentence for every other view', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await stage.open('/404.html');
    const { page } = opened;
    const file = (path: string) => readFileSync(join(stage!.dist, path), 'utf8');
    const html = file('datasets/harbours/index.html');
    await page.route('**/datasets/harbours/?*', (route) => route.fulfill({ contentType: 'text/html', body: html }));
    await page.route(/\/(rows\/\w+|points\.json|edits\.json)(\?.*)?$/, (route) =>
      route.fulfill({ status: 404, contentType: 'text/html', body: file('404.html') }),
    );
    await page.goto(`${stage.base}/datasets/harbours/?coast=north&sort=name`);
    const problem = page.locator('#viewer-problem');
    await problem.getByText('Sorting, filters and the map need the service, which this host lacks.').waitFor();
    expect(await names(opened)).toEqual([]);
    expect(await problem.getByRole('button').count()).toBe(0);
    expect(await barriers(page)).toEqual([]);
    await inEachLook(page, LOOKS, async (look) => {
      await picture(page, `viewer-files-${look}`);
      expect(await overflow(page), look).toBeLessThanOrEqual(0);
    });
    await problem.getByRole('link', { name: 'the first 50 rows' }).click();
    await page.waitForURL(`${stage.base}/datasets/harbours/`);
    await settled(opened);
    expect((await names(opened)).length).toBe(Math.min(50, stage.app.records['harbours']!.length));
    for (const open of ['#viewer-map', '[data-column="depth"] button']) {
      await page.click(open);
      await problem.getByText('need the service').waitFor();
      await page.goBack();
      await problem.waitFor({ state: 'hidden' });
    }
    expect((await names(opened)).length).toBeGreaterThan(0);
    await opened.close();
  }, 60_000);

  test('what fails is reported, and can be requested again', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await open('/datasets/harbours/');
    const { page } = opened;
    const problem = page.locator('#viewer-problem');
    let answer: { status: number; body: string } | null = null;
    await page.route('**/datasets/harbours/rows/html?*', (route) =>
      answer === null ? route.abort() : route.fulfill({ ...answer, contentType: 'application/json' }),
    );
    await page.locator('[data-column="depth"] button').click();
    await problem.getByText("Couldn't load the data. Check the connection.").waitFor();
    expect(await names(opened)).toEqual([]);
    answer = { status: 429, body: '{"error":"rate_limited","message":"More than 300 free calls in a minute."}' };
    await problem.getByRole('button', { name: 'Retry' }).click();
    await problem.getByText('More than 300 free calls in a minute.').waitFor();
    await page.unrouteAll();
    await problem.getByRole('button', { name: 'Retry' }).click();
    await page.locator('#viewer-table tbody tr').first().waitFor();
    expect(await problem.isVisible()).toBe(false);
    await opened.close();
  });

  test('opens its view in the SQL console, which has the same rows', async (context) => {
    if (stage === null) return context.skip(NONE);
    await tablesMade(stage, 'harbours');
    const opened = await open('/datasets/harbours/');
    await opened.page.goto(`${stage.base}/datasets/harbours/?coast=north,south&min_depth=1&sort=-depth`);
    await settled(opened);
    const shown = await names(opened);
    expect(shown.length).toBeGreaterThan(2);
    await opened.page.getByRole('link', { name: 'Open in SQL' }).click();
    const cells = opened.page.locator('#sql-table tbody tr td:nth-child(2)');
    await cells.first().waitFor();
    expect((await cells.allTextContents()).toSorted()).toEqual(shown.toSorted());
    await opened.close();
  }, 120_000);

  test('has the rows of the API for every filter and sort, and spends nothing', async (context) => {
    if (stage === null) return context.skip(NONE);
    const { headers } = await newKey(stage.app);
    const opened = await open('/datasets/harbours/');
    for (const view of VIEWS) {
      await opened.page.goto(`${stage.base}/datasets/harbours/?${view}`);
      await settled(opened);
      const parameters = new URLSearchParams(view);
      const page = Number(parameters.get('page') ?? 1);
      parameters.delete('page');
      const { body } = await stage.app.json(`/v1/harbours/entities?${parameters}&limit=100&total=true`, { headers });
      const items = (body['items'] as { name: string }[]).map(({ name }) => name);
      const shown = await names(opened);
      // Rows with equal values may have another order.
      expect(shown.length, view).toBe(Math.min(50, Math.max(0, items.length - (page - 1) * 50)));
      if (/sort=-?name/.test(view)) expect(shown, view).toEqual(items.slice((page - 1) * 50, page * 50));
      else expect(new Set(shown), view).toEqual(new Set(items.slice(0, 50)));
    }
    expect(calls(opened)).toEqual([]);
    expect(opened.complaints).toEqual([]);
    await opened.close();
  }, 120_000);

  test('is an address: controls change it, and the back button restores the rows', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await open('/datasets/harbours/');
    const { page } = opened;
    const search = () => new URL(page.url()).search;
    const first = await names(opened);
    await page.locator('[data-column="depth"] button').click();
    await page.locator('[data-column="depth"][aria-sort="ascending"]').waitFor();
    expect(search()).toBe('?sort=depth');
    await page.locator('#viewer-filter > summary').click();
    await page.selectOption('#add-attribute', 'coast');
    await page.selectOption('#add-operator', 'any');
    await page.fill('#add-value', 'north');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove filter: Coast is north' }).waitFor();
    await settled(opened);
    expect(search()).toBe('?coast=north&sort=depth');
    const north = stage.app.records['harbours']!.filter(({ attributes }) => attributes['coast'] === 'north');
    expect(await page.textContent('#viewer-count')).toContain(`${north.length} of `);
    expect(await page.getAttribute('#viewer-table', 'aria-rowcount')).toBe(String(north.length + 1));
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Remove filter: Coast is north' }).click();
    await settled(opened);
    expect(search()).toBe('?sort=depth');
    await page.fill('#viewer-q', 'zz-no-such-word');
    await page.keyboard.press('Enter');
    await page.getByText('No results.').waitFor();
    await page.goBack();
    await page.goBack();
    await page.goBack();
    await page.goBack();
    await settled(opened);
    expect(search()).toBe('');
    expect(await names(opened)).toEqual(first);
    expect(calls(opened)).toEqual([]);
    await opened.close();
  });

  test('a bar of a head filters by its values', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await open('/datasets/harbours/');
    await opened.page.locator('[data-column="coast"] .viewer-bar-link').first().click();
    await opened.page.locator('.viewer-chip').first().waitFor();
    await settled(opened);
    const coast = new URL(opened.page.url()).searchParams.get('coast');
    const same = stage.app.records['harbours']!.filter(({ attributes }) => attributes['coast'] === coast);
    expect(await opened.page.textContent('#viewer-count')).toMatch(new RegExp(`^${same.length} of`));
    await opened.close();
  });

  test('an unknown or wrong parameter has the message of the API', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await open('/datasets/harbours/?min_depth=deep');
    await opened.page
      .locator('#viewer-problem', { hasText: 'min_depth: must be a number of m (got "deep")' })
      .waitFor();
    await opened.page.goto(`${stage.base}/datasets/harbours/?colour=red`);
    await opened.page.locator('#viewer-problem', { hasText: 'colour' }).waitFor();
    await opened.close();
  });

  test('columns and sources are shown on request, each value with its own source', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await open('/datasets/harbours/');
    const { page } = opened;
    await page.click('#viewer-sources');
    await settled(opened);
    const row = page.locator('#viewer-table tbody tr').first();
    const slug = await row.getAttribute('data-slug');
    const { body } = await stage.app.json(`/v1/harbours/entities/${slug}`, {
      headers: (await newKey(stage.app)).headers,
    });
    const { observed_at, confidence } = (
      body['provenance'] as Record<string, { observed_at: string; confidence: number }>
    )['coast']!;
    const line = `pilotbook.example · ${observed_at.slice(0, 10)} · ${confidence.toFixed(2)}`;
    expect(await row.locator('.from').first().textContent()).toBe(line);
    await page.locator('#viewer-columns > summary').click();
    await page.locator('#viewer-fields input[value="name"]').check();
    await settled(opened);
    await page.locator('[data-column="name"]').waitFor();
    expect(new URL(page.url()).searchParams.get('fields')).toMatch(/,name$/);
    expect(await page.locator('#viewer-table tbody td a[href^="http"]').count()).toBeGreaterThan(0);
    await opened.close();
  });

  test('a click on a row opens a panel with the values of its record and their sources', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await open('/datasets/harbours/?coast=north&sort=name');
    const { page } = opened;
    const shown = await names(opened);
    const first = stage.app.records['harbours']!.find(({ name }) => name === shown[0]);
    await page.locator('tbody td').first().click();
    const panel = page.getByRole('dialog', { name: first!.name });
    await panel.locator('#field-coast .value-text').getByText('north').waitFor();
    expect(await panel.locator('.fact .origin a').count()).toBeGreaterThan(0);
    expect(await panel.getByRole('link', { name: first!.name }).getAttribute('href')).toBe(
      `/datasets/harbours/${first!.slug}`,
    );
    expect(await barriers(page)).toEqual([]);
    await inEachLook(page, LOOKS, async (look) => {
      await picture(page, `viewer-record-${look}`);
      expect(await overflow(page), look).toBeLessThanOrEqual(0);
    });
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    expect(opened.complaints).toEqual([]);
    await opened.close();
  });

  test('a view and a selection can be downloaded', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await open('/datasets/harbours/?coast=north&sort=name&fields=coast,position');
    const { page } = opened;
    const shown = await names(opened);
    const save = async (format: string) => {
      if (
        !(await page
          .locator('#viewer-download')
          .getAttribute('open')
          .then((value) => value !== null))
      )
        await page.locator('#viewer-download > summary').click();
      const [download] = await Promise.all([page.waitForEvent('download'), page.click(`[data-format="${format}"]`)]);
      return readFileSync(await download.path(), 'utf8');
    };
    const csv = (await save('csv')).trim().split('\r\n');
    expect(csv[0]).toBe('slug,record,coast,position.lat,position.lng');
    expect(csv.length).toBe(shown.length + 1);
    const json = JSON.parse(await save('json')) as { attribution: string; items: { name: string }[] };
    expect(json.items.map(({ name }) => name)).toEqual(shown);
    expect(json.attribution).toMatch(/Fictional/);
    await page.locator('#viewer-table tbody .viewer-pick').first().check();
    const geo = JSON.parse(await save('geojson')) as { features: { geometry: { type: string }; properties: object }[] };
    expect(geo.features).toHaveLength(1);
    expect(geo.features[0]).toMatchObject({ type: 'Feature', properties: { name: shown[0], coast: 'north' } });
    // The open menu covers the button.
    await page.locator('#viewer-download > summary').click();
    await page.getByRole('button', { name: 'Show only these' }).click();
    await settled(opened);
    expect(await names(opened)).toEqual([shown[0]]);
    await opened.close();
  });

  test('the map has a dot for every point, and filters by its area', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await open('/datasets/harbours/?map=1');
    const { page } = opened;
    await page.locator('.map-dots circle').first().waitFor();
    const placed = stage.app.records['harbours']!.filter(({ attributes }) => {
      const point = attributes['position'] as { lat: number } | undefined;
      return point !== undefined && point.lat >= -60 && point.lat <= 84;
    });
    expect(await page.textContent('#viewer-map-figure figcaption')).toContain(`${placed.length} records in view`);
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await page.getByRole('button', { name: 'Filter by this area' }).click();
    await page.locator('.viewer-chip').first().waitFor();
    await settled(opened);
    expect(new URL(page.url()).searchParams.get('bbox')?.split(',')).toHaveLength(4);
    expect(calls(opened)).toEqual([]);
    await opened.close();
  });
});

describe('paid columns', () => {
  /** Signs in with a new key on the way that the page offers, and returns to it. */
  async function signIn({ page }: Opened, link: RegExp) {
    const address = page.url();
    await page.getByRole('link', { name: link }).click();
    const { key, headers } = await newKey(stage!.app);
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await page.waitForURL(address);
    await page.getByText('Balance: €0.50').waitFor();
    return { key, headers };
  }

  test('are locked, show their price, and are paid once with the session of the visitor', async (context) => {
    if (stage === null) return context.skip(NONE);
    const { app } = stage;
    const opened = await open('/datasets/tools/?fields=maker,runtime');
    const { page } = opened;
    await page.getByText('Runtime: locked.').waitFor();
    const locks = page.locator('.viewer-lock');
    const rows = await locks.count();
    expect(rows).toBeGreaterThan(0);
    const { key, headers } = await signIn(opened, /^Sign in to load 1 column of \d+ rows: €0.008$/);
    expect(await balance(app, headers)).toBe(0.5);
    await page.getByRole('button', { name: `Load 1 column of ${rows} rows: €0.008` }).click();
    await page.getByText('Charged €0.008. Balance: €0.492.').waitFor();
    expect(await locks.count()).toBe(0);
    const { body } = await app.json('/v1/tools/entities?fields=runtime&limit=50&has_runtime=true', { headers });
    const [item] = body['items'] as { slug: string; attributes: { runtime: number } }[];
    const cell = page.locator(`tr[data-slug="${item!.slug}"] td`).last();
    expect(await cell.textContent()).toContain(String(item!.attributes.runtime));
    // Another order of the same rows, and a reload, cost nothing.
    await page.locator('[data-column="maker"] button').click();
    await page.locator('[data-column="maker"][aria-sort]').waitFor();
    await page.reload();
    await page.getByText('Loaded again, free. Balance: €0.484.').waitFor();
    expect(await locks.count()).toBe(0);
    expect(await balance(app, headers)).toBe(0.484);
    expect(calls(opened)).toEqual([]);
    for (const url of [...opened.asked, page.url()]) expect(url).not.toContain(key);
    expect(opened.complaints).toEqual([]);
    await opened.close();
  });

  test('a filter by one is answered by the service, with the price on the button', async (context) => {
    if (stage === null) return context.skip(NONE);
    const { app } = stage;
    const opened = await open('/datasets/tools/?min_runtime=1&sort=name');
    const { page } = opened;
    await page.getByText('Runtime: not public, so the service selects the rows.').waitFor();
    const { headers } = await signIn(opened, /^Sign in to load 50 rows: €0.008$/);
    await page.getByRole('button', { name: 'Load 50 rows: €0.008' }).click();
    await page.getByText('Charged €0.008. Balance: €0.492.').waitFor();
    const { body } = await app.json('/v1/tools/entities?min_runtime=1&sort=name&limit=50', { headers });
    expect(await names(opened)).toEqual((body['items'] as { name: string }[]).map(({ name }) => name));
    await inEachLook(page, LOOKS, async (look) => {
      await picture(page, `viewer-paid-${look}`);
      expect(await overflow(page), look).toBeLessThanOrEqual(0);
      expect(await barriers(page), look).toEqual([]);
    });
    await opened.close();
  });
});

test('the shown calls return the shown records', async (context) => {
  if (stage === null) return context.skip(NONE);
  const opened = await stage.open('/account');
  const { page } = opened;
  const { key } = await newKey(stage.app);
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Account', level: 1 }).waitFor();
  await page.goto(`${stage.base}/datasets/harbours/?like_name=nord&sort=name`);
  await settled(opened);
  await page.locator('#viewer-api > summary').click();
  const shown = await names(opened);
  expect(shown.length).toBeGreaterThan(0);
  const env = { ...process.env, REGISTER_KEY: key };
  const curl = (await page.textContent('#api-code')) ?? '';
  expect(curl).not.toContain(key);
  const { stdout } = await run('sh', ['-c', `${curl} --silent`], { env });
  expect((JSON.parse(stdout) as { items: { name: string }[] }).items.map(({ name }) => name)).toEqual(shown);
  await page.getByRole('button', { name: 'TypeScript' }).click();
  const program = (await page.textContent('#api-code')) ?? '';
  const printed = program
    .replace('dataset-register-client', join(import.meta.dirname, '../../clients/typescript/index.ts'))
    .replace(/console\.log\((.*)\);$/s, 'console.log(JSON.stringify(($1).items.map(({ name }) => name)));');
  expect(printed).toContain('clients/typescript');
  const node = await run(process.execPath, ['--input-type=module-typescript', '--eval', printed], { env });
  expect(JSON.parse(node.stdout)).toEqual(shown);
  await page.getByRole('button', { name: 'Python' }).click();
  expect(await page.textContent('#api-code')).toContain('"like_name": "nord",');
  await opened.close();
});

describe('a comparison', () => {
  test('takes three clicks from the table, and one call for the paid values', async (context) => {
    if (stage === null) return context.skip(NONE);
    const { app } = stage;
    const opened = await open('/datasets/tools/');
    const { page } = opened;
    const ticks = page.locator('#viewer-table tbody .viewer-pick');
    await ticks.nth(0).click();
    await ticks.nth(1).click();
    const picked = await page
      .locator('#viewer-table tbody tr')
      .evaluateAll((rows) => rows.slice(0, 2).map((row) => row.getAttribute('data-slug')));
    await page.getByRole('link', { name: 'Compare 2' }).click();
    await page.locator('#comparison').waitFor();
    expect(new URL(page.url()).search).toBe(`?ids=${picked.join()}`);
    expect(calls(opened)).toEqual([]);
    await page.getByRole('link', { name: 'Sign in to load the locked values: €0.012' }).click();
    const { key, headers } = await newKey(app);
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Load the locked values: €0.012' }).click();
    await page.getByText('Charged €0.012. Balance: €0.488.').waitFor();
    expect(await balance(app, headers)).toBe(0.488);
    expect(await page.locator('td.locked').count()).toBe(0);
    const { body } = await app.json(`/v1/tools/compare?ids=${picked.join()}&attribute=price.rental`, { headers });
    const rental = (body['items'] as { values: Record<string, number | { min: number; max: number }> }[]).map(
      ({ values }) => values['price.rental'],
    );
    const low = rental.map((price) => (typeof price === 'object' ? price.min : price)?.toString() ?? null);
    const cells = page.locator('tr[data-attribute="price.rental"] td');
    expect(await cells.evaluateAll((all) => all.map((cell) => cell.getAttribute('data-min')))).toEqual(low);
    await page.fill('input[name="pieces"]', '0');
    await page.fill('input[name="days"]', '0');
    expect(await page.locator('.total .value-text').allTextContents()).toEqual(['0 EUR', '0 EUR']);
    expect(new URL(page.url()).searchParams.get('pieces')).toBe('0');
    // Another record: the loaded values stay, and the new ones are locked.
    await page.fill('#add-text', 'a');
    await page.locator('.candidates a').first().click();
    await page.locator('#comparison th[data-slug]').nth(2).waitFor();
    expect(await page.locator('td.locked').count()).toBe(2);
    expect(new URL(page.url()).searchParams.get('ids')?.split(',')).toHaveLength(3);
    await page.goBack();
    await page.locator('#comparison th[data-slug]').nth(2).waitFor({ state: 'detached' });
    expect(await page.locator('td.locked').count()).toBe(0);
    for (const url of [...opened.asked, page.url()]) expect(url).not.toContain(key);
    expect(opened.asked.filter((url) => url.endsWith('/account/run'))).toHaveLength(1);
    expect(calls(opened)).toEqual([]);
    expect(opened.complaints).toEqual([]);
    await inEachLook(page, LOOKS, async (look) => {
      await picture(page, `compare-${look}`);
      expect(await overflow(page), look).toBeLessThanOrEqual(0);
      expect(await barriers(page), look).toEqual([]);
    });
    await opened.close();
  }, 60_000);
});

describe('"Follow this view"', () => {
  test('has the feeds and the subscription of exactly the filters of each page', async (context) => {
    if (stage === null) return context.skip(NONE);
    const { app } = stage;
    const { key, headers } = await newKey(app);
    const opened = await open('/datasets/harbours/?coast=north&min_depth=1&sort=-depth&page=1');
    const { page } = opened;
    await page.getByText('Follow', { exact: true }).click();
    const panel = page.locator('#viewer-follow .follow-panel');
    const feed = await panel.getByRole('link', { name: 'Atom feed' }).getAttribute('href');
    expect(feed).toBe('/v1/harbours/changelog?coast=north&min_depth=1&format=atom');
    expect((await app.ask(feed!)).headers.get('content-type')).toContain('application/atom+xml');
    const command = await panel.locator('code').textContent();
    const body = JSON.parse(/-d '(.*)' /.exec(command!)![1]!) as Record<string, unknown>;
    expect(body).toMatchObject({ dataset: 'harbours', filters: { coast: 'north', min_depth: '1' } });
    const posted = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } };
    expect((await app.json('/v1/keys/me/subscriptions', { ...posted, body: JSON.stringify(body) })).status).toBe(201);
    expect(await barriers(page)).toEqual([]);
    await panel.getByRole('link', { name: 'Sign in to get mails' }).click();
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await settled(opened);
    expect(new URL(page.url()).search).toBe('?coast=north&min_depth=1&sort=-depth&page=1');
    await page.getByText('Follow', { exact: true }).click();
    await panel.getByRole('button', { name: 'Mail me changes once a day' }).click();
    await panel.getByText(/^Sent a mail to .+@.+: confirm the subscription with its link\.$/).waitFor();
    await page.goto(`${new URL(page.url()).origin}/datasets/tools/?min_runtime=5`);
    await page.getByText('Follow', { exact: true }).click();
    await panel.getByText('By runtime: paid, so there is no feed, and a subscription needs a plan.').waitFor();

    const disclosure = page.locator('.follow-view');
    await page.goto(`${new URL(page.url()).origin}/changes/harbours/?direction=fall&days=30&coast=north`);
    await page.locator('.change-list.shown').waitFor();
    await disclosure.locator('summary').click();
    expect(await disclosure.getByRole('link', { name: 'Atom feed' }).getAttribute('href')).toMatch(
      /^\/v1\/harbours\/changelog\?type=changed&attribute=[\w,.]+&direction=fall&days=30&coast=north&format=atom$/,
    );
    await disclosure.getByRole('button', { name: /^Mail me/ }).click();
    await disclosure.getByText('Sent a mail to').waitFor();
    expect(await barriers(page)).toEqual([]);
    const [record] = app.records['tools']!;
    await page.goto(`${new URL(page.url()).origin}/datasets/tools/${record!.slug}`);
    await disclosure.locator('summary').click();
    expect(await disclosure.getByRole('link', { name: 'JSON' }).getAttribute('href')).toBe(
      `/v1/tools/changelog?days=365&ids=${record!.id}`,
    );
    // The plan has three, and they are used.
    await disclosure.getByRole('button', { name: /^Mail me/ }).click();
    await disclosure
      .getByText('This key may have 3 subscriptions, and has them; deleted ones count for a day.')
      .waitFor();
    expect(await barriers(page)).toEqual([]);
    const { body: list } = await app.json('/v1/keys/me/subscriptions', { headers });
    const made = (list['items'] as { query: object; url: string | null }[]).map(({ query, url }) => [query, url]);
    expect(made).toHaveLength(3);
    expect(made).toContainEqual([{ coast: 'north', min_depth: '1' }, 'https://example.org/hook']);
    expect(made).toContainEqual([{ coast: 'north', min_depth: '1' }, null]);
    const attribute: unknown = expect.any(String);
    expect(made).toContainEqual([{ type: 'changed', coast: 'north', attribute, direction: 'fall' }, null]);
    expect(opened.complaints.filter((text) => !text.includes('400'))).toEqual([]);
    await opened.close();
  }, 60_000);
});

describe('every screen', () => {
  const WIDTHS = Map.groupBy(LOOKS, ([, { viewport }]) => viewport.width);
  test.for([...WIDTHS])('%s px: fits and passes axe', { timeout: 60_000 }, async ([, looks], context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await open('/datasets/harbours/?coast=north&sources=1&map=1', looks[0]![1]);
    const { page } = opened;
    await page.locator('.map-dots circle').first().waitFor();
    for (const menu of ['', '#viewer-filter', '#viewer-columns', '#viewer-download', '#viewer-api', '#viewer-follow']) {
      if (menu !== '') await page.locator(`${menu} > summary`).click();
      await inEachLook(page, looks, async (look) => {
        await picture(page, `viewer${menu.replace('#viewer', '')}-${look}`);
        expect(await overflow(page), `${look} ${menu}`).toBeLessThanOrEqual(0);
        expect(await barriers(page), `${look} ${menu}`).toEqual([]);
      });
    }
    await opened.close();
  });

  test('the controls can be used by keyboard alone', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await open('/datasets/harbours/');
    const { page } = opened;
    await page.locator('#viewer-q').focus();
    const seen: string[] = [];
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press('Tab');
      const at = page.locator(':focus');
      seen.push(await at.evaluate((e) => e.id || e.textContent.trim().slice(0, 20)));
      const outline = await at.evaluate((e) => e.ownerDocument.defaultView?.getComputedStyle(e).outlineStyle);
      expect(outline, seen.at(-1)!).not.toBe('none');
    }
    for (const control of ['Filter', 'Columns', 'Download', 'API', 'viewer-link', 'viewer-scroll', 'Depth'])
      expect(
        seen.some((each) => each.startsWith(control)),
        control,
      ).toBe(true);
    await page.locator('[data-column="depth"] button').focus();
    await page.keyboard.press('Enter');
    await page.locator('[aria-sort="ascending"]').waitFor();
    await opened.close();
  });
});

test('the former explorer leads to the table and keeps the query', async (context) => {
  if (stage === null) return context.skip(NONE);
  const response = await fetch(`${stage.base}/explore/harbours?coast=north&q=a%20b`, { redirect: 'manual' });
  expect(response.status).toBe(301);
  expect(response.headers.get('location')).toBe(`${stage.base}/datasets/harbours/?coast=north&q=a%20b`);
  // A host that cannot redirect serves this page.
  const opened = await stage.open('/datasets/harbours/');
  const html = readFileSync(join(stage.dist, 'explore/harbours/index.html'), 'utf8');
  await opened.page.route('**/explore/**', (route) => route.fulfill({ contentType: 'text/html', body: html }));
  await opened.page.goto(`${stage.base}/explore/harbours/?coast=north`);
  await opened.page.waitForURL(`${stage.base}/datasets/harbours/?coast=north`);
  await opened.close();
  expect(await mistakes(join(stage.dist, 'datasets/tools/index.html'))).toEqual([]);
});

describe('a table whose file lacks an edit and a removal', () => {
  const NAME = 'Zanzibar of its owner';

  /** Changes the overlay of `harbours` as an owner does. */
  async function change(record: StoredRecord, write: RecordEdit['write'], alter: RecordEdit['alter']): Promise<void> {
    const { register, state: store } = stage!.app;
    const editing = { store, refresh: () => register.refresh(), current: (id: string) => register.current(id) };
    await editRecord(editing, { dataset: 'harbours', entity: record.id, now: Date.now(), write, alter });
  }

  const edit = (record: StoredRecord, name: string | null = NAME) => {
    const fact = {
      attribute: 'name',
      value: name === null ? null : JSON.stringify(name),
      source_url: 'https://o.example/',
      evidence: 'x',
      at: name === null ? 2 : 1,
    };
    return change(
      record,
      async (tx, version) => {
        const row = { dataset: 'harbours', entity_id: record.id, claim_id: 'claim', version, ...fact };
        await tx.insertInto('owner_facts').values(row).execute();
      },
      (overlay, version) => ({
        ...overlay,
        ownerFacts: withEntry(overlay.ownerFacts, record.id, { entity: record.id, version, ...fact }),
      }),
    );
  };

  const remove = (record: StoredRecord) => {
    const { id, slug } = record;
    return change(
      record,
      async (tx, version) => {
        const about = { id, name: 'A record', contact: 'a@b.example', domain: 'b.example', reason: null };
        const times = { at: 0, version, restored_at: null, restored_version: null };
        const row = { dataset: 'harbours', entity_id: id, slug, ...about, ...times };
        await tx.insertInto('opt_outs').values(row).execute();
      },
      (overlay, version) => ({ ...overlay, removed: new Map(overlay.removed).set(id, { entity: id, slug, version }) }),
    );
  };

  test('shows the edited value, finds and sorts by it', async (context) => {
    if (stage === null) return context.skip(NONE);
    const [edited, ...others] = stage.app.records['harbours']!;
    expect((await fetch(`${stage.base}/files/harbours/edits.json`)).status).toBe(404);
    await edit(edited!);
    const answer = await fetch(`${stage.base}/files/harbours/edits.json`);
    expect(answer.headers.get('cache-control')).toContain('no-cache');
    expect(await answer.json()).toMatchObject({ records: [{ id: edited!.id, values: { name: NAME } }], removed: [] });
    const opened = await open('/datasets/harbours/');
    await opened.page.locator('#viewer-table').getByText(NAME).waitFor();
    expect(await names(opened)).not.toContain(edited!.name);
    for (const [query, rows] of [
      ['q=zanzibar', [NAME]],
      [`like_name=${encodeURIComponent('Zanzibar of')}`, [NAME]],
    ] as const) {
      await opened.page.goto(`${stage.base}/datasets/harbours/?${query}`);
      await settled(opened);
      expect(await names(opened), query).toEqual(rows);
    }
    await opened.page.goto(`${stage.base}/datasets/harbours/?sort=-name`);
    await settled(opened);
    expect((await names(opened)).indexOf(NAME)).toBeLessThan(others.length);
    expect(opened.complaints).toEqual([]);
    // The owner withdraws the value.
    await edit(edited!, null);
    const pageOf = (path: string) => fetch(`${stage!.base}${path}`, { headers: { Accept: 'text/html' } });
    expect(await (await pageOf(`/datasets/harbours/${edited!.slug}`)).text()).toContain(edited!.name);
    for (const query of ['', '?sort=-name', '?page=1']) {
      await opened.page.goto(`${stage.base}/datasets/harbours/${query}`);
      await settled(opened);
      expect(await names(opened), query).toContain(edited!.name);
      expect(await names(opened), query).not.toContain(NAME);
    }
    await opened.close();
  }, 60_000);

  test('lacks a removed record at once, with a filter and without', async (context) => {
    if (stage === null) return context.skip(NONE);
    const { app } = stage;
    const gone = app.records['harbours']!.at(-1)!;
    await remove(gone);
    for (const query of ['', '?min_depth=1', `?ids=${gone.slug}`]) {
      const opened = await open(`/datasets/harbours/${query}`);
      expect(await names(opened), query).not.toContain(gone.name);
      await opened.close();
    }
    const opened = await open('/datasets/harbours/');
    await opened.page.getByText(`${app.records['harbours']!.length - 1} rows`, { exact: true }).waitFor();
    // A host of files in front of the service: its page lacks the removal.
    const html = readFileSync(join(stage.dist, 'datasets/harbours/index.html'), 'utf8');
    await opened.page.route('**/datasets/harbours/', (route) =>
      route.fulfill({ contentType: 'text/html', body: html }),
    );
    await opened.page.reload();
    await opened.page.getByText(`${app.records['harbours']!.length - 1} rows`, { exact: true }).waitFor();
    expect(await names(opened)).not.toContain(gone.name);
    await opened.close();
  }, 60_000);
});
