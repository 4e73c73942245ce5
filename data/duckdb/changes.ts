// The change feed: changes.parquet lies in the order of `recorded_at`, so that reading on is a cut and no sort of everything.
import type { ChangesPlan, RecordedChange } from '../plan-history.ts';
import { CHANGE_COLUMNS, changeRow } from './changelog.ts';
import { type Sql, sql, whole } from './sql.ts';

/** Rows after a moment, oldest first. LIMIT takes the first of the file; the few that remain are put in order for certain. */
export function changesStatement({ since, limit }: ChangesPlan, changes: Sql): Sql {
  const cut = sql`SELECT * FROM ${changes} WHERE recorded_at > make_timestamp(${since}) LIMIT ${whole(limit)}`;
  return sql`SELECT ${CHANGE_COLUMNS}, epoch_us(recorded_at) FROM (${cut}) ORDER BY recorded_at`;
}

/** Reads the rows of `changesStatement`. */
export function changesRows(rows: readonly (readonly unknown[])[]): RecordedChange[] {
  return rows.map((row) => ({ ...changeRow(row), recorded_at: Number(row[9]) }));
}
