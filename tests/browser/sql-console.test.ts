// The SQL console in Chromium: every example runs, nothing leaves the browser, and its state is in the URL.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sqlExamples } from '../../api/pages/sql.ts';
import { barriers, inEachLook, NONE, overflow, picture } from '../support/browser.ts';
import { scratchOfAll } from '../support/night-pack.ts';
import { LOOKS, mistakes, type Opened, openStage, type Stage } from '../support/pages-stage.ts';
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

async function ask(opened: Opened, sql: string) {
  await opened.page.fill('#sql-text', sql);
  await opened.page.keyboard.press('Control+Enter');
  return settled(opened);
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
      const opened = await stage.open(`/sql/${id}/`);
      const examples = sqlExamples(stage.app.register.packs.get(id)!);
      expect(examples.length).toBeGreaterThan(3);
      for (const { title, sql } of examples) {
        await opened.page.getByRole('button', { name: title, exact: true }).click();
        const { status, error } = await settled(opened);
        expect([title, error]).toEqual([title, null]);
        expect(status, title).toMatch(/^\d+ rows? in .*DuckDB v1\./);
        expect(await opened.page.inputValue('#sql-text')).toBe(sql);
      }
      await ask(opened, 'SELECT count(*) AS n FROM records');
      expect(await rows(opened)).toEqual([[String(stage.app.records[id]!.length)]]);
      expect(opened.asked.some((url) => url.endsWith('.wasm'))).toBe(true);
      expect(opened.asked.filter((url) => !url.startsWith(stage!.base) && !url.startsWith('data:'))).toEqual([]);
      expect(opened.complaints).toEqual([]);
      await opened.close();
    },
  );

  test('a query can access only its file', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await stage.open('/sql/harbours/');
    await ask(opened, 'SELECT 1');
    const before = opened.asked.length;
    for (const [sql, said] of [
      ["FROM read_csv('https://elsewhere.example/x.csv')", /disabled by configuration/],
      [`FROM read_text('${stage.base}/v1/datasets')`, /disabled by configuration/],
      ['LOAD httpfs', /disabled/],
      ['SET enable_external_access = true', /locked/],
      ["ATTACH 'other.duckdb'", /disabled|Error/],
      ['DROP TABLE records', /read-only/],
      ['SELEC 1', /syntax error at or near "SELEC"/],
      ['SELECT berths FROM records', /berths/],
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
    const sql = "SELECT name || ' & Co' AS x FROM records ORDER BY 1 LIMIT 3";
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

  test('long results are cut with a note, and the CSV is made in the browser', async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await stage.open('/sql/harbours/');
    const { status } = await ask(opened, 'SELECT range AS n FROM range(20000)');
    expect(status).toContain('The first 10,000 rows; there are more');
    expect(await rows(opened)).toHaveLength(200);
    await opened.page.click('#sql-more');
    expect(await rows(opened)).toHaveLength(400);
    await ask(
      opened,
      "SELECT 'a, \"b\"' AS text, NULL AS none, [1, 2] AS list, TIMESTAMP '2026-01-02 03:04:05' AS at, DATE '2026-01-02' AS day, 12345678901234567890::HUGEINT AS huge",
    );
    const asked = opened.asked.length;
    const [download] = await Promise.all([opened.page.waitForEvent('download'), opened.page.click('#sql-csv')]);
    expect(download.suggestedFilename()).toBe('harbours.csv');
    const csv = parseCsv(readFileSync(await download.path(), 'utf8'));
    expect(csv).toEqual([
      ['text', 'none', 'list', 'at', 'day', 'huge'],
      ['a, "b"', '', '[1,2]', '2026-01-02 03:04:05', '2026-01-02', expect.stringMatching(/^1\.?2345678/)],
    ]);
    expect(opened.asked.slice(asked).filter((url) => !url.startsWith('blob:'))).toEqual([]);
    await opened.close();
  }, 120_000);

  test('fits every screen and passes axe, with a result and with an error', { timeout: 60_000 }, async (context) => {
    if (stage === null) return context.skip(NONE);
    const opened = await stage.open('/sql/tools/');
    const { page } = opened;
    await page.click('#sql-run');
    await settled(opened);
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
