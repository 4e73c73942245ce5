// The files for analysts: typed columns by dotted names, with the provenance of every value
// (docs/releases.md, "records.parquet").
import type { Attribute, Pack } from '../../packs/define/model.ts';
import { type Columns, named, quoted } from '../duckdb/duck.ts';
import { flatColumns, recordColumn } from './csv.ts';

const JSON_TYPES: Partial<Record<Attribute['type'], string>> = {
  boolean: 'BOOLEAN',
  integer: 'BIGINT',
  number: 'DOUBLE',
  date: 'DATE',
  strings: 'VARCHAR[]',
  price: 'JSON',
  geo: 'STRUCT(lat DOUBLE, lng DOUBLE)',
};

/** Columns of a record in flat files besides its attributes. */
const RECORD_COLUMNS = ['id', 'slug', 'name', 'updated_at', 'quality_score', 'completeness', 'verified_owner'];

const TOLD =
  'source_url VARCHAR, observed_at TIMESTAMP, confidence DOUBLE, evidence VARCHAR, source STRUCT(kind VARCHAR), status VARCHAR';

/** Typed columns and provenance, read back from records.jsonl in its order. */
export function recordsQuery(pack: Pack, jsonl: string): string {
  const shape = (type: (attribute: Attribute) => string) =>
    `STRUCT(${pack.attributes.map((each) => `${named(each.name)} ${type(each)}`).join(', ')})`;
  const columns: Columns = { id: 'VARCHAR', slug: 'VARCHAR', name: 'VARCHAR', updated_at: 'TIMESTAMP' };
  columns['attributes'] = shape((attribute) => JSON_TYPES[attribute.type] ?? 'VARCHAR');
  columns['provenance'] = shape(() => `STRUCT(${TOLD})`);
  Object.assign(columns, { quality_score: 'DOUBLE', completeness: 'DOUBLE', verified_owner: 'BOOLEAN' });
  const read = Object.entries(columns).map(([name, type]) => `${name}: ${quoted(type)}`);
  const values = pack.attributes.flatMap(valueColumns);
  const provenance = pack.attributes.map(({ name }) => `${named(name)} := ${provenanceOf(name)}`);
  const own = RECORD_COLUMNS.map((name) => `${name} AS ${named(recordColumn(pack, name))}`);
  return (
    `SELECT ${[...own, ...values].join(', ')}, struct_pack(${provenance.join(', ')}) AS ${named(recordColumn(pack, 'provenance'))} ` +
    `FROM read_json(${quoted(jsonl)}, format = 'newline_delimited', columns = {${read.join(', ')}})`
  );
}

function provenanceOf(name: string): string {
  const told = `provenance.${named(name)}`;
  const members = ['source_url', 'observed_at', 'confidence', 'evidence'].map((each) => `${each} := ${told}.${each}`);
  return `CASE WHEN ${told} IS NULL THEN NULL ELSE struct_pack(${members.join(', ')}, source_kind := ${told}.source.kind, status := ${told}.status) END`;
}

function valueColumns(attribute: Attribute): string[] {
  const value = `attributes.${named(attribute.name)}`;
  const [first, second] = flatColumns(attribute);
  if (attribute.type === 'price') {
    const end = (name: string) => `coalesce(TRY_CAST(${value} AS DOUBLE), CAST(${value}->>'${name}' AS DOUBLE))`;
    return [`${end('min')} AS ${named(first!)}`, `${end('max')} AS ${named(second!)}`];
  }
  if (attribute.type === 'geo') return [`${value}.lat AS ${named(first!)}`, `${value}.lng AS ${named(second!)}`];
  return [`${value} AS ${named(first!)}`];
}

/** The same with public attributes only, from records.parquet. */
export function publicQuery(pack: Pack, records: string): string {
  const open = pack.attributes.filter((each) => each.public);
  const values = open.flatMap(flatColumns).map(named);
  const all = named(recordColumn(pack, 'provenance'));
  const provenance = open.map(({ name }) => `${named(name)} := ${all}.${named(name)}`);
  const told = open.length === 0 ? '' : `, struct_pack(${provenance.join(', ')}) AS ${all}`;
  const own = RECORD_COLUMNS.map((name) => named(recordColumn(pack, name)));
  return `SELECT ${[...own, ...values].join(', ')}${told} FROM read_parquet(${quoted(records)})`;
}
