// Required parameters of operations, for tests that loop over the table: valid for the pack tools.

const REQUIRED: Record<string, string> = {
  facets: '?by=kind',
  batch: '?ids=record-1,record-2',
  compare: '?ids=record-1,record-2',
  stats: '?attribute=price.list',
  timeseries: '?attribute=price.list',
  changes: '?since=2026-01-01',
};

/** The query for an address that lacks one, or ''. */
export function requiredQuery(path: string): string {
  const last = path.slice(path.lastIndexOf('/') + 1);
  return Object.hasOwn(REQUIRED, last) ? (REQUIRED[last] ?? '') : '';
}
