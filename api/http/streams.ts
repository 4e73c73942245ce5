// How many long texts one process generates at once, and when a client that stopped reading is disconnected.
import type { ServerResponse } from 'node:http';
import { ApiError } from '../contract/errors.ts';

/**
 * Texts generated at once. They share the slice of a turn of the event loop (data/plan/slices.ts), so that more of
 * them would only be slower.
 */
const STREAMS = 4;
/** Seconds after which a client that was refused may try again. */
const RETRY = 10;
/** How long a client may take no byte of an answer that waits for it, in milliseconds. */
export const STALLED = 30_000;

let running = 0;

/** Counts a stream in. Returns `done` as a function that also counts it out, once. Throws `unavailable` where STREAMS are running. */
export function openStream(done: () => void): () => void {
  if (running >= STREAMS)
    throw new ApiError('unavailable', `${STREAMS} texts of this length are being generated; try again in ${RETRY} s.`, {
      retry_after_seconds: RETRY,
    });
  running += 1;
  let open = true;
  return () => {
    if (open) running -= 1;
    open = false;
    done();
  };
}

/**
 * Closes the connection of a client that takes no byte for `ms` while there are some to send; what the answer holds (a release, a file, a stream) is
 * then released. Node counts progress of a pending write as activity. A response that is itself waiting for its next bytes is left alone.
 */
export function endStalled(outgoing: ServerResponse, ms: number): void {
  outgoing.setTimeout(ms, () => {
    if (outgoing.writableLength > 0) outgoing.destroy();
  });
}
