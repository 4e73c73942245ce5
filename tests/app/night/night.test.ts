// A release of the fictional packs, file by file, read by a third-party reader.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { beforeAll, describe, expect, test } from 'vitest';
import { datasetNight } from '../../../build/night/dataset.ts';
import { Duck, quotedText } from '../../../data/duckdb/duck.ts';
import { column, type Manifest, paths } from '../../../data/model/layout.ts';
import { readManifest, verifyRelease } from '../../../data/model/manifest.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import { csvHeader, flatCells, flatColumns } from '../../../data/write/csv.ts';
import { loadPack } from '../../../packs/define/load.ts';
import type { Pack } from '../../../packs/define/model.ts';
import { byCodePoint, fold } from '../../../packs/define/text.ts';
import { scratchOfAll, still } from '../../support/night-pack.ts';
import { verifies } from '../../support/verifies.ts';

verifies('release.manifest', 'fact.shape', 'fact.first-and-confirmed', 'record.updated-at', 'feed.recorded-at');

type Row = Record<string, unknown>;

/** Normalises values of both readers: whole numbers as numbers, times as milliseconds. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Date) return value.getTime();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value as Row).map(([name, each]) => [name, plain(each)] as const);
    // One reader omits nulls, the other returns them.
    return Object.fromEntries(entries.filter(([, each]) => each !== null && each !== undefined));
  }
  return value;
}

async function independent(path: string): Promise<Row[]> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  return (await parquetReadObjects({ file, metadata, compressors })).map((row) => plain(row) as Row);
}

async function ours(path: string): Promise<Row[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const read = await connection.runAndReadAll(`SELECT * FROM read_parquet(${quotedText(path)})`);
  instance.closeSync();
  return read.getRowObjectsJS().map((row) => plain(row) as Row);
}

describe.each(['tools', 'harbours'])('%s', (dataset) => {
  const data = scratchOfAll();
  let pack: Pack;
  let folder: string;
  let manifest: Manifest;
  const rows = (file: string) => independent(join(folder, file));
  let bodies: StoredRecord[];

  beforeAll(async () => {
    pack = await loadPack(join(import.meta.dirname, '../../packs', dataset));
    const { release, outcome } = await datasetNight(pack, data, still(), { accept: false });
    expect(outcome).toBe('released');
    folder = paths.release(data, dataset, release!);
    manifest = await readManifest(folder);
    bodies = (await rows('bodies.parquet')).map(({ body }) => JSON.parse(String(body)) as StoredRecord);
  });

  test('is complete, and another reader finds the rows of every Parquet file', async () => {
    expect(await verifyRelease(folder)).toEqual([]);
    const files = Object.keys(manifest.files).filter((file) => file.endsWith('.parquet'));
    expect(files).toHaveLength(readdirSync(folder).filter((file) => file.endsWith('.parquet')).length);
    for (const file of files) {
      const found = await rows(file);
      expect(found, file).toHaveLength(manifest.files[file]!.rows!);
      expect(found, file).toEqual(await ours(join(folder, file)));
    }
  });

  test('bodies are ranked by quality, then id, and versioned by their content', async () => {
    const ranked = [...bodies].sort((a, b) => b.quality_score - a.quality_score || byCodePoint(a.id, b.id));
    expect(bodies.map(({ id }) => id)).toEqual(ranked.map(({ id }) => id));
    for (const [ord, row] of (await rows('bodies.parquet')).entries()) {
      const version = createHash('sha256').update(String(row['body'])).digest('hex').slice(0, 16);
      expect(row).toMatchObject({ ord, id: bodies[ord]!.id, version });
      expect(pack.identity.attributes.every((name) => name in (JSON.parse(String(row['identity'])) as Row))).toBe(true);
    }
    expect(manifest.records).toBe(bodies.length);
  });

  test('bodies are records with a provenance for every value', () => {
    for (const record of bodies) {
      expect(Object.keys(record)).toEqual([
        ...['id', 'slug', 'name', 'dataset', 'updated_at', 'attributes', 'provenance'],
        ...['quality_score', 'completeness', 'verified_owner'],
      ]);
      expect(Object.keys(record.provenance)).toEqual(Object.keys(record.attributes));
      expect(record.slug).toMatch(/^[a-z0-9-]+$/);
      expect(record.updated_at).toBe('2026-11-20T00:00:00Z');
      for (const told of Object.values(record.provenance)) {
        expect(told.source_url).toMatch(/^https?:\/\//);
        expect(told.observed_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/);
        expect(told.confidence).toBeGreaterThanOrEqual(pack.consolidation.floor);
        expect(told.source).toEqual({ kind: 'collector' });
      }
    }
    expect(new Set(bodies.map(({ slug }) => slug)).size).toBe(bodies.length);
  });

  test('JSONL has the bodies, CSV a row for each with our header', () => {
    const jsonl = readFileSync(join(folder, 'records.jsonl'), 'utf8').trimEnd().split('\n');
    expect(jsonl.map((line) => JSON.parse(line) as StoredRecord)).toEqual(bodies);
    const csv = readFileSync(join(folder, 'records.csv'), 'utf8').split('\r\n');
    expect(csv[0]).toBe(csvHeader(pack).join(','));
    expect(csv).toHaveLength(bodies.length + 2);
    expect(csv.at(-1)).toBe('');
    expect(csv.slice(1, -1).map((line) => line.split(',')[0])).toEqual(bodies.map(({ id }) => id));
  });

  test('the engine’s columns equal the bodies', async () => {
    for (const [ord, row] of (await rows('engine.parquet')).entries()) {
      const { id, slug, name, attributes, quality_score: quality, completeness, updated_at } = bodies[ord]!;
      expect(row).toMatchObject({
        ord,
        id,
        slug,
        name,
        quality,
        completeness,
        owner: false,
        updated: Date.parse(updated_at),
      });
      for (const attribute of pack.attributes) {
        const value = attributes[attribute.name];
        const cell = (part: Parameters<typeof column>[1]) => row[column(attribute.name, part)];
        if (attribute.type === 'price') {
          const ends =
            typeof value === 'number'
              ? { min: value, max: value }
              : (value as { min: number; max: number } | undefined);
          expect([cell('min'), cell('max')]).toEqual([ends?.min, ends?.max]);
        } else if (attribute.type === 'geo') expect({ lat: cell('lat'), lng: cell('lng') }).toEqual(value ?? {});
        else expect(cell('value')).toEqual(value);
        if (typeof value === 'string' && attribute.type !== 'date') expect(cell('fold')).toBe(fold(value));
        if (Array.isArray(value)) expect(cell('fold')).toEqual(value.map(fold));
      }
    }
  });

  test('analysts’ columns equal the bodies; the public file contains nothing else', async () => {
    const records = await rows('records.parquet');
    const open = await rows('public.parquet');
    const hidden = pack.attributes.filter((each) => !each.public).map(({ name }) => name);
    expect(hidden.length).toBeGreaterThan(0);
    for (const [ord, row] of records.entries()) {
      const { id, attributes, provenance } = bodies[ord]!;
      expect(row['id']).toBe(id);
      expect(Object.keys(row['provenance'] as Row).sort()).toEqual(Object.keys(provenance).sort());
      for (const attribute of pack.attributes) {
        const { name, type } = attribute;
        const cells = flatCells(attribute, attributes[name]).map((cell) =>
          type === 'date' && cell ? Date.parse(String(cell)) : cell,
        );
        const expected = type === 'strings' ? [attributes[name]] : cells.map((cell) => cell ?? undefined);
        expect(flatColumns(attribute).map((each) => row[each])).toEqual(expected);
        if (attributes[name] === undefined) continue;
        const told = (row['provenance'] as Record<string, Row>)[name]!;
        const { source, observed_at, ...rest } = provenance[name]!;
        expect(told).toEqual({ ...rest, source_kind: source.kind, observed_at: Date.parse(observed_at) });
      }
      const flat = JSON.stringify(open[ord]);
      for (const name of hidden) expect(flat).not.toContain(`"${name}`);
    }
    expect(open.map(({ id }) => id)).toEqual(records.map(({ id }) => id));
  });

  test('facts: one winner for every published value, a reason for each, sorted', async () => {
    const facts = await rows('facts.parquet');
    const won = facts.filter((fact) => fact['won'] === true);
    const published = bodies.flatMap((record) =>
      Object.entries(record.attributes).map(([name, value]) => [record.id, name, value]),
    );
    const key = (parts: unknown[]) => JSON.stringify(parts);
    expect(
      won.map((fact) => key([fact['entity'], fact['attribute'], JSON.parse(String(fact['value']))])).sort(),
    ).toEqual(published.map(key).sort());
    expect(facts.every((fact) => typeof fact['reason'] === 'string')).toBe(true);
    expect(facts.every((fact) => Number(fact['confirmed_at']) >= Number(fact['observed_at']))).toBe(true);
    const order = facts.map(
      (fact) => `${fact['entity']} ${fact['attribute']} ${String(fact['observed_at']).padStart(15, '0')}`,
    );
    expect(order).toEqual([...order].sort(byCodePoint));
    expect(manifest.facts).toBe(facts.length);
    for (const fact of won) {
      const record = bodies.find(({ id }) => id === fact['entity'])!;
      expect(Date.parse(record.provenance[String(fact['attribute'])]!.observed_at)).toBe(fact['confirmed_at']);
    }
  });

  test('history ends with what is published, and has no holes', async () => {
    const history = await rows('history.parquet');
    const current = history.filter((row) => row['to'] === undefined && row['value'] !== undefined);
    const values = bodies.flatMap(({ id, attributes }, ord) =>
      Object.entries(attributes).map(([name, value]) => JSON.stringify([ord, id, name, value])),
    );
    const told = (row: Row) =>
      JSON.stringify([row['ord'], row['entity'], row['attribute'], JSON.parse(String(row['value']))]);
    expect(current.map(told).sort()).toEqual(values.sort());
    history.forEach((row, i) => {
      const next = history[i + 1];
      const same = next?.['entity'] === row['entity'] && next?.['attribute'] === row['attribute'];
      expect(row['to']).toBe(same ? next?.['from'] : undefined);
      if (same) expect(next?.['old_value']).toBe(row['value']);
    });
  });

  test('the first change feed adds every published value, at times of their own, none after now', async () => {
    const changes = await rows('changes.parquet');
    expect(changes).toHaveLength(bodies.reduce((sum, { attributes }) => sum + Object.keys(attributes).length, 0));
    expect(new Set(changes.map(({ type }) => type))).toEqual(new Set(['added']));
    const duck = await Duck.open(join(data, 'spill'));
    const feed = `read_parquet(${quotedText(join(folder, 'changes.parquet'))})`;
    const at = (await duck.rows(`SELECT epoch_us(recorded_at) FROM ${feed}`)).map(([us]) => Number(us));
    duck.close();
    expect(at.every((us, i) => i === 0 || us === at[i - 1]! + 1)).toBe(true);
    expect(at.at(-1)).toBe(Date.parse('2026-11-20T00:00:00Z') * 1000);
  });

  test('the manifest counts ages and lists open enums', () => {
    const values = bodies.flatMap(({ provenance }) => Object.entries(provenance));
    for (const { name } of pack.attributes) {
      const ages = manifest.ages.filter(({ attribute }) => attribute === name);
      const count = (at: string) => values.filter(([each, told]) => each === name && told.observed_at === at).length;
      for (const age of ages) expect(count(age.observed_at)).toBe(age.count);
      expect(ages.reduce((sum, age) => sum + age.count, 0)).toBe(values.filter(([each]) => each === name).length);
    }
    const open = pack.attributes
      .filter(({ type, values: closed }) => type === 'enum' && closed === null)
      .map(({ name }) => name);
    expect(Object.keys(manifest.enums)).toEqual(open);
    for (const name of open) {
      expect([...manifest.enums[name]!].sort()).toEqual(
        [...new Set(bodies.map((each) => each.attributes[name]))].filter(Boolean).sort(),
      );
    }
  });
});
