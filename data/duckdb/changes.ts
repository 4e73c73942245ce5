// The change feed: changes.parquet lies in the order of `recorded_at`, so that reading on is a cut and no sort of everything.
import type { ChangesPlan, RecordedChange } from '../plan/history.ts';
import { CHANGE_COLUMNS, changeRow } from './changelog.ts';
import { type Sql, sql, textsOf, whole } from './sql.ts';

/** Rows after a moment, oldest first, without those of some records. LIMIT takes the first of the file; the few that remain are put in order for certain. */
export function changesStatement({ since, limit }: ChangesPlan, changes: Sql, removed: readonly string[] = []): Sql {
  if (removed.length > 0) {
    // Leaving records out may put the rest out of order, so that here everything that follows is sorted.
    const kept = sql`entity_id NOT IN (${textsOf(removed)})`;
    return sql`SELECT ${CHANGE_COLUMNS}, epoch_us(recorded_at) FROM ${changes} WHERE recorded_at > make_timestamp(${since}) AND ${kept} ORDER BY recorded_at LIMIT ${whole(limit)}`;
  }
  const cut = sql`SELECT * FROM ${changes} WHERE recorded_at > make_timestamp(${since}) LIMIT ${whole(limit)}`;
  return sql`SELECT ${CHANGE_COLUMNS}, epoch_us(recorded_at) FROM (${cut}) ORDER BY recorded_at`;
}

/** Reads a row of `changesStatement`. */
export function changesRow(row: readonly unknown[]): RecordedChange {
  return { ...changeRow(row), recorded_at: Number(row[9]) };
}
