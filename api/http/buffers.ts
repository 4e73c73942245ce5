// Buffers in which answers are put together, used again when the answer is gone: making and collecting one for each large answer took longer
// than filling it.

/** Bytes of the buffers, by their class. Longer answers get one of their own. */
const SIZES = [16_384, 65_536, 262_144] as const;
/** Bytes of buffers of a class that wait to be used again, at most. */
const WAITING = 4 * 2 ** 20;

const waiting: Buffer<ArrayBuffer>[][] = SIZES.map(() => []);
const classOf = (length: number): number => SIZES.findIndex((size) => length <= size);

/** Pieces in one buffer, which is the caller's until it gives it back. */
export function putTogether(pieces: readonly Uint8Array[]): Buffer<ArrayBuffer> {
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

/** Takes back what `putTogether` gave, once nobody reads it any more: it is written over by the next answer. */
export function giveBack({ buffer, length }: Buffer<ArrayBuffer>): void {
  const which = classOf(length);
  const size = SIZES[which];
  if (size === undefined || buffer.byteLength !== size) return;
  const list = waiting[which]!;
  if (list.length * size < WAITING) list.push(Buffer.from(buffer));
}
