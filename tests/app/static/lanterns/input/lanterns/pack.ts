// Lanterns of fictional towns: the smallest pack with public and paid values, a price, and two readings.
import { definePack } from 'dataset-register/pack';

const issue = (version: string, observed_at: string) => ({
  package: 'almanac',
  version,
  integrity: '',
  observed_at,
  date_source: 'pin' as const,
});

export default definePack({
  title: 'Lanterns',
  description: 'Fictional lanterns, town by town.',
  license: { name: 'CC0-1.0', url: 'https://creativecommons.org/publicdomain/zero/1.0/' },
  attribution: 'Nobody’s Almanac.',
  sources: {
    almanac: {
      title: 'Nobody’s Almanac',
      url: 'https://almanac.example/',
      license: 'CC0-1.0',
      trust: 0.9,
      complete: true,
      pins: [issue('1.0.0', '2026-09-01T00:00:00Z'), issue('1.1.0', '2026-11-01T00:00:00Z')],
    },
  },
  attributes: {
    name: { type: 'string', description: 'Its name', example: 'Old Lamp', public: true, searchable: true, sla: 8760 },
    town: {
      type: 'enum',
      description: 'Where it hangs',
      example: 'Musterstadt',
      public: true,
      filterable: true,
      sla: 8760,
    },
    height: {
      type: 'number',
      unit: 'm',
      description: 'Height above the street',
      example: 4.5,
      public: true,
      filterable: true,
      sla: 8760,
    },
    lit: { type: 'boolean', description: 'Burns tonight', example: true, public: true, filterable: true, sla: 1000 },
    keeper: { type: 'string', description: 'Who lights it', example: 'A. Keeper', sla: 8760 },
    'price.oil': {
      type: 'price',
      unit: 'EUR/l',
      currency: 'EUR',
      description: 'What its oil costs',
      example: 2,
      sla: 1000,
    },
  },
  identity: { attributes: ['name', 'town'], key: (id) => `${id['town']}/${id['name']}` },
  group_by: 'town',
  serving: { showcase: { per_group: 1 } },
  compare: ['height', 'lit', 'price.oil'],
  prices: { search: 0.002, get: 0.001, facts: 0.002, compare: 0.003, stats: 0.004 },
  schedule: '0 4 * * *',
});
