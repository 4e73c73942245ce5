// The encoding of a CSV whose publisher names none.
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** Bytes of the file, decompressed, that decide. */
const MOST_BYTES = 8_000_000;
/** U+FFFD as UTF-8: a file with it is UTF-8 whose text was damaged before. */
const DAMAGED = Buffer.from('\uFFFD');

/**
 * `windows-1252` when the file has more bytes that are not valid in UTF-8 than characters beyond ASCII that are;
 * null for UTF-8, also with some broken bytes, and for a file with a byte order mark of UTF-16.
 */
export async function legacyEncoding(path: string): Promise<'windows-1252' | null> {
  const file = createReadStream(path);
  const bytes = path.toLowerCase().endsWith('.gz') ? pipeline(file, createGunzip(), () => {}) : file;
  const decoder = new TextDecoder();
  let invalid = 0;
  let valid = 0;
  let read = 0;
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    if (read === 0 && [0xfffe, 0xfeff].includes(chunk.readUInt16BE())) return null;
    if (chunk.includes(DAMAGED)) return null;
    // An incomplete character at the end of a truncated file is not counted.
    for (const [char] of decoder.decode(chunk, { stream: true }).matchAll(/\P{ASCII}/gu)) {
      if (char === '\uFFFD') invalid++;
      else valid++;
    }
    read += chunk.length;
    if (read >= MOST_BYTES) break;
  }
  return invalid > valid ? 'windows-1252' : null;
}
