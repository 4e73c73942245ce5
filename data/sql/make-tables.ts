// Makes the database of a dataset that statements read: a file that has exactly the columns of a tier, and no row that an
// overlay removed or replaced.
import { rename, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { Duck, fromJsonRows, lacksMemory, quotedIdentifier, quotedText } from '../duckdb/duck.ts';
import { temporaryPath } from '../model/atomic.ts';
import { DataError } from '../model/errors.ts';
import { type SqlSource, TABLE_KINDS } from './tables.ts';

/**
 * Makes the file `path`; `memory` bounds the memory of DuckDB, which writes temporary files beside it. `urgent`: statements
 * are refused until it exists, so it may use half of a machine of four cores; otherwise one core.
 */
export type MakeTables = (source: SqlSource, path: string, memory: number, urgent: boolean) => Promise<void>;

/** Places of `detail` in the error of tables that need more memory than they may have. */
export const NEEDS_MEMORY = 'needs_memory';

/** Throws a DataError with the detail NEEDS_MEMORY when the memory is too small. */
export const makeTables: MakeTables = async (source, path, memory, urgent) => {
  const unfinished = temporaryPath(path);
  const spill = `${unfinished}.spill`;
  try {
    const duck = await Duck.open(spill, urgent ? Math.min(2, availableParallelism()) : 1, memory);
    try {
      await writeTables(duck, unfinished, source);
    } finally {
      duck.close();
    }
    await rename(unfinished, path);
  } catch (error) {
    if (!lacksMemory((error as Error).cause)) throw error;
    throw new DataError('unavailable', (error as Error).message, NEEDS_MEMORY);
  } finally {
    for (const end of ['', '.wal', '.spill']) await rm(unfinished + end, { recursive: true, force: true });
  }
};

async function writeTables(duck: Duck, path: string, { columns, queries, overlay }: SqlSource): Promise<void> {
  const absent = JSON.stringify([...overlay.removed, ...overlay.replaced]);
  await duck.run(`ATTACH ${quotedText(path)} AS made`);
  for (const kind of TABLE_KINDS) {
    const names = Object.keys(columns[kind]).map(quotedIdentifier);
    const types = Object.entries(columns[kind]).map(([name, type]) => `NULL::${type} AS ${quotedIdentifier(name)}`);
    const table = `made.${kind}`;
    await duck.run(`CREATE TABLE ${table} AS SELECT ${types.join(', ')} WHERE false`);
    const kept = `${names[0]!} NOT IN (SELECT unnest(from_json(${quotedText(absent)}, '["VARCHAR"]')))`;
    // One query after the other, since each may hold a row group of many columns. Releases of earlier versions of a pack
    // lack columns.
    for (const query of queries[kind])
      await duck.run(
        `INSERT INTO ${table} BY NAME SELECT ${names.join(', ')} FROM (${query} UNION ALL BY NAME SELECT * FROM ${table} WHERE false) WHERE ${kept}`,
      );
    if (overlay.replaced.length > 0)
      await duck.run(`INSERT INTO ${table} BY NAME ${fromJsonRows(quotedText(overlay.rows[kind]), columns[kind])}`);
  }
  await duck.run('CHECKPOINT made; DETACH made');
}
