// Finding records by id or slug, and their stored bodies by ordinal.
import { type Shape, table } from './shape.ts';
import { join, type Sql, sql } from './sql.ts';

/** Rows `[ref, ord]` of the ids and slugs that are known. */
export function resolveStatement(refs: readonly string[], shape: Shape): Sql {
  return sql`SELECT ref, ord FROM ${table(shape, 'refs')} WHERE ref IN (${join(
    refs.map((ref) => sql`${ref}`),
    ', ',
  )})`;
}

/** Ordinals in the order asked, null where unknown. */
export function resolveAnswer(refs: readonly string[], rows: readonly (readonly unknown[])[]): (number | null)[] {
  const found = new Map(rows.map((row) => [String(row[0]), Number(row[1])]));
  return refs.map((ref) => found.get(ref) ?? null);
}

/**
 * Rows `[ord, version, body]` of ordinals, from the table or file that holds the bodies. The cast keeps the comparison in
 * the column's own type, without which no row group is skipped.
 */
export function bodiesStatement(ordinals: readonly number[], bodies: Sql): Sql {
  return sql`SELECT ord, version, body FROM ${bodies} WHERE ord IN (${join(
    ordinals.map((ordinal) => sql`${ordinal}::UINTEGER`),
    ', ',
  )})`;
}

/** Bodies in the order asked. An ordinal that has none is a damaged release. */
export function bodiesAnswer(
  ordinals: readonly number[],
  rows: readonly (readonly unknown[])[],
): { body: string; version: string }[] {
  const found = new Map(rows.map((row) => [Number(row[0]), { version: String(row[1]), body: String(row[2]) }]));
  return ordinals.map((ordinal) => {
    const body = found.get(ordinal);
    if (!body) throw new Error(`the release has no body for ordinal ${ordinal}`);
    return body;
  });
}
