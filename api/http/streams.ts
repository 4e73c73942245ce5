// Limits the streams that one process generates at the same time, and disconnects clients that stopped
// reading.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '../contract/errors.ts';

/**
 * Concurrent streams, and those that callers without a key leave to others. They share one slice of the event loop
 * (data/plan/slices.ts), so more of them would only be slower.
 */
export const TEXTS = { all: 4, kept: 1 } as const;
/** Retry-After of a rejected client, in seconds. */
const RETRY = 10;
/** Interval at which the progress of a client with a pending response is measured, in milliseconds. */
const STALLED = 20_000;
/** Bytes a second that such a client must read: a fast reader of a slow line gets some times as much. */
export const LOWEST_RATE = 4_000;

/** The streams of one application: one for each caller. */
export class StreamLimit {
  readonly #holders = new Set<string>();

  /**
   * Reserves a stream for a caller (`holderOf`). Returns `done` as a function that also releases it. Throws
   * `rate_limited` if the caller has one, and `unavailable` if all that it may use are running.
   */
  open(holder: string, keyed: boolean, done: () => void): () => void {
    const retry = { retry_after_seconds: RETRY };
    if (this.#holders.has(holder))
      throw new ApiError('rate_limited', 'You are being sent a text of this length; read it to its end.', retry);
    if (this.#holders.size >= TEXTS.all - (keyed ? 0 : TEXTS.kept)) {
      const message = `${this.#holders.size} texts of this length are being generated; try again in ${RETRY} s.`;
      throw new ApiError('unavailable', message, retry);
    }
    this.#holders.add(holder);
    let open = true;
    return () => {
      if (open) this.#holders.delete(holder);
      open = false;
      done();
    };
  }
}

/**
 * Closes connections of clients that have not read `LOWEST_RATE` bytes a second over an interval of `ms` while data was
 * pending; this releases what the response holds (a release, a file, a stream). A response that itself waits for its
 * next bytes is not affected.
 */
export function closeStalled(server: Server, ms = STALLED): void {
  /** Connections, with the bytes that the kernel had taken at the last check; null: nothing was pending then. */
  const connections = new Map<Socket, number | null>();
  server.on('connection', (socket: Socket) => {
    connections.set(socket, null);
    socket.once('close', () => connections.delete(socket));
  });
  const check = () => {
    for (const [socket, before] of connections) {
      const pending = socket.writableLength > 0;
      const taken = socket.bytesWritten - socket.writableLength;
      if (pending && before !== null && taken - before < (LOWEST_RATE * ms) / 1000) socket.destroy();
      connections.set(socket, pending ? taken : null);
    }
  };
  // What was written while this thread was busy counts: it is known after the next poll of the event loop.
  const checking = setInterval(() => setImmediate(check), ms).unref();
  server.once('close', () => clearInterval(checking));
}
