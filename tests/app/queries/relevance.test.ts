// The order by relevance as callers see it: names, ties, what a caller without a key may be ranked by, cursors.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildIndex } from '../../../data/index/build.ts';
import { searchParameters } from '../../../data/input/search-parameters.ts';
import type { Visibility } from '../../../data/plan/plan.ts';
import { pageRecords } from '../../../data/queries/record-page.ts';
import { search } from '../../../data/queries/search.ts';
import { openRelease, type Release } from '../../../data/releases/release.ts';
import { loadPack } from '../../../packs/define/load.ts';
import { byCodePoint } from '../../../packs/define/text.ts';
import { cursors } from '../../support/cursors.ts';
import { randomRecords } from '../../support/random-records.ts';
import { writeRelease } from '../../support/write-release.ts';

/** Name, depth (the prominence of harbours), and languages, which are searchable and not public. */
const HARBOURS: [name: string, depth: number | null, languages: string[]][] = [
  ['Alba', 3, []],
  ['Älba', 9, []],
  ['ALBA', null, []],
  ['Alba', 0, []],
  ['Albany', 100, []],
  ['Alba Point', 30, []],
  ['Port of Alba', 40, []],
  ['Porto', 20, ['Alba', 'Breton']],
  ['Port of Somewhere Else in the East', 5, ['Alban']],
];

describe.each([['DuckDB'], ['the packed index']])('on %s', (kind) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'relevance-'));
  let release: Release;
  beforeAll(async () => {
    const pack = await loadPack(join(import.meta.dirname, '../../packs/harbours'));
    const records = randomRecords(pack, HARBOURS.length, 5).sort((a, b) => byCodePoint(a.id, b.id));
    for (const [i, record] of records.entries()) {
      const [name, depth, languages] = HARBOURS[i]!;
      const attributes = { ...(depth !== null && { depth }), languages };
      Object.assign(record, { name, slug: `harbour-${i}`, quality_score: 0.5, attributes, provenance: {} });
    }
    const { folder, release: id } = await writeRelease(dataDir, pack, records);
    if (kind === 'the packed index') await buildIndex(folder, pack);
    release = await openRelease(dataDir, pack, id);
  });
  afterAll(async () => {
    await release.engine.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** Names of a page and its cursor. */
  async function page(raw: Record<string, string>, visibility: Visibility) {
    const input = searchParameters.parse(raw, release.pack, { cursors });
    const options = { now: new Date(0), base_url: 'https://register.example', visibility, admin: false, cursors };
    const { list, next_cursor, hint } = await search(release, input, options);
    const names = (await pageRecords(list, options)).map(({ name }) => name);
    return { names, next_cursor, hint };
  }

  test('exact names by prominence, equal values of naming attributes, names that begin so, other words', async () => {
    const { names } = await page({ q: 'alba', sort: 'relevance' }, 'full');
    expect(names).toEqual([
      ...['Älba', 'Alba', 'ALBA'],
      // The name of a record without prominence is one of the other names.
      ...['Porto', 'Alba'],
      ...['Albany', 'Alba Point'],
      ...['Port of Alba', 'Port of Somewhere Else in the East'],
    ]);
  });

  test('without a credential neither private words nor their frequency count', async () => {
    const { names } = await page({ q: 'alba', sort: 'relevance' }, 'public');
    expect(names).toEqual(['Älba', 'Alba', 'ALBA', 'Alba', 'Albany', 'Alba Point', 'Port of Alba']);
  });

  test.each([['full'], ['public']] as const)('pages of one record are complete: %s', async (visibility) => {
    const all = await page({ q: 'p', sort: 'relevance' }, visibility);
    const names: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const next = await page({ q: 'p', sort: 'relevance', limit: '1', ...(cursor && { cursor }) }, visibility);
      names.push(...next.names);
      cursor = next.next_cursor;
    }
    expect(names).toEqual(all.names);
    expect(names.length).toBeGreaterThan(3);
  });

  test('a page that is paid for continues the order of the free page before it', async () => {
    const free = await page({ q: 'alba', sort: 'relevance', limit: '2' }, 'public');
    const paid = await page({ q: 'alba', sort: 'relevance', cursor: free.next_cursor! }, 'full');
    const everything = await page({ q: 'alba' }, 'full');
    expect([...free.names, ...paid.names].toSorted()).toEqual(everything.names.toSorted());
  });

  test('the order of the words of q decides between names', async () => {
    const first = async (q: string) => (await page({ q, sort: 'relevance' }, 'full')).names[0];
    expect([await first('alba p'), await first('p alba')]).toEqual(['Alba Point', 'Port of Alba']);
  });

  test('an unknown word is suggested in a spelling that finds records', async () => {
    expect((await page({ q: 'albny' }, 'public')).hint).toMatch(/ Did you mean "albany"\?$/);
    // "breton" is a word of a non-public value.
    for (const scope of ['full', 'public'] as const)
      expect((await page({ q: 'brewton' }, scope)).hint).not.toContain('Did you mean');
    expect((await page({ q: 'albny point' }, 'public')).hint).not.toContain('Did you mean');
  });
});
