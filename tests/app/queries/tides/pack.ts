// Tide gauges of fictional harbours: readings with times in several notations, without offsets in Berlin.
import { csv, definePack } from 'dataset-register/pack';

export default definePack({
  title: 'Tides',
  description: 'Fictional readings of tide gauges.',
  license: { name: 'CC0-1.0', url: 'https://creativecommons.org/publicdomain/zero/1.0/' },
  attribution: 'Tide Office.',
  sources: {
    office: {
      title: 'Tide Office',
      url: 'https://tides.example/',
      license: 'CC0-1.0',
      trust: 0.9,
      complete: true,
      tolerate: { values: 1, rows: 1 },
      from: csv('tides.csv', {
        timezone: 'Europe/Berlin',
        attributes: {
          read_at: { column: 'time', date: ['YYYY-MM-DD', 'DD.MM.YYYY HH:mm', 'unix'] },
          read_on: { column: 'time', date: ['YYYY-MM-DD', 'DD.MM.YYYY HH:mm', 'unix'] },
        },
      }),
    },
  },
  attributes: {
    name: {
      type: 'string',
      description: 'Number of the reading',
      example: 'T-1',
      public: true,
      searchable: true,
      sla: 8760,
    },
    gauge: { type: 'enum', description: 'Gauge', example: 'north', public: true, filterable: true, sla: 8760 },
    read_at: {
      type: 'datetime',
      description: 'When it was read',
      example: '2026-01-01T12:00:00+01:00',
      public: true,
      filterable: true,
      sla: 8760,
    },
    read_on: {
      type: 'date',
      description: 'Day of the reading',
      example: '2026-01-01',
      public: true,
      filterable: true,
      sla: 8760,
    },
    height: {
      type: 'number',
      unit: 'm',
      description: 'Height',
      example: 2.5,
      public: true,
      filterable: true,
      sla: 8760,
    },
    place: { type: 'geo', unit: 'degrees', description: 'Where', example: { lat: 1, lng: 2 }, public: true, sla: 8760 },
  },
  identity: { attributes: ['name'] },
  group_by: 'gauge',
  serving: { showcase: { per_group: 1 } },
  compare: ['height', 'read_at'],
  prices: { search: 0.002, get: 0.001, facts: 0.002, compare: 0.003, stats: 0.004 },
  schedule: '0 4 * * *',
});
