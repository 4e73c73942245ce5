// The results of the last run of each part, stored in bench/results.json, from which the tables of
// docs/performance.md and bench/results.md are written.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { generator } from './load.ts';
import type { Growth } from './parts/growth.ts';
import type { Mcp } from './parts/mcp.ts';
import type { Night } from './parts/night.ts';
import type { Questions } from './parts/questions.ts';
import type { Soak } from './parts/soak.ts';
import type { SqlBench } from './parts/sql.ts';
import type { Stalls } from './parts/stalls.ts';
import type { Start } from './parts/start.ts';
import type { Together } from './parts/together.ts';
import type { Tokens } from './parts/tokens.ts';
import type { Workers } from './parts/workers.ts';

export interface BenchParts {
  questions: Questions;
  together: Together;
  growth: Growth;
  start: Start;
  night: Night[];
  tokens: Tokens;
  mcp: Mcp;
  soak: Soak;
  sql: SqlBench;
  stalls: Stalls;
  workers: Workers;
}

export type PartName = keyof BenchParts;

/** Results of a part, with place and time. */
export interface PartResult<T> {
  at: string;
  machine: string;
  /** Mean number of running processes in the minute before, as a measure of other load. */
  load: number;
  seconds: number;
  rounds: number;
  data: T;
}

export type Results = { [P in PartName]?: PartResult<BenchParts[P]> };

const FILE = join(import.meta.dirname, 'results.json');

export function readResults(): Results {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Results) : {};
}

/** Stores the results of this run; those of other parts are kept. */
export function keepResults(results: Results): Results {
  const all = { ...readResults(), ...results };
  // Six digits exceed the precision of a measurement, and keep the file readable.
  const rounded = (_: string, value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(6)) : value);
  writeFileSync(FILE, `${JSON.stringify(all, rounded, 1)}\n`);
  return readResults();
}

export function machine(): string {
  const [first] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${first?.model.trim() ?? 'unknown'}, ${memory} GB, ${process.platform} ${process.arch}, Node ${process.version}, ${generator}`;
}

/** Results of a part with its circumstances. */
export async function measuredPart<T>(
  rounds: { seconds: number; rounds: number },
  part: () => Promise<T>,
): Promise<PartResult<T>> {
  const at = new Date().toISOString();
  const load = loadavg()[0] ?? 0;
  return { at, machine: machine(), load, ...rounds, data: await part() };
}
