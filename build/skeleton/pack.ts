// Definition of this dataset, checked by `npm run pack -- check <folder>`. See docs/packs.md of dataset-register.
import { definePack } from 'dataset-register/pack';

export default definePack({
  title: 'Skeleton',
  description: 'Describe in a sentence or two what the dataset contains and for whom.',
  keywords: ['example'],
  license: { name: 'CC0-1.0', url: 'https://creativecommons.org/publicdomain/zero/1.0/' },
  attribution: 'The name for citations',
  // Increase it when collect.ts reads the same source differently: every pin is then read again.
  revision: 1,
  sources: {
    example: {
      title: 'Example source',
      url: 'https://example.org/',
      license: 'CC0-1.0',
      trust: 0.9,
      // Each reading lists all records of the source, so a missing record is gone.
      complete: true,
      // Empty integrity: the source is in fixtures/<package>/<version>. A source on npm has its 'sha512-…'.
      pins: [
        {
          package: 'skeleton-source',
          version: '1.0.0',
          integrity: '',
          observed_at: '2026-06-01T00:00:00Z',
          date_source: 'pin',
        },
        {
          package: 'skeleton-source',
          version: '1.1.0',
          integrity: '',
          observed_at: '2026-10-01T00:00:00Z',
          date_source: 'pin',
        },
      ],
    },
  },
  attributes: {
    name: {
      type: 'string',
      description: 'What it is called',
      example: 'First thing',
      public: true,
      filterable: true,
      searchable: true,
      sla: 8760,
    },
    kind: {
      type: 'enum',
      description: 'What sort of thing it is',
      example: 'small',
      values: ['small', 'large'],
      public: true,
      filterable: true,
      sla: 8760,
    },
    status: {
      type: 'enum',
      description: 'Whether the source still lists it',
      example: 'listed',
      values: ['listed', 'gone'],
      public: true,
      filterable: true,
      sla: 2160,
    },
    'price.list': {
      type: 'price',
      unit: 'EUR/piece',
      currency: 'EUR',
      description: 'List price',
      example: 12.5,
      filterable: true,
      range: { min: 0, max: 100000 },
      jump: 5,
      tolerance: 0.005,
      sla: { warn: 720, error: 1440 },
    },
  },
  identity: { attributes: ['name'] },
  gone: { attribute: 'status', value: 'gone', confidence: 0.8 },
  group_by: 'kind',
  serving: { showcase: { per_group: 1 }, similar_differ_by: 'kind' },
  compare: ['kind', 'price.list', 'status'],
  prices: { search: 0.008, get: 0.004, facts: 0.01, compare: 0.012, stats: 0.015 },
  schedule: '0 3 * * *',
  tests: [
    { kind: 'rows', min: 1 },
    { kind: 'unique', attribute: 'name' },
    { kind: 'fill', attribute: 'price.list', min: 0.5 },
  ],
});
