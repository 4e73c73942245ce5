// A result as a Parquet file. DuckDB's own writer is an extension on another host (docs/decisions/0033).
import { type BasicType, ByteWriter, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer';
import { type Cell, printCell, type ResultColumn, type ResultRow, timeOf } from './cells.ts';

/** Rows of a row group. */
const GROUP = 20_480;

/** Collects rows in row groups. */
export function parquetFile(columns: readonly ResultColumn[]) {
  const writer = new ByteWriter();
  const empty = columns.map((column) => ({
    name: column.name,
    ...(column.day ? {} : { type: typeOf(column) }),
    data: [] as unknown[],
  }));
  const schemaOverrides = Object.fromEntries(
    columns.filter(({ day }) => day).map(({ name }) => [name, dayElement(name)]),
  );
  const file = new ParquetWriter({ writer, schema: schemaFromColumnData({ columnData: empty, schemaOverrides }) });
  let waiting: ResultRow[] = [];
  const flush = (rows: readonly ResultRow[]) => {
    const columnData = columns.map((column, at) => ({
      name: column.name,
      type: typeOf(column),
      data: rows.map((row) => parquetValue(column, row[at] ?? null)),
    }));
    file.write({ columnData, rowGroupSize: GROUP });
  };
  return {
    add(rows: readonly ResultRow[]): void {
      waiting.push(...rows);
      if (waiting.length < GROUP) return;
      flush(waiting.slice(0, GROUP));
      waiting = waiting.slice(GROUP);
    },
    end(): BlobPart[] {
      if (waiting.length > 0) flush(waiting);
      file.finish();
      return [writer.getBuffer()];
    },
  };
}

const dayElement = (name: string) =>
  ({ name, type: 'INT32', converted_type: 'DATE', repetition_type: 'OPTIONAL' }) as const;

function typeOf({ kind, integer }: ResultColumn): BasicType {
  if (kind === 'number') return integer ? 'INT64' : 'DOUBLE';
  if (kind === 'boolean') return 'BOOLEAN';
  if (kind === 'time') return 'TIMESTAMP';
  return kind === 'text' ? 'STRING' : 'JSON';
}

function parquetValue({ kind, integer }: ResultColumn, cell: Cell): unknown {
  if (cell === null) return undefined;
  if (kind === 'number') return integer ? BigInt(cell as string | number) : Number(cell);
  if (kind === 'time') return new Date(timeOf(cell));
  if (kind === 'other') return cell;
  return kind === 'text' ? printCell(cell) : cell;
}
