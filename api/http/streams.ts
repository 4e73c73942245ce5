// Limits the streams that one process generates at the same time, and disconnects clients that stopped
// reading.
import type { ServerResponse } from 'node:http';
import { ApiError } from '../contract/errors.ts';

/**
 * Concurrent streams. They share one slice of the event loop (data/plan/slices.ts), so more of them would
 * only be slower.
 */
const STREAMS = 4;
/** Retry-After of a rejected client, in seconds. */
const RETRY = 10;
/** How long a client may leave a pending response unread, in milliseconds. */
export const STALLED = 30_000;

/** Counts the streams of one application. */
export class StreamLimit {
  #running = 0;

  /**
   * Reserves a stream. Returns `done` as a function that also releases it, once. Throws `unavailable` if
   * STREAMS are running.
   */
  open(done: () => void): () => void {
    if (this.#running >= STREAMS)
      throw new ApiError(
        'unavailable',
        `${STREAMS} texts of this length are being generated; try again in ${RETRY} s.`,
        { retry_after_seconds: RETRY },
      );
    this.#running += 1;
    let open = true;
    return () => {
      if (open) this.#running -= 1;
      open = false;
      done();
    };
  }
}

/**
 * Closes the connection of a client that reads nothing for `ms` while data is pending; this releases what the
 * response holds (a release, a file, a stream). Node counts progress of a pending write as activity. A
 * response that itself waits for its next bytes is not affected.
 */
export function endStalled(outgoing: ServerResponse, ms: number): void {
  outgoing.setTimeout(ms, () => {
    if (outgoing.writableLength > 0) outgoing.destroy();
  });
}
