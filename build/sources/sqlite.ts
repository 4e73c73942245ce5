// Reads a SQLite file: the rows of a table or of a query, one after the other.
import { stat } from 'node:fs/promises';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { nearestName } from '../../packs/define/mistakes.ts';
import type { DeclaredAs } from '../../packs/define/sources.ts';
import { LONGEST_TEXT } from '../../packs/define/text.ts';
import { changedFiles, type SourceFile } from './files.ts';
import { finiteOrText } from './json-values.ts';
import type { RawRow, SourceContext, SourceVersion } from './reader.ts';

/** Versions of a SQLite file. */
export async function* readSqlite(
  declared: DeclaredAs<'sqlite'>,
  context: SourceContext,
): AsyncGenerator<SourceVersion> {
  const { table, query } = declared;
  if ((table === undefined) === (query === undefined))
    throw new Error(`a SQLite source needs table or query (it has ${table === undefined ? 'none' : 'both'})`);
  for (const file of await changedFiles(declared, context, withJournal)) {
    const { name, observed_at, mark } = file;
    const database = openFile(file);
    try {
      const from = query === undefined ? tableOf(database, name, table!) : `(${query.replace(/[\s;]+$/, '')}\n)`;
      const columns = columnsOf(database, name, query ?? `SELECT * FROM ${from}`);
      yield { name, observed_at, columns, rows: rowsOf(database, from, columns, context, name), mark: () => mark };
    } finally {
      database.close();
    }
  }
}

/**
 * Size and time of a database: with its write-ahead log, which has newer rows. A reader sees one state of both,
 * also while another process writes.
 */
async function withJournal(path: string): Promise<{ size: number; mtimeMs: number }> {
  const [main, log] = [await stat(path), await stat(`${path}-wal`).catch(() => null)];
  if (log === null || log.size === 0) return main;
  return { size: main.size + log.size, mtimeMs: Math.max(main.mtimeMs, log.mtimeMs) };
}

function openFile({ path, name }: SourceFile): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
  try {
    // SQLite opens any file; this reads its header, and begins the state that all statements see.
    database.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
    return database;
  } catch (error) {
    database.close();
    throw new Error(`${name} cannot be read as a SQLite file: ${(error as Error).message}`);
  }
}

const quoted = (identifier: string) => `"${identifier.replaceAll('"', '""')}"`;

/** Names of the tables and views. */
export function sqliteTables(database: DatabaseSync): string[] {
  const sql =
    "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
  return database
    .prepare(`${sql} ORDER BY name`)
    .all()
    .map((row) => String(row['name']));
}

/** A table or view by name, quoted. Throws with the names of the tables. */
function tableOf(database: DatabaseSync, name: string, table: string): string {
  const tables = sqliteTables(database);
  const equal = tables.find((candidate) => candidate.toLowerCase() === table.toLowerCase());
  if (equal !== undefined) return quoted(equal);
  const near = nearestName(table, tables);
  const list = tables.length === 0 ? 'it has no tables' : `its tables are ${tables.join(', ')}`;
  throw new Error(`${name} has no table ${table}: ${list}${near === undefined ? '' : `; nearest: ${near}`}`);
}

function columnsOf(database: DatabaseSync, name: string, query: string): string[] {
  let statement: StatementSync;
  try {
    statement = database.prepare(query);
  } catch (error) {
    throw new Error(`the query on ${name}: ${(error as Error).message}`);
  }
  const columns = statement.columns().map((column) => column.name);
  if (columns.length === 0) throw new Error(`the query on ${name} returns no columns; expected a SELECT statement`);
  const repeated = columns.find((column, i) => columns.indexOf(column) < i);
  if (repeated !== undefined) throw new Error(`the query on ${name} returns two columns '${repeated}'; rename one`);
  return columns;
}

/**
 * A column without the rest of texts that no value may have, and without blobs, which are no values. JavaScript has no
 * text of 512 MB; a cut one is rejected with its place. `octet_length` reads the length without the content.
 */
const bounded = (column: string) => {
  const most = LONGEST_TEXT.bytes + 1;
  return `CASE WHEN octet_length(${column}) <= ${most} OR typeof(${column}) NOT IN ('text', 'blob') THEN ${column} WHEN typeof(${column}) = 'blob' THEN zeroblob(1) ELSE substr(${column}, 1, ${most}) END`;
};

/** Rows between two turns of the event loop, which node:sqlite never gives way to. */
const TURN = 5_000;

async function* rowsOf(
  database: DatabaseSync,
  from: string,
  columns: readonly string[],
  { wanted, progress }: SourceContext,
  name: string,
): AsyncGenerator<RawRow> {
  const list = columns.map((column) => (wanted.size === 0 || wanted.has(column) ? bounded(quoted(column)) : 'NULL'));
  const statement = database.prepare(`SELECT ${list.join(', ')} FROM ${from}`);
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  const unread = columns.map((column) => wanted.size > 0 && !wanted.has(column));
  let line = 0;
  // With setReturnArrays each row is an array; the types do not have this.
  const rows = statement.iterate() as unknown as Iterable<unknown[]>;
  for (const row of rows) {
    line++;
    for (let i = 0; i < row.length; i++) {
      const cell = row[i];
      if (typeof cell === 'bigint') row[i] = Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell);
      else if (typeof cell === 'number') row[i] = finiteOrText(cell);
      else if (unread[i]) row[i] = undefined;
    }
    yield { line, cells: row };
    if (line % TURN > 0) continue;
    progress(line, null, `rows of ${name}`);
    await setImmediate();
  }
}
