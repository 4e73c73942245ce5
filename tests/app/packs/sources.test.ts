// docs/packs-sources.md is correct: each example is read, again after it changed, and prints what the page shows.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blocksOf, DocsPage } from '../../support/docs-page.ts';

const database = process.env['TEST_DATABASE_URL'];
const blocks = blocksOf('docs/packs-sources.md');
const headings = [...new Set(blocks.map(({ heading }) => heading))];

const page = new DocsPage({
  renders: false,
  environment: { SHOP_API_KEY: 'secret', SOURCE_DATABASE_URL: database ?? '' },
});
beforeAll(() => page.listen());
afterAll(async () => {
  if (database !== undefined) await page.command('psql -c "DROP TABLE IF EXISTS docs_shop_prices"');
  await page.close();
});

test('every kind of source has an example', () => {
  const kinds = ['CSV', 'JSON lines', 'JSON', 'Parquet', 'SQLite', 'PostgreSQL', 'HTTP API with a key', 'npm package'];
  expect(headings).toEqual([...kinds, 'Web pages', 'A collector of your own']);
});

test.each(headings)('%s', async (heading) => {
  const isDatabase = heading === 'PostgreSQL';
  const shown = blocks.filter((each) => each.heading === heading);
  // Commands of PostgreSQL need a database: the next test.
  for (const block of shown.filter(({ language }) => !isDatabase || language !== 'console')) await page.run(block);
});

test('PostgreSQL, its commands', async (context) => {
  if (database === undefined) return context.skip('TEST_DATABASE_URL is not set');
  const commands = blocks.filter(({ heading, language }) => heading === 'PostgreSQL' && language === 'console');
  expect(commands).toHaveLength(1);
  for (const block of commands) await page.run(block);
});
