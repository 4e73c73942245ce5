// Tables for SQL over the values of a dataset: records, their history, and the provenance of their values.
import type { Pack } from '../../packs/define/model.ts';
import { quotedIdentifier, quotedText } from '../duckdb/duck.ts';
import { recordColumn } from './csv.ts';
import { type Column, dictionary, HISTORY_FILE_COLUMNS, PROVENANCE_COLUMNS } from './dictionary.ts';
import { tableName } from './sql-names.ts';

/** A table of the SQL console. */
export interface SqlTable {
  name: string;
  columns: Column[];
  description: string;
}

/** Columns that identify the record of a row. */
const RECORD = ['id', 'slug', 'name'];

/** The tables of a dataset, in the order of the console. */
export function sqlTables(pack: Pick<Pack, 'id' | 'attributes'>): SqlTable[] {
  const table = tableName(pack.id);
  return [
    { name: table, columns: dictionary(pack, 'public', false), description: 'one row for each record' },
    {
      name: `${table}_history`,
      columns: [...HISTORY_FILE_COLUMNS],
      description: 'one row for each value that was published, and when it was',
    },
    {
      name: `${table}_provenance`,
      columns: [...PROVENANCE_COLUMNS],
      description: 'one row for each value, with its source',
    },
  ];
}

/**
 * One row for each value with its source, from the public file: a query for each attribute, at least one. `record`:
 * expressions that identify the record; `all`: rows of every attribute, from `records.parquet`.
 */
export function provenanceTableQueries(
  pack: Pick<Pack, 'attributes'>,
  parquet: string,
  record: string,
  only: 'all' | 'public',
): string[] {
  const file = `read_parquet(${quotedText(parquet)}, file_row_number = true)`;
  const columns = PROVENANCE_COLUMNS.filter(({ name }) => name !== 'attribute' && !RECORD.includes(name));
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
