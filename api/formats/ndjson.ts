// Records as NDJSON: the whole record of the JSON answer, one on each line (contract section 2).
import type { Rows } from './rows.ts';

/** One record a line, with provenance and freshness; no line where there is no record. */
export function ndjson({ items }: Rows): string {
  return items.map((record) => `${JSON.stringify(record)}\n`).join('');
}
