// Records as CSV: the columns of the nightly records.csv, then the origin of each row (contract section 2).

import { whenReady } from '../../data/model/awaitable.ts';
import type { PublicRecord } from '../../data/model/record.ts';
import { mapSlices } from '../../data/plan/slices.ts';
import { csvHeader, csvRow, flatCells, recordColumn } from '../../data/write/csv.ts';
import { ROWS_A_SLICE, type Rows } from './rows.ts';

/** Columns of the answer only, since they depend on the base URL of the service. */
const ORIGIN = ['url', 'license', 'attribution'] as const;

/**
 * A header row and a row for each record, each ended by CR LF. A missing value is an empty cell; sources are
 * on the page at `url`.
 */
export function csvTable({ pack, attributes, items, distances, options }: Rows): string | Promise<string> {
  const own = distances ? (['distance_km', ...ORIGIN] as const) : ORIGIN;
  const header = [...csvHeader(pack, attributes), ...own.map((name) => recordColumn(pack, name))];
  const line = (cells: Parameters<typeof csvRow>[0]) => `${csvRow(cells)}\r\n`;
  const row = (record: PublicRecord) =>
    line([
      ...[record.id, record.slug, record.name],
      ...attributes.flatMap((attribute) => flatCells(attribute, record.attributes[attribute.name])),
      ...[record.quality_score, record.completeness, record.verified_owner, record.updated_at],
      ...own.map((name) => record[name] ?? null),
    ]);
  return whenReady(mapSlices(items, ROWS_A_SLICE, row, options), (rows) => line(header) + rows.join(''));
}
