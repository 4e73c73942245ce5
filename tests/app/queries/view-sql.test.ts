// The statement of a view selects the records of the view: random parameters, DuckDB over the public columns.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readState } from '../../../api/pages/viewer-state.ts';
import { Duck } from '../../../data/duckdb/duck.ts';
import { filterGrammar } from '../../../data/input/filters.ts';
import { publicQuery, recordsQuery } from '../../../data/write/analysts.ts';
import { loadPack } from '../../../packs/define/load.ts';
import type { Pack } from '../../../packs/define/model.ts';
import { viewQuery } from '../../../site/viewer/view-sql.ts';
import { evaluateSearch, isUnclear, type SearchQuery } from '../../support/evaluate.ts';
import { scratchOfAll } from '../../support/night-pack.ts';
import { randomSearch } from '../../support/random-queries.ts';
import { random, randomRecords } from '../../support/random-records.ts';

const folder = scratchOfAll();
let duck: Duck;
beforeAll(async () => {
  duck = await Duck.open(join(folder, 'spill'));
});
afterAll(() => duck.close());

/** The part of a viewer's model that statements need. */
const modelOf = (pack: Pack) => ({
  dataset: pack.id,
  attributes: pack.attributes.map(({ name, type, unit, description, public: open, filterable, searchable }) => {
    return { name, type, unit, description, public: open, filterable, searchable };
  }),
  filters: filterGrammar(pack, null),
  columns: pack.attributes.slice(0, 3).map(({ name }) => name),
  sort: '-quality',
  geo: pack.attributes.find(({ type, public: open }) => type === 'geo' && open)?.name ?? null,
});

/** Whether `lower` and `strip_accents` of DuckDB fold a text as the register does: ASCII letters, with or without accents. */
const isPlain = (text: string) => /^[\x20-\x7e]*$/.test(text.normalize('NFD').replace(/\p{M}/gu, ''));

describe.each(['harbours', 'tools'])('%s', (dataset) => {
  test('200 random views', async () => {
    const pack = await loadPack(join(import.meta.dirname, '../../packs', dataset));
    const model = modelOf(pack);
    const next = random(23);
    const records = randomRecords(pack, 8000, 23)
      .filter(({ name, attributes }) => isPlain(name + JSON.stringify(attributes)))
      .slice(0, 500);
    expect(records.length).toBeGreaterThan(100);
    const [jsonl, parquet] = ['jsonl', 'parquet'].map((suffix) => join(folder, `${dataset}.${suffix}`));
    writeFileSync(jsonl!, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    await duck.parquet(recordsQuery(pack, jsonl!, 0), parquet!);
    await duck.run(`CREATE OR REPLACE VIEW ${dataset} AS ${publicQuery(pack, parquet!)}`);
    const open = new Set(pack.attributes.filter((attribute) => attribute.public).map(({ name }) => name));
    let compared = 0;
    for (let i = 0; i < 200; i++) {
      const random = randomSearch(next, pack, records);
      const view = readState(new URLSearchParams(random as Record<string, string>).toString(), model);
      const named = model.filters.filter(({ name }) => view.has(name));
      const query = Object.fromEntries([...view].filter(([name]) => !['sort', 'fields'].includes(name))) as SearchQuery;
      if (named.some(({ attribute }) => !open.has(attribute)) || !Object.values(query).flat().every(isPlain)) continue;
      if (records.some((record) => isUnclear(pack, record, query))) continue;
      const statement = viewQuery(new URLSearchParams(query as Record<string, string>), model);
      if (statement.startsWith('--')) continue;
      const expected = evaluateSearch(pack, records, query, { publicOnly: true });
      const rows = await duck.rows(`SELECT slug FROM (${statement})`);
      const slugs = new Map(records.map(({ slug, id }) => [slug, id]));
      expect(
        rows.map(([slug]) => slugs.get(String(slug))).toSorted(),
        `${JSON.stringify(query)}\n${statement}`,
      ).toEqual(expected.toSorted());
      compared += 1;
    }
    expect(compared).toBeGreaterThan(50);
  });
});
