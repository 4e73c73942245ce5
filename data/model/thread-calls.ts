// Calls between threads over a MessagePort: one side offers functions, the other calls them by name. Arguments
// and results are copied (structured clone); an abort and the code of an error cross too.
import type { MessagePort } from 'node:worker_threads';
import { DataError, type DataErrorCode } from './errors.ts';

/** Functions that another thread may call; the signal aborts when the caller gives up or ends. */
export type Offered = Record<string, (args: readonly unknown[], signal: AbortSignal) => unknown>;

type Question = { id: number; name: string; args: readonly unknown[] } | { cancel: number };
type Answer = { id: number; result: unknown } | { id: number; error: PlainError };

interface PlainError {
  message: string;
  stack?: string | undefined;
  /** Of a DataError. */
  code?: DataErrorCode;
  detail?: unknown;
}

/** Answers the calls of a port until it closes; calls that still run are aborted then. */
export function offerCalls(port: MessagePort, offered: Offered): void {
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
  port.on('message', (question: Question) => {
    if ('cancel' in question) running.get(question.cancel)?.abort();
    else void answer(question.id, question.name, question.args);
  });
  port.once('close', () => {
    for (const controller of running.values()) controller.abort();
  });
}

/** Calls the functions that the other end of a port offers. */
export class ThreadCalls {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #next = 0;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (answer: Answer) => this.#settle(answer));
    port.once('close', () => {
      for (const { reject } of this.#waiting.values()) reject(ended());
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

const ended = () => new DataError('unavailable', 'The thread that answers this query has ended.');

function plain(error: unknown): PlainError {
  if (error instanceof DataError) return { message: error.message, code: error.code, detail: error.detail };
  return error instanceof Error ? { message: error.message, stack: error.stack } : { message: String(error) };
}

function revived({ message, stack, code, detail }: PlainError): Error {
  if (code !== undefined) return new DataError(code, message, detail);
  return Object.assign(new Error(message), stack === undefined ? {} : { stack });
}
