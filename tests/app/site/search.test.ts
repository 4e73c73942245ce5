// The search index as the nightly run writes it, read as the home page reads it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { searchFiles } from '../../../build/static/search.ts';
import { NameIndex } from '../../../site/search/name-index.ts';
import { openSite, type Site } from '../../support/site-world.ts';

/** The files of an index as texts, by path. */
const textsOf = (entries: Parameters<typeof searchFiles>[0]) =>
  new Map([...searchFiles(entries)].map(([path, bytes]) => [path, bytes.toString()]));

describe('a large index', () => {
  const LETTERS = ['ba', 'be', 'ka', 'ko', 'lu', 'ma', 'ni', 'ro', 'sa', 'tu'];
  const names = Array.from({ length: 4_000 }, (_, i) =>
    [...String(i + 1_000)].map((digit) => LETTERS[Number(digit)]).join(''),
  );
  const entries = names.map((name, i) => ({
    line: `${name} Harbour\tx${i}\t/datasets/harbours/h-${i}`,
    texts: [`${name} harbour`, `x${i}`],
    rank: i / names.length,
  }));
  const files = textsOf(entries);
  const reads: string[] = [];
  const lookup = new NameIndex(async (name) => {
    reads.push(name);
    return files.get(`search/${name}`) ?? Promise.reject(new Error(`no file ${name}`));
  });

  test('is divided into files of at most 300 records', () => {
    expect(files.size).toBeGreaterThan(20);
    for (const [path, text] of files)
      if (path.endsWith('.txt')) expect(text.split('\n').length, path).toBeLessThanOrEqual(301);
  });

  test.each([0, 1, 299, 300, 1_234, 3_999])(
    'has record %i by its name, its code, and both words in any order',
    async (i) => {
      const path = `/datasets/harbours/h-${i}`;
      for (const query of [names[i]!, `${names[i]} HARB`, `x${i}`, `harbour ${names[i]}`])
        expect(
          (await lookup.find(query, 10)).map((result) => result.path),
          query,
        ).toContain(path);
    },
  );

  test('puts the best known first, reads two files for a search, and each of them once', async () => {
    const best = await lookup.find('harbour', 3);
    expect(best.map(({ path }) => path)).toEqual([0, 1, 2].map((i) => `/datasets/harbours/h-${i}`));
    reads.length = 0;
    await lookup.find('harbour', 3);
    expect(reads).toEqual([]);
    expect(await lookup.find('zz', 3)).toEqual([]);
    expect(await lookup.find(' - ', 3)).toEqual([]);
  });
});

test('equal names come first, then names that begin with the words, then other words, each best known first', async () => {
  const ranked = ['New London', 'Londonderry', 'London Bridge', 'London'];
  const entries = ranked.map((name, i) => ({ line: `${name}\tGB\t/${i}`, texts: [name.toLowerCase()], rank: i / 4 }));
  const files = textsOf(entries);
  const lookup = new NameIndex(async (name) => files.get(`search/${name}`) ?? '');
  expect((await lookup.find('london', 10)).map(({ name }) => name)).toEqual([
    'London',
    'Londonderry',
    'London Bridge',
    'New London',
  ]);
});

describe('the index of a site', () => {
  let site: Site;
  let lookup: NameIndex;
  beforeAll(async () => {
    site = await openSite();
    lookup = new NameIndex(async (name) => readFileSync(join(site.dist, 'search', name), 'utf8'));
  }, 180_000);
  afterAll(() => site?.close());

  test('has every record and dataset, and no value that is not public', async () => {
    for (const [dataset, records] of Object.entries(site.app.records)) {
      if (!['tools', 'harbours'].includes(dataset)) continue;
      for (const { name, slug } of records) {
        const paths = (await lookup.find(name, 300)).map(({ path }) => path);
        expect(paths, `${dataset}: ${name}`).toContain(`/datasets/${dataset}/${slug}`);
      }
      const { body } = await site.app.json(`/v1/${dataset}/schema`);
      const hidden = (body['attributes'] as { name: string; public: boolean; type: string }[]).filter(
        (attribute) => !attribute.public && attribute.type === 'string',
      );
      const texts = new Set(records.flatMap((record) => hidden.map(({ name }) => record.attributes[name])));
      for (const { name } of records)
        for (const { hint } of await lookup.find(name, 300))
          for (const part of hint.split(' · ')) expect(texts.has(part), part).toBe(false);
    }
    expect((await lookup.find('tools', 5)).map(({ path }) => path)).toContain('/datasets/tools/');
  });

  test('is served by the API', async () => {
    const response = await site.app.ask('/search/index.json');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
  });
});
