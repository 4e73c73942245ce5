// Limits of one query, one engine and the whole register; no other module defines them.
import { availableParallelism } from 'node:os';

export interface EngineLimits {
  /** Milliseconds that one statement may run before it is interrupted (503 `query_timeout`). */
  statement: number;
  /** Statements that run in parallel over all datasets; fewer than the four threads of Node's pool. */
  running: number;
  /** Queries that wait for a slot; one more is rejected (503 `unavailable`). */
  waiting: number;
  /** Milliseconds that a query waits for a slot before it is rejected. */
  patience: number;
  /** Slots, and places of those that wait, that queries of callers without a key leave to others. */
  kept: number;
  /** Bytes that statements on one release may use in addition to the loaded tables. */
  working_memory: number;
  /**
   * Whether the narrow tables are loaded into memory. Without, each query reads the columns that it needs from
   * engine.parquet: slower from the second query on.
   */
  tables: boolean;
  /**
   * Record bodies up to this many uncompressed bytes are held in memory; larger ones are read from Parquet.
   */
  bodies: number;
  /** Number history up to this many bytes is held in memory; larger ones are read from Parquet. */
  history: number;
  /** Bytes of memory for cached answers to computed queries, over all releases of a process. */
  answers: number;
  /**
   * Milliseconds that an unused release, other than the current one, stays open for clients that fetch
   * further pages.
   */
  idle: number;
  /** Milliseconds before another attempt to open a release that failed to open. */
  retry: number;
}

export const DEFAULT_LIMITS: EngineLimits = {
  statement: 5_000,
  running: Math.max(2, Math.min(3, availableParallelism())),
  waiting: 64,
  patience: 5_000,
  kept: 1,
  working_memory: 256 * 1024 * 1024,
  tables: true,
  bodies: 128 * 1024 * 1024,
  history: 64 * 1024 * 1024,
  answers: 16 * 1024 * 1024,
  idle: 60_000,
  retry: 30_000,
};
