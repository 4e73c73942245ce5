// The page's side of the worker: requests as promises.
import type { Answer, Calls, Kind } from './messages.ts';
import type { Model } from './model.ts';

/** An error of the worker; `changed`: the file was updated meanwhile. */
export class WorkerError extends Error {
  readonly changed: boolean;
  constructor(message: string, changed: boolean) {
    super(message);
    this.changed = changed;
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
  /** Called with the bytes received so far. */
  progress: (received: number) => void = () => {};

  constructor(model: Model) {
    this.#worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
    this.#worker.postMessage({ model });
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.edited = promise;
    this.#worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
      if ('received' in data) return this.progress(data.received);
      if ('edited' in data) return resolve(data.edited);
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if ('error' in data) waiting?.reject(new WorkerError(data.error, data.changed));
      else waiting?.resolve(data.answer);
    });
    this.#worker.addEventListener('error', () => {
      resolve(false);
      for (const { reject } of this.#waiting.values()) reject(new WorkerError('The table could not be loaded.', false));
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
