// DuckDB engine of one release: every plan is one statement on tables in memory. The reference for other
// engines.
import { statSync } from 'node:fs';
import { join as path } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { Pack } from '../../packs/define/model.ts';
import { byCodePoint } from '../../packs/define/text.ts';
import { type Manifest, RELEASE_FILES } from '../model/layout.ts';
import { runOnce } from '../model/run-once.ts';
import type { AppliedOverlay, ChangedRecord } from '../plan/applied-overlay.ts';
import type { FactRow, Past } from '../plan/history.ts';
import { DEFAULT_LIMITS, type EngineLimits } from '../plan/limits.ts';
import type { Engine } from '../plan/plan.ts';
import { createQueryQueue, type QueryQueue } from '../plan/query-queue.ts';
import { contextAt, settlePast } from '../plan/settled.ts';
import { literal, type Sql, sql } from '../plan/sql.ts';
import { type ChangedTables, makeChangedTables } from './changed-tables.ts';
import type { ChangelogLine } from './changelog.ts';
import { batchMemory } from './duck.ts';
import { historyQuestions } from './history.ts';
import { changeTimes, MOMENT_BYTES, Moments, makeMomentTables } from './moments.ts';
import { Pool } from './pool.ts';
import { tableQuestions } from './questions.ts';
import { byOpening } from './review.ts';
import type { Shape } from './shape.ts';
import { loadRecords, loadRefs, loadSteps, loadTerms, type RunStatement, stepsKind, TABLE, VIEW } from './tables.ts';

/** The DuckDB connections, tables and SQL of an open release, without overlay. */
interface DuckRelease {
  pool: Pool;
  pack: Pack;
  folder: string;
  shape: Shape;
  bodies: Sql;
  /** Admits one build of a moment at a time. */
  building: QueryQueue;
}

/**
 * The engine with an overlay. Its tables are created by the first query that needs them, and dropped by
 * `close`.
 */
function overlayEngine(opened: DuckRelease, overlay: AppliedOverlay): Engine {
  const { pool, pack, folder, shape, bodies, building } = opened;
  const run = (statement: Sql) => pool.alter(statement);
  let making: Promise<ChangedTables> | null = null;
  const tables = runOnce(() => {
    making = makeChangedTables(run, pack, shape, overlay);
    return making;
  });
  const base = tableQuestions(pool, bodies, (_at, query) => query(shape));
  const byId = new Map(overlay.changed.map((changed) => [changed.record.id, changed]));
  const byOrdinal = runOnce(async () => {
    const ids = [...byId.keys()];
    const ordinals = await base.resolve(ids);
    return new Map(ids.flatMap((id, i) => (ordinals[i] === null ? [] : [[ordinals[i]!, byId.get(id)!] as const])));
  });
  const now = async () => (await tables()).shape;
  const history = historyQuestions(pool, pack.id, folder, now, async () => ({
    removed: [...overlay.removed],
    gone: [...overlay.removed, ...byId.keys()],
    changelog: [...(await byOrdinal())].flatMap(changelogLines),
  }));
  const past = historyUnder(overlay, byId, history);
  const moments = new Moments({
    now,
    changes: async () => [...(await changeTimes(run, folder)), ...timesOf(overlay)],
    async build(at) {
      const stored = await makeMomentTables(run, pack, shape, folder, at);
      try {
        const then = overlayAt(pack, overlay, await past.past([...(await byOrdinal()).keys()]), at);
        const tables = await makeChangedTables(run, pack, stored.shape, then);
        return { shape: tables.shape, drop: () => tables.drop().then(stored.drop) };
      } catch (error) {
        await stored.drop();
        throw error;
      }
    },
    queue: building,
  });
  return {
    ...tableQuestions(pool, bodies, moments.use),
    ...history,
    ...past,
    async bodies(ordinals, options) {
      const records = await byOrdinal();
      const stored = ordinals.filter((ordinal) => !records.has(ordinal));
      const bodies = new Map((await base.bodies(stored, options)).map((body, i) => [stored[i]!, body]));
      return ordinals.map((ordinal) => {
        const changed = records.get(ordinal);
        return changed ? { body: JSON.stringify(changed.record), version: changed.version } : bodies.get(ordinal)!;
      });
    },
    withOverlay: (other) => overlayEngine(opened, other),
    close: async () => {
      moments.close();
      const made = await making?.catch(() => null);
      await made?.drop();
    },
  };
}

/** Times at which an overlay changes records: those of owners' facts and of decisions. */
function timesOf({ changed, decided }: AppliedOverlay): number[] {
  const facts = changed.flatMap((record) => record.facts);
  return [
    ...facts.filter(({ source_kind }) => source_kind === 'owner').map(({ observed_at }) => observed_at),
    ...[...decided.values()].flat().map(({ at }) => at),
  ];
}

/** The overlay as of a moment: its removals, and the records that it changes as they were. */
function overlayAt(
  pack: Pack,
  { version, removed }: AppliedOverlay,
  { records, readings }: Past,
  at: number,
): AppliedOverlay {
  const context = contextAt(pack, readings, at);
  const settled = records.map((past) => ({ id: past.id, ...settlePast(pack, past, context, at) }));
  const gone = settled.filter(({ record }) => record === null).map(({ id }) => id);
  return {
    version,
    removed: new Set([...removed, ...gone]),
    changed: settled.flatMap(({ record, unpublished }) =>
      record === null ? [] : [{ record, unpublished, version: '', facts: [], history: [], review: [] }],
    ),
    decided: new Map(),
  };
}

/** The rows of a changed record in the changelog. */
function changelogLines([ord, { record, history }]: readonly [number, ChangedRecord]): ChangelogLine[] {
  const { id: entity_id, slug, name } = record;
  return history.map(({ attribute, cells: [new_value, old_value, , , observed_at, , source_url] }) => ({
    ...{ ord, entity_id, slug, name, attribute },
    ...{ old_value, new_value, observed_at, source_url },
  }));
}

type Histories = Pick<Engine, 'facts' | 'openItems' | 'review' | 'origins' | 'past'>;

/** History queries that the overlay answers for the records it changes. */
function historyUnder(
  overlay: AppliedOverlay,
  changed: ReadonlyMap<string, ChangedRecord>,
  history: Histories,
): Histories {
  return {
    async facts(plan, options) {
      if (overlay.removed.has(plan.entity)) return [];
      const record = changed.get(plan.entity);
      if (!record) return history.facts(plan, options);
      const { attribute, since, limit } = plan;
      const facts = record.facts.filter(
        (fact) => (attribute === null || fact.attribute === attribute) && (since === null || fact.observed_at >= since),
      );
      return facts.sort(newestFirst).slice(0, limit);
    },
    async openItems(entity, options) {
      if (overlay.removed.has(entity)) return [];
      const record = changed.get(entity);
      if (!record) return history.openItems(entity, options);
      return record.review
        .filter(({ confirmed_at }) => confirmed_at === undefined)
        .map(({ kind, attribute, opened_at }) => ({ kind, attribute, opened_at: Date.parse(opened_at) }))
        .sort((a, b) => a.opened_at - b.opened_at || byCodePoint(a.attribute, b.attribute));
    },
    async review(plan, options) {
      const { entity, id, confirmed = false, limit } = plan;
      const items = [...changed.values()]
        .flatMap(({ review }) => review)
        .filter(({ confirmed_at }) => (confirmed_at !== undefined) === confirmed)
        .filter((item) => (entity === null || item.entity_id === entity) && (id === null || item.id === id));
      return [...(await history.review(plan, options)), ...items].sort(byOpening).slice(0, limit);
    },
    async origins(options) {
      const winners = [...changed.values()].flatMap(({ facts }) =>
        facts.filter(({ won, value }) => won && value !== null),
      );
      const counts = new Map((await history.origins(options)).map((one) => [`${one.attribute} ${one.source}`, one]));
      for (const { attribute, source } of winners) {
        const before = counts.get(`${attribute} ${source}`);
        counts.set(`${attribute} ${source}`, { attribute, source, values: (before?.values ?? 0) + 1 });
      }
      return [...counts.values()].sort(
        (a, b) => byCodePoint(a.attribute, b.attribute) || b.values - a.values || byCodePoint(a.source, b.source),
      );
    },
    async past(ordinals, options) {
      const { records, readings } = await history.past(ordinals, options);
      const merged = records.map((record) => {
        const facts = changed.get(record.id)?.facts.slice() ?? record.facts;
        return { ...record, facts, decided: overlay.decided.get(record.id) ?? [] };
      });
      return { records: merged, readings };
    },
  };
}

/** Same order as `factsStatement`. */
function newestFirst(a: FactRow, b: FactRow): number {
  return (
    b.observed_at - a.observed_at ||
    byCodePoint(a.attribute, b.attribute) ||
    byCodePoint(b.run, a.run) ||
    byCodePoint(a.source, b.source) ||
    byCodePoint(a.value ?? '', b.value ?? '')
  );
}

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

interface LoadedTables {
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
    const target = { run, pack, schema: 'main' };
    const shape = await loadRecords(target, file(RELEASE_FILES.engine), limits.tables ? TABLE : VIEW);
    await loadRefs(target, indexed ? VIEW : TABLE);
    await loadTerms(target, file(RELEASE_FILES.terms), indexed ? VIEW : TABLE);
    const history = await stepsKind(run, path(folder, RELEASE_FILES.history), limits.history);
    await loadSteps(target, file(RELEASE_FILES.history), history);
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

/**
 * Opens the release in `folder`. With `indexed`, the release has a packed index and fewer tables are loaded.
 * Engines of a process should share a queue. Throws when the release is damaged. Queries throw DataError
 * `query_timeout` or `unavailable` (contract section 4).
 */
export async function openEngine(
  folder: string,
  pack: Pack,
  manifest: Manifest,
  limits: Partial<EngineLimits> = {},
  queue?: QueryQueue,
  indexed = false,
): Promise<Engine> {
  const all = { ...DEFAULT_LIMITS, ...limits };
  const { instance, connect, shape, bodies } = await load(folder, pack, manifest.records, all, indexed);
  const pool = new Pool(instance, queue ?? createQueryQueue(all), all.statement, connect);
  const run = (statement: Sql) => pool.alter(statement);
  const building = createQueryQueue({ ...all, running: 1 });
  const opened = { pool, pack, folder, shape, bodies, building };
  const moments = new Moments({
    now: async () => shape,
    changes: () => changeTimes(run, folder),
    build: (at) => makeMomentTables(run, pack, shape, folder, at),
    queue: building,
  });
  return {
    ...tableQuestions(pool, bodies, moments.use),
    ...historyQuestions(pool, pack.id, folder, async () => shape),
    withOverlay: (overlay) => overlayEngine(opened, overlay),
    close: () => pool.close(),
  };
}
