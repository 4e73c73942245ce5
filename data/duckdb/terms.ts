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

/**
 * Their values in releases of earlier program versions, which lack some: all words count for similarity, and
 * each counts once.
 */
const EARLIER: Record<keyof typeof TERM_COLUMNS, Sql> = {
  public: sql`public`,
  compared: sql`true`,
  weight: sql`1`,
  public_weight: sql`public::INTEGER`,
};

/**
 * Loads `terms`, sorted by word, with a number for each word, which compares faster; and `term_counts`, the
 * number of distinct words of a record that count for similarity.
 */
export async function loadTerms(run: RunStatement, file: Sql): Promise<void> {
  const columns = await columnsOf(run, file);
  const before = sql`SELECT term, ord, ${columns}, lag(term) OVER () AS before FROM ${file}`;
  const code = sql`(sum((term IS DISTINCT FROM before)::INTEGER) OVER (ROWS UNBOUNDED PRECEDING))::UINTEGER`;
  await run(sql`CREATE TABLE terms AS SELECT * EXCLUDE (before), ${code} AS code FROM (${before})`);
  await run(
    sql`CREATE TABLE term_counts AS SELECT ord, count(*)::UINTEGER AS words FROM terms WHERE compared GROUP BY ord`,
  );
}

/** The same as views of the file with words instead of numbers: slower, but without memory. */
export async function showTerms(run: RunStatement, file: Sql): Promise<void> {
  const columns = await columnsOf(run, file);
  await run(sql`CREATE VIEW terms AS SELECT term, ord, ${columns}, term AS code FROM ${file}`);
  await run(
    sql`CREATE VIEW term_counts AS SELECT ord, count(*)::UINTEGER AS words FROM terms WHERE compared GROUP BY ord`,
  );
}

async function columnsOf(run: RunStatement, file: Sql): Promise<Sql> {
  const present = (await run(sql`DESCRIBE SELECT * FROM ${file}`)).map(([column]) => column);
  const columns = Object.entries(TERM_COLUMNS).map(([name, type]) => {
    const value = present.includes(name) ? identifier(name) : EARLIER[name as keyof typeof TERM_COLUMNS];
    return sql`${value}::${type} AS ${identifier(name)}`;
  });
  return join(columns, ', ');
}
