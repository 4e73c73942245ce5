// What one question, one engine and the whole register may use. The only place that says so.
import { availableParallelism } from 'node:os';

export interface EngineLimits {
  /** Milliseconds that one statement may run; then it is interrupted (503 `query_timeout`). */
  statement: number;
  /** Statements that run at once over all datasets. Below the four threads that Node gives to such work. */
  running: number;
  /** Questions that wait for a place; one more is refused (503 `unavailable`). */
  waiting: number;
  /** Milliseconds that a question waits for a place before it is refused. */
  patience: number;
  /** Bytes that statements on one release may use beyond the tables loaded. */
  working_memory: number;
  /** Record bodies are held in memory up to this many bytes uncompressed, and read from Parquet beyond. */
  bodies: number;
  /** Values of numbers over time are held in memory up to this many bytes, and read from Parquet beyond. */
  history: number;
  /** Answers to computed questions are kept in memory up to this many bytes, over all releases of a process. */
  answers: number;
  /** Milliseconds that an unused release, other than the current one, stays open for the next page of a walk. */
  idle: number;
  /** Milliseconds after which a release that could not be opened is tried again. */
  retry: number;
}

export const DEFAULT_LIMITS: EngineLimits = {
  statement: 5_000,
  running: Math.max(2, Math.min(3, availableParallelism())),
  waiting: 64,
  patience: 5_000,
  working_memory: 256 * 1024 * 1024,
  bodies: 128 * 1024 * 1024,
  history: 64 * 1024 * 1024,
  answers: 16 * 1024 * 1024,
  idle: 60_000,
  retry: 30_000,
};
