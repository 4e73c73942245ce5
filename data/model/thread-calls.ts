// Calls between threads or processes: one side offers functions, the other calls them by name. Arguments and results are
// copied (structured clone); an abort and the code of an error cross too.
import { DataError, type DataErrorCode } from './errors.ts';

/** Functions that another thread may call; the signal aborts when the caller gives up or ends. */
export type Offered = Record<string, (args: readonly unknown[], signal: AbortSignal) => unknown>;

/** What carries the messages: a MessagePort, or the channel of a process (child-calls.ts). */
export interface MessageChannelEnd {
  postMessage(message: unknown): void;
  on(event: 'message', take: (message: unknown) => void): unknown;
  once(event: 'close', take: () => void): unknown;
  ref(): void;
  unref(): void;
  close(): void;
}

type Question = { id: number; name: string; args: readonly unknown[] } | { cancel: number };
type Answer = { id: number; result: unknown } | { id: number; error: PlainError };

interface PlainError {
  message: string;
  stack?: string | undefined;
  /** Of a DataError. */
  code?: DataErrorCode;
  detail?: unknown;
  retry_after_seconds?: number | undefined;
}

/** Answers the calls of a port until it closes; calls that still run are aborted then. */
export function offerCalls(port: MessageChannelEnd, offered: Offered): void {
  const running = new Map<number, AbortController>();
  const answer = async (id: number, name: string, args: readonly unknown[]) => {
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const result = await offered[name]!(args, controller.signal);
      port.postMessage({ id, result } satisfies Answer);
    } catch (error) {
      port.postMessage({ id, error: plain(error) } satisfies Answer);
    } finally {
      running.delete(id);
    }
  };
  port.on('message', (message) => {
    const question = message as Question;
    if ('cancel' in question) running.get(question.cancel)?.abort();
    else void answer(question.id, question.name, question.args);
  });
  port.once('close', () => {
    for (const controller of running.values()) controller.abort();
  });
}

/** Calls the functions that the other end of a port offers. */
export class ThreadCalls {
  readonly #port: MessageChannelEnd;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #next = 0;

  constructor(port: MessageChannelEnd) {
    this.#port = port;
    port.on('message', (answer) => this.#settle(answer as Answer));
    port.once('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new CallsEnded());
      this.#waiting.clear();
    });
    // Only calls keep the thread alive.
    port.unref();
  }

  /** Calls one function. Rejects with its error, and with `unavailable` when the other thread has ended. */
  call<T>(name: string, args: readonly unknown[], signal?: AbortSignal): Promise<T> {
    const id = this.#next++;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiting);
    this.#port.ref();
    this.#port.postMessage({ id, name, args } satisfies Question);
    const cancel = () => this.#port.postMessage({ cancel: id } satisfies Question);
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    return waiting.promise.finally(() => signal?.removeEventListener('abort', cancel)) as Promise<T>;
  }

  close(): void {
    this.#port.close();
  }

  #settle(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (this.#waiting.size === 0) this.#port.unref();
    if ('error' in answer) waiting?.reject(revived(answer.error));
    else waiting?.resolve(answer.result);
  }
}

/** The other end closed before it answered. */
export class CallsEnded extends DataError {
  constructor() {
    super('unavailable', 'The thread or process that answers this query has ended.', undefined, 1);
  }
}

function plain(error: unknown): PlainError {
  if (error instanceof DataError) {
    const { message, code, detail, retry_after_seconds } = error;
    return { message, code, detail, retry_after_seconds };
  }
  return error instanceof Error ? { message: error.message, stack: error.stack } : { message: String(error) };
}

function revived({ message, stack, code, detail, retry_after_seconds }: PlainError): Error {
  if (code !== undefined) return new DataError(code, message, detail, retry_after_seconds);
  return Object.assign(new Error(message), stack === undefined ? {} : { stack });
}
