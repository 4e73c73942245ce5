// A child process that offers functions (thread-calls.ts). It starts with the first call, and again after it ended.
import { type ChildProcess, spawn } from 'node:child_process';
import { LOADER_OPTIONS, modulePath } from './program.ts';
import { type MessageChannelEnd, ThreadCalls } from './thread-calls.ts';

/** How a child is started. */
export interface ChildOptions {
  /** Its program, as a path in the repository. */
  program: string;
  /** What it reads from its first argument, as JSON. */
  settings: unknown;
  /** Receives a line of the child's log. */
  log(line: string): void;
  /** Called when the child has ended, before its calls are rejected. */
  ended?(): void;
  /** Most bytes of memory that it may reserve, and a low priority; absent: no limit and this process's priority. */
  limited?: number;
  /** Variables of its environment besides PATH and TZ; absent: none, so that statements find no secrets in its memory. */
  env?: NodeJS.ProcessEnv;
}

/**
 * Starts a program with a limit of its memory in kB ($0) and a low priority. With the lowest, a program may get no time
 * for seconds on a busy machine.
 */
const LIMITED = 'ulimit -d "$0" 2>/dev/null; exec nice -n 10 "$@"';

/** The line of a child's log. */
type LogMessage = { log: string };

export class ChildCalls {
  readonly #options: ChildOptions;
  #running: { child: ChildProcess; calls: ThreadCalls } | null = null;

  constructor(options: ChildOptions) {
    this.#options = options;
  }

  /** Calls a function of the child. Rejects with its error, and with `CallsEnded` when it ends before it answers. */
  call<T>(name: string, args: readonly unknown[], signal?: AbortSignal): Promise<T> {
    return this.start().calls.call<T>(name, args, signal);
  }

  start(): { child: ChildProcess; calls: ThreadCalls } {
    this.#running ??= this.#start();
    return this.#running;
  }

  /** Ends the child; the next call starts another one. */
  kill(): void {
    this.#running?.child.kill('SIGKILL');
  }

  #start() {
    const { program, settings, limited, env, log } = this.#options;
    const heap = limited === undefined ? [] : ['--max-old-space-size=256'];
    const command = [process.execPath, ...heap, ...LOADER_OPTIONS, modulePath(program), JSON.stringify(settings)];
    const shell =
      limited === undefined ? command : ['sh', '-c', LIMITED, String(Math.floor(limited / 1024)), ...command];
    const [first, ...args] = shell as [string, ...string[]];
    const child = spawn(first, args, {
      env: { PATH: process.env['PATH'], TZ: 'UTC', ...env },
      stdio: ['ignore', 'ignore', limited === undefined ? 'inherit' : 'ignore', 'ipc'],
      serialization: 'advanced',
    });
    const running = { child, calls: new ThreadCalls(channelOf(child, log)) };
    const ended = () => {
      if (this.#running !== running) return;
      this.#running = null;
      this.#options.ended?.();
    };
    child.once('exit', ended);
    child.once('error', ended);
    child.unref();
    return running;
  }
}

/** The channel to a child. Neither the child nor its channel keeps this process alive, only calls do. */
function channelOf(child: ChildProcess, log: (line: string) => void): MessageChannelEnd {
  return {
    // A message that cannot be sent is answered by the end of the child.
    postMessage: (message) => child.connected && child.send(message as object, () => {}),
    on: (_event, take) =>
      child.on('message', (message: LogMessage) => ('log' in message ? log(message.log) : take(message))),
    once: (_event, take) => child.once('exit', take).once('error', take),
    ref: () => child.channel?.ref(),
    unref: () => child.channel?.unref(),
    close: () => child.kill('SIGKILL'),
  };
}

/** The channel of a child to its parent; the child ends with it. */
export function parentChannel(): MessageChannelEnd {
  process.on('disconnect', () => process.exit());
  return {
    postMessage: (message) => process.send!(message),
    on: (_event, take) => process.on('message', take),
    once: (_event, take) => process.once('disconnect', take),
    ref: () => {},
    unref: () => {},
    close: () => process.exit(),
  };
}

/** Writes a line to the log of the parent. */
export const logToParent = (log: string): void => void process.send!({ log } satisfies LogMessage);
