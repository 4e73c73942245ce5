// The words of a release: `terms`, one row for each word of a record, and `term_counts`.
import { identifier, join, type Sql, sql } from '../plan/sql.ts';
import type { RunStatement } from './tables.ts';

/** Types of the columns of `terms` besides term, ord and code (data/model/layout.ts). */
export const TERM_COLUMNS = {
  public: sql`BOOLEAN`,
  compared: sql`BOOLEAN`,
  weight: sql`UTINYINT`,
  public_weight: sql`UTINYINT`,
};

const COLUMNS = join(Object.keys(TERM_COLUMNS).map(identifier), ', ');

/**
 * Loads `terms`, sorted by word, with a number for each word, which compares faster; and `term_counts`, the
 * number of distinct words of a record that count for similarity.
 */
export async function loadTerms(run: RunStatement, file: Sql): Promise<void> {
  const before = sql`SELECT term, ord, ${COLUMNS}, lag(term) OVER () AS before FROM ${file}`;
  const code = sql`(sum((term IS DISTINCT FROM before)::INTEGER) OVER (ROWS UNBOUNDED PRECEDING))::UINTEGER`;
  await run(sql`CREATE TABLE terms AS SELECT * EXCLUDE (before), ${code} AS code FROM (${before})`);
  await run(
    sql`CREATE TABLE term_counts AS SELECT ord, count(*)::UINTEGER AS words FROM terms WHERE compared GROUP BY ord`,
  );
}

/** The same as views of the file with words instead of numbers: slower, but without memory. */
export async function showTerms(run: RunStatement, file: Sql): Promise<void> {
  await run(sql`CREATE VIEW terms AS SELECT term, ord, ${COLUMNS}, term AS code FROM ${file}`);
  await run(
    sql`CREATE VIEW term_counts AS SELECT ord, count(*)::UINTEGER AS words FROM terms WHERE compared GROUP BY ord`,
  );
}
