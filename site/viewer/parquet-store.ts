// The public Parquet file as columns in memory: each row group of a column is read when it is first needed.
import { decompress } from 'fzstd';
import {
  type AsyncBuffer,
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetRead,
  parquetReadObjects,
} from 'hyparquet';
import type { Model, ModelAttribute, ValueSource } from '../../api/pages/viewer-model.ts';
import type { Predicate } from '../../data/plan/plan.ts';
import type { Value } from '../../packs/define/model.ts';
import { kindOf, NumberColumn, newColumn, TextColumn, type TypedColumn } from './columns.ts';
import { type Edits, editedCells } from './edits.ts';
import type { ViewTable } from './query.ts';

/** A row group: rows from `from` up to, not including, `to`. */
interface Group {
  from: number;
  to: number;
}

/** The open file. */
interface ParquetFile {
  file: AsyncBuffer;
  metadata: FileMetaData;
  compressors: Compressors;
  groups: readonly Group[];
}

const MEMBERS = ['source_url', 'observed_at', 'confidence'];

/** The metadata with the columns only whose path passes `keep`. */
function prune(metadata: FileMetaData, keep: (path: readonly string[]) => boolean): FileMetaData {
  let at = 0;
  const visit = (path: readonly string[]): FileMetaData['schema'] => {
    const element = metadata.schema[at++]!;
    const count = element.num_children ?? 0;
    if (count === 0) return keep(path) ? [element] : [];
    const children = Array.from({ length: count }, () => visit([...path, metadata.schema[at]!.name]));
    const kept = children.filter((list) => list.length > 0);
    return kept.length === 0 ? [] : [{ ...element, num_children: kept.length }, ...kept.flat()];
  };
  const schema = visit([]);
  const row_groups = metadata.row_groups.map((group) => ({
    ...group,
    columns: group.columns.filter(({ meta_data }) => keep(meta_data?.path_in_schema ?? [])),
  }));
  return { ...metadata, schema, row_groups };
}

type Struct = Record<string, Record<string, unknown> | null> | null;

/** Sources of rows, by row and attribute in the given order; null: no value. */
async function readSources(
  { file, metadata, compressors, groups }: ParquetFile,
  column: string,
  rows: Uint32Array,
  attributes: readonly string[],
): Promise<(ValueSource | null)[][]> {
  const pruned = prune(
    metadata,
    ([top, name = '', member = '']) => top === column && attributes.includes(name) && MEMBERS.includes(member),
  );
  const structs = new Map<number, Struct>();
  await Promise.all(
    groups.map(async ({ from, to }) => {
      const groupRows = rows.filter((row) => row >= from && row < to);
      if (groupRows.length === 0) return;
      const [first, last] = [groupRows.reduce((a, b) => Math.min(a, b)), groupRows.reduce((a, b) => Math.max(a, b))];
      const options = { file, metadata: pruned, compressors, columns: [column], rowStart: first, rowEnd: last + 1 };
      const objects = await parquetReadObjects(options);
      for (const row of groupRows) structs.set(row, objects[row - first]?.[column] as Struct);
    }),
  );
  return Array.from(rows, (row) => attributes.map((name) => sourceOf(structs.get(row)?.[name])));
}

function sourceOf(value: Record<string, unknown> | null | undefined): ValueSource | null {
  if (!value || typeof value['source_url'] !== 'string') return null;
  const observed = value['observed_at'];
  return {
    source_url: value['source_url'],
    observed_at: observed instanceof Date ? observed.toISOString() : String(observed),
    confidence: Number(value['confidence']),
  };
}

/** A record's own columns. */
const OWN = { id: 'text', slug: 'text', name: 'text', updated_at: 'time', quality_score: 'number' } as const;

/** A record's own columns by the key that sorts by them. */
export const SORT_KEYS: Record<string, 'quality_score' | 'updated_at'> = {
  quality: 'quality_score',
  updated: 'updated_at',
};

export class ParquetStore implements ViewTable {
  readonly rows: number;
  readonly #open: ParquetFile;
  readonly #model: Model;
  readonly #columns = new Map<string, TypedColumn>();
  /** Row groups by column, while they are read and after. */
  readonly #reading = new Map<string, Promise<void>>();
  readonly dropped: number[] = [];
  /** Edited cells by column: the row, and its value. */
  readonly #edited = new Map<string, [number, Value | null][]>();

  private constructor(file: AsyncBuffer, metadata: FileMetaData, model: Model) {
    let from = 0;
    const groups = metadata.row_groups.map(({ num_rows }) => {
      const group = { from, to: from + Number(num_rows) };
      from = group.to;
      return group;
    });
    this.rows = from;
    this.#model = model;
    this.#open = { file, metadata, groups, compressors: { ZSTD: (input) => decompress(input) } };
  }

  /** Opens the file with the edits that it lacks. */
  static async open(file: AsyncBuffer, model: Model, edits: Edits | null): Promise<ParquetStore> {
    const metadata = await parquetMetadataAsync(file, { initialFetchSize: model.footer });
    const store = new ParquetStore(file, metadata, model);
    if (edits !== null) await store.#apply(edits);
    return store;
  }

  /** Drops the rows of removed records, and sets the cells of edited ones wherever a column is read. */
  async #apply({ records, removed }: Edits): Promise<void> {
    const ids = this.#columnOf('id');
    await this.load([ids]);
    const rowOf = new Map<unknown, number>();
    for (let row = 0; row < this.rows; row++) rowOf.set(this.own('id', row), row);
    this.dropped.push(...removed.flatMap((id) => rowOf.get(id) ?? []));
    for (const { id, name, values } of records) {
      const row = rowOf.get(id);
      if (row === undefined) continue;
      const cells = this.#model.attributes.flatMap((attribute) => {
        const value = values[attribute.name];
        return value === undefined ? [] : editedCells(attribute.name, value, this.#flat(attribute));
      });
      if (name !== undefined) cells.push([this.names, name]);
      for (const [column, cell] of cells) this.#edited.set(column, [...(this.#edited.get(column) ?? []), [row, cell]]);
    }
  }

  /** Columns that conditions compare. */
  needed(conditions: readonly Predicate[]): string[] {
    const names = conditions.flatMap((condition) => {
      if (condition.kind === 'near' || condition.kind === 'bbox') return this.#flat(this.#geo());
      if (condition.kind === 'words') return this.#searched();
      if (condition.kind === 'ids') return ['id', 'slug'].map((name) => this.#columnOf(name));
      if (condition.kind === 'updated_since') return [this.#columnOf('updated_at')];
      if (condition.kind === 'min_quality') return [this.#columnOf('quality_score')];
      return 'attribute' in condition ? this.#flat(this.#attribute(condition.attribute)) : [];
    });
    return [...new Set(names)];
  }

  /** The columns of the file for a key of sorting: `quality`, `updated` or an attribute. */
  columnsFor(key: string): string[] {
    const sortKey = SORT_KEYS[key];
    return sortKey === undefined ? this.#flat(this.#attribute(key)) : [this.#columnOf(sortKey)];
  }

  /** The column of the file with the displayed names. */
  get names(): string {
    return this.#columnOf('name');
  }

  /** The columns of the file for rows with these attributes. */
  shown(attributes: readonly string[]): string[] {
    const flat = attributes.flatMap((name) => this.#flat(this.#attribute(name)));
    return [this.#columnOf('slug'), this.#columnOf('name'), ...flat];
  }

  /** Reads columns of the file: all rows, or the row groups of some. */
  async load(names: readonly string[], rows: Uint32Array | null = null): Promise<void> {
    const { groups: all } = this.#open;
    const groups = rows === null ? all : all.filter(({ from, to }) => rows.some((row) => row >= from && row < to));
    await Promise.all(names.flatMap((name) => groups.map((group) => this.#read(name, group))));
  }

  /** Prepares searches in the loaded columns. */
  prepare(names: readonly string[]): void {
    for (const name of names) {
      const column = this.#column(name);
      if (column instanceof TextColumn) column.prepare();
    }
  }

  column = (name: string): TypedColumn => this.#column(this.#columnOf(name));

  ends = (attribute: string): { low: TypedColumn; high: TypedColumn } => {
    const [low, high = low] = this.#flat(this.#attribute(attribute)).map((name) => this.#column(name));
    return { low: low!, high: high! };
  };

  point = (): { lat: NumberColumn; lng: NumberColumn } => {
    const [lat, lng] = this.#flat(this.#geo()).map((name) => this.#column(name) as NumberColumn);
    return { lat: lat!, lng: lng! };
  };

  searched = (): readonly TypedColumn[] => this.#searched().map((name) => this.#column(name));

  /** A record's own value, whose column is loaded. */
  own(name: keyof typeof OWN, row: number): Value | null {
    return this.column(name).value(row);
  }

  /** The value of an attribute whose columns are loaded. */
  value(name: string, row: number): Value | null {
    const attribute = this.#attribute(name);
    const [first, second] = this.#flat(attribute).map((column) => this.#column(column).value(row));
    if (second === undefined || first === null || second === null) return first ?? null;
    const { type, unit } = attribute;
    if (type === 'geo') return { lat: first as number, lng: second as number };
    return first === second ? first! : { min: first as number, max: second as number, currency: unit ?? '' };
  }

  /** Sources of the values of some rows. */
  sources(rows: Uint32Array, attributes: readonly string[]): Promise<(ValueSource | null)[][]> {
    return readSources(this.#open, this.#columnOf('provenance'), rows, attributes);
  }

  #read(name: string, { from, to }: Group): Promise<void> {
    const key = `${from} ${name}`;
    const pending = this.#reading.get(key);
    if (pending !== undefined) return pending;
    const column = this.#column(name);
    const { file, metadata, compressors } = this.#open;
    const reading = parquetRead({
      ...{ file, metadata, compressors },
      columns: [name],
      rowStart: from,
      rowEnd: to,
      // Without their own parser, times lose the microseconds.
      parsers: { timestampFromMicroseconds: (micros) => Number(micros) / 1000 },
      onChunk: ({ columnData, rowStart }) => column.write(rowStart, columnData as ArrayLike<string>),
    }).then(() => {
      for (const [row, cell] of this.#edited.get(name) ?? [])
        if (row >= from && row < to) column.write(row, [cellOf(column, cell)]);
    });
    this.#reading.set(key, reading);
    reading.catch(() => this.#reading.delete(key));
    return reading;
  }

  #column(name: string): TypedColumn {
    let column = this.#columns.get(name);
    if (column === undefined) {
      const entry = Object.entries(OWN).find(([key]) => this.#columnOf(key) === name);
      const attribute = this.#model.attributes.find((candidate) => this.#flat(candidate).includes(name));
      column = newColumn(this.rows, entry?.[1] ?? kindOf(attribute?.type ?? 'string'));
      this.#columns.set(name, column);
    }
    return column;
  }

  /** Name of a record's own column; an attribute of that name has priority (data/write/csv.ts). */
  #columnOf(name: string): string {
    return this.#model.attributes.some((attribute) => attribute.name === name) ? `record.${name}` : name;
  }

  #attribute(name: string): ModelAttribute {
    const attribute = this.#model.attributes.find((candidate) => candidate.name === name);
    if (attribute === undefined) throw new Error(`${name} is not an attribute of ${this.#model.dataset}.`);
    return attribute;
  }

  #geo(): ModelAttribute {
    return this.#attribute(this.#model.geo ?? '');
  }

  #flat({ name, type }: ModelAttribute): string[] {
    if (type === 'price') return [`${name}.min`, `${name}.max`];
    return type === 'geo' ? [`${name}.lat`, `${name}.lng`] : [name];
  }

  #searched(): string[] {
    const texts = this.#model.attributes.filter(
      (attribute) => attribute.public && attribute.searchable && kindOf(attribute.type) !== 'number',
    );
    return [...new Set([this.#columnOf('name'), this.#columnOf('slug'), ...texts.map(({ name }) => name)])];
  }
}

/** A value of the API as Parquet decodes it. */
function cellOf(column: TypedColumn, value: Value | null) {
  if (!(column instanceof NumberColumn) || typeof value !== 'string') return value as string | null;
  return column.kind === 'date' ? new Date(value) : column.numberOf(value);
}
