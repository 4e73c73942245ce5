// Both engines agree with the independent evaluator on seeded random requests, pages walked to the end.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadPack } from '../packs/index.ts';
import type { Pack } from '../packs/model.ts';
import { evaluateFacets, evaluateSearch, onEdge, type Query } from '../tests/evaluate.ts';
import { randomFacets, randomSearch } from '../tests/random-queries.ts';
import { random, randomRecords } from '../tests/random-records.ts';
import { verifies } from '../tests/verifies.ts';
import { writeRelease } from '../tests/write-release.ts';
import { encodeCursor } from './cursor.ts';
import { openEngine } from './duckdb/engine.ts';
import { buildIndex } from './index/build.ts';
import { PackedIndex } from './index/engine.ts';
import { withIndex } from './index/indexed.ts';
import type { StoredRecord } from './model.ts';
import { parseFacets, parseSearch } from './parse.ts';
import { questionOf } from './parse-selection.ts';
import type { Engine } from './plan.ts';

verifies(
  'search.q',
  'search.near',
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

/** Queries of each kind, for each pack. */
const QUERIES = 400;

describe.each([
  ['tools', 'DuckDB'],
  ['tools', 'the packed index'],
  ['harbours', 'DuckDB'],
  ['harbours', 'the packed index'],
])('%s on %s', (dataset, kind) => {
  let pack: Pack;
  let records: StoredRecord[];
  let engine: Engine;
  beforeAll(async () => {
    pack = await loadPack(join(import.meta.dirname, '../tests/packs', dataset));
    records = randomRecords(pack, 300, 11);
    const { folder, manifest } = await writeRelease(dataDir, pack, records);
    engine = await openEngine(folder, pack, manifest);
    if (kind === 'DuckDB') return;
    await buildIndex(folder, pack);
    // A text in the log would mean that DuckDB answered in its place.
    engine = withIndex(engine, new PackedIndex(folder, pack, manifest), (text) => expect.fail(text));
  });
  afterAll(() => engine.close());

  /** Every page of a search, through the cursors that callers would get. */
  async function walk(query: Query, scope: 'public' | 'full') {
    const ids: string[] = [];
    const totals = new Set<number | null>();
    let cursor: string | null = null;
    do {
      const input = parseSearch(cursor === null ? query : { ...query, cursor }, pack);
      const where = questionOf(input, scope);
      const after = input.cursor?.after ?? null;
      const page = await engine.search({ where, sort: input.sort, after, limit: input.limit, total: input.total });
      ids.push(...page.ordinals.map((ordinal) => records[ordinal]!.id));
      totals.add(page.total);
      const question = { dataset, where: questionOf(input), sort: input.sort };
      cursor = page.next && encodeCursor(question, '0123456789abcdef', page.next);
    } while (cursor !== null);
    return { ids, totals: [...totals] };
  }

  test(`${QUERIES} searches`, async () => {
    const next = random(dataset.length);
    let matches = 0;
    for (let i = 0; i < QUERIES; i++) {
      const query = randomSearch(next, pack, records);
      const near = query['near'];
      if (near !== undefined && records.some((record) => onEdge(pack, record, String(near)))) continue;
      const publicOnly = next() < 0.3;
      const expected = evaluateSearch(pack, records, query, { publicOnly });
      const found = await walk(query, publicOnly ? 'public' : 'full');
      expect(found.ids, JSON.stringify(query)).toEqual(expected);
      expect(found.totals, JSON.stringify(query)).toEqual([query['total'] ? expected.length : null]);
      matches += expected.length;
    }
    expect(matches).toBeGreaterThan(QUERIES);
  }, 120_000);

  test(`${QUERIES} facets`, async () => {
    const next = random(dataset.length + 1);
    for (let i = 0; i < QUERIES; i++) {
      const query = randomFacets(next, pack, records);
      const near = query['near'];
      if (near !== undefined && records.some((record) => onEdge(pack, record, String(near)))) continue;
      const floor = next() < 0.5 ? 5 : 0;
      const { by, limit, ...input } = parseFacets(query, pack);
      const found = await engine.facets({ where: questionOf(input), by, limit, floor });
      expect(found, JSON.stringify(query)).toEqual(evaluateFacets(pack, records, query, { floor }));
    }
  }, 120_000);
});
