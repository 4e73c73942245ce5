// Times of type `datetime`: from a file through a night into every format, filter, order and group, by the packed index
// and by DuckDB.
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { expect, test } from 'vitest';
import { Duck, quotedText } from '../../../data/duckdb/duck.ts';
import { openEngine } from '../../../data/duckdb/engine.ts';
import { buildIndex } from '../../../data/index/build.ts';
import { withIndex } from '../../../data/index/indexed-engine.ts';
import { PackedIndex } from '../../../data/index/packed-index.ts';
import { statsParameters } from '../../../data/input/analysis-parameters.ts';
import { facetsParameters, searchParameters } from '../../../data/input/search-parameters.ts';
import { questionOf, visibleSort } from '../../../data/input/selection.ts';
import { paths } from '../../../data/model/layout.ts';
import { readManifest } from '../../../data/model/manifest.ts';
import type { Engine } from '../../../data/plan/plan.ts';
import { loadPack } from '../../../packs/define/load.ts';
import { readTime, timeValue } from '../../../packs/define/times.ts';
import { appOfAll } from '../../support/app.ts';
import { pickOne, random } from '../../support/random-records.ts';

/** Published times by record, oldest first. */
const TIMES: readonly (readonly [name: string, value: string, day: string])[] = [
  ['T-10', '0001-01-01T23:06:32Z', '0001-01-02'],
  ['T-18', '1969-12-31T23:59:59.25Z', '1969-12-31'],
  ['T-9', '2016-12-31T23:59:59Z', '2016-12-31'],
  ['T-1', '2024-03-14T22:30:00Z', '2024-03-15'],
  ['T-6', '2024-03-14T22:30:00Z', '2024-03-14'],
  ['T-3', '2024-03-14T22:30:00.000001Z', '2024-03-14'],
  ['T-4', '2024-03-14T22:30:00.5Z', '2024-03-14'],
  ['T-2', '2024-03-14T23:30:00Z', '2024-03-15'],
  ['T-5', '2024-03-14T23:30:00Z', '2024-03-15'],
  ['T-12', '2024-03-14T23:59:59.999999Z', '2024-03-14'],
  ['T-13', '2024-03-15T00:00:00Z', '2024-03-15'],
  ['T-7', '2026-03-29T01:30:00Z', '2026-03-29'],
  ['T-8', '2026-10-25T00:30:00Z', '2026-10-25'],
  ['T-11', '9999-12-31T22:59:59.999999Z', '9999-12-31'],
];
const VALUES = TIMES.map(([, value]) => value);

const app = await appOfAll({ nights: true, packs: ['app/queries/tides'] });
const pack = await loadPack(join(import.meta.dirname, 'tides'));
const folder = paths.release(app.dataDir, 'tides', app.releases['tides']!);

const text = async (query: string) => (await app.ask(`/v1/tides/${query}`, { admin: true })).text();
const json = async (query: string) => JSON.parse(await text(query)) as Record<string, never>;
type Item = {
  name: string;
  attributes: { read_at?: string; read_on?: string };
  provenance: Record<string, { evidence: string }>;
};
const items = async (query: string) => (await json(`entities?limit=100&${query}`))['items'] as unknown as Item[];
const names = async (query: string) => (await items(query)).map(({ name }) => name).sort();

test('a night publishes times in UTC and days as written, and rejects what is no time', async () => {
  const records = await items('sort=read_at');
  const dated = records.filter(({ attributes }) => attributes.read_at !== undefined);
  const rows = dated.map(({ name, attributes }) => [name, attributes.read_at, attributes.read_on]);
  expect(rows.toSorted()).toEqual(TIMES.toSorted());
  expect(rows.map((row) => row[1])).toEqual(VALUES);
  expect(
    records
      .slice(TIMES.length)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['T-14', 'T-15', 'T-16', 'T-17']);
  const evidence = Object.fromEntries(records.map(({ name, provenance }) => [name, provenance['read_at']?.evidence]));
  expect(evidence['T-1']).toBe('line 2 of tides.csv: 2024-03-15T00:30:00+02:00');
  expect(evidence['T-6']).toBe('line 7 of tides.csv: 1710455400');
  expect(evidence['T-9']).toBe('line 10 of tides.csv: 2016-12-31T23:59:60Z');
  expect(evidence['T-13']).toBe('line 14 of tides.csv');
  expect(records[0]!.provenance['height']!.evidence).toBe('line 11 of tides.csv');
});

test('each format has the microseconds', async () => {
  for (const format of ['csv', 'ndjson', 'md', 'json', 'geojson'])
    for (const value of VALUES) expect(await text(`entities?limit=100&format=${format}`), format).toContain(value);
  const bytes = await (
    await app.ask('/v1/tides/entities?limit=100&format=arrow&sort=read_at', { admin: true })
  ).arrayBuffer();
  const column = tableFromIPC(new Uint8Array(bytes)).getChild('read_at')!;
  expect(String(column.type)).toBe('Timestamp<MICROSECOND, UTC>');
  const micros = (column.data[0]!.values as BigInt64Array).slice(0, VALUES.length);
  expect(micros.at(-1)).toBe(253_402_297_199_999_999n);
  expect(micros[5]).toBe(1_710_455_400_000_001n);
});

test('Parquet files have a TIMESTAMP, CSV and the page the text', async () => {
  const duck = await Duck.open(join(app.dataDir, 'spill'));
  for (const file of ['records.parquet', 'public.parquet']) {
    const from = quotedText(join(folder, file));
    const rows = await duck.rows(
      `SELECT typeof(read_at), read_at::VARCHAR, typeof(read_on) FROM read_parquet(${from}) WHERE read_at IS NOT NULL ORDER BY read_at`,
    );
    expect(rows.map(([type, value]) => [type, `${String(value).replace(' ', 'T')}Z`])).toEqual(
      VALUES.map((value) => ['TIMESTAMP', value]),
    );
    expect(rows[0]![2]).toBe('DATE');
  }
  duck.close();
  expect(await (await app.ask('/datasets/tides/t-3.md')).text()).toContain('2024-03-14T22:30:00.000001Z');
});

test.each([
  // A day is its moments in UTC, from the first to the last.
  ['read_at=2024-03-14', ['T-1', 'T-12', 'T-2', 'T-3', 'T-4', 'T-5', 'T-6']],
  ['read_at=2024-03-14T22:30:00Z', ['T-1', 'T-6']],
  ['read_at=2024-03-15T00:30:00%2B02:00', ['T-1', 'T-6']],
  ['read_at=2024-03-15T00:30:00+02:00', ['T-1', 'T-6']],
  ['read_at=2024-03-15,2024-03-14T22:30:00.5Z', ['T-13', 'T-4']],
  ['min_read_at=2024-03-15&max_read_at=2024-03-15', ['T-13']],
  ['min_read_at=2024-03-14&max_read_at=2024-03-14', ['T-1', 'T-12', 'T-2', 'T-3', 'T-4', 'T-5', 'T-6']],
  ['min_read_at=2024-03-14T22:30:00.000001Z&max_read_at=2024-03-14T23:30:00Z', ['T-2', 'T-3', 'T-4', 'T-5']],
  ['max_read_at=0001-01-01', ['T-10']],
  ['min_read_at=9999-12-31', ['T-11']],
  ['not_read_at=2024-03-14&min_read_at=2024-01-01', ['T-11', 'T-13', 'T-7', 'T-8']],
  ['has_read_at=false', ['T-14', 'T-15', 'T-16', 'T-17']],
  ['read_on=2024-03-15', ['T-1', 'T-13', 'T-2', 'T-5']],
])('%s', async (query, expected) => {
  expect(await names(query)).toEqual(expected);
});

test.each(['yesterday', '2024-02-30', '2024-03-14T25:00Z', '0000-01-01', "2024-03-14'--", '>=2024-03-14'])(
  'the filter read_at=%s is refused',
  async (value) => {
    const { status, body } = await app.json(`/v1/tides/entities?read_at=${encodeURIComponent(value)}`, { admin: true });
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain('read_at');
    expect((await app.ask(`/v1/tides/entities?like_read_at=2024`, { admin: true })).status).toBe(400);
  },
);

test('facets count days; statistics group by day, month and year', async () => {
  const facets = await json('facets?by=read_at');
  expect(facets['values']).toContainEqual({ value: '2024-03-14', count: 7 });
  expect(facets['missing']).toBe(4);
  const groups = async (by: string) =>
    Object.fromEntries(
      (
        (await json(`stats?attribute=height&group_by=${by}`))['rows'] as unknown as { group: string; count: number }[]
      ).map(({ group, count }) => [group, count]),
    );
  expect(await groups('read_at')).toMatchObject({ '2024-03-14': 7, '2024-03-15': 1, '0001-01-01': 1 });
  expect(await groups('read_at:month')).toMatchObject({ '2024-03': 8, '2026-10': 1 });
  expect(await groups('read_at:year')).toMatchObject({ '2024': 8, '2026': 2, '9999': 1 });
  expect(await groups('read_on:month')).toMatchObject({ '2024-03': 8 });
  expect(await text('stats?attribute=height&group_by=read_at:year&format=md')).toContain('|2024|8|');
  expect(JSON.stringify(await json('stats?attribute=height&group_by=gauge:month'))).toContain('has no months or years');
  expect(JSON.stringify(await json('stats?attribute=height&group_by=read_at:week'))).toContain(':month or :year');
});

test('schemas and documents describe a time', async () => {
  const schema = JSON.stringify(await json('schema'));
  expect(schema).toContain('"format":"date-time"');
  expect(schema).toContain('{"name":"min_read_at","attribute":"read_at","operator":"min","type":"datetime"');
  const openapi = await (await app.ask('/openapi.json')).text();
  expect(openapi).toContain('"name":"min_read_at"');
  expect(openapi).toContain('"anyOf":[{"format":"date"},{"format":"date-time"}]');
});

test('DuckDB and the packed index answer alike', async () => {
  const manifest = await readManifest(folder);
  const duckdb = await openEngine(folder, pack, manifest);
  await buildIndex(folder, pack);
  const opened = await openEngine(folder, pack, manifest, {}, undefined, true);
  const index = withIndex(opened, new PackedIndex(folder, pack, manifest), (log) => expect.fail(log));
  const next = random(4);
  const written = [...VALUES, ...VALUES.map((value) => value.slice(0, 10)), '2024-03-14T22:30:00.4Z', '1999-01-01'];
  const key = (value: string) => timeValue(readTime(value)!)!.slice(0, -1);
  for (let i = 0; i < 100; i += 1) {
    const kind = pickOne(next, ['', 'not_', 'min_', 'max_']);
    const value = pickOne(next, written);
    const raw = { [`${kind}read_at`]: value, sort: pickOne(next, ['read_at', '-read_at', 'read_on']), limit: '100' };
    const input = searchParameters.parse(raw, pack);
    const where = questionOf(input);
    const sort = visibleSort(input.sort, 'full', pack);
    const search = (engine: Engine) => engine.search({ where, sort, after: null, limit: 100, total: true });
    const found = await search(index);
    expect(found, JSON.stringify(raw)).toEqual(await search(duckdb));
    const [from, to] = value.length === 10 ? [key(value), `${value}T23:59:59.999999`] : [key(value), key(value)];
    const inside = VALUES.filter((one) => {
      const at = one.slice(0, -1);
      return kind === 'min_' ? at >= from : kind === 'max_' ? at <= to : (at >= from && at <= to) === (kind === '');
    });
    expect(found.total, JSON.stringify(raw)).toBe(inside.length + (kind === 'not_' ? 4 : 0));
    const { where: _, ...facets } = { where, by: pickOne(next, ['read_at', 'read_on']), limit: 50, floor: 0 };
    expect(await index.facets({ where, ...facets })).toEqual(await duckdb.facets({ where, ...facets }));
    const group_by = pickOne(next, ['read_at', 'read_at:month', 'read_at:year,gauge', 'gauge,read_on:month']);
    const {
      attributes: [attribute = ''],
      group_by: by,
    } = statsParameters.parse({ attribute: 'height', group_by }, pack);
    const stats = (engine: Engine) => engine.stats({ where, attribute, by, groups: 100 });
    expect(await stats(index), JSON.stringify({ ...raw, group_by })).toEqual(await stats(duckdb));
  }
  expect(facetsParameters.parse({ by: 'read_at' }, pack).by).toEqual(['read_at']);
  await Promise.all([duckdb.close(), index.close()]);
});
