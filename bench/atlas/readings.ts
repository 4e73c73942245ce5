// The readings of the atlas: two surveys with all values, then three extracts with names and positions, as in
// places. Each is one small file in the pack's fixtures, from which its content is computed.

const pin = (source: string, version: string, observed_at: string) => ({
  package: `@atlas/${source}`,
  version,
  integrity: '',
  observed_at,
  date_source: 'pin' as const,
});

export const SURVEYS = [pin('survey', '1.0.0', '2018-02-22T00:00:00Z'), pin('survey', '2.0.0', '2020-03-18T00:00:00Z')];

export const ATLAS_EXTRACTS = [
  pin('extract', '1.0.0', '2025-05-01T00:00:00Z'),
  pin('extract', '2.0.0', '2026-07-01T00:00:00Z'),
  pin('extract', '3.0.0', '2026-09-26T00:00:00Z'),
];

/** All readings in order of time; their index is the turn. */
export const READINGS = [...SURVEYS, ...ATLAS_EXTRACTS];

/** The file of a reading. */
export interface Issue {
  /** Seed of all random values. */
  seed: number;
  records: number;
}

export const ISSUE = 'issue.json';
