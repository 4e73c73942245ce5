// The SQL console in Chromium: the service runs every example, and the state of the page is in its URL.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sqlExamples } from '../../api/pages/sql.ts';
import { barriers, inEachLook, NONE, overflow, picture } from '../support/browser.ts';
import { scratchOfAll } from '../support/night-pack.ts';
import { LOOKS, mistakes, type Opened, openStage, type Stage, tablesMade } from '../support/pages-stage.ts';
import { parseCsv } from '../support/parse-csv.ts';

const folder = scratchOfAll();
let stage: Stage | null = null;
beforeAll(async () => {
  stage = await openStage(folder);
}, 180_000);
afterAll(() => stage?.close());

/** Runs the query in the editor and waits for the answer: returns the status and the error. */
async function settled({ page }: Opened): Promise<{ status: string; error: string | null }> {
  await page.waitForFunction(() => {
    const document = (
      globalThis as unknown as {
        document: {
          querySelector(q: string): { hasAttribute(n: string): boolean; textContent: string; hidden: boolean };
        };
      }
    ).document;
    const busy = document.querySelector('#sql').hasAttribute('aria-busy');
    return (
      !busy &&
      (document.querySelector('#sql-status').textContent !== '' || !document.querySelector('#sql-error').hidden)
    );
  });
  const error = page.locator('#sql-error');
  return {
    status: (await page.textContent('#sql-status')) ?? '',
    error: (await error.isHidden()) ? null : await error.textContent(),
  };
}

/** The editor, which replaces the text area at its first focus. */
async function editor({ page }: Opened) {
  const content = page.locator('.cm-content');
  if ((await content.count()) === 0) await page.focus('#sql-text');
  await content.waitFor();
  return content;
}

/** Replaces the query as a visitor does: `fill` would leave inline styles, which the policy blocks. */
async function write(opened: Opened, sql: string) {
  await (await editor(opened)).click();
  for (const key of ['Control+A', 'Delete']) await opened.page.keyboard.press(key);
  await opened.page.keyboard.insertText(sql);
}

async function ask(opened: Opened, sql: string) {
  await write(opened, sql);
  await opened.page.keyboard.press('Control+Enter');
  return settled(opened);
}

async function saved({ page }: Opened, format: string): Promise<Buffer> {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(`[data-save="${format}"]`)]);
  expect(download.suggestedFilename()).toBe(`harbours.${format}`);
  return readFileSync(await download.path());
}

const rows = async ({ page }: Opened) => {
  const lines = await page.locator('#sql-table tbody tr').all();
  return Promise.all(lines.map((line) => line.locator('td').allTextContents()));
};

describe('the SQL console', () => {
  test.for(['harbours', 'tools'])(
    '%s: says that the service runs the queries, which runs every example',
    { timeout: 120_000 },
    async (id, context) => {
      if (stage === null) return context.skip(NONE);
      await tablesMade(stage, id);
      const opened = await stage.open(`/sql/${id}/`);
      await opened.page.getByText('Your query is sent to this service').waitFor();
      const examples = sqlExamples(stage.app.register.packs.get(id)!);
      expect(examples.length).toBeGreaterThan(3);
      for (const { title, sql } of examples) {
        await opened.page.getByRole('button', { name: title, exact: true }).click();
        const { status, error } = await settled(opened);
        expect([title, error]).toEqual([title, null]);
        expect(status, title).toMatch(/^\d+ rows? in \d/);
        expect(await opened.page.inputValue('#sql-text')).toBe(sql);
      }
      expect(opened.asked.filter((url) => !url.startsWith(stage!.base) && !url.startsWith('data:'))).toEqual([]);
      expect(opened.asked.some((url) => /\.(wasm|duckdb)$/.test(url))).toBe(false);
      expect(opened.complaints).toEqual([]);
      await opened.close();
    },
  );

  test('a mistake has its place and a suggestion, and what is no SELECT is refused', async (context) => {
    if (stage === null) return context.skip(NONE);
    await tablesMade(stage, 'harbours');
    const opened = await stage.open('/sql/harbours/');
    expect((await ask(opened, 'SELECT slug, dept FROM harbours')).error).toMatch(
      /^Line 1, column 14: .*Did you mean depth\?/,
    );
    for (const sql of [
      'SUMMARIZE harbours',
      "FROM read_csv('https://elsewhere.example/x.csv')",
      'SELECT berths FROM harbours',
    ])
      expect((await ask(opened, sql)).error, sql).toMatch(/^Line 1/);
    await opened.close();
  }, 60_000);

  test('a host without the service says so, and a busy service can be asked again', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await stage.open('/sql/harbours/');
    await opened.page.route('**/v1/harbours/sql', (route) =>
      route.fulfill({ status: 404, contentType: 'text/html', body: '<h1>Not found</h1>' }),
    );
    expect((await ask(opened, 'SELECT 1')).error).toBe(
      'Queries need the service, which this host lacks. The files of the dataset have the same values.',
    );
    await opened.page.unrouteAll();
    await opened.page.route('**/v1/harbours/sql', (route) => route.abort());
    expect((await ask(opened, 'SELECT 2')).error).toMatch(/^Couldn't run the query/);
    await opened.close();
  }, 60_000);

  test('the URL contains the query, which runs when the address is opened', async (context) => {
    if (stage === null) return context.skip(NONE);
    const sql = "SELECT name || ' & Co' AS x FROM tools ORDER BY 1 LIMIT 3";
    const opened = await stage.open('/sql/tools/');
    await ask(opened, sql);
    const shown = await rows(opened);
    expect(shown).toHaveLength(3);
    const address = opened.page.url();
    expect(new URLSearchParams(new URL(address).hash.slice(1)).get('q')).toBe(sql);
    await opened.close();
    const again = await stage.open(address.slice(stage.base.length));
    await settled(again);
    expect(await rows(again)).toEqual(shown);
    await again.close();
  }, 120_000);

  test('the page and its files have up to 10,000 rows of a result', async (context) => {
    if (stage === null) return context.skip(NONE);
    await tablesMade(stage, 'harbours');
    const opened = await stage.open('/sql/harbours/');
    const { status } = await ask(opened, 'SELECT range AS n FROM range(20000)');
    expect(status).toMatch(/^The first 10,000 rows in .* There are more/);
    expect(await rows(opened)).toHaveLength(200);
    await opened.page.click('#sql-more');
    expect(await rows(opened)).toHaveLength(400);
    const before = opened.asked.length;
    expect(parseCsv((await saved(opened, 'csv')).toString())).toHaveLength(10_001);
    expect((JSON.parse((await saved(opened, 'json')).toString()) as unknown[]).at(-1)).toEqual({ n: 9999 });
    expect(await opened.page.textContent('#sql-status')).toMatch(/^Downloaded 10,000 rows as JSON, 0\.\d+ MB\.$/);
    expect(opened.asked.slice(before).filter((url) => !url.startsWith('blob:'))).toEqual([]);
    await ask(
      opened,
      "SELECT 'a, \"b\"' AS text, NULL AS none, [1, 2] AS list, TIMESTAMP '2026-01-02 03:04:05' AS at, DATE '2026-01-02' AS day, 12345678901234567890::HUGEINT AS huge",
    );
    expect(parseCsv((await saved(opened, 'csv')).toString())).toEqual([
      ['text', 'none', 'list', 'at', 'day', 'huge'],
      ['a, "b"', '', '[1,2]', '2026-01-02 03:04:05', '2026-01-02', '12345678901234567890'],
    ]);
    await opened.close();
  }, 120_000);

  test('the editor completes names, leaves Tab free, and is loaded at the first focus', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await stage.open('/sql/harbours/');
    const { page } = opened;
    const scripts = () => opened.asked.filter((url) => url.endsWith('.js'));
    const packed = async (urls: string[]) => {
      const files = await Promise.all(urls.map(async (url) => Buffer.from(await (await fetch(url)).arrayBuffer())));
      return files.reduce((sum, file) => sum + gzipSync(file).length, 0);
    };
    const first = scripts();
    expect(await packed(first)).toBeLessThan(60_000);
    const content = await editor(opened);
    expect(await packed(scripts().filter((url) => !first.includes(url)))).toBeLessThan(180_000);
    await write(opened, '');
    await page.keyboard.type('SELECT dep');
    await page.locator('.cm-tooltip-autocomplete [aria-selected]').getByText('depth').waitFor();
    // CodeMirror ignores keys for 75 ms, so that a list that just opened takes none by accident.
    await page.waitForTimeout(200);
    await page.keyboard.press('Tab');
    expect(await content.textContent()).toBe('SELECT depth');
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('Run');
    await write(opened, '');
    await page.keyboard.type('FROM harbours LIMIT 10');
    await page.waitForTimeout(300);
    expect(await page.locator('.cm-tooltip-autocomplete').count()).toBe(0);
    await write(opened, 'SELECT depth');
    await page.click('.sql-column:has-text("slug")');
    expect(await content.textContent()).toBe('SELECT depthslug');
    expect(opened.complaints).toEqual([]);
    await opened.close();
  }, 60_000);

  test('rows are links to records, in tables of records, history and provenance', async (context) => {
    if (stage === null) return context.skip(NONE);
    await tablesMade(stage, 'harbours');
    const opened = await stage.open('/sql/harbours/');
    await ask(opened, 'SELECT id, slug FROM harbours ORDER BY slug');
    const slugs = (await rows(opened)).map(([, slug]) => slug);
    const links = opened.page.locator('#sql-table tbody a');
    const addresses = await links.evaluateAll((all) => all.map((each) => (each as unknown as { href: string }).href));
    expect(addresses).toEqual(slugs.flatMap((slug) => Array(2).fill(`${stage!.base}/datasets/harbours/${slug}`)));
    await ask(
      opened,
      'SELECT count(*) = count(p.source_url) AS complete, count(DISTINCT r.id) AS n FROM harbours r JOIN harbours_provenance p USING (id, slug)',
    );
    expect(await rows(opened)).toEqual([['true', String(slugs.length)]]);
    await ask(opened, 'SELECT count(*) > 0 AS some FROM harbours_history h ANTI JOIN harbours r USING (id, slug)');
    expect(await rows(opened)).toEqual([['false']]);
    expect(opened.complaints).toEqual([]);
    await opened.close();
  }, 60_000);

  test('charts are part of the address, and queries of the history', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await stage.open('/sql/harbours/');
    const { page } = opened;
    await ask(opened, 'SELECT coast, count(*) AS found FROM harbours GROUP BY ALL ORDER BY found DESC');
    await page.click('#sql-chart');
    await page.locator('#sql-drawing svg rect').first().waitFor();
    expect(new URL(page.url()).hash).toContain('chart=bar&x=coast&y=found');
    await page.selectOption('#chart-kind', 'histogram');
    await page.locator('#sql-drawing svg[aria-label^="Histogram of found"]').waitFor();
    const address = page.url();
    await ask(opened, 'SELECT 1 AS one');
    await page.click('#sql-history summary');
    expect(await page.locator('#sql-past a').allTextContents()).toHaveLength(2);
    await page.goBack();
    await page.locator('#sql-drawing svg[aria-label^="Histogram of found"]').waitFor();
    expect(page.url()).toBe(address);
    await page.locator('#sql-past button').first().click();
    await page.click('#sql-history-clear');
    expect(await page.locator('#sql-history').isVisible()).toBe(false);
    expect(opened.complaints).toEqual([]);
    await opened.close();
  }, 60_000);

  test('fits every screen and passes axe, with a result and with an error', { timeout: 180_000 }, async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await stage.open('/sql/tools/');
    const { page } = opened;
    await page.click('#sql-run');
    await settled(opened);
    await page.click('#sql-chart');
    await page.locator('#sql-drawing svg').waitFor();
    await editor(opened);
    await inEachLook(page, LOOKS, async (look) => {
      await picture(page, `sql-${look}`);
      expect(await overflow(page), look).toBeLessThanOrEqual(0);
      expect(await barriers(page), look).toEqual([]);
    });
    await ask(opened, 'SELEC 1');
    await inEachLook(page, LOOKS, async (look) => expect(await barriers(page), look).toEqual([]));
    await opened.close();
  });

  test('its HTML is valid', async (context) => {
    if (stage === null) return context.skip(NONE);
    expect(await mistakes(join(stage.dist, 'sql/tools/index.html'))).toEqual([]);
  });
});
