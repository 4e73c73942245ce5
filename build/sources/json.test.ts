// Reading JSON documents: the list, its path, and entries that are not objects.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { json } from '../../packs/define/sources.ts';
import { scratch } from '../../tests/support/night-pack.ts';
import { declaredAs, objectsOf, readAll, sourceContext } from '../../tests/support/source-context.ts';
import { numberOrText } from './json-values.ts';
import { READERS } from './readers.ts';

async function readBytes(bytes: string | Buffer, items?: string, wanted: string[] = [], name = 'stones.json') {
  const folder = scratch();
  writeFileSync(join(folder, name), bytes);
  const { context, broken } = sourceContext(folder, { wanted: new Set(wanted) });
  const declared = declaredAs('json', json(name, items === undefined ? {} : { items }));
  const [version] = await readAll(READERS.json(declared, context));
  return { version: version!, broken };
}

test('a list; entries that are not objects are reported by number', async () => {
  const { version, broken } = await readBytes('\ufeff[{"id":1},7,{"id":2,"n":{"x":[true]}}]', undefined, ['n.x.0']);
  expect(version.columns).toEqual(['id', 'n', 'n.x.0']);
  expect(version.rows).toEqual([
    { line: 1, cells: [1, undefined, undefined] },
    { line: 3, cells: [2, { x: [true] }, true] },
  ]);
  expect(broken).toEqual([{ line: 2, text: '7', expected: 'a JSON object' }]);
});

test('a list at a path, compressed, with exact numbers', async () => {
  const text = '{"data":{"items":[{"id":12345678901234567890}]}}';
  const { version } = await readBytes(gzipSync(text), 'data.items', [], 'stones.json.gz');
  expect(objectsOf(version)).toEqual([{ id: '12345678901234567890' }]);
});

test('no list: the message names the lists of the document', async () => {
  const text = '{"meta":{},"data":{"items":[],"more":[]}}';
  await expect(readBytes(text)).rejects.toThrow(
    'stones.json is no list; set items to the path of its list: its lists are data.items, data.more',
  );
  await expect(readBytes(text, 'data.item')).rejects.toThrow(
    'stones.json has no list data.item: its lists are data.items, data.more; nearest: data.items',
  );
  await expect(readBytes('{"a":1}')).rejects.toThrow('it contains no list');
});

test('a truncated document is an error with its name and position', async () => {
  await expect(readBytes('[{"id":1},\n{"id":')).rejects.toThrow(/^stones\.json is not JSON: .*JSON/);
});

test.each([
  ['1.500', 1.5],
  ['1.000', 1],
  ['-0.10', -0.1],
  ['100', 100],
  ['9007199254740993', '9007199254740993'],
  ['12345678901234567.89', '12345678901234567.89'],
  ['0.30000000000000004', 0.30000000000000004],
  ['NaN', 'NaN'],
  ['Infinity', 'Infinity'],
])('digits of a database: %s', (digits, value) => {
  expect(numberOrText(digits)).toEqual(value);
});

test('an object keyed by name, and GeoJSON with points, lines and shapes that are too long', async () => {
  const folder = scratch();
  const feature = (id: number, geometry: unknown) => ({
    type: 'Feature',
    id,
    properties: { name: `f${id}` },
    geometry,
  });
  const ring = Array.from({ length: 4001 }, (_, i) => {
    const angle = ((i % 4000) / 4000) * 2 * Math.PI;
    return [10 + Math.cos(angle), 50 + Math.sin(angle)];
  });
  const features = [
    feature(1, { type: 'Point', coordinates: [8.5, 47.4, 400] }),
    feature(2, {
      type: 'LineString',
      coordinates: [
        [1, 2],
        [3, 4],
      ],
    }),
    feature(3, { type: 'Polygon', coordinates: [ring] }),
    feature(4, null),
  ];
  writeFileSync(join(folder, 'map.geojson'), JSON.stringify({ type: 'FeatureCollection', features }));
  const { context } = sourceContext(folder);
  const notes: unknown[] = [];
  async function* watched() {
    for await (const version of READERS.json(declaredAs('json', json('map.geojson', { geojson: true })), context)) {
      notes.push(version.notes);
      yield version;
    }
  }
  const [map] = await readAll(watched());
  const rows = objectsOf(map!);
  expect(rows[0]).toMatchObject({ id: 1, name: 'f1', 'location.lng': 8.5, 'location.lat': 47.4 });
  expect(rows[1]).toMatchObject({ id: 2, geometry: 'LINESTRING (1 2, 3 4)' });
  expect(rows[2]!['location.lng']).toBeCloseTo(10, 6);
  expect(rows[2]!['location.lat']).toBeCloseTo(50, 6);
  expect(rows[2]!['geometry']).toBeUndefined();
  expect(notes).toEqual([
    ['1 shape of map.geojson with a text of more than 50,000 characters became a point, the centroid'],
  ]);
  writeFileSync(join(folder, 'named.json'), JSON.stringify({ shops: { a: { n: 1 }, b: { n: 2 } } }));
  const named = READERS.json(declaredAs('json', json('named.json', { items: 'shops', entries: 'key' })), context);
  expect(objectsOf((await readAll(named))[0]!)).toEqual([
    { n: 1, key: 'a' },
    { n: 2, key: 'b' },
  ]);
});
