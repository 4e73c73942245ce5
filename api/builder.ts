// Builds the datasets that have no release yet, in a child process of the service (`npm start`). The lock of the
// nightly run admits one run on a DATA_DIR: another service, or a run that somebody started, finds it held and waits.
import { type ChildProcess, spawn } from 'node:child_process';
import type { Config } from '../config.ts';
import { EXIT_BUSY } from '../data/model/lock.ts';
import { commandLine, LOADER_OPTIONS, modulePath, STOP_WITH_PARENT } from '../data/model/program.ts';
import { findMissing, packIds } from '../data/releases/missing.ts';
import { readNightState } from '../data/releases/night-state.ts';

const PROGRAM = modulePath('build/nightly.ts');

/**
 * Milliseconds until the next try: while another run is in progress, and after a failure, doubled each time up to the
 * maximum.
 */
const WAIT = { busy: 3_000, failed: 10_000, most: 3_600_000 };

export interface Builder {
  /** Stops the run; the next start continues it. */
  stop(): Promise<void>;
}

interface Parts {
  config: Config;
  /** The environment of the settings, with the secrets of declared sources. */
  env: NodeJS.ProcessEnv;
  /** Prints a line for the person who started the service. */
  print(line: string): void;
}

/**
 * Starts the run if a dataset has no release or no pages, and again until none is missing. The child ends with this
 * process, also when this process is killed.
 */
export function startBuilder(parts: Parts): Builder {
  const builder = new ChildBuilder(parts);
  builder.build();
  return builder;
}

class ChildBuilder implements Builder {
  readonly #parts: Parts;
  /** The datasets at the start: one that is added later is built when its author wants it. */
  readonly #datasets: readonly string[];
  #child: ChildProcess | null = null;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #wait = WAIT.failed;
  /** The other run that was named last; undefined: none. */
  #otherRun: number | null | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#datasets = packIds(parts.config.PACK_DIRS);
  }

  /** Starts the child if anything is missing and no run is in progress. */
  build(): void {
    const { config, print } = this.#parts;
    const missing = findMissing(config, this.#datasets);
    if (this.#stopped || missing === null) return;
    const other = readNightState(config.DATA_DIR);
    if (other !== null) {
      this.#waitFor(other.pid);
      return;
    }
    const child = this.#start();
    const work = missing.releases.length > 0 ? `Building ${missing.releases.join(', ')}` : 'Writing the pages';
    print(`${work} in process ${child.pid}; ${config.BASE_URL}/ shows the progress.`);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    const child = this.#child;
    if (child === null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await exited;
  }

  #start(): ChildProcess {
    const only = this.#datasets.flatMap((id) => ['--only', id]);
    const child = spawn(process.execPath, [...LOADER_OPTIONS, PROGRAM, '--if-missing', ...only], {
      env: { ...this.#parts.env, [STOP_WITH_PARENT]: '1' },
      // Not a terminal: a bar that redraws would mix with the lines of the service.
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.stdout.pipe(process.stdout, { end: false });
    child.once('error', ({ message }) => this.#ended(null, message));
    child.once('exit', (code, signal) => this.#ended(code, signal ?? `exit code ${code}`));
    this.#child = child;
    return child;
  }

  #ended(code: number | null, reason: string): void {
    if (this.#child === null) return;
    this.#child = null;
    if (this.#stopped) return;
    if (code === EXIT_BUSY) {
      this.#waitFor(null);
      return;
    }
    const { config, print } = this.#parts;
    const missing = findMissing(config, this.#datasets);
    if (missing === null) {
      print(`Every dataset and page is built: ${config.BASE_URL}/`);
      return;
    }
    const names = missing.releases.join(', ') || 'the pages';
    print(
      `The build of ${names} ended: ${reason}. It starts again in ${this.#wait / 1000} s; \`${commandLine('nightly')}\` runs it at once.`,
    );
    this.#buildIn(this.#wait);
    this.#wait = Math.min(WAIT.most, this.#wait * 2);
  }

  #waitFor(pid: number | null): void {
    const { config, print } = this.#parts;
    const name = pid === null ? '' : ` (process ${pid})`;
    if (this.#otherRun === undefined || (pid !== null && this.#otherRun !== pid))
      print(`Another nightly run${name} works on ${config.DATA_DIR}: this service opens the releases that it builds.`);
    this.#otherRun = pid ?? this.#otherRun ?? null;
    this.#buildIn(WAIT.busy);
  }

  #buildIn(ms: number): void {
    this.#timer = setTimeout(() => this.build(), ms).unref();
  }
}
