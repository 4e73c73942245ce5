// The changelog of a release: which published values appeared or changed in the last year and a day, newest first.
import { join } from 'node:path';
import { quoted } from '../duckdb/duck.ts';
import { RELEASE_FILES } from '../model/layout.ts';

/** Days before the newest reading that the changelog reaches: a day more than anyone may ask for, since readings lie in the past. */
const DAYS = 366;

/**
 * Rows of changelog.parquet of the release in `folder`, whose history, engine table and readings are already written. Sorted, so that a
 * page of it is a cut: of one moment the best records first.
 */
export function changelogQuery(folder: string): string {
  const table = (file: string) => `read_parquet(${quoted(join(folder, file))})`;
  const begin = `(SELECT max(observed_at) - INTERVAL ${DAYS} DAY FROM ${table(RELEASE_FILES.readings)})`;
  return (
    `SELECT h.ord, entity AS entity_id, slug, name, attribute, CASE WHEN old_value IS NULL THEN 'added' ELSE 'changed' END AS type, ` +
    `old_value, value AS new_value, "from" AS observed_at, source_url FROM ${table(RELEASE_FILES.history)} h ` +
    `LEFT JOIN ${table(RELEASE_FILES.engine)} e ON e.ord = h.ord WHERE "from" >= ${begin} ` +
    'ORDER BY observed_at DESC, h.ord NULLS LAST, entity_id, attribute'
  );
}
