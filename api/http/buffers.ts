// Pool of buffers for response bodies: allocating and collecting one per large response took longer than
// filling it.

/** Sizes of pooled buffers, in bytes. Longer bodies get a buffer of their own. */
const SIZES = [16_384, 65_536, 262_144] as const;
/** Maximum total of free buffers per size, in bytes. */
const WAITING = 4 * 2 ** 20;

const freeBuffers: Buffer<ArrayBuffer>[][] = SIZES.map(() => []);
const classOf = (length: number): number => SIZES.findIndex((size) => length <= size);

/** Concatenates pieces into one buffer. The caller owns it until `releaseBuffer`. */
export function acquireBuffer(pieces: readonly Uint8Array[]): Buffer<ArrayBuffer> {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  const sizeIndex = classOf(length);
  if (sizeIndex < 0) return Buffer.concat(pieces);
  const buffer = freeBuffers[sizeIndex]!.pop() ?? Buffer.allocUnsafeSlow(SIZES[sizeIndex]!);
  let at = 0;
  for (const piece of pieces) {
    buffer.set(piece, at);
    at += piece.length;
  }
  return buffer.subarray(0, length);
}

/**
 * Returns a buffer of `acquireBuffer` to the pool. Call it after the last read: the next response overwrites
 * it.
 */
export function releaseBuffer({ buffer, length }: Buffer<ArrayBuffer>): void {
  const sizeIndex = classOf(length);
  const size = SIZES[sizeIndex];
  if (size === undefined || buffer.byteLength !== size) return;
  const list = freeBuffers[sizeIndex]!;
  if (list.length * size < WAITING) list.push(Buffer.from(buffer));
}
