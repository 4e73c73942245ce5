// The history of all public values as one Parquet file for analysts, with the changes of an overlay.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pack } from '../../packs/define/model.ts';
import { type ColumnTypes, Duck, quotedIdentifier, quotedText } from '../duckdb/duck.ts';
import { RELEASE_FILES } from '../model/layout.ts';
import type { StoredRecord } from '../model/record.ts';
import type { HistoryRow } from '../plan/applied-overlay.ts';
import { publicHistoryQuery } from './analysts.ts';
import { HISTORY_FILE_COLUMNS, HISTORY_ORDER } from './dictionary.ts';
import { cellOrOther, OTHER, ROW, replacement } from './replaced-rows.ts';

/** Differences between an older release and its overlay: ids of removed records, and changed records. */
export interface OverlayDifferences {
  without: readonly string[];
  instead: readonly StoredRecord[];
  /** The complete history of the changed records. */
  history: readonly (HistoryRow & { id: string })[];
}

interface HistoryPlace {
  /** A folder for temporary files. */
  work: string;
  /** A file from which the rows of unchanged records are copied; null: they are from the release. */
  old: string | null;
  /** The file to write, and its metadata. */
  path: string;
  notes: Record<string, string>;
}

/** Writes `history.parquet` of the release in `folder`, with the changes of an overlay. Throws errors of DuckDB. */
export async function writeHistory(
  pack: Pack,
  folder: string,
  differences: OverlayDifferences,
  { work, old, path, notes }: HistoryPlace,
): Promise<void> {
  const spill = join(work, 'history');
  // Another database writes other files. DuckDB mixes row groups when several threads write unnested rows.
  const duck = await Duck.open(spill, 1);
  try {
    const rows = await historyRows(duck, pack, folder, differences, { work, old });
    await duck.parquet(rows, path, undefined, notes);
  } finally {
    duck.close();
  }
}

/** Rows of `history.parquet` with the changes of an overlay. */
async function historyRows(
  duck: Duck,
  pack: Pack,
  folder: string,
  differences: OverlayDifferences,
  { work, old }: Pick<HistoryPlace, 'work' | 'old'>,
): Promise<string> {
  const { without, instead } = differences;
  const other = [...without, ...instead.map(({ id }) => id)].map(quotedText).join(', ');
  const changed = await changedHistory(pack, differences, work);
  if (old !== null && changed !== null) {
    const replaced = await replacedHistory(duck, old, other, changed);
    if (replaced !== null) return replaced;
  }
  const rest = old === null ? storedHistory(pack, folder) : `FROM read_parquet(${quotedText(old)})`;
  const kept = other === '' ? rest : `SELECT * FROM (${rest}) WHERE id NOT IN (${other})`;
  const rows = changed === null ? kept : `${kept} UNION ALL BY NAME ${changed}`;
  // DuckDB sorts rows that are almost in order in half of the time.
  return `SELECT * FROM (${rows}) ORDER BY ${HISTORY_ORDER.join(', ')}`;
}

/**
 * Rows of an old file without those of the records `other`; in the place of a record's first row are its rows in
 * `changed`. Sorting all rows again takes twice the time. Null: no record has rows in `changed`, or one has no old row.
 * Keeps the order only with one thread.
 */
async function replacedHistory(duck: Duck, old: string, other: string, changed: string): Promise<string | null> {
  const rows = `read_parquet(${quotedText(old)}, file_row_number = true)`;
  const key = HISTORY_ORDER.join(', ');
  await duck.run(
    'CREATE TABLE replaced AS ' +
      `SELECT id, list(${OTHER} ORDER BY ${key}) AS ${OTHER}, any_value(${ROW}) AS ${ROW} FROM (${changed}) ${OTHER} ` +
      `LEFT JOIN (SELECT id, min(file_row_number) AS ${ROW} FROM ${rows} WHERE id IN (${other}) GROUP BY id) USING (id) ` +
      'GROUP BY id',
  );
  const firsts = (await duck.rows(`SELECT ${ROW} FROM replaced`)).map(([row]) => row);
  if (firsts.length === 0 || firsts.includes(null)) return null;
  await duck.run(`SET VARIABLE replaced = (SELECT map(list(${ROW}), list(${OTHER})) FROM replaced)`);
  const cells = HISTORY_FILE_COLUMNS.map(({ name }) => cellOrOther(quotedIdentifier(name)));
  return (
    `SELECT ${cells.join(', ')} FROM (` +
    `SELECT *, unnest(${replacement('replaced', firsts, '[NULL]')}) AS ${OTHER} ` +
    `FROM ${rows} WHERE id NOT IN (${other}) OR file_row_number IN (${firsts.join(', ')}))`
  );
}

/** Rows of `history.parquet` as in the release. */
function storedHistory(pack: Pack, folder: string): string {
  const records = `SELECT ord, slug, name FROM read_parquet(${quotedText(join(folder, RELEASE_FILES.engine))})`;
  // Releases of earlier program versions lack the last two columns.
  const added = 'SELECT NULL::VARCHAR AS source, NULL::DOUBLE AS confidence WHERE false';
  const stored =
    `SELECT * FROM (FROM read_parquet(${quotedText(join(folder, RELEASE_FILES.history))}) UNION ALL BY NAME ${added}) ` +
    `JOIN (${records}) USING (ord)`;
  return publicHistoryQuery(pack, stored);
}

/** Rows of `history.parquet` of changed records; null: there are none. */
async function changedHistory(
  pack: Pack,
  { instead, history }: OverlayDifferences,
  work: string,
): Promise<string | null> {
  if (history.length === 0) return null;
  const lines = join(work, 'history.jsonl');
  const named = new Map(instead.map((record) => [record.id, record]));
  const rows = history.map(
    ({ id, attribute, cells: [value, , min, max, from, to, source_url, source, confidence] }) => {
      const { slug = null, name = null } = named.get(id) ?? {};
      return { entity: id, slug, name, attribute, value, min, max, from, to, source_url, source, confidence };
    },
  );
  await writeFile(lines, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const shape = Object.entries(CHANGED_HISTORY).map(([name, type]) => `${quotedIdentifier(name)}: ${quotedText(type)}`);
  const read = `read_json(${quotedText(lines)}, format = 'newline_delimited', columns = {${shape.join(', ')}})`;
  const times = `REPLACE (make_timestamp_ms("from") AS "from", make_timestamp_ms("to") AS "to")`;
  return publicHistoryQuery(pack, `SELECT * ${times} FROM ${read}`);
}

/** Lines of the history of changed records; times in milliseconds. */
const CHANGED_HISTORY: ColumnTypes = {
  ...{ entity: 'VARCHAR', slug: 'VARCHAR', name: 'VARCHAR', attribute: 'VARCHAR', value: 'VARCHAR' },
  ...{ min: 'DOUBLE', max: 'DOUBLE', from: 'BIGINT', to: 'BIGINT' },
  ...{ source_url: 'VARCHAR', source: 'VARCHAR', confidence: 'DOUBLE' },
};
