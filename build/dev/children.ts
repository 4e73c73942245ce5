// Child processes of `npm run dev`: programs that run to their end, and the service, which is replaced.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { pathToFileURL } from 'node:url';
import { LOADER_OPTIONS, modulePath } from '../../data/model/program.ts';

const LOOPBACK = '127.0.0.1';
const STANDBY = pathToFileURL(modulePath('build/dev/standby.ts')).href;

/** A program that waits with its modules loaded until it is needed: a start takes a tenth of the time. */
interface Warm {
  program: string;
  options: readonly string[];
  /** What it imports, or most of it; not the program itself, which would not be the main module then. */
  modules: readonly string[];
}

/** `npm run serve` (package.json). */
const SERVICE: Warm = {
  program: 'api/server.ts',
  options: ['--max-semi-space-size=8'],
  modules: ['api/serve.ts'],
};
const CHECK: Warm = {
  program: 'build/cli/pack.ts',
  options: [],
  modules: ['packs/define/load.ts', 'api/render/record-template.ts'],
};
/** Milliseconds until a child that received SIGTERM is killed. */
const PATIENCE = 5_000;
/** Milliseconds until the next programs are prepared. */
const DELAY = 500;

export interface Run {
  /** Null: ended by a signal. */
  code: number | null;
  /** What it printed on stdout. */
  output: string;
}

export interface Service {
  /** Its port on the loopback. */
  port: number;
  /** Its address, without a trailing slash. */
  address: string;
  /** Ends when its requests are answered. */
  stop(): void;
}

interface WaitingChild {
  child: ChildProcess;
  /** The port of a service. */
  port: number;
}

interface RunSettings {
  /** Text for its stdin. */
  input?: string;
  signal?: AbortSignal;
  /** Receives pieces of its stdout. */
  onOutput?: (text: string) => void;
}

export interface ChildrenOptions {
  /** The environment of all children. */
  env: NodeJS.ProcessEnv;
  /** Variables of the service alone. */
  serviceEnv: NodeJS.ProcessEnv;
  /** Receives what they print. */
  print: (text: string) => void;
}

/** Starts the children and ends them. */
export class Children {
  readonly #options: ChildrenOptions;
  readonly #running = new Set<ChildProcess>();
  #closed = false;
  readonly #waiting = new Map<Warm, Promise<WaitingChild>>();

  constructor(options: ChildrenOptions) {
    this.#options = options;
  }

  /** Runs a program of this repository to its end; `signal` ends it with the programs that it started. */
  async run(args: readonly string[], { input = '', signal, onOutput }: RunSettings = {}): Promise<Run> {
    const [program = '', ...rest] = args;
    const child = this.#spawn([modulePath(program), ...rest], { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin?.on('error', () => {}).end(input);
    const stop = () => end(child, 'SIGTERM');
    signal?.addEventListener('abort', stop);
    const run = await finish(child, (text) => {
      this.#options.print(text);
      onOutput?.(text);
    });
    signal?.removeEventListener('abort', stop);
    return run;
  }

  /** Checks a pack; `output` is the text of `npm run pack -- check`. */
  async check(folder: string): Promise<Run> {
    const { child } = await this.#start(CHECK, ['check', folder]);
    return finish(child, () => {});
  }

  /**
   * Starts the service with the packs as they are now. Null when it ends before it listens; it has printed
   * why. `onCrash` is called when it ends later by itself.
   */
  async startService(onCrash: () => void): Promise<Service | null> {
    const { child, port } = await this.#start(SERVICE, []);
    let stopping = false;
    let listening = () => {};
    const ready = new Promise<void>((resolve) => {
      listening = resolve;
    });
    child.stdout?.on('data', (piece: Buffer) => {
      for (const line of piece.toString().split(/(?<=\n)/)) {
        if (line.includes('listening on')) listening();
        else this.#options.print(line);
      }
    });
    const running = child.exitCode === null && child.signalCode === null;
    const ended = running ? once(child, 'exit') : Promise.resolve();
    const open = await Promise.race([ready.then(() => true), ended.then(() => false)]);
    if (!open) return null;
    void ended.then(() => stopping || onCrash());
    return {
      port,
      address: `http://${LOOPBACK}:${port}`,
      stop() {
        stopping = true;
        end(child, 'SIGTERM');
      },
    };
  }

  /** Ends every child, with the programs that they started. */
  async close(): Promise<void> {
    this.#closed = true;
    const children = [...this.#running];
    const ended = children.map((child) => once(child, 'exit'));
    for (const child of children) end(child, 'SIGTERM');
    const late = setTimeout(() => {
      for (const child of this.#running) end(child, 'SIGKILL');
    }, PATIENCE);
    await Promise.all(ended);
    clearTimeout(late);
  }

  /** Begins the program that waits, and prepares the next ones. */
  async #start(warm: Warm, args: readonly string[]): Promise<WaitingChild> {
    const waiting = this.#waiting.get(warm) ?? this.#prepare(warm);
    this.#waiting.delete(warm);
    const begun = await waiting;
    if (begun.child.connected) begun.child.send(args);
    // A moment later, so that they do not slow down this one.
    setTimeout(() => {
      for (const program of [SERVICE, CHECK])
        if (!this.#closed && !this.#waiting.has(program)) this.#waiting.set(program, this.#prepare(program));
    }, DELAY).unref();
    return begun;
  }

  async #prepare({ program, options, modules }: Warm): Promise<WaitingChild> {
    const query = new URLSearchParams(modules.map((path) => ['module', pathToFileURL(modulePath(path)).href]));
    const port = await unusedPort();
    const env = { ...this.#options.env, ...this.#options.serviceEnv, HOST: LOOPBACK, PORT: String(port) };
    const args = [...options, '--import', `${STANDBY}?${query}`, modulePath(program)];
    return { child: this.#spawn(args, { env, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] }), port };
  }

  /** Starts Node in its own process group, so that the programs which it starts end with it. */
  #spawn(args: readonly string[], options: SpawnOptions): ChildProcess {
    const detached = process.platform !== 'win32';
    const child = spawn(process.execPath, [...LOADER_OPTIONS, ...args], {
      env: this.#options.env,
      detached,
      ...options,
    });
    this.#running.add(child);
    child.on('exit', () => this.#running.delete(child));
    return child;
  }
}

/** Waits for the end of a child and collects its stdout; `print` receives it at once. */
async function finish(child: ChildProcess, print: (text: string) => void): Promise<Run> {
  let output = '';
  child.stdout?.on('data', (piece: Buffer) => {
    output += piece.toString();
    print(piece.toString());
  });
  // A child that waited may have ended before.
  if (child.exitCode !== null || child.signalCode !== null) return { code: child.exitCode, output };
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

/** Sends a signal to a child and the programs that it started. */
function end(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  if (process.platform === 'win32') child.kill(signal);
  else process.kill(-child.pid, signal);
}

async function unusedPort(): Promise<number> {
  const probe = createServer().listen(0, LOOPBACK);
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
