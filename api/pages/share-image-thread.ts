// Draws Open Graph images in a thread of its own, so that no request waits for them. The thread begins with the
// first image and ends when none was needed for a while, which frees its 50 MB.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { drawShareImage, type ShareImage } from './share-image.ts';

/** Marks the worker as ours: this module is also imported in other threads. */
const OWN = 'share-image';
/** Milliseconds without an image after which the thread ends. */
const IDLE = 60_000;

export interface ImageThread {
  /** Images that are being drawn or wait for it. */
  readonly waiting: number;
  draw(image: ShareImage): Promise<Uint8Array<ArrayBuffer>>;
}

interface Waiting {
  resolve(png: Uint8Array<ArrayBuffer>): void;
  reject(error: Error): void;
}

/** A thread that draws one image after the other. A failure of the thread rejects all waiting images. */
export function imageThread(idle = IDLE): ImageThread {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let ending: NodeJS.Timeout | undefined;
  let next = 0;
  const end = () => {
    void worker?.terminate();
    worker = null;
  };
  const start = (): Worker => {
    const started = new Worker(new URL(import.meta.url), { workerData: OWN });
    started.unref();
    started.on('message', ({ id, png, error }: { id: number; png?: Uint8Array<ArrayBuffer>; error?: string }) => {
      const { resolve, reject } = waiting.get(id)!;
      waiting.delete(id);
      if (waiting.size === 0) {
        started.unref();
        ending = setTimeout(end, idle).unref();
      }
      if (png === undefined) reject(new Error(error));
      else resolve(png);
    });
    started.on('error', (error) => {
      for (const { reject } of waiting.values()) reject(error as Error);
      waiting.clear();
      worker = null;
    });
    return started;
  };
  return {
    get waiting() {
      return waiting.size;
    },
    draw: (image) =>
      new Promise((resolve, reject) => {
        clearTimeout(ending);
        worker ??= start();
        worker.ref();
        const id = next++;
        waiting.set(id, { resolve, reject });
        worker.postMessage({ id, image });
      }),
  };
}

if (!isMainThread && workerData === OWN)
  parentPort?.on('message', async ({ id, image }: { id: number; image: ShareImage }) => {
    try {
      parentPort?.postMessage({ id, png: await drawShareImage(image) });
    } catch (error) {
      parentPort?.postMessage({ id, error: String(error) });
    }
  });
