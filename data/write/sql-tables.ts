// Tables for SQL over the public files of a dataset: records, their history, and the provenance of their
// values. The last two have databases of their own, which refer to records by their row number.
import type { Pack } from '../../packs/define/model.ts';
import { quotedIdentifier, quotedText } from '../duckdb/duck.ts';
import { recordColumn } from './csv.ts';
import { type Column, dictionary, HISTORY_FILE_COLUMNS, PROVENANCE_COLUMNS } from './dictionary.ts';
import { tableName } from './sql-names.ts';

/** A table of the SQL console. */
export interface SqlTable {
  name: string;
  /** The database file below `/files/{ds}/`. */
  file: string;
  columns: Column[];
  description: string;
  /** A query over the tables of the files. */
  view: string;
}

/** The table of `public.duckdb`: one row for each record. */
const SQL_TABLE = 'records';

/** Columns that a view takes from `records` instead of its own file. */
const RECORD = ['id', 'slug', 'name'];

/** The tables of a dataset, in the order of the console. */
export function sqlTables(pack: Pick<Pack, 'id' | 'attributes'>): SqlTable[] {
  const table = tableName(pack.id);
  return [
    {
      name: table,
      file: 'public.duckdb',
      columns: dictionary(pack, 'public', false),
      description: 'one row for each record',
      view: `SELECT * FROM register.${SQL_TABLE}`,
    },
    {
      name: `${table}_history`,
      file: 'history.duckdb',
      columns: [...HISTORY_FILE_COLUMNS],
      description: 'one row for each value that was published, and when it was',
      view: viewOf(pack, 'history', HISTORY_FILE_COLUMNS),
    },
    {
      name: `${table}_provenance`,
      file: 'provenance.duckdb',
      columns: [...PROVENANCE_COLUMNS],
      description: 'one row for each value, with its source',
      view: viewOf(pack, 'provenance', PROVENANCE_COLUMNS),
    },
  ];
}

/** Columns of a table that its file has besides the row number of the record. */
const stored = (columns: readonly Column[]) => columns.filter(({ name }) => !RECORD.includes(name));

function viewOf(pack: Pick<Pack, 'attributes'>, database: string, columns: readonly Column[]): string {
  const record = RECORD.map((name) => `r.${quotedIdentifier(recordColumn(pack, name))} AS ${name}`);
  const factColumns = stored(columns).map(({ name }) => `f.${quotedIdentifier(name)}`);
  return `SELECT ${[...record, ...factColumns].join(', ')} FROM ${database}.rows f JOIN register.${SQL_TABLE} r ON r.rowid = f.record`;
}

/** The rows of `history.duckdb`, from the public files of the same release. */
export function historyTableQuery(pack: Pick<Pack, 'attributes'>, parquet: string, history: string): string {
  const id = quotedIdentifier(recordColumn(pack, 'id'));
  const columns = stored(HISTORY_FILE_COLUMNS).map(({ name }) => `h.${quotedIdentifier(name)}`);
  return (
    `SELECT r.record, ${columns.join(', ')} FROM read_parquet(${quotedText(history)}) h ` +
    `JOIN (SELECT ${id} AS id, file_row_number::UINTEGER AS record FROM read_parquet(${quotedText(parquet)}, file_row_number = true)) r USING (id) ` +
    `ORDER BY attribute, valid_from, record`
  );
}

/**
 * The rows of `provenance.duckdb`, from the public file: a query for each attribute, at least one. `record`: expressions
 * that identify the record; `all`: rows of every attribute, from `records.parquet`.
 */
export function provenanceTableQueries(
  pack: Pick<Pack, 'attributes'>,
  parquet: string,
  record = 'file_row_number::UINTEGER AS record',
  only: 'all' | 'public' = 'public',
): string[] {
  const file = `read_parquet(${quotedText(parquet)}, file_row_number = true)`;
  const columns = stored(PROVENANCE_COLUMNS).filter(({ name }) => name !== 'attribute');
  const provenance = quotedIdentifier(recordColumn(pack, 'provenance'));
  const empty = columns.map(({ name, type }) => `NULL::${type} AS ${name}`).join(', ');
  const queries = pack.attributes
    .filter((attribute) => only === 'all' || attribute.public)
    .map(({ name }) => {
      const member = `${provenance}.${quotedIdentifier(name)}`;
      const cells = columns.map((column) => `${member}.${column.name} AS ${column.name}`).join(', ');
      return `SELECT ${record}, ${quotedText(name)} AS attribute, ${cells} FROM ${file} WHERE ${member} IS NOT NULL`;
    });
  return queries.length > 0
    ? queries
    : [`SELECT ${record}, NULL::VARCHAR AS attribute, ${empty} FROM ${file} WHERE false`];
}
