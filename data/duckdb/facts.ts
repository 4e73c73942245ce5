// Facts of records from a release's facts.parquet, and the open questions about a record.
import type { Doubt, FactRow, FactsPlan } from '../plan/history.ts';
import { join, type Sql, sql, whole } from './sql.ts';

const COLUMNS = sql`entity, attribute, value, source, source_url, source_kind, epoch_ms(observed_at), epoch_ms(confirmed_at), confidence, evidence, run, won, reason, group_median`;

type Rows = readonly (readonly unknown[])[];

/** Newest first; of one moment by attribute, then the later run first. */
export function factsStatement({ entity, attribute, since, limit }: FactsPlan, facts: Sql): Sql {
  const where = [sql`entity = ${entity}`];
  if (attribute !== null) where.push(sql`attribute = ${attribute}`);
  if (since !== null) where.push(sql`observed_at >= make_timestamp_ms(${since})`);
  return sql`SELECT ${COLUMNS} FROM ${facts} WHERE ${join(where, ' AND ')} ORDER BY observed_at DESC, attribute, run DESC, source, value LIMIT ${whole(limit)}`;
}

/** All facts of some records, in the order in which the build settles them (build/release/facts.ts). */
export function pastStatement(entities: readonly string[], facts: Sql): Sql {
  return sql`SELECT ${COLUMNS} FROM ${facts} WHERE entity IN (${listed(entities)}) ORDER BY entity, attribute, observed_at, run, source, value`;
}

/** Values to compare with, each bound. */
export function listed(values: readonly (string | number)[]): Sql {
  return join(
    values.map((value) => sql`${value}`),
    ', ',
  );
}

/** Reads the rows of both statements. */
export function factRows(rows: Rows): FactRow[] {
  return rows.map((row) => ({
    entity: String(row[0]),
    attribute: String(row[1]),
    value: row[2] === null ? null : String(row[2]),
    source: String(row[3]),
    source_url: String(row[4] ?? ''),
    source_kind: row[5] as FactRow['source_kind'],
    observed_at: Number(row[6]),
    confirmed_at: Number(row[7]),
    confidence: Number(row[8]),
    evidence: String(row[9] ?? ''),
    run: String(row[10]),
    won: row[11] === true,
    reason: row[12] as FactRow['reason'],
    group_median: row[13] === null ? null : Number(row[13]),
  }));
}

/** Open questions about a record, oldest first. */
export function doubtsStatement(entity: string, review: Sql): Sql {
  return sql`SELECT kind, attribute, epoch_ms(opened_at) FROM ${review} WHERE entity_id = ${entity} AND confirmed_at IS NULL ORDER BY opened_at, attribute, id`;
}

/** Reads the rows of `doubtsStatement`. */
export function doubtRows(rows: Rows): Doubt[] {
  return rows.map((row) => ({
    kind: row[0] as Doubt['kind'],
    attribute: String(row[1]),
    opened_at: Number(row[2]),
  }));
}
