// Both engines agree with the independent evaluator on seeded random requests, over all pages.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import leven from 'leven';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEngine } from '../../../data/duckdb/engine.ts';
import { buildIndex } from '../../../data/index/build.ts';
import { withIndex } from '../../../data/index/indexed-engine.ts';
import { PackedIndex } from '../../../data/index/packed-index.ts';
import { facetsParameters, searchParameters } from '../../../data/input/search-parameters.ts';
import { questionOf, visibleSort } from '../../../data/input/selection.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import type { Engine, RecordHead, RecordRenderer } from '../../../data/plan/plan.ts';
import { acceptKeys } from '../../../data/releases/record-keys.ts';
import { loadPack } from '../../../packs/define/load.ts';
import type { Pack } from '../../../packs/define/model.ts';
import { byCodePoint } from '../../../packs/define/text.ts';
import { cursors } from '../../support/cursors.ts';
import { draws } from '../../support/draws.ts';
import {
  edits,
  evaluateFacets,
  evaluateGroups,
  evaluateSearch,
  isUnclear,
  keysOf,
  metres,
  recordNamed,
  type SearchQuery,
  wordCounts,
} from '../../support/evaluate.ts';
import { randomFilter } from '../../support/random-filters.ts';
import { randomOverlay } from '../../support/random-overlay.ts';
import { randomFacets, randomGroups, randomNearest, randomSearch } from '../../support/random-queries.ts';
import { pickOne, random, randomRecords } from '../../support/random-records.ts';
import { verifies } from '../../support/verifies.ts';
import { writeRelease } from '../../support/write-release.ts';

verifies(
  'search.q',
  'search.near',
  'search.bbox',
  'search.sort-distance',
  'search.sort-attribute',
  'search.sort-default',
  'search.sort-stable',
  'search.cursor',
  'search.ids',
  'search.updated-since',
  'search.min-quality',
  'search.filters-generated',
  'filter.any-of',
  'filter.like',
  'filter.not',
  'filter.min-max',
  'filter.max-range',
  'filter.has',
  'filter.not-keeps-missing',
  'filter.drops-missing',
  'filter.expression',
  'filter.has-false',
  'filter.range-overlap',
  'filter.enum-unknown',
  'sort.direction',
  'sort.missing-last',
  'sort.ties',
  'facets.filters',
);

const dataDir = mkdtempSync(join(tmpdir(), 'engine-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** A renderer that adds nothing to a stored text. */
const UNDRESSED: RecordRenderer = {
  key: 'undressed',
  render: ({ head, middle, tail }) => ({ json: Buffer.concat([head, middle, tail]), updated_at: '' }),
};

/** Queries of each kind, for each pack. */
const QUERIES = draws(400);
/** Fewer under an overlay, since the statements are the same. */
const OVERLAID = draws(150);

describe.each([
  ['tools', 'DuckDB', false],
  ['tools', 'DuckDB beside an index', false],
  ['tools', 'the packed index', false],
  ['tools', 'DuckDB', true],
  ['tools', 'DuckDB beside an index', true],
  ['tools', 'the packed index', true],
  ['harbours', 'DuckDB', false],
  ['harbours', 'DuckDB beside an index', false],
  ['harbours', 'the packed index', false],
  ['harbours', 'DuckDB', true],
  ['harbours', 'DuckDB beside an index', true],
  ['harbours', 'the packed index', true],
])('%s on %s, under an overlay: %s', (dataset, kind, overlaid) => {
  const asked = overlaid ? OVERLAID : QUERIES;
  let pack: Pack;
  /** Records in the order of ordinals. */
  let stored: StoredRecord[];
  /** Unchanged bodies. */
  let records: StoredRecord[];
  let opened: Engine;
  let engine: Engine;
  beforeAll(async () => {
    pack = await loadPack(join(import.meta.dirname, '../../packs', dataset));
    stored = randomRecords(pack, 300, 11);
    const { folder, manifest } = await writeRelease(dataDir, pack, stored);
    const beside = kind === 'DuckDB beside an index';
    opened = await openEngine(folder, pack, manifest, {}, undefined, beside);
    if (kind === 'the packed index') {
      await buildIndex(folder, pack);
      // A log entry would mean that DuckDB answered instead.
      opened = withIndex(opened, new PackedIndex(folder, pack, manifest), (text) => expect.fail(text));
    }
    opened = acceptKeys(opened, pack);
    const overlay = randomOverlay(pack, stored, 21);
    engine = overlaid ? opened.withOverlay(overlay.applied) : opened;
    records = overlaid ? overlay.records : stored;
  });
  afterAll(async () => {
    if (overlaid) await engine.close();
    // The overlay does not change the release below it.
    const query = { where: [], sort: { key: 'quality', descending: true }, after: null, limit: 1, total: true };
    expect((await opened.search(query)).total).toBe(stored.length);
    await opened.close();
  });

  /** Every page of a search, through the cursors of callers. */
  async function walk(query: SearchQuery, scope: 'public' | 'full') {
    const ids: string[] = [];
    const distances: number[] = [];
    const groups: unknown[] = [];
    const totals = new Set<number | null>();
    let cursor: string | null = null;
    do {
      const input = searchParameters.parse(cursor === null ? query : { ...query, cursor }, pack, { cursors });
      const where = questionOf(input, scope);
      const after = input.cursor?.after ?? null;
      const sort = visibleSort(input.sort, scope, pack);
      const { limit, total, group } = input;
      const page = await engine.search({ where, sort, after, limit, total, ...(group ? { group } : {}) });
      groups.push(...(page.groups ?? []));
      ids.push(...page.ordinals.map((ordinal) => stored[ordinal]!.id));
      distances.push(...(page.metres ?? []));
      totals.add(page.total);
      const question = { dataset, where: questionOf(input), sort, group_by: group?.by ?? null };
      cursor = page.next && cursors.write(question, '0123456789abcdef', page.next);
    } while (cursor !== null);
    return { ids, totals: [...totals], distances, groups };
  }

  test(`${asked} searches`, async () => {
    const next = random(dataset.length);
    let matches = 0;
    for (let i = 0; i < asked; i++) {
      const query = randomSearch(next, pack, records);
      if (records.some((record) => isUnclear(pack, record, query))) continue;
      const publicOnly = next() < 0.3;
      const expected = evaluateSearch(pack, records, query, { publicOnly, corpus: stored });
      const found = await walk(query, publicOnly ? 'public' : 'full');
      expect(found.ids, JSON.stringify(query)).toEqual(expected);
      expect(found.totals, JSON.stringify(query)).toEqual([query['total'] ? expected.length : null]);
      matches += expected.length;
    }
    expect(matches).toBeGreaterThan(asked);
  }, 300_000);

  test(`${asked} filters`, async () => {
    const next = random(dataset.length + 3);
    let [matches, empty] = [0, 0];
    for (let i = 0; i < asked; i++) {
      const query = { ...randomFilter(next, pack, records), limit: '100', total: 'true' };
      const expected = evaluateSearch(pack, records, query);
      const found = await walk(query, 'full');
      expect(found.ids, JSON.stringify(query)).toEqual(expected);
      expect(found.totals, JSON.stringify(query)).toEqual([expected.length]);
      matches += expected.length;
      empty += Number(expected.length === 0);
    }
    expect(matches).toBeGreaterThan(20 * asked);
    expect(empty).toBeLessThan(asked / 3);
  }, 300_000);

  test(`${asked} searches by distance`, async () => {
    const next = random(dataset.length + 2);
    const byId = new Map(records.map((record) => [record.id, record]));
    let matches = 0;
    for (let i = 0; i < asked; i++) {
      const query = randomNearest(next, pack, records);
      if (records.some((record) => isUnclear(pack, record, query))) continue;
      const expected = evaluateSearch(pack, records, query);
      const found = await walk(query, 'full');
      expect(found.ids, JSON.stringify(query)).toEqual(expected);
      expect(found.totals, JSON.stringify(query)).toEqual([query['total'] ? expected.length : null]);
      const distances = expected.map((id) => metres(pack, byId.get(id)!, String(query['near'])));
      expect(found.distances, JSON.stringify(query)).toEqual(distances);
      matches += expected.length;
    }
    expect(matches).toBeGreaterThan(10 * asked);
  }, 300_000);

  // Fewer, of many pages each.
  const grouped = Math.ceil(asked / 4);
  test(`${grouped} searches for the best of each group`, async () => {
    const next = random(dataset.length + 3);
    let [several, shared] = [0, 0];
    for (let i = 0; i < grouped; i++) {
      const query = randomGroups(next, pack, records);
      if (records.some((record) => isUnclear(pack, record, query))) continue;
      const publicOnly = next() < 0.3;
      const expected = evaluateGroups(pack, records, query, { publicOnly, corpus: stored });
      const found = await walk(query, publicOnly ? 'public' : 'full');
      const rows = expected.flatMap(({ group, ids }) => ids.map((id) => [group, id]));
      expect(
        found.ids.map((id, at) => [found.groups[at], id]),
        JSON.stringify(query),
      ).toEqual(rows);
      expect(found.totals, JSON.stringify(query)).toEqual([query['total'] ? expected.length : null]);
      if (rows.length > expected.length) several += 1;
      if (new Set(found.ids).size < found.ids.length) shared += 1;
    }
    expect(several).toBeGreaterThan(grouped / 10);
    expect(shared).toBeGreaterThan(0);
  }, 300_000);

  // DuckDB answers these with and without an index. Earlier states of random overlays are not those of their records.
  const earlier = Math.ceil(asked / 8);
  if (!overlaid && kind !== 'DuckDB')
    test(`${earlier} searches, groups and facets as of the newest moment`, async () => {
      const next = random(dataset.length + 4);
      const as_of = '2026-12-31T00:00:00Z';
      let matches = 0;
      for (let i = 0; i < earlier; i++) {
        const make = pickOne(next, [randomSearch, randomNearest, randomGroups, randomFacets]);
        const { updated_since: _, provenance_status: __, ...query } = make(next, pack, records);
        if (records.some((record) => isUnclear(pack, record, query))) continue;
        const message = JSON.stringify(query);
        if (make === randomFacets) {
          const { by, limit, ...input } = facetsParameters.parse({ ...query, as_of }, pack);
          const found = await engine.facets({ where: questionOf(input), by: by[0]!, limit, floor: 0 });
          expect(found, message).toEqual(evaluateFacets(pack, records, query));
          matches += found.matched;
          continue;
        }
        const { ids, groups } = await walk({ ...query, as_of }, 'full');
        matches += ids.length;
        if (make !== randomGroups) expect(ids, message).toEqual(evaluateSearch(pack, records, query));
        else {
          const expected = evaluateGroups(pack, records, query);
          const rows = expected.flatMap(({ group, ids: members }) => members.map((id) => [group, id]));
          expect(
            ids.map((id, at) => [groups[at], id]),
            message,
          ).toEqual(rows);
        }
      }
      expect(matches).toBeGreaterThan(5 * earlier);
    }, 300_000);

  test(`${asked} facets`, async () => {
    const next = random(dataset.length + 1);
    for (let i = 0; i < asked; i++) {
      const query = randomFacets(next, pack, records);
      if (records.some((record) => isUnclear(pack, record, query))) continue;
      const floor = next() < 0.5 ? 5 : 0;
      const {
        by: [by = ''],
        limit,
        ...input
      } = facetsParameters.parse(query, pack);
      const found = await engine.facets({ where: questionOf(input), by, limit, floor });
      expect(found, JSON.stringify(query)).toEqual(evaluateFacets(pack, records, query, { floor }));
    }
  }, 300_000);

  test(`spellings of ${asked} words`, async () => {
    const next = random(dataset.length + 2);
    const vocabulary = { full: wordCounts(pack, stored, false), public: wordCounts(pack, stored, true) };
    let suggested = 0;
    for (let i = 0; i < asked; i++) {
      const [known] = pickOne(next, [...vocabulary.full]);
      const letters = [...known];
      const at = Math.floor(next() * (letters.length + 1));
      letters.splice(at, pickOne(next, [0, 1]), ...pickOne(next, [[], ['e'], ['ж'], ['𝒳']]));
      const word = letters.join('');
      if (word === '') continue;
      const scope = pickOne(next, ['full', 'public'] as const);
      const expected = [...vocabulary[scope]]
        .filter(([other]) => edits(other, word) === 1)
        .sort((a, b) => b[1] - a[1] || byCodePoint(a[0], b[0]))
        .slice(0, 3)
        .map(([other]) => other);
      expect(engine.spellings?.({ word, scope, limit: 3 }), word).toEqual(
        kind === 'the packed index' ? expected : undefined,
      );
      suggested += expected.length;
      // Two edits: letters of the text alone, since the distance counts UTF-16 units.
      if (/[^\0-\uffff]/u.test(word)) continue;
      const near = [...vocabulary[scope]]
        .filter(([other]) => !/[^\0-\uffff]/u.test(other) && other[0] === word[0] && leven(other, word) <= 2)
        .sort((a, b) => b[1] - a[1] || byCodePoint(a[0], b[0]))
        .slice(0, 50)
        .map(([other]) => other);
      const twoEdits = engine
        .spellings?.({ word, scope, limit: 1000, edits: 2 })
        ?.filter((other) => !/[^\0-\uffff]/u.test(other));
      expect(twoEdits?.slice(0, 50), word).toEqual(kind === 'the packed index' ? near : undefined);
    }
    expect(suggested).toBeGreaterThan(asked / 2);
  });

  test('keys', async () => {
    const texts = stored.flatMap((record) => keysOf(pack, record));
    const refs = [...new Set(texts.flatMap((text) => [text.toLowerCase(), `${text}/`.toLowerCase()]))];
    const named = refs.map((ref) => recordNamed(pack, records, ref)?.id);
    const ordinals = await engine.resolve(refs);
    expect(ordinals.map((ordinal) => (ordinal === null ? undefined : stored[ordinal]!.id))).toEqual(named);
    // Of the tools some are unique, and some are shared or of removed records; harbours have no keys.
    if (pack.id === 'tools') {
      expect(named.filter((id) => id !== undefined).length).toBeGreaterThan(20);
      expect(named.filter((id) => id === undefined).length).toBeGreaterThan(20);
    }
    const [slug] = stored.filter(({ id }) => !records.some((record) => record.id === id)).map((record) => record.slug);
    if (slug !== undefined) expect(await engine.resolve([slug])).toEqual([null]);
  });

  test('ids, slugs and bodies', async () => {
    const refs = [...stored.flatMap(({ id, slug }) => [id, slug]), 'nobody', 'r-00000000000000aa'];
    const found = await engine.resolve(refs);
    const now = new Map(records.flatMap((record) => [[record.id, record] as const, [record.slug, record] as const]));
    expect(found.map((ordinal) => ordinal !== null)).toEqual(refs.map((ref) => now.has(ref)));
    const known = refs.filter((_, i) => found[i] !== null);
    const bodies = await engine.bodies(found.filter((ordinal) => ordinal !== null));
    expect(bodies.map(({ body }) => JSON.parse(body))).toEqual(known.map((ref) => now.get(ref)));
    const head = ({ slug, updated_at }: RecordHead) => [slug, Date.parse(updated_at)];
    const heads = await engine.heads(found.filter((ordinal) => ordinal !== null));
    expect(heads.map(head)).toEqual(known.map((ref) => head(now.get(ref)!)));
    const version = (record: StoredRecord) =>
      createHash('sha256').update(JSON.stringify(record)).digest('hex').slice(0, 16);
    expect(bodies.map((each) => each.version)).toEqual(known.map((ref) => version(now.get(ref)!)));
    // A text that is sent unparsed equals the record, or there is none.
    for (const [i, ordinal] of found.filter((each) => each !== null).entries()) {
      const text = engine.text?.(ordinal, new Date(0), UNDRESSED) ?? null;
      if (text !== null) expect([text.json.toString(), text.version]).toEqual([bodies[i]!.body, bodies[i]!.version]);
    }
  });
});
