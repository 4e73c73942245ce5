// gzip of texts that are compressed separately and joined, so that a text is not compressed again for each response
// that contains it.
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw } from 'node:zlib';

const deflated = promisify(deflateRaw);

/** A text as complete deflate blocks that refer to nothing before them (RFC 1951). */
export interface GzipPiece {
  blocks: Buffer;
  /** Bytes of the text. */
  bytes: number;
  /** CRC-32 of the text. */
  crc: number;
  /** x to the power of its bits, modulo the polynomial of CRC-32: `gzipOf` joins checksums with it. */
  shift: number;
}

/** A gzip header without name and time (RFC 1952 section 2.3). */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
/** An empty last block, with fixed codes (RFC 1951 section 3.2.6). */
const LAST_BLOCK = Buffer.from([3, 0]);
/** Most bytes of a stored block (RFC 1951 section 3.2.4). */
const LONGEST_STORED = 0xffff;

/** Compresses a text. Do not modify it until the promise is fulfilled. */
export async function deflatePiece(text: Uint8Array, level: number): Promise<GzipPiece> {
  // A full flush ends at a byte, and forgets what was before.
  return pieceOf(text, await deflated(text, { level, finishFlush: constants.Z_FULL_FLUSH }));
}

/** A short text, uncompressed. Throws a RangeError for more than 65,535 bytes. */
export function storedPiece(text: Uint8Array): GzipPiece {
  const { length } = text;
  if (length > LONGEST_STORED) throw new RangeError(`${length} bytes do not fit in a stored block`);
  const blocks = Buffer.allocUnsafe(5 + length);
  blocks[0] = 0;
  blocks.writeUInt16LE(length, 1);
  blocks.writeUInt16LE(LONGEST_STORED - length, 3);
  blocks.set(text, 5);
  return pieceOf(text, blocks);
}

/** The piece of a text whose blocks are known. */
function pieceOf(text: Uint8Array, blocks: Buffer): GzipPiece {
  return { blocks, bytes: text.length, crc: crc32(text), shift: shiftOf(text.length) };
}

/** One gzip member with the texts of all pieces; only one, because browsers ignore all after the first. */
export function gzipOf(pieces: readonly GzipPiece[]): Buffer[] {
  let checksum = 0;
  let length = 0;
  for (const { crc, shift, bytes } of pieces) {
    checksum = (multiply(checksum, shift) ^ crc) >>> 0;
    length += bytes;
  }
  const tail = Buffer.allocUnsafe(8);
  tail.writeUInt32LE(checksum, 0);
  tail.writeUInt32LE(length % 2 ** 32, 4);
  return [GZIP_HEADER, ...pieces.map(({ blocks }) => blocks), LAST_BLOCK, tail];
}

// CRC-32 is the remainder of a polynomial over GF(2). The checksum of two texts is that of the first one, multiplied
// by x for each bit of the second one, plus that of the second one. Numbers hold the coefficient of x^0 in bit 31.

/** The polynomial of CRC-32 without x^32 (RFC 1952 section 8). */
const POLYNOMIAL = 0xedb88320;
const ONE = 0x80000000;
/** x^8: one byte. */
const BYTE = 0x00800000;

/** The product of two remainders. */
function multiply(a: number, b: number): number {
  let product = 0;
  let power = b;
  for (let bit = 31; bit >= 0; bit -= 1) {
    if ((a >>> bit) & 1) product ^= power;
    power = power & 1 ? (power >>> 1) ^ POLYNOMIAL : power >>> 1;
  }
  return product >>> 0;
}

/** x^(8 · bytes), by repeated squaring. */
function shiftOf(bytes: number): number {
  let shift = ONE;
  let power = BYTE;
  for (let rest = bytes; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) shift = multiply(shift, power);
    power = multiply(power, power);
  }
  return shift;
}
