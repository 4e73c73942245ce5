// The files for analysts: typed columns by dotted names, with the provenance of every value
// (docs/releases.md, "records.parquet").
import type { Attribute, Pack } from '../../packs/define/model.ts';
import { type ColumnTypes, quotedIdentifier, quotedText } from '../duckdb/duck.ts';
import { flatColumns, recordColumn } from './csv.ts';
import { HISTORY_FILE_COLUMNS } from './dictionary.ts';

const JSON_TYPES: Partial<Record<Attribute['type'], string>> = {
  boolean: 'BOOLEAN',
  integer: 'BIGINT',
  number: 'DOUBLE',
  date: 'DATE',
  datetime: 'TIMESTAMP',
  strings: 'VARCHAR[]',
  price: 'JSON',
  geo: 'STRUCT(lat DOUBLE, lng DOUBLE)',
};

/** Columns of a record in flat files besides its attributes. */
const RECORD_COLUMNS = ['id', 'slug', 'name', 'updated_at', 'quality_score', 'completeness', 'verified_owner'];

const TOLD =
  'source_url VARCHAR, observed_at TIMESTAMP, confidence DOUBLE, evidence VARCHAR, source STRUCT(kind VARCHAR), status VARCHAR';

/** Bytes of a record that DuckDB reads as JSON, unless some have more. */
const OBJECT = 16 * 2 ** 20;

/** Typed columns and provenance, read back from records.jsonl in its order. `longest`: bytes of its longest line. */
export function recordsQuery(pack: Pack, jsonl: string, longest: number): string {
  const shape = (type: (attribute: Attribute) => string) =>
    `STRUCT(${pack.attributes.map((attribute) => `${quotedIdentifier(attribute.name)} ${type(attribute)}`).join(', ')})`;
  const columns: ColumnTypes = { id: 'VARCHAR', slug: 'VARCHAR', name: 'VARCHAR', updated_at: 'TIMESTAMP' };
  columns['attributes'] = shape((attribute) => JSON_TYPES[attribute.type] ?? 'VARCHAR');
  columns['provenance'] = shape(() => `STRUCT(${TOLD})`);
  Object.assign(columns, { quality_score: 'DOUBLE', completeness: 'DOUBLE', verified_owner: 'BOOLEAN' });
  const read = Object.entries(columns).map(([name, type]) => `${name}: ${quotedText(type)}`);
  const values = pack.attributes.flatMap(valueColumns);
  const provenance = pack.attributes.map(({ name }) => `${quotedIdentifier(name)} := ${provenanceOf(name)}`);
  const recordColumns = RECORD_COLUMNS.map((name) => `${name} AS ${quotedIdentifier(recordColumn(pack, name))}`);
  return (
    `SELECT ${[...recordColumns, ...values].join(', ')}, struct_pack(${provenance.join(', ')}) AS ${quotedIdentifier(recordColumn(pack, 'provenance'))} ` +
    `FROM read_json(${quotedText(jsonl)}, format = 'newline_delimited', maximum_object_size = ${Math.max(OBJECT, longest)}, columns = {${read.join(', ')}})`
  );
}

function provenanceOf(name: string): string {
  const struct = `provenance.${quotedIdentifier(name)}`;
  const members = ['source_url', 'observed_at', 'confidence', 'evidence'].map((part) => `${part} := ${struct}.${part}`);
  return `CASE WHEN ${struct} IS NULL THEN NULL ELSE struct_pack(${members.join(', ')}, source_kind := ${struct}.source.kind, status := ${struct}.status) END`;
}

function valueColumns(attribute: Attribute): string[] {
  const value = `attributes.${quotedIdentifier(attribute.name)}`;
  const [first, second] = flatColumns(attribute);
  if (attribute.type === 'price') {
    const end = (name: string) => `coalesce(TRY_CAST(${value} AS DOUBLE), CAST(${value}->>'${name}' AS DOUBLE))`;
    return [`${end('min')} AS ${quotedIdentifier(first!)}`, `${end('max')} AS ${quotedIdentifier(second!)}`];
  }
  if (attribute.type === 'geo')
    return [`${value}.lat AS ${quotedIdentifier(first!)}`, `${value}.lng AS ${quotedIdentifier(second!)}`];
  return [`${value} AS ${quotedIdentifier(first!)}`];
}

/** The same with public attributes only, from records.parquet. */
export function publicQuery(pack: Pack, records: string): string {
  const open = pack.attributes.filter((attribute) => attribute.public);
  const values = open.flatMap(flatColumns).map(quotedIdentifier);
  const all = quotedIdentifier(recordColumn(pack, 'provenance'));
  const provenance = open.map(({ name }) => `${quotedIdentifier(name)} := ${all}.${quotedIdentifier(name)}`);
  const provenanceColumn = open.length === 0 ? '' : `, struct_pack(${provenance.join(', ')}) AS ${all}`;
  const columns = RECORD_COLUMNS.map((name) => quotedIdentifier(recordColumn(pack, name)));
  return `SELECT ${[...columns, ...values].join(', ')}${provenanceColumn} FROM read_parquet(${quotedText(records)})`;
}

/**
 * The rows of `history.parquet`, not sorted: public values (or those of all attributes) of a query with the columns of a
 * release's history, and the `slug` and `name` of its records. Values lose the quotes of JSON texts.
 */
export function publicHistoryQuery(pack: Pack, history: string, only: 'all' | 'public' = 'public'): string {
  const expressions: Record<string, string> = {
    id: 'entity',
    value: `CASE WHEN starts_with(value, '"') THEN value->>'$' ELSE value END`,
    valid_from: '"from"',
    valid_until: '"to"',
  };
  const columns = HISTORY_FILE_COLUMNS.map(
    ({ name }) => `${expressions[name] ?? quotedIdentifier(name)} AS ${quotedIdentifier(name)}`,
  );
  const open = pack.attributes
    .filter((attribute) => only === 'all' || attribute.public)
    .map(({ name }) => quotedText(name));
  const published = `value IS NOT NULL AND attribute IN (${['NULL', ...open].join(', ')})`;
  return `SELECT ${columns.join(', ')} FROM (${history}) WHERE ${published}`;
}
