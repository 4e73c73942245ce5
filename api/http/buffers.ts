// Pool of buffers for response bodies: allocating and collecting one per large response took longer than
// filling it.

/** Sizes of pooled buffers, in bytes. Longer bodies get a buffer of their own. */
const SIZES = [16_384, 65_536, 262_144] as const;
/** Maximum total of free buffers per size, in bytes. */
const WAITING = 4 * 2 ** 20;

const waiting: Buffer<ArrayBuffer>[][] = SIZES.map(() => []);
const classOf = (length: number): number => SIZES.findIndex((size) => length <= size);

/** Concatenates pieces into one buffer. The caller owns it until `releaseBuffer`. */
export function acquireBuffer(pieces: readonly Uint8Array[]): Buffer<ArrayBuffer> {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  const which = classOf(length);
  if (which < 0) return Buffer.concat(pieces);
  const whole = waiting[which]!.pop() ?? Buffer.allocUnsafeSlow(SIZES[which]!);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole.subarray(0, length);
}

/**
 * Returns a buffer of `acquireBuffer` to the pool. Call it after the last read: the next response overwrites
 * it.
 */
export function releaseBuffer({ buffer, length }: Buffer<ArrayBuffer>): void {
  const which = classOf(length);
  const size = SIZES[which];
  if (size === undefined || buffer.byteLength !== size) return;
  const list = waiting[which]!;
  if (list.length * size < WAITING) list.push(Buffer.from(buffer));
}
