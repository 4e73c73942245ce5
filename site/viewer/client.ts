// The page's side of the worker: requests as promises.

import type { Model } from '../../api/pages/viewer-model.ts';
import type { Answer, Calls, ErrorCause, Kind } from './messages.ts';

/** An error of the worker, with a message for the visitor. */
export class WorkerError extends Error {
  override readonly cause: ErrorCause;
  constructor(message: string, cause: ErrorCause) {
    super(message);
    this.cause = cause;
  }
}

interface Waiting {
  resolve: (answer: Calls[Kind]['answer']) => void;
  reject: (error: Error) => void;
}

export class DataClient {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;
  /** Whether the file lacks edits or removals. */
  readonly edited: Promise<boolean>;

  /** `progress` is called with the bytes received, and all that were requested. */
  constructor(model: Model, progress: (received: number, expected: number) => void) {
    this.#worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
    this.#worker.postMessage({ model });
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.edited = promise;
    this.#worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
      if ('received' in data) return progress(data.received, data.expected);
      if ('edited' in data) return resolve(data.edited);
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if ('error' in data) waiting?.reject(new WorkerError(data.error, data.cause));
      else waiting?.resolve(data.answer);
    });
    this.#worker.addEventListener('error', () => {
      resolve(false);
      for (const { reject } of this.#waiting.values()) reject(new WorkerError("Couldn't load the data.", 'load'));
      this.#waiting.clear();
    });
  }

  call<K extends Kind>(kind: K, request: Calls[K]['request']): Promise<Calls[K]['answer']> {
    const id = ++this.#last;
    const { promise, resolve, reject } = Promise.withResolvers<Calls[Kind]['answer']>();
    this.#waiting.set(id, { resolve, reject });
    this.#worker.postMessage({ id, kind, request });
    return promise;
  }
}
