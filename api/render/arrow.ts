// Records as an Arrow IPC stream: typed columns with their units and descriptions, and the provenance of
// every value.
import {
  Bool,
  type Data,
  type DataType,
  DateDay,
  Field,
  Float64,
  Int64,
  List,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  TimestampMicrosecond,
  TimestampMillisecond,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import type { PublicRecord } from '../../data/model/record.ts';
import { mapSlices } from '../../data/plan/slices.ts';
import { flatCells, flatColumns, recordColumn } from '../../data/write/csv.ts';
import { licenseText } from '../../packs/define/links.ts';
import type { Attribute, Value } from '../../packs/define/model.ts';
import { microseconds } from '../../packs/define/times.ts';
import type { Rows } from './rows.ts';

interface Column {
  field: Field;
  value: (record: PublicRecord) => unknown;
}

const time = () => new TimestampMillisecond('UTC');

/** Type of the columns of an attribute. A price and a point have two columns, both of this type. */
function typeOf({ type }: Attribute): DataType {
  switch (type) {
    case 'boolean':
      return new Bool();
    case 'integer':
      return new Int64();
    case 'number':
    case 'price':
    case 'geo':
      return new Float64();
    case 'date':
      return new DateDay();
    case 'datetime':
      return new TimestampMicrosecond('UTC');
    case 'strings':
      return new List(new Field('item', new Utf8(), false));
    default:
      return new Utf8();
  }
}

/**
 * A value in the form that the builders of its type require, for each of its columns; null without a value.
 */
function cellsOf(attribute: Attribute, value: Value | undefined): unknown[] {
  if (value === undefined) return flatColumns(attribute).map(() => null);
  if (attribute.type === 'strings') return [value];
  if (attribute.type === 'integer') return [BigInt(value as number)];
  if (attribute.type === 'date') return [new Date(`${value as string}T00:00:00Z`)];
  if (attribute.type === 'datetime') return [microseconds(value as string)];
  return flatCells(attribute, value);
}

/** Metadata of a column: description, unit, currency. */
function metadataOf({ description, unit, currency }: Attribute): Map<string, string> {
  const entries = Object.entries({ description, unit, currency }).filter(([, text]) => text !== null);
  return new Map(entries as [string, string][]);
}

function attributeColumns(attribute: Attribute): Column[] {
  return flatColumns(attribute).map((name, place) => ({
    field: new Field(name, typeOf(attribute), true, metadataOf(attribute)),
    value: (record) => cellsOf(attribute, record.attributes[attribute.name])[place],
  }));
}

/** Provenance of the values: one struct for each record, with a member for each attribute. */
function provenanceColumns({ attributes }: Rows): Column[] {
  const provenanceType = new Struct([
    new Field('source_url', new Utf8(), false),
    new Field('observed_at', time(), false),
    new Field('confidence', new Float64(), false),
    new Field('evidence', new Utf8(), false),
    new Field('source_kind', new Utf8(), false),
    new Field('status', new Utf8(), true),
  ]);
  return attributes.map(({ name }) => ({
    field: new Field(name, provenanceType, true),
    value: ({ provenance }) => {
      const source = provenance[name];
      if (source === undefined) return null;
      const { source_url, observed_at, confidence, evidence, status = null } = source;
      const at = new Date(observed_at);
      return { source_url, observed_at: at, confidence, evidence, source_kind: source.source.kind, status };
    },
  }));
}

function columnsOf(rows: Rows): Column[] {
  const { group } = rows;
  const column = (name: string, type: DataType, value: Column['value']): Column => ({
    field: new Field(recordColumn(rows.pack, name), type, false),
    value,
  });
  return [
    column('id', new Utf8(), ({ id }) => id),
    column('slug', new Utf8(), ({ slug }) => slug),
    column('name', new Utf8(), ({ name }) => name),
    ...rows.attributes.flatMap(attributeColumns),
    column('quality_score', new Float64(), ({ quality_score }) => quality_score),
    column('completeness', new Float64(), ({ completeness }) => completeness),
    column('verified_owner', new Bool(), ({ verified_owner }) => verified_owner),
    column('updated_at', time(), ({ updated_at }) => new Date(updated_at)),
    ...(group
      ? [column(`group.${group.name}`, typeOf(group), (record) => cellsOf(group, record.group?.[group.name])[0])]
      : []),
    ...(rows.distances ? [column('distance_km', new Float64(), ({ distance_km }) => distance_km)] : []),
    column('url', new Utf8(), ({ url }) => url),
    column('license', new Utf8(), ({ license }) => license),
    column('attribution', new Utf8(), ({ attribution }) => attribution),
  ];
}

/**
 * Cells built between two turns of the event loop, some 2 ms. A column is built in one piece; a struct has a
 * cell for each member.
 */
const CELLS_A_SLICE = 2_000;

function dataOfCells(cells: unknown[], type: DataType): Data {
  // The builder of this type takes milliseconds, of which a double has no microseconds in every year.
  if (type instanceof TimestampMicrosecond) return vectorFromArray(cells, new Int64()).data[0]!.clone(type);
  return vectorFromArray(cells, type).data[0]!;
}

/** The data of columns, in their order. */
async function dataOf(columns: readonly Column[], { items, options }: Rows): Promise<Data[]> {
  const width = Math.max(1, ...columns.map(({ field }) => field.type.children?.length ?? 1));
  const size = Math.max(1, Math.floor(CELLS_A_SLICE / (items.length * width)));
  const build = ({ field: { type }, value }: Column) => dataOfCells(items.map(value), type);
  return mapSlices(columns, size, build, options);
}

/** Types of the columns of SQL; those of other columns are texts. */
function typeOfSql(type: string): DataType {
  if (type === 'BOOLEAN') return new Bool();
  if (/^U?(TINY|SMALL|BIG)?INT(EGER)?$/.test(type) && type !== 'UBIGINT') return new Int64();
  if (type === 'DOUBLE' || type === 'FLOAT') return new Float64();
  if (type === 'DATE') return new DateDay();
  if (type === 'TIMESTAMP') return new TimestampMicrosecond('UTC');
  if (type === 'VARCHAR[]') return new List(new Field('item', new Utf8(), true));
  return new Utf8();
}

/** A JSON value of SQL in the form that the builders of its type require. */
function sqlCell(type: DataType, value: unknown): unknown {
  if (value === null) return null;
  if (type instanceof Int64) return BigInt(value as number);
  if (type instanceof Float64) return Number(value);
  if (type instanceof DateDay) return new Date(`${value as string}T00:00:00Z`);
  if (type instanceof TimestampMicrosecond) return microseconds(value as string);
  if (type instanceof Utf8) return typeof value === 'object' ? JSON.stringify(value) : String(value);
  return value;
}

/** Rows of JSON values with the types of DuckDB as an Arrow IPC stream. */
export async function arrowOfCells(
  columns: readonly { name: string; type: string }[],
  rows: readonly (readonly unknown[])[],
  about: Map<string, string>,
  options: Rows['options'],
): Promise<Uint8Array<ArrayBuffer>> {
  const fields = columns.map(({ name, type }) => new Field(name, typeOfSql(type), true));
  const schema = new Schema(fields, about);
  if (rows.length === 0) return new Uint8Array(tableToIPC(new Table(schema), 'stream'));
  const build = ({ field: { type }, place }: { field: Field; place: number }) =>
    dataOfCells(
      rows.map((row) => sqlCell(type, row[place])),
      type,
    );
  const size = Math.max(1, Math.floor(CELLS_A_SLICE / rows.length));
  const children = await mapSlices(
    fields.map((field, place) => ({ field, place })),
    size,
    build,
    options,
  );
  const data = structOf(schema.fields, rows.length, children);
  return new Uint8Array(tableToIPC(new Table(schema, new RecordBatch(schema, data)), 'stream'));
}

const structOf = (fields: Field[], length: number, children: Data[]) =>
  makeData({ type: new Struct(fields), length, nullCount: 0, children });

/** The columns of the CSV with their types, then `provenance`; without records the schema alone. */
export async function arrow(rows: Rows): Promise<Uint8Array<ArrayBuffer>> {
  const { pack, items, release } = rows;
  const columns = columnsOf(rows);
  const sources = provenanceColumns(rows);
  const members = sources.map(({ field }) => field);
  const about = new Map([
    ['dataset', pack.id],
    ['release', release],
    ['title', pack.title],
    ['description', pack.description],
    ['license', licenseText(pack)],
    ['attribution', pack.attribution],
    ...(pack.notice === undefined ? [] : [['notice', pack.notice] as const]),
  ]);
  const fields = columns.map(({ field }) => field);
  if (members.length > 0) fields.push(new Field(recordColumn(pack, 'provenance'), new Struct(members), false));
  const schema = new Schema(fields, about);
  if (items.length === 0) return new Uint8Array(tableToIPC(new Table(schema), 'stream'));
  const children = await dataOf(columns, rows);
  if (members.length > 0) children.push(structOf(members, items.length, await dataOf(sources, rows)));
  const data = structOf(schema.fields, items.length, children);
  return new Uint8Array(tableToIPC(new Table(schema, new RecordBatch(schema, data)), 'stream'));
}
