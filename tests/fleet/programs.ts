// Programs of the fleet test: each can be started, killed, stopped with SIGSTOP, resumed and restarted.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until a condition holds; throws with `what` after `seconds`. */
export async function until(
  what: string,
  condition: () => Promise<boolean> | boolean,
  seconds = 60,
  pause = 100,
): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`${what}: not within ${seconds} s`);
    await sleep(pause);
  }
}

/** The process and all that it started, parents first (Linux). */
function familyOf(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    try {
      const [, parent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${entry}/stat`, 'utf8')) ?? [];
      children.set(Number(parent), [...(children.get(Number(parent)) ?? []), Number(entry)]);
    } catch {}
  const family = [pid];
  for (const member of family) family.push(...(children.get(member) ?? []));
  return family;
}

export interface Launch {
  command: string;
  args: readonly string[];
  env?: Record<string, string>;
  /** User and group that it runs as. */
  uid?: number;
  gid?: number;
  /** Opens a channel for messages. */
  channel?: boolean;
}

export interface ProgramOptions {
  name: string;
  /** Computed at each start, so that a restart may run another version. */
  launch: () => Launch;
  /** Whether it answers. */
  isReady: () => Promise<boolean>;
  logFile: string;
  /** Whether signals go to its child processes too. */
  family?: boolean;
}

const running = new Set<Program>();

/** A program of one machine. */
export class Program {
  readonly name: string;
  readonly #options: ProgramOptions;
  #child: ChildProcess | null = null;
  #exited: Promise<unknown> = Promise.resolve();
  #stopped: number[] = [];
  /** Length of the log at the last start. */
  #logged = 0;

  constructor(options: ProgramOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Starts it without waiting for its answer. */
  launch(): void {
    const { launch, logFile } = this.#options;
    const { command, args, env, uid, gid, channel } = launch();
    this.#logged = 0;
    this.#logged = this.output().length;
    const log = createWriteStream(logFile, { flags: 'a' });
    log.on('error', () => {});
    const child = spawn(command, [...args], {
      ...(env && { env }),
      ...(uid === undefined ? {} : { uid }),
      ...(gid === undefined ? {} : { gid }),
      stdio: ['ignore', 'pipe', 'pipe', ...(channel ? (['ipc'] as const) : [])],
    });
    child.on('error', (error) => log.write(`${error.message}\n`));
    child.stdout?.pipe(log, { end: false });
    child.stderr?.pipe(log, { end: false });
    this.#exited = once(child, 'exit').finally(() => running.delete(this));
    this.#child = child;
    running.add(this);
  }

  async start(seconds = 60): Promise<void> {
    this.launch();
    await until(
      `start of ${this.name}`,
      () => {
        if (!this.isRunning) throw new Error(`${this.name} ended early: ${this.output().slice(-2_000)}`);
        return this.#options.isReady();
      },
      seconds,
    );
  }

  /** Its log since the last start. */
  output(): string {
    try {
      return readFileSync(this.#options.logFile, 'utf8').slice(this.#logged);
    } catch {
      return '';
    }
  }

  send(message: object): void {
    this.#child?.send(message);
  }

  #signal(signal: NodeJS.Signals): void {
    const pids = this.#options.family ? familyOf(this.pid) : [this.pid];
    for (const pid of pids)
      try {
        process.kill(pid, signal);
      } catch {}
    if (signal === 'SIGSTOP') this.#stopped = pids;
  }

  async kill(): Promise<void> {
    if (!this.isRunning) return;
    this.#signal('SIGKILL');
    await this.#exited;
  }

  /** Ends it with SIGTERM, and with SIGKILL after half a minute. */
  async terminate(): Promise<void> {
    if (!this.isRunning) return;
    this.#child?.kill('SIGTERM');
    const late = setTimeout(() => this.#signal('SIGKILL'), 30_000);
    await this.#exited;
    clearTimeout(late);
  }

  stop(): void {
    this.#signal('SIGSTOP');
  }

  resume(): void {
    for (const pid of this.#stopped.splice(0))
      try {
        process.kill(pid, 'SIGCONT');
      } catch {}
  }

  reload(): void {
    this.#child?.kill('SIGHUP');
  }

  /** Its exit code, when it ends; null after a signal. */
  async exitCode(): Promise<number | null> {
    await this.#exited;
    return this.#child?.exitCode ?? null;
  }
}

/** Kills every program that runs. */
export async function killAll(): Promise<void> {
  for (const program of [...running]) {
    program.resume();
    await program.kill();
  }
}
