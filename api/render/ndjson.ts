// Records as NDJSON: the whole record of the JSON answer, one on each line (contract section 2).

import { whenReady } from '../../data/model/awaitable.ts';
import type { PublicRecord } from '../../data/model/record.ts';
import { mapSlices } from '../../data/plan/slices.ts';
import { ROWS_A_SLICE, type Rows } from './rows.ts';

/** One line for each record, with provenance and freshness; empty without records. */
export function ndjson({ items, options }: Rows): string | Promise<string> {
  const line = (record: PublicRecord) => `${JSON.stringify(record)}\n`;
  return whenReady(mapSlices(items, ROWS_A_SLICE, line, options), (lines) => lines.join(''));
}
