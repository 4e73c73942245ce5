// Edge cases of geography and scripts on the real packs: poles, date line, whole earth, accents, prefixes in
// many scripts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { searchParameters } from '../../data/input/search-parameters.ts';
import { questionOf } from '../../data/input/selection.ts';
import type { Geo } from '../../packs/define/model.ts';
import { words } from '../../packs/define/text.ts';
import { evaluateSearch, onEdge, type SearchQuery } from '../support/evaluate.ts';
import { pickOne, random } from '../support/random-records.ts';
import { type LiveRelease, openLive } from './release.ts';

/**
 * Centres at the poles, on both sides of the date line, on the prime meridian and the equator, and in the
 * middle of cities.
 */
const CENTRES: readonly (readonly [lat: number, lng: number])[] = [
  ...([
    [90, 0],
    [90, -135.5],
    [-90, 0],
    [-90, 180],
    [89.999, 12],
    [-89.2, -100],
  ] as const),
  ...([
    [0, 180],
    [0, -180],
    [-17.7, 179.999],
    [-17.7, -179.999],
    [-13.8, -171.8],
    [65.9, -169],
    [66, 179.4],
    [52, 179.9],
  ] as const),
  ...([
    [0, 0],
    [51.4779, 0],
    [0, 32.5],
    [-0.2, -78.5],
    [47.3769, 8.5417],
    [35.6895, 139.6917],
    [-33.87, 151.21],
  ] as const),
];
const RADII = [0, 0.5, 25, 300, 1500, 6000, 10_007.6, 19_000, 20_020];

describe.each(['airports', 'places'] as const)('%s', (dataset) => {
  let live: LiveRelease;
  beforeAll(async () => {
    live = await openLive(dataset, (text) => expect.fail(text));
  });
  afterAll(() => live.close());

  /** Both engines match the evaluator: the count, and the first page. Returns the count. */
  async function agree(query: SearchQuery): Promise<number> {
    const expected = evaluateSearch(live.pack, live.records, query);
    const input = searchParameters.parse({ ...query, limit: '1000', total: 'true' }, live.pack, { format: 'ndjson' });
    for (const [name, engine] of Object.entries(live.engines)) {
      const { where, sort } = { where: questionOf(input), sort: input.sort };
      const found = await engine.search({ where, sort, after: null, limit: 1000, total: true });
      const ids = found.ordinals.map((ordinal) => live.records[ordinal]!.id);
      expect([found.total, ids], `${name}: ${JSON.stringify(query)}`).toEqual([
        expected.length,
        expected.slice(0, 1000),
      ]);
    }
    return expected.length;
  }

  test('circles around the edges of the map', async () => {
    const geo = live.pack.attributes.find(({ type }) => type === 'geo')!.name;
    const next = random(90);
    // Every radius at every centre for the smaller pack; two radii at each for the larger.
    const asked = CENTRES.flatMap(([lat, lng]) => {
      const radii = dataset === 'airports' ? RADII : [pickOne(next, RADII.slice(0, 5)), pickOne(next, RADII.slice(3))];
      return radii.map((km) => `${lat},${lng},${km}`);
    });
    // Circles around a record: radius 0 finds it.
    for (let i = 0; i < 10; i++) {
      const { lat, lng } = (pickOne(next, live.records).attributes[geo] as Geo | undefined) ?? { lat: 0, lng: 0 };
      asked.push(`${lat},${lng},0`, `${lat},${lng},${pickOne(next, RADII.slice(1, 4))}`);
    }
    let [count, found] = [0, 0];
    for (const near of asked) {
      if (live.records.some((record) => onEdge(live.pack, record, near))) continue;
      found += await agree({ near });
      count += 1;
    }
    console.log(`${dataset}: ${count} circles at the edges of the map, ${found} matches`);
    expect(await agree({ near: '0,0,20038' })).toBe(
      live.records.filter(({ attributes }) => attributes[geo] !== undefined).length,
    );
    expect(found).toBeGreaterThan(live.records.length);
  }, 600_000);

  test('boxes around the edges of the map', async () => {
    const boxes = ['-180,-90,180,90', '180,-90,-180,90', '180,-90,180,90', '-180,-90,-180,90', '176,-20,-178,-15'];
    boxes.push(
      '-180,66,180,90',
      '-180,90,180,90',
      '-180,-90,180,-60',
      '0,-1,0,1',
      '10.4,-90,10.1,90',
      '179.9,0,180,70',
    );
    for (const [i, [lat, lng]] of CENTRES.entries()) {
      const [other = 0, far = 0] = CENTRES[(i + 5) % CENTRES.length] ?? [];
      boxes.push(`${lng},${Math.min(lat, other)},${far},${Math.max(lat, other)}`);
    }
    let found = 0;
    for (const bbox of boxes) found += await agree({ bbox });
    console.log(`${dataset}: ${boxes.length} boxes at the edges of the map, ${found} matches`);
    expect(found).toBeGreaterThan(live.records.length);
  }, 600_000);

  test('prefixes of words in every script that the names have', async () => {
    const next = random(91);
    const scripts: Record<string, RegExp> = {
      Latin: /^[a-z]+$/,
      accented: /[à-ɏ]/i,
      Greek: /\p{Script=Greek}/u,
      Cyrillic: /\p{Script=Cyrillic}/u,
      Arabic: /\p{Script=Arabic}/u,
      Hebrew: /\p{Script=Hebrew}/u,
      Han: /\p{Script=Han}/u,
      Kana: /[\p{Script=Hiragana}\p{Script=Katakana}]/u,
      Hangul: /\p{Script=Hangul}/u,
      Thai: /\p{Script=Thai}/u,
      Devanagari: /\p{Script=Devanagari}/u,
      digits: /^\d+$/,
    };
    const searchable = live.pack.attributes.filter((each) => each.searchable).map(({ name }) => name);
    const written = live.records.flatMap(({ attributes }) =>
      searchable.flatMap((name) => [attributes[name] ?? []].flat().map(String)),
    );
    const counted: Record<string, number> = {};
    for (const [script, pattern] of Object.entries(scripts)) {
      const found = [
        ...new Set(written.flatMap((text) => text.split(/[^\p{L}\p{M}\p{N}]+/u)).filter((word) => pattern.test(word))),
      ];
      for (let i = 0; i < Math.min(found.length, 6); i++) {
        const word = pickOne(next, found);
        const cut = [...word].slice(0, 1 + Math.floor(next() * 4)).join('');
        if (words(cut).length === 0) continue;
        expect(await agree({ q: pickOne(next, [cut, cut.toUpperCase(), cut.normalize('NFD')]) }), word).toBeGreaterThan(
          0,
        );
        counted[script] = (counted[script] ?? 0) + 1;
      }
    }
    console.log(`${dataset}: prefixes by script ${JSON.stringify(counted)}`);
    expect(Object.keys(counted).length).toBeGreaterThan(2);
  }, 600_000);

  test('zurich finds Zürich, in any spelling', async () => {
    const typed = ['zurich', 'Zürich', 'ZÜRICH', 'Zu\u0308rich', ' zürich '];
    const counts = await Promise.all(typed.map((q) => agree({ q })));
    expect(new Set(counts).size).toBe(1);
    expect(counts[0]).toBeGreaterThan(0);
    const like = await Promise.all(['zürich', 'ZURICH'].map((text) => agree({ like_name: text })));
    expect(like[0]).toBe(like[1]);
    expect(like[0]).toBeGreaterThan(0);
  }, 120_000);
});
