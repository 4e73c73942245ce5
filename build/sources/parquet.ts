// Reads Parquet files by DuckDB: only the wanted columns, a few thousand rows at a time.
import { tmpdir } from 'node:os';
import { Duck, quotedIdentifier, quotedText } from '../../data/duckdb/duck.ts';
import { parseJson } from '../../packs/define/digits.ts';
import type { DeclaredAs } from '../../packs/define/sources.ts';
import { changedFiles, checkUnchanged, type SourceFile } from './files.ts';
import { type ColumnPath, finiteOrText, numberOrText, pathsOf, valueAt } from './json-values.ts';
import type { RawRow, SourceContext, SourceVersion } from './reader.ts';

/** Versions of a Parquet file. */
export async function* readParquet(
  declared: DeclaredAs<'parquet'>,
  context: SourceContext,
): AsyncGenerator<SourceVersion> {
  for (const file of await changedFiles(declared, context)) {
    const { name, observed_at, mark } = file;
    const duck = await Duck.open(tmpdir());
    try {
      const columns = await columnsOf(duck, file);
      const plain = columns.map((column) => column.name);
      const paths = pathsOf(plain, context.wanted);
      const names = [...plain, ...paths.map(({ path }) => path)];
      const rows = rowsOf(duck, file, columns, paths, context);
      yield { name, observed_at, columns: names, rows, mark: () => mark };
    } finally {
      duck.close();
    }
  }
}

/** A column: its name, and how its values become cells. */
interface Column {
  name: string;
  /** SQL expression that returns the value in a type that JavaScript has. */
  sql: string;
  /** What remains to convert; null: nothing. */
  convert: ((value: unknown) => unknown) | null;
}

/** The file as a table expression. Characters of patterns in its name are its own. */
const tableOf = ({ path }: SourceFile) =>
  `read_parquet(${quotedText(path.replace(/[[*?]/g, '[$&]'))}, hive_partitioning = false)`;

async function columnsOf(duck: Duck, file: SourceFile): Promise<Column[]> {
  try {
    const described = await duck.rows(`DESCRIBE FROM ${tableOf(file)}`);
    return described.map(([name, type]) => columnOf(String(name), String(type)));
  } catch (error) {
    throw new Error(`${file.name} cannot be read as a Parquet file: ${(error as Error).message}`);
  }
}

const WIDE_NUMBER = /^(?:U?BIGINT|U?HUGEINT|BIGNUM|DECIMAL\(.*\))$/;
const AS_IS = /^(?:BOOLEAN|U?TINYINT|U?SMALLINT|U?INTEGER|VARCHAR)$/;
const NESTED = /\[\d*\]$|^(?:STRUCT|MAP|UNION)\(|^(?:JSON|VARIANT)$/;

/** How a column of a type is read; the types are DuckDB's. */
function columnOf(name: string, type: string): Column {
  const sql = quotedIdentifier(name);
  const text = `${sql}::VARCHAR`;
  const iso = (timestamp: string) => `replace(${timestamp}::VARCHAR, ' ', 'T')`;
  if (AS_IS.test(type)) return { name, sql, convert: null };
  if (WIDE_NUMBER.test(type)) return { name, sql: text, convert: (digits) => numberOrText(String(digits)) };
  // The shortest decimal of a single is not that of the double with its value: 0.1, not 0.10000000149011612.
  if (type === 'FLOAT' || type === 'DOUBLE') {
    const double = type === 'FLOAT' ? `${text}::DOUBLE` : sql;
    return { name, sql: double, convert: (value) => finiteOrText(value as number) };
  }
  if (type === 'TIMESTAMP WITH TIME ZONE')
    return { name, sql: `${iso(`make_timestamp(epoch_us(${sql}))`)} || 'Z'`, convert: null };
  if (type.startsWith('TIMESTAMP')) return { name, sql: iso(sql), convert: null };
  if (NESTED.test(type)) return { name, sql: `to_json(${sql})::VARCHAR`, convert: jsonOrText };
  if (type === 'BLOB') return { name, sql, convert: (blob) => Uint8Array.from((blob as { bytes: Uint8Array }).bytes) };
  return { name, sql: text, convert: null };
}

/** A nested value. DuckDB writes NaN into JSON, which then is none: such a value stays a text. */
function jsonOrText(json: unknown): unknown {
  try {
    return parseJson(String(json));
  } catch {
    return json;
  }
}

async function* rowsOf(
  duck: Duck,
  file: SourceFile,
  columns: readonly Column[],
  paths: readonly ColumnPath[],
  { wanted, progress }: SourceContext,
): AsyncGenerator<RawRow> {
  const positions = columns.flatMap(({ name }, i) =>
    wanted.size === 0 || wanted.has(name) || paths.some(({ column }) => column === i) ? [i] : [],
  );
  const total = await duck.count(`SELECT count(*) FROM ${tableOf(file)}`);
  const list = positions.map((i) => columns[i]!.sql);
  // Without a column there still is a row for each.
  const sql = `SELECT ${list.length === 0 ? 'NULL' : list.join(', ')} FROM ${tableOf(file)}`;
  const converters = positions.map((i) => columns[i]!.convert);
  let line = 0;
  for await (const { columns: values, rows } of duck.chunks(sql)) {
    for (let row = 0; row < rows; row++) {
      const cells = new Array<unknown>(columns.length + paths.length).fill(undefined);
      for (let i = 0; i < positions.length; i++) {
        const value = values[i]![row];
        const convert = converters[i];
        cells[positions[i]!] = value === null || !convert ? value : convert(value);
      }
      for (const [i, { column, member }] of paths.entries()) cells[columns.length + i] = valueAt(cells[column], member);
      yield { line: ++line, cells };
    }
    progress(line, total, `rows of ${file.name}`);
  }
  await checkUnchanged(file);
}
