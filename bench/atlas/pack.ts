// Fictional places in any number, in the shape of the places pack, to measure the effect of size.
// bench/atlas.ts makes pack folders of it, whose fixtures contain the number of records.
import { definePack } from 'dataset-register/pack';
import { placeSlug } from '../../packs/places/identity.ts';
import { placeAttributes } from '../../packs/places/pack.ts';
import { ATLAS_EXTRACTS, SURVEYS } from './readings.ts';

export default definePack({
  title: 'Atlas of nowhere',
  description: 'Fictional places with names in many scripts, areas, position, population, elevation and time zone.',
  keywords: ['places', 'fictional'],
  license: { name: 'CC0-1.0', url: 'https://creativecommons.org/publicdomain/zero/1.0/' },
  attribution: 'Fictional places of the dataset register’s own bench',
  revision: 1,
  sources: {
    survey: {
      title: 'The surveys of nowhere',
      url: 'https://survey.example/',
      license: 'CC0-1.0',
      trust: 0.8,
      complete: true,
      pins: SURVEYS,
    },
    extract: {
      title: 'The yearly extract of nowhere',
      url: 'https://extract.example/',
      license: 'CC0-1.0',
      trust: 0.85,
      complete: true,
      pins: ATLAS_EXTRACTS,
    },
  },
  attributes: placeAttributes,
  identity: {
    attributes: ['place_id'],
    key: (id) => String(id['place_id']),
    slug: (id, values) =>
      placeSlug(
        String(id['place_id']),
        String(values['ascii_name'] ?? values['name'] ?? ''),
        String(values['country'] ?? ''),
      ),
    name: (id, values) => String(values['name'] ?? `Place ${id['place_id']}`),
  },
  consolidation: { floor: 0.3, apart_days: 30, penalty: 0.2, rule: () => ({ prefer: 'newest' }) },
  gone: { attribute: 'status', value: 'unlisted', confidence: 0.8 },
  group_by: 'country',
  serving: { showcase: { per_group: 1 }, similar_differ_by: 'country' },
  compare: ['population', 'elevation', 'timezone', 'feature', 'admin1', 'location'],
  prices: { get: 0.001, search: 0.003, facts: 0.002, compare: 0.004, stats: 0.01 },
  schedule: '0 3 * * *',
  tests: [{ kind: 'unique', attribute: 'place_id' }],
});
