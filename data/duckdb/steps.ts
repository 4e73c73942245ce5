// Validity intervals of numeric attributes in whole days, one table per attribute, for time series.
import type { Attribute, Pack } from '../../packs/define/model.ts';
import { NUMERIC } from '../../packs/define/schema.ts';
import { identifier, literal, type Sql, sql } from '../plan/sql.ts';
import type { RunStatement } from './tables.ts';

/** End of an interval that is still open: later than any requested day. */
export const OPEN_INTERVAL_END = 2_000_000_000;

/** Bytes of one row: ordinal, value and two days. */
const ROW = 20;

/**
 * Table of an attribute's intervals: ord, value (the minimum of a price range), since and until. The value
 * was published at the end of every day (UTC, counted from 1970-01-01) from `since` to `until`, exclusive.
 */
export function stepsTable(attribute: string): string {
  return `steps:${attribute}`;
}

/**
 * Loads the history file of a release: into memory when its numbers take at most `most` bytes, else as views
 * of the file.
 */
export async function loadSteps(run: RunStatement, file: string, pack: Pack, most: number): Promise<void> {
  const [[numbers] = []] = await run(
    sql`SELECT sum(num_values - coalesce(stats_null_count, 0)) FROM parquet_metadata(${literal(file)}) WHERE path_in_schema = 'min'`,
  );
  const kind = Number(numbers) * ROW > most ? sql`VIEW` : sql`TABLE`;
  for (const attribute of pack.attributes.filter(({ type }) => NUMERIC.includes(type)))
    await run(sql`CREATE ${kind} ${identifier(stepsTable(attribute.name))} AS ${intervals(attribute, file)}`);
}

/** Rows `ord, value, since, until` of a history file. An interval within one day did not exist at its end. */
function intervals(attribute: Pick<Attribute, 'name'>, file: string): Sql {
  const since = day(sql`"from"`);
  const until = sql`coalesce(${day(sql`"to"`)}, ${{ text: String(OPEN_INTERVAL_END), values: [] }})`;
  return sql`SELECT ord, "min" AS value, ${since} AS since, ${until} AS until FROM read_parquet(${literal(file)}) WHERE attribute = ${literal(attribute.name)} AND ord IS NOT NULL AND "min" IS NOT NULL AND ${since} < ${until}`;
}

/** The day of a time in milliseconds since 1970, counted from 1970-01-01. */
export function dayNumber(at: number): number {
  return Math.floor(at / 86_400_000);
}

function day(time: Sql): Sql {
  return sql`(${time}::DATE - DATE '1970-01-01')::INTEGER`;
}
