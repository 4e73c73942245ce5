// Opens a DuckDB instance for one release: loads the narrow tables, compresses them, then locks all settings.
import { statSync } from 'node:fs';
import { join as path } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { Pack } from '../../packs/define/model.ts';
import { RELEASE_FILES } from '../model/layout.ts';
import type { EngineLimits } from '../plan/limits.ts';
import { literal, type Sql, sql } from '../plan/sql.ts';
import { batchMemory } from './duck.ts';
import { MOMENT_BYTES } from './moments.ts';
import type { Shape } from './shape.ts';
import { loadSteps } from './steps.ts';
import { loadRecords, type RunStatement } from './tables.ts';
import { loadTerms, showTerms } from './terms.ts';

/** Disables network, writes and extensions from the start; the rest is locked after loading. */
const OPTIONS = {
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
  temp_directory: '',
  // The system caches files that are read often; a second copy would exist for each release.
  enable_external_file_cache: 'false',
  // Frees the memory used for loading.
  allocator_flush_threshold: '1MB',
  allocator_bulk_deallocation_flush_threshold: '1MB',
  // A second thread does not load faster while other work runs, and takes a quarter more memory.
  threads: '1',
};

/** Tables in an attached in-memory database can be compressed; those of the instance's own cannot. */
const PACKED = sql`packed`;

/** Compression methods left out: they double the loading time and slow queries down, to save 30 MB of 110. */
const LEFT_OUT = sql`'alp,alprd,fsst,dict_fsst,zstd'`;

export interface LoadedTables {
  instance: DuckDBInstance;
  /** A connection that resolves the names of the tables. */
  connect: () => Promise<DuckDBConnection>;
  shape: Shape;
  /** Source of bodies: the table in memory or the Parquet file. */
  bodies: Sql;
}

/**
 * Loads a release folder; its files are sorted as in data/model/layout.ts, and the tables keep that order.
 * Throws when a file is missing, damaged or has another number of rows than the manifest. With `indexed`,
 * terms, names and bodies stay in the files: the few queries that need them get the same answers more slowly.
 */
export async function load(
  folder: string,
  pack: Pack,
  rows: number,
  limits: EngineLimits,
  indexed = false,
): Promise<LoadedTables> {
  const instance = await DuckDBInstance.create(':memory:', OPTIONS);
  const connect = async () => {
    const connection = await instance.connect();
    await connection.run(sql`USE ${PACKED}`.text);
    return connection;
  };
  try {
    const first = await instance.connect();
    await first.run(sql`ATTACH ':memory:' AS ${PACKED} (COMPRESS)`.text);
    await first.run(sql`SET disabled_compression_methods = ${LEFT_OUT}`.text);
    first.closeSync();
    const connection = await connect();
    const run = async (statement: Sql) => (await connection.runAndReadAll(statement.text)).getRows();
    const file = (name: string) => sql`read_parquet(${literal(path(folder, name))})`;
    const shape = { ...(await loadRecords(run, file(RELEASE_FILES.engine), pack, limits.tables)), numbered: !indexed };
    await (indexed ? showTerms : loadTerms)(run, file(RELEASE_FILES.terms));
    await loadSteps(run, path(folder, RELEASE_FILES.history), pack, limits.history);
    const refs = sql`SELECT id AS ref, ord FROM records UNION ALL SELECT slug, ord FROM records WHERE slug <> id`;
    await run(sql`CREATE ${indexed ? sql`VIEW` : sql`TABLE`} refs AS ${refs}${indexed ? sql`` : sql` ORDER BY ref`}`);
    if (!indexed) await run(sql`CREATE UNIQUE INDEX refs_by_ref ON refs (ref)`);
    const [[count] = []] = await run(sql`SELECT count(*) FROM records`);
    if (Number(count) !== rows)
      throw new Error(`${RELEASE_FILES.engine} has ${String(count)} records (expected ${rows})`);
    const bodies = await loadBodies(run, path(folder, RELEASE_FILES.bodies), rows, indexed ? 0 : limits.bodies);
    await run(sql`CHECKPOINT ${PACKED}`);
    const wide = batchMemory(statSync(path(folder, RELEASE_FILES.jsonl)).size, rows);
    await lock(connection, folder, Math.max(limits.working_memory, wide) + rows * MOMENT_BYTES);
    connection.closeSync();
    return { instance, connect, shape, bodies };
  } catch (error) {
    instance.closeSync();
    throw error;
  }
}

/** Loads the bodies into memory when their uncompressed size fits. */
async function loadBodies(run: RunStatement, file: string, rows: number, most: number): Promise<Sql> {
  const [[stored] = []] = await run(sql`SELECT num_rows FROM parquet_file_metadata(${literal(file)})`);
  if (Number(stored) !== rows)
    throw new Error(`${RELEASE_FILES.bodies} has ${String(stored)} bodies (expected ${rows})`);
  const [[bytes] = []] = await run(sql`SELECT sum(total_uncompressed_size) FROM parquet_metadata(${literal(file)})`);
  const parquet = sql`read_parquet(${literal(file)})`;
  if (Number(bytes) > most) return parquet;
  await run(sql`CREATE TABLE bodies AS SELECT ord, version, body FROM ${parquet}`);
  return sql`bodies`;
}

/** Afterwards the instance can read only the release folder, and no setting can change. */
async function lock(connection: DuckDBConnection, folder: string, working: number): Promise<void> {
  const run = (statement: Sql) => connection.runAndReadAll(statement.text);
  const [[used] = []] = (await run(sql`SELECT sum(memory_usage_bytes)::BIGINT FROM duckdb_memory()`)).getRows();
  const bytes = literal(`${Math.ceil((Number(used) + working) / 1024)}KiB`);
  await run(sql`SET memory_limit = ${bytes}`);
  await run(sql`SET allowed_directories = [${literal(`${folder}/`)}]`);
  await run(sql`SET enable_external_access = false`);
  await run(sql`SET lock_configuration = true`);
}
