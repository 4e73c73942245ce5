// The SQL console in Chromium: every example runs, nothing leaves the browser, and its state is in the URL.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sqlExamples } from '../../api/pages/sql.ts';
import { FUNCTIONS } from '../../site/sql/words.ts';
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

/** Opens the console of a dataset, which then runs everything in the browser. */
async function openLocal(path: string): Promise<Opened> {
  const opened = await stage!.open(path);
  await opened.page.check('#sql-local');
  return opened;
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
    '%s: every example runs on the public file, and nobody else is asked',
    { timeout: 120_000 },
    async (id, context) => {
      if (stage === null) return context.skip(NONE);
      const opened = await openLocal(`/sql/${id}/`);
      const examples = sqlExamples(stage.app.register.packs.get(id)!);
      expect(examples.length).toBeGreaterThan(3);
      for (const { title, sql } of examples) {
        await opened.page.getByRole('button', { name: title, exact: true }).click();
        const { status, error } = await settled(opened);
        expect([title, error]).toEqual([title, null]);
        expect(status, title).toMatch(/^\d+ rows? in .*DuckDB v1\./);
        expect(await opened.page.inputValue('#sql-text')).toBe(sql);
      }
      const unknown = `SELECT name FROM (SELECT unnest(${JSON.stringify(FUNCTIONS).replaceAll('"', "'")}) AS name) ANTI JOIN (SELECT function_name AS name FROM duckdb_functions()) USING (name)`;
      await ask(opened, unknown);
      expect(await rows(opened)).toEqual([]);
      await ask(opened, `SELECT count(*) AS n FROM ${id}`);
      expect(await rows(opened)).toEqual([[String(stage.app.records[id]!.length)]]);
      expect(opened.asked.some((url) => url.endsWith('.wasm'))).toBe(true);
      expect(opened.asked.filter((url) => !url.startsWith(stage!.base) && !url.startsWith('data:'))).toEqual([]);
      expect(opened.complaints).toEqual([]);
      await opened.close();
    },
  );

  test('a query can access only its file', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await openLocal('/sql/harbours/');
    await ask(opened, 'SELECT 1');
    const before = opened.asked.length;
    for (const [sql, said] of [
      ["FROM read_csv('https://elsewhere.example/x.csv')", /disabled by configuration/],
      [`FROM read_text('${stage.base}/v1/datasets')`, /disabled by configuration/],
      ['LOAD httpfs', /disabled/],
      ['SET enable_external_access = true', /locked/],
      ["ATTACH 'other.duckdb'", /disabled|Error/],
      ['DROP TABLE register.records', /read-only/],
      ['SELEC 1', /syntax error at or near "SELEC"/],
      ['SELECT berths FROM harbours', /berths/],
    ] as const) {
      const { error } = await ask(opened, sql);
      expect(error, sql).toMatch(said);
      expect(error, sql).not.toMatch(/^\{/);
    }
    expect((await ask(opened, 'SELECT 2 AS two')).error).toBeNull();
    expect(await rows(opened)).toEqual([['2']]);
    expect(opened.asked.slice(before)).toEqual([]);
    await opened.close();
  }, 120_000);

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

  test('the page shows 10,000 rows of a result, and files contain all', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await openLocal('/sql/harbours/');
    const { status } = await ask(opened, 'SELECT range AS n FROM range(20000)');
    expect(status).toMatch(/^The first 10,000 of 20,000 rows in/);
    expect(await rows(opened)).toHaveLength(200);
    await opened.page.click('#sql-more');
    expect(await rows(opened)).toHaveLength(400);
    const before = opened.asked.length;
    expect(parseCsv((await saved(opened, 'csv')).toString())).toHaveLength(20_001);
    expect((JSON.parse((await saved(opened, 'json')).toString()) as unknown[]).at(-1)).toEqual({ n: 19_999 });
    const { buffer, byteOffset, length } = await saved(opened, 'parquet');
    const read = await parquetReadObjects({ file: buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer });
    expect([read.length, read.at(-1)]).toEqual([20_000, { n: 19_999n }]);
    expect(await opened.page.textContent('#sql-status')).toMatch(/^Downloaded 20,000 rows as PARQUET, 0\.\d+ MB\.$/);
    await ask(
      opened,
      "SELECT 'a, \"b\"' AS text, NULL AS none, [1, 2] AS list, TIMESTAMP '2026-01-02 03:04:05' AS at, DATE '2026-01-02' AS day, 12345678901234567890::HUGEINT AS huge",
    );
    expect(parseCsv((await saved(opened, 'csv')).toString())).toEqual([
      ['text', 'none', 'list', 'at', 'day', 'huge'],
      ['a, "b"', '', '[1,2]', '2026-01-02 03:04:05', '2026-01-02', expect.stringMatching(/^1\.?2345678/)],
    ]);
    const requested = opened.asked.slice(before).filter((url) => !url.startsWith('blob:'));
    expect(requested.filter((url) => !url.includes('/assets/'))).toEqual([]);
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

  test('history and provenance are loaded when first queried, and rows are links to records', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await openLocal('/sql/harbours/');
    const files = () => opened.asked.filter((url) => url.endsWith('.duckdb')).map((url) => url.replace(/.*\//, ''));
    await ask(opened, 'SELECT id, slug FROM harbours ORDER BY slug');
    expect(files()).toEqual(['public.duckdb']);
    const slugs = (await rows(opened)).map(([, slug]) => slug);
    const links = opened.page.locator('#sql-table tbody a');
    await links.nth(slugs.length * 2 - 1).waitFor();
    const addresses = await links.evaluateAll((all) => all.map((each) => (each as unknown as { href: string }).href));
    expect(addresses).toEqual(slugs.flatMap((slug) => Array(2).fill(`${stage!.base}/datasets/harbours/${slug}`)));
    await ask(
      opened,
      'SELECT count(*) = count(p.source_url) AS complete, count(DISTINCT r.id) AS n FROM harbours r JOIN harbours_provenance p USING (id, slug)',
    );
    expect(await rows(opened)).toEqual([['true', String(slugs.length)]]);
    await ask(opened, 'SELECT count(*) > 0 AS some FROM harbours_history h ANTI JOIN harbours r USING (id, slug)');
    expect(await rows(opened)).toEqual([['false']]);
    expect(files()).toEqual(['public.duckdb', 'provenance.duckdb', 'history.duckdb']);
    expect(opened.complaints).toEqual([]);
    await opened.close();
  }, 60_000);

  test('the service answers small queries, and the browser the others', async (context) => {
    if (stage === null) return context.skip(NONE);
    await tablesMade(stage, 'harbours');
    const opened = await stage.open('/sql/harbours/');
    const engines = () => opened.asked.filter((url) => url.endsWith('.wasm'));
    const small = await ask(opened, 'SELECT slug, depth, updated_at FROM harbours ORDER BY slug');
    expect(small).toEqual({ status: expect.stringMatching(/^\d+ rows in .* By the service\.$/), error: null });
    const link = opened.page.locator('#sql-table tbody a').first();
    expect(await link.getAttribute('href')).toMatch(/^\/datasets\/harbours\/[a-z0-9-]+$/);
    expect(parseCsv((await saved(opened, 'csv')).toString())[0]).toEqual(['slug', 'depth', 'updated_at']);
    const { error } = await ask(opened, 'SELECT slug, dept FROM harbours');
    expect(error).toMatch(/^Line 1, column 14: .*Did you mean depth\?/);
    expect(engines()).toEqual([]);
    await opened.page.getByRole('button', { name: 'Run in this browser' }).click();
    expect((await settled(opened)).error).toMatch(/Binder Error/);
    expect(engines()).toHaveLength(1);
    await opened.close();
    const large = await stage.open('/sql/harbours/');
    expect((await ask(large, 'SELECT range AS n FROM range(3000)')).status).toMatch(/^The first 1,000 of more rows/);
    expect(parseCsv((await saved(large, 'csv')).toString())).toHaveLength(3001);
    expect((await ask(large, 'SUMMARIZE harbours')).status).toMatch(/In this browser/);
    expect([...opened.complaints.filter((text) => !/400|Binder/.test(text)), ...large.complaints]).toEqual([]);
    await large.close();
  }, 120_000);

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
