// Search, get, batch and facets over an open release, for callers of different rights.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { facetsParameters, searchParameters } from '../../../data/input/search-parameters.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import { exceedsFreeAnswers, type Facet, getFacets } from '../../../data/queries/facets.ts';
import { type PresentOptions, presentRecord } from '../../../data/queries/present.ts';
import { pageRecords } from '../../../data/queries/record-page.ts';
import { getBatch, getRecord } from '../../../data/queries/records.ts';
import { releaseFor, search } from '../../../data/queries/search.ts';
import { openRelease } from '../../../data/releases/release.ts';
import { loadPack } from '../../../packs/define/load.ts';
import { fold, words } from '../../../packs/define/text.ts';
import { cursors } from '../../support/cursors.ts';
import { randomRecords } from '../../support/random-records.ts';
import { verifies } from '../../support/verifies.ts';
import { writeRelease } from '../../support/write-release.ts';

verifies(
  'record.members',
  'record.same-keys',
  'record.dotted-keys',
  'record.dotted-names',
  'record.price-range',
  'record.price-ranges',
  'record.provenance',
  'record.freshness',
  'record.preview-flag',
  'record.by-id',
  'record.by-slug',
  'record.attribution',
  'record.license',
  'overview.provenance',
  'batch.get',
  'batch.fields',
  'batch.missing',
  'shape.batch',
  'search.total',
  'search.fields',
  'shape.search',
  'search.shape',
  'leak.facets-floor',
  'search.previews',
);

const dataDir = mkdtempSync(join(tmpdir(), 'questions-'));

const pack = await loadPack(join(import.meta.dirname, '../../packs/tools'));
const records: StoredRecord[] = randomRecords(pack, 80, 21);
const written = await writeRelease(dataDir, pack, records);
const release = await openRelease(dataDir, pack, written.release);
afterAll(async () => {
  await release.engine.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const NOW = new Date('2026-11-20T00:00:00Z');
const full: PresentOptions = { now: NOW, base_url: 'https://register.example', visibility: 'full' };
const anonymous: PresentOptions = { ...full, visibility: 'public' };

describe('a record', () => {
  const stored: StoredRecord = {
    id: 'r-0123456789abcdef',
    slug: 'acme-saw',
    name: 'Acme saw',
    dataset: 'tools',
    updated_at: '2026-11-01T08:00:00Z',
    attributes: { name: 'Saw', runtime: 40, 'price.list': { min: 1, max: 2, currency: 'EUR' }, retired: 'gone' },
    provenance: Object.fromEntries(
      ['name', 'runtime', 'price.list', 'retired'].map((name) => [
        name,
        {
          source_url: 'https://s.example/',
          observed_at: '2026-11-19T21:57:00Z',
          confidence: 0.9,
          evidence: 'e',
          source: { kind: 'collector' as const },
        },
      ]),
    ),
    quality_score: 0.75,
    completeness: 0.5,
    verified_owner: false,
  };

  test('in full', () =>
    expect(presentRecord(stored, pack, full)).toMatchInlineSnapshot(`
    {
      "attributes": {
        "name": "Saw",
        "price.list": {
          "currency": "EUR",
          "max": 2,
          "min": 1,
        },
        "runtime": 40,
      },
      "attribution": "Acme saw. Tools of nowhere. Fictional data of the dataset register’s own tests. https://register.example/datasets/tools/acme-saw",
      "completeness": 0.5,
      "dataset": "tools",
      "freshness": {
        "name": 2.1,
        "price.list": 2.1,
        "runtime": 2.1,
      },
      "id": "r-0123456789abcdef",
      "license": "CC0-1.0 (https://creativecommons.org/publicdomain/zero/1.0/)",
      "name": "Acme saw",
      "provenance": {
        "name": {
          "confidence": 0.9,
          "evidence": "e",
          "observed_at": "2026-11-19T21:57:00Z",
          "source": {
            "kind": "collector",
          },
          "source_url": "https://s.example/",
        },
        "price.list": {
          "confidence": 0.9,
          "evidence": "e",
          "observed_at": "2026-11-19T21:57:00Z",
          "source": {
            "kind": "collector",
          },
          "source_url": "https://s.example/",
        },
        "runtime": {
          "confidence": 0.9,
          "evidence": "e",
          "observed_at": "2026-11-19T21:57:00Z",
          "source": {
            "kind": "collector",
          },
          "source_url": "https://s.example/",
        },
      },
      "quality_score": 0.75,
      "slug": "acme-saw",
      "updated_at": "2026-11-01T08:00:00Z",
      "url": "https://register.example/datasets/tools/acme-saw",
      "verified_owner": false,
    }
  `));

  test('attributes, provenance and freshness have the same keys, with any fields', () => {
    for (const [presenting, fields] of [
      [full, null],
      [anonymous, null],
      [full, ['runtime']],
      [anonymous, ['runtime', 'name']],
    ] as const) {
      const seen = presentRecord(JSON.stringify(stored), pack, presenting, fields);
      expect(Object.keys(seen.provenance)).toEqual(Object.keys(seen.attributes));
      expect(Object.keys(seen.freshness)).toEqual(Object.keys(seen.attributes));
    }
  });

  test('a preview has public values only and a mark; attributes removed from the pack are hidden', () => {
    const seen = presentRecord(stored, pack, anonymous);
    expect([Object.keys(seen.attributes), seen.preview]).toEqual([['name', 'price.list'], true]);
    expect(JSON.stringify(presentRecord(stored, pack, full))).not.toContain('gone');
  });

  test('ages are hours with one decimal and never negative', () => {
    const at = (now: string) => presentRecord(stored, pack, { ...full, now: new Date(now) }).freshness['name'];
    expect([at('2026-11-20T00:00:00Z'), at('2026-11-19T22:00:00Z'), at('2026-11-01T00:00:00Z')]).toEqual([2.1, 0.1, 0]);
  });
});

describe('get and batch', () => {
  test('by id, by slug, in any case', async () => {
    const [first] = records;
    const versions = new Set<string>();
    for (const ref of [first!.id, first!.slug, first!.slug.toUpperCase()]) {
      const found = await getRecord(release, ref, full);
      expect(found.record(full)).toEqual(presentRecord(first!, pack, full));
      expect(found.json(full)?.toString()).toBe(JSON.stringify(found.record(full)));
      expect(found.updated_at).toBe(first!.updated_at);
      versions.add(found.version);
    }
    expect(versions.size).toBe(1);
  });

  test('a record that must be parsed has no raw text', async () => {
    const found = await getRecord(release, records[0]!.id, full);
    expect(found.json(anonymous)).toBeNull();
    expect(found.json(full, ['name'])).toBeNull();
    expect(found.record(anonymous).preview).toBe(true);
    expect(Object.keys(found.record(full, ['name']).attributes)).toEqual(['name']);
  });

  test('unknown', async () => {
    await expect(async () => getRecord(release, 'nobody\0', full)).rejects.toMatchObject({
      code: 'unknown_entity',
      message: 'tools has no record "nobody�".',
    });
  });

  test('a batch keeps the requested order and lists missing ids as written', async () => {
    const ids = [records[5]!.slug, 'Nobody', records[2]!.id, records[5]!.id];
    const { list: found, missing } = await getBatch(release, { ids, fields: ['name'] }, full);
    const items = await pageRecords(found, full);
    expect(items.map(({ id }) => id)).toEqual([5, 2, 5].map((index) => records[index]!.id));
    expect(missing).toEqual(['Nobody']);
    expect(items.flatMap(({ attributes }) => Object.keys(attributes)).every((name) => name === 'name')).toBe(true);
    expect(await getBatch(release, { ids: ['x'], fields: null }, full)).toMatchObject({
      list: { ordinals: [] },
      missing: ['x'],
    });
  });
});

describe('search', () => {
  const ask = async (raw: Record<string, string>, presenting = full) => {
    const { list: found, ...page } = await search(release, searchParameters.parse(raw, pack, { cursors }), {
      ...presenting,
      admin: false,
      cursors,
    });
    return { ...page, items: await pageRecords(found, presenting) };
  };

  test('a page with total and fields', async () => {
    const page = await ask({ limit: '3', total: 'true', fields: 'price' });
    expect(page.items.map(({ id }) => id)).toEqual(records.slice(0, 3).map(({ id }) => id));
    expect(page.total).toBe(80);
    expect(
      page.items.flatMap(({ attributes }) => Object.keys(attributes)).every((name) => name.startsWith('price.')),
    ).toBe(true);
    expect('total' in (await ask({}))).toBe(false);
  });

  test('the cursor of one page opens the next, also with other rights', async () => {
    const first = await ask({ limit: '30', sort: 'name' });
    const second = await ask({ limit: '100', sort: 'name', fields: 'name', cursor: first.next_cursor! });
    expect(new Set([...first.items, ...second.items].map(({ id }) => id)).size).toBe(80);
    expect(second.next_cursor).toBeNull();
  });

  test('a preview is shortened to the rest of the quota, and continues after payment', async () => {
    const page = await ask({ q: 'a', limit: '20' }, { ...anonymous, previews: 2 });
    expect(page.items).toHaveLength(2);
    expect(page.items.every(({ preview }) => preview === true)).toBe(true);
    const next = await ask({ q: 'a', limit: '1', cursor: page.next_cursor! });
    expect(next.items[0]!.preview).toBeUndefined();
    expect(page.items.map(({ id }) => id)).not.toContain(next.items[0]!.id);
  });

  test('words of paid attributes are not found in a preview', async () => {
    const total = async (presenting: PresentOptions) => (await ask({ q: 'alpha', total: 'true' }, presenting)).total!;
    expect(await total(anonymous)).toBeGreaterThan(0);
    expect(await total(full)).toBeGreaterThan(await total(anonymous));
  });

  test('a cursor stays on its release while that is kept', async () => {
    const next_cursor = (await ask({ limit: '10' })).next_cursor!;
    const input = searchParameters.parse({ limit: '10', cursor: next_cursor }, pack, { cursors });
    const newer = { ...release, manifest: { ...release.manifest, release: 'f'.repeat(16) } };
    expect(await releaseFor(input, newer, async () => release)).toBe(release);
    expect(await releaseFor(input, newer, async () => null)).toBe(newer);
    expect(
      await releaseFor(searchParameters.parse({}, pack), newer, () => Promise.reject(new Error('not asked'))),
    ).toBe(newer);
  });
});

describe('facets', () => {
  const ask = async (raw: Record<string, string>, admin = false) =>
    (await getFacets(release, facetsParameters.parse(raw, pack), { admin })) as Facet;
  const paid = (raw: Record<string, string>) => exceedsFreeAnswers(facetsParameters.parse(raw, pack), pack);

  test('public attributes are counted without a floor', async () => {
    const answer = await ask({ by: 'maker' });
    expect(answer.values.at(-1)!.count).toBeLessThan(5);
    expect(answer).not.toHaveProperty('withheld');
    expect(answer.matched).toBe(80);
  });

  test('a non-public attribute without filters is counted from five on', async () => {
    const answer = await ask({ by: 'runtime' });
    expect(Math.min(...answer.values.map(({ count }) => count))).toBeGreaterThanOrEqual(5);
    expect(answer.withheld).toBeGreaterThan(0);
    expect(answer.matched).toBe(80);
    expect(Math.min(...(await ask({ by: 'runtime' }, true)).values.map(({ count }) => count))).toBeLessThan(5);
  });

  test.each<[Record<string, string>, boolean]>([
    [{ by: 'maker' }, false],
    [{ by: 'runtime' }, false],
    [{ by: 'maker', kind: 'saw', q: 'a', min_quality: '0.1', near: '47,8,5', ids: 'x' }, false],
    [{ by: 'maker,runtime' }, false],
    [{ by: 'maker,kind', kind: 'saw' }, false],
    [{ by: 'maker,runtime', kind: 'saw' }, true],
    [{ by: 'maker', min_runtime: '1' }, true],
    [{ by: 'maker', not_domain: 'a.example' }, true],
    [{ by: 'maker', has_runtime: 'false' }, true],
    [{ by: 'maker', like_summary: 'a' }, true],
    [{ by: 'runtime', kind: 'saw' }, true],
    [{ by: 'runtime', q: 'a' }, true],
    [{ by: 'runtime', ids: 'x' }, true],
    [{ by: 'runtime', near: '47,8,5' }, true],
    [{ by: 'runtime', min_quality: '0' }, true],
    [{ by: 'runtime', updated_since: '2026-01-01' }, true],
  ])('%j goes beyond the free facets: %j', (raw, beyond) => {
    expect(paid(raw)).toBe(beyond);
  });

  test('a query beyond the free facets is answered exactly', async () => {
    const [one] = records.filter(({ attributes }) => attributes['runtime'] !== undefined);
    expect(await ask({ by: 'maker', ids: one!.id, min_runtime: '-10' })).toMatchObject({ matched: 1 });
    expect((await ask({ by: 'runtime', ids: one!.id })).values).toEqual([
      { value: one!.attributes['runtime'], count: 1 },
    ]);
  });

  test('words match public text except for operators', async () => {
    const text = ({ attributes: { name, maker, model, materials } }: (typeof records)[number]) =>
      fold([name, maker, model, materials].flat().join(' '));
    const [id, word] = records.flatMap((record) =>
      words(String(record.attributes['summary'] ?? ''))
        .filter((each) => !text(record).includes(each))
        .map((each): [string, string] => [record.id, each]),
    )[0]!;
    expect((await ask({ by: 'maker', q: word, ids: id }, true)).matched).toBe(1);
    expect((await ask({ by: 'maker', q: word, ids: id })).matched).toBe(0);
  });
});
