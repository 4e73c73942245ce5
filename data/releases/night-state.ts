// What the nightly run in progress does: a file in DATA_DIR that the run writes, and the service shows until the first
// releases exist.
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';
import { UNFINISHED } from '../model/atomic.ts';
import { paths } from '../model/layout.ts';
import type { Register } from './register.ts';
import { type NightlyRun, RunOutcome } from './runs.ts';

/** Steps from the sources to a release, in order. Later steps write static files. */
const RELEASE_STEPS: readonly string[] = (
  'fetch, collect, append facts, sort facts, consolidate, ' +
  'write facts, write records, write Parquet, check, index and release'
).split(', ');

/** The file of a nightly run in progress. */
const NightState = z.object({
  /** Id of its process, and the machine that runs it. */
  pid: z.int(),
  host: z.string(),
  /** ISO 8601. */
  started_at: z.string(),
  /** The datasets that it builds, in order. */
  datasets: z.array(z.string()),
  /** How each finished dataset ended. */
  outcomes: z.record(z.string(), RunOutcome),
  /** The dataset of the current step; `register`: files about all datasets. Empty at the beginning. */
  dataset: z.string(),
  step: z.string(),
  /** Progress of the step: `done` of `total` (null: unknown) records, facts, pages… Absent: unknown. */
  position: z.object({ done: z.number(), total: z.number().nullable(), unit: z.string() }).optional(),
});
export type NightState = z.infer<typeof NightState>;

/** Milliseconds between two writes of a position: the service reads the file at most that often. */
const INTERVAL = 500;

/** A run on another machine whose file is older, in milliseconds, has ended: a position is written during most steps. */
const SILENCE = 120_000;

/** Writes the state of this process's run. A file that cannot be written stops no run. */
export class NightStateFile {
  readonly #path: string;
  readonly #state: NightState;
  #written = 0;

  constructor(dataDir: string, datasets: readonly string[], started_at: string) {
    this.#path = paths.night(dataDir);
    const run = { pid: process.pid, host: hostname(), started_at, datasets: [...datasets] };
    this.#state = { ...run, outcomes: {}, dataset: '', step: '' };
    this.#write();
  }

  step(dataset: string, step: string): void {
    Object.assign(this.#state, { dataset, step, position: undefined });
    this.#write();
  }

  at(done: number, total: number | null, unit: string): void {
    this.#state.position = { done, total, unit };
    if (performance.now() > this.#written + INTERVAL) this.#write();
  }

  finish(dataset: string, outcome: NightlyRun['outcome']): void {
    this.#state.outcomes[dataset] = outcome;
    this.#write();
  }

  end(): void {
    rmSync(this.#path, { force: true });
  }

  #write(): void {
    this.#written = performance.now();
    const temporary = this.#path.replace(/[^/\\]+$/, (name) => `${UNFINISHED}${name}`);
    try {
      writeFileSync(temporary, JSON.stringify(this.#state));
      renameSync(temporary, this.#path);
    } catch {
      // A full disk: the run reports it where it writes data.
    }
  }
}

/** Whether the process that wrote the state at `written` still runs: a killed run leaves its file. */
function isRunning({ pid, host }: NightState, written: number): boolean {
  if (host !== hostname()) return Date.now() - written < SILENCE;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The state of the run in progress on a DATA_DIR; null without one. */
export function readNightState(dataDir: string): NightState | null {
  const path = paths.night(dataDir);
  try {
    const state = NightState.parse(JSON.parse(readFileSync(path, 'utf8')));
    return isRunning(state, statSync(path).mtimeMs) ? state : null;
  } catch {
    // No file, or one of another program version.
    return null;
  }
}

/** Reads the state, from the file at most every INTERVAL. */
export type NightReader = () => NightState | null;

/** Opens a reader for requests. */
export function openNightReader(dataDir: string): NightReader {
  let last: NightState | null = null;
  let next = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() < next) return last;
    next = performance.now() + INTERVAL;
    last = readNightState(dataDir);
    return last;
  };
}

/** What a dataset without a release waits for. */
export interface BuildProgress {
  /** `building, step 5 of 10: consolidate, 34,000 of 366,478 facts`. */
  text: string;
  /** Part of the build that is done, 0 to 1. */
  share: number;
  /** Whether a run builds it now, or will do so after others. */
  expected: boolean;
}

const NOT_BUILT: BuildProgress = { text: 'no release was built yet', share: 0, expected: false };

/** `consolidate, 34,000 of 366,478 facts`; the step alone when its position is unknown. */
function stepText({ step, position }: NightState): string {
  if (position === undefined) return step;
  const total = position.total === null ? '' : ` of ${position.total.toLocaleString('en-US')}`;
  return `${step}, ${position.done.toLocaleString('en-US')}${total} ${position.unit}`;
}

/** Progress of a dataset in the run whose state it is; `state` null: no run is in progress. */
export function buildProgress(state: NightState | null, dataset: string): BuildProgress {
  if (!state?.datasets.includes(dataset)) return NOT_BUILT;
  const outcome = state.outcomes[dataset];
  if (outcome === 'failed' || outcome === 'refused')
    return { ...NOT_BUILT, text: `its build ${outcome === 'failed' ? 'failed' : 'was refused'}` };
  const step = RELEASE_STEPS.indexOf(state.step);
  if (state.dataset !== dataset || step < 0) return { text: 'waiting for its build', share: 0, expected: true };
  const { done = 0, total = null } = state.position ?? {};
  const partOfStep = total === null || total === 0 ? 0 : Math.min(1, done / total);
  const text = `building, step ${step + 1} of ${RELEASE_STEPS.length}: ${stepText(state)}`;
  return { text, share: (step + partOfStep) / RELEASE_STEPS.length, expected: true };
}

/** What the run writes after the releases: `places: prerender, 23,000 of 173,000 pages`; null while it builds releases. */
function filesProgress(state: NightState | null): string | null {
  if (state === null || state.step === '' || RELEASE_STEPS.includes(state.step)) return null;
  return `${state.dataset}: ${stepText(state)}`;
}

/** The datasets of a process while some have no release or no pages. */
export interface RegisterProgress {
  /** `records`: null without a release. */
  datasets: { id: string; title: string; records: number | null; build: BuildProgress }[];
  /** Whether a run is in progress. */
  running: boolean;
  /** See filesProgress. */
  files: string | null;
}

/** Progress of every dataset. */
export function registerProgress(register: Pick<Register, 'packs' | 'current'>, night: NightReader): RegisterProgress {
  const state = night();
  const datasets = [...register.packs.values()].map(({ id, title }) => {
    const records = register.current(id)?.manifest.records ?? null;
    return { id, title, records, build: buildProgress(state, id) };
  });
  return { datasets, running: state !== null, files: filesProgress(state) };
}
