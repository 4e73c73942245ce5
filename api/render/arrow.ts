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
  const own = (name: string, type: DataType, value: Column['value']): Column => ({
    field: new Field(recordColumn(rows.pack, name), type, false),
    value,
  });
  return [
    own('id', new Utf8(), ({ id }) => id),
    own('slug', new Utf8(), ({ slug }) => slug),
    own('name', new Utf8(), ({ name }) => name),
    ...rows.attributes.flatMap(attributeColumns),
    own('quality_score', new Float64(), ({ quality_score }) => quality_score),
    own('completeness', new Float64(), ({ completeness }) => completeness),
    own('verified_owner', new Bool(), ({ verified_owner }) => verified_owner),
    own('updated_at', time(), ({ updated_at }) => new Date(updated_at)),
    ...(rows.distances ? [own('distance_km', new Float64(), ({ distance_km }) => distance_km)] : []),
    own('url', new Utf8(), ({ url }) => url),
    own('license', new Utf8(), ({ license }) => license),
    own('attribution', new Utf8(), ({ attribution }) => attribution),
  ];
}

/**
 * Cells built between two turns of the event loop, some 2 ms. A column is built in one piece; a struct has a
 * cell for each member.
 */
const CELLS_A_SLICE = 2_000;

/** The data of columns, in their order. */
async function dataOf(columns: readonly Column[], { items, options }: Rows): Promise<Data[]> {
  const width = Math.max(1, ...columns.map(({ field }) => field.type.children?.length ?? 1));
  const size = Math.max(1, Math.floor(CELLS_A_SLICE / (items.length * width)));
  const build = ({ field: { type }, value }: Column) => {
    const cells = items.map(value);
    // The builder of this type takes milliseconds, of which a double has no microseconds in every year.
    if (type instanceof TimestampMicrosecond) return vectorFromArray(cells, new Int64()).data[0]!.clone(type);
    return vectorFromArray(cells, type).data[0]!;
  };
  return mapSlices(columns, size, build, options);
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
