// history.parquet and public.geojson over seeded random years of fictional sources: the same values as the
// API as of any moment, and after opt-outs, edits and decisions the same as in the next release.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeAnalystFiles } from '../../../build/static/analysts.ts';
import { Output } from '../../../build/static/output.ts';
import { writePages } from '../../../build/static/pages.ts';
import { sameValue } from '../../../data/consolidate/same-value.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import { removalsOf } from '../../../data/plan/overlay.ts';
import { recordsAsOf } from '../../../data/queries/as-of.ts';
import { getFacts } from '../../../data/queries/history.ts';
import { applyOverlay } from '../../../data/releases/apply-overlay.ts';
import { type Release, releaseTag } from '../../../data/releases/release.ts';
import { HISTORY_FILE_COLUMNS } from '../../../data/write/dictionary.ts';
import type { Pack, Value } from '../../../packs/define/model.ts';
import { draws } from '../../support/draws.ts';
import { scratchOfAll, stonesPack } from '../../support/night-pack.ts';
import { type OverlayWorld, openWorld } from '../../support/overlay-world.ts';
import { randomPast } from '../../support/random-past.ts';

const BASE = 'https://register.example';

interface HistoryLine {
  id: string;
  slug: string;
  name: string;
  attribute: string;
  value: string;
  min: number | null;
  max: number | null;
  valid_from: Date;
  valid_until: Date | null;
  source: string;
  source_url: string;
  confidence: number;
}

interface Feature {
  id: string;
  geometry: { coordinates: [number, number] } | null;
  properties: Record<string, unknown>;
}

let count = 0;

/** Writes the files of a release; returns their content, and their bytes as one text. */
async function written(release: Release, folder: string) {
  const [dist, work] = ['dist', 'work'].map((name) => join(folder, `${name}-${releaseTag(release)}-${count++}`)) as [
    string,
    string,
  ];
  for (const each of [dist, work]) mkdirSync(each);
  const output = new Output(dist);
  const shared = { release, base: BASE, scratch: work };
  await writePages({ ...shared, key: 'full', progress: () => {} }, output);
  await writeAnalystFiles({ ...shared, key: 'files' }, output);
  const file = (name: string) => join(dist, 'files', release.pack.id, name);
  const history = (await parquetReadObjects({
    file: await asyncBufferFromFile(file('history.parquet')),
    compressors,
  })) as unknown as HistoryLine[];
  const text = readFileSync(file('public.geojson'), 'utf8');
  const { features, ...head } = JSON.parse(text) as { features: Feature[]; release: string; total: number };
  return { history, features, head, file, bytes: text + readFileSync(file('history.parquet'), 'latin1') };
}

/** The value of a row, as the API answers it. */
function printedValue({ attributes }: Pack, { attribute, value }: HistoryLine): Value {
  const { type } = attributes.find(({ name }) => name === attribute)!;
  return ['string', 'text', 'url', 'enum', 'date'].includes(type) ? value : (JSON.parse(value) as Value);
}

const open = ({ attributes }: Pack) => attributes.filter((attribute) => attribute.public);

/** Public values of a record. */
const publicValues = (pack: Pack, { attributes }: Pick<StoredRecord, 'attributes'>) =>
  Object.fromEntries(
    open(pack).flatMap(({ name }) => (attributes[name] === undefined ? [] : [[name, attributes[name]]])),
  );

describe.each([1, 2, 3].slice(0, draws(3)))('world %i', (seed) => {
  const folder = scratchOfAll();
  const stones = stonesPack(folder, randomPast(seed));
  const attributes = stones.attributes.map((each) => ({ ...each, public: each.name !== 'seen' }));
  const pack: Pack = { ...stones, attributes };
  let world: OverlayWorld;
  let files: Awaited<ReturnType<typeof written>>;
  beforeAll(async () => {
    world = await openWorld(folder, pack, '2026-11-20T00:00:00Z');
    files = await written(world.release(), folder);
  });
  afterAll(() => world.close());

  test('history has the public values of every record as of every moment', async () => {
    const { engine } = world.release();
    const records = [...(await world.records()).values()];
    const ordinals = (await engine.resolve(records.map(({ id }) => id))).map((ordinal) => ordinal!);
    const moments = new Set(
      files.history.flatMap(({ valid_from, valid_until }) => {
        const [from, until] = [valid_from.getTime(), valid_until?.getTime()];
        return [from - 1, from, ...(until === undefined ? [] : [until - 1, until])];
      }),
    );
    expect(moments.size).toBeGreaterThan(10);
    for (const moment of moments) {
      const then = await recordsAsOf(world.release(), ordinals, moment, {});
      for (const [i, { id }] of records.entries()) {
        const rows = files.history.filter(
          (row) =>
            row.id === id && row.valid_from.getTime() <= moment && (row.valid_until?.getTime() ?? Infinity) > moment,
        );
        const values = then[i] ? publicValues(pack, then[i]) : {};
        expect(rows.map(({ attribute }) => attribute).sort(), `${id} ${moment}`).toEqual(Object.keys(values).sort());
        for (const row of rows) {
          const attribute = pack.attributes.find(({ name }) => name === row.attribute)!;
          const same = sameValue(attribute, printedValue(pack, row), values[row.attribute]!);
          expect(same, `${id} ${moment} ${row.attribute}: ${row.value}`).toBe(true);
        }
      }
    }
  });

  test('each row is a fact, with its source and confidence, and has the number of its value', async () => {
    const facts = new Map<string, Awaited<ReturnType<typeof getFacts>>>();
    for (const { id } of files.history)
      if (!facts.has(id)) facts.set(id, await getFacts(world.release(), id, { attribute: null, since: null }, {}));
    for (const row of files.history) {
      const attribute = pack.attributes.find(({ name }) => name === row.attribute)!;
      const value = printedValue(pack, row);
      const told = facts
        .get(row.id)!
        .filter(({ observed_at }) => Date.parse(observed_at) <= row.valid_from.getTime())
        .filter((fact) => fact.attribute === row.attribute && fact.value !== undefined)
        .filter((fact) => sameValue(attribute, fact.value!, value))
        .map((fact) => [fact.attribute, fact.source.id, fact.source_url, fact.confidence]);
      expect(told).toContainEqual([row.attribute, row.source, row.source_url, row.confidence]);
      const ends = typeof value === 'number' ? { min: value, max: value } : { min: null, max: null };
      expect({ min: row.min, max: row.max }).toEqual(
        typeof value === 'object' && 'min' in value ? { min: value.min, max: value.max } : ends,
      );
    }
  });

  test('history is sorted by record, time and attribute, and describes itself', async () => {
    const { key_value_metadata = [], schema } = await parquetMetadataAsync(
      await asyncBufferFromFile(files.file('history.parquet')),
    );
    expect(schema.slice(1).map(({ name }) => name)).toEqual(HISTORY_FILE_COLUMNS.map(({ name }) => name));
    const keys = files.history.map(({ id, valid_from, attribute }) => `${id} ${valid_from.toISOString()} ${attribute}`);
    expect(keys).toEqual([...new Set(keys)].sort());
    const about = Object.fromEntries(key_value_metadata.map(({ key, value }) => [key, value]));
    expect(about).toMatchObject({
      ...{ dataset: 'stones', release: world.release().manifest.release, license: pack.license.name },
      ...{ attribution: pack.attribution, sorted_by: 'id, valid_from, attribute' },
    });
    const named = JSON.parse(about['attributes']!) as { name: string }[];
    expect(named.map(({ name }) => name)).toEqual(open(pack).map(({ name }) => name));
  });

  test('GeoJSON has every record, its point and its public values', async () => {
    const records = [...(await world.records()).values()];
    expect(files.head).toMatchObject({ release: world.release().manifest.release, total: records.length });
    for (const record of records) {
      const { place, ...values } = publicValues(pack, record) as { place?: { lat: number; lng: number } };
      const { id, slug, name, updated_at, quality_score } = record;
      const url = `${BASE}/datasets/stones/${slug}`;
      expect(files.features.find((feature) => feature.id === id)).toEqual({
        type: 'Feature',
        id,
        geometry: place ? { type: 'Point', coordinates: [place.lng, place.lat] } : null,
        properties: { slug, name, url, updated_at, quality_score, ...values },
      });
    }
    expect(files.features).toHaveLength(records.length);
  });

  test('the same release gives the same bytes', async () => {
    expect((await written(world.release(), folder)).bytes).toBe(files.bytes);
  });

  test('opt-outs change both files at once, edits and decisions with the next release', async () => {
    const [gone, edited, decided] = [...(await world.records()).values()] as [StoredRecord, StoredRecord, StoredRecord];
    for (const { id } of [gone, edited]) expect(files.bytes).toContain(id);
    await world.optOut(gone.id, '2026-11-21T00:00:00Z');
    await world.say(edited.id, { name: 'By its owner', place: { lat: 1, lng: 2 } }, '2026-11-21T00:01:00Z');
    const [item] = await world.release().engine.review({ entity: decided.id, id: null, limit: 1 });
    if (item) await world.decide(decided.id, item.id, item.attribute, 'approved', '2026-11-21T00:02:00Z');
    const before = world.release();
    expect(releaseTag(before)).toContain('+');
    // As static files are made: with the removals of the overlay alone.
    const { release: lacking } = await applyOverlay(before.base!, removalsOf(before.overlay!));
    const over = await written(lacking, folder);
    await world.night('2026-11-21T00:03:00Z', { collects: false });
    expect(world.release().manifest.release).not.toBe(before.manifest.release);
    const next = await written(world.release(), folder);
    for (const { bytes, history } of [over, next]) {
      expect(bytes).not.toContain(gone.id);
      expect(bytes).not.toContain(gone.slug);
      expect(history.filter(({ id, slug }) => id === gone.id || slug === gone.slug)).toEqual([]);
    }
    const named = ({ history }: { history: HistoryLine[] }) =>
      history.findLast(({ id, attribute }) => id === edited.id && attribute === 'name');
    const placed = ({ features }: { features: Feature[] }) =>
      features.find(({ id }) => id === edited.id)?.geometry?.coordinates;
    expect(named(over)).toEqual(named(files));
    expect(placed(over)).toEqual(placed(files));
    expect(named(next)).toMatchObject({ value: 'By its owner', source: 'owner', valid_until: null, confidence: 1 });
    expect(placed(next)).toEqual([2, 1]);
    const others = (rows: HistoryLine[]) => rows.filter(({ id }) => id !== edited.id && id !== decided.id);
    expect(others(over.history)).toEqual(others(next.history));
  });
});
