// Reads zip archives (PKWARE APPNOTE 6.3): the central directory, and one entry as a stream of bytes.
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { crc32, createInflateRaw } from 'node:zlib';

/** A file in an archive. */
export interface ZipEntry {
  /** Path in the archive, with `/`. */
  name: string;
  /** Bytes when unpacked, as the archive states. */
  size: number;
  packed: number;
  /** Offset of its local header. */
  offset: number;
  /** 0: stored, 8: deflated. */
  method: number;
  crc: number;
}

/** Signatures, the length of the record at the end, and the longest comment after it. */
const END = { signature: 0x06054b50, length: 22, comment: 0xffff };
const ENTRY = { signature: 0x02014b50, length: 46 };
const LOCAL_HEADER = 30;
/** Value of a field that is in an extension of 64 bits. */
const WIDE = 0xffffffff;

/** The files of an archive, without folders. Throws when it is none, or has entries that are not read. */
export async function zipEntries(path: string): Promise<ZipEntry[]> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const tail = await bytesAt(file, Math.max(0, size - END.length - END.comment), size);
    let end = tail.length - END.length;
    while (end >= 0 && tail.readUInt32LE(end) !== END.signature) end--;
    if (end < 0) throw new Error('it is no zip archive, or is incomplete');
    const [length, start] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)];
    if (start === WIDE || length === WIDE) throw new Error('a zip archive above 4 GB is not read; unpack it');
    if (start + length > size) throw new Error('the directory of the zip archive is damaged: it ends after the file');
    const entries = entriesIn(await bytesAt(file, start, start + length));
    checkPlaces(entries, start);
    return entries;
  } finally {
    await file.close();
  }
}

async function bytesAt(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const bytes = Buffer.alloc(end - start);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
  if (bytesRead < bytes.length) throw new Error('the zip archive is incomplete');
  return bytes;
}

function entriesIn(directory: Buffer): ZipEntry[] {
  const entries: ZipEntry[] = [];
  for (let at = 0; at + ENTRY.length <= directory.length; ) {
    if (directory.readUInt32LE(at) !== ENTRY.signature) throw new Error('the directory of the zip archive is damaged');
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) => directory.readUInt16LE(at + field));
    const name = directory.toString('utf8', at + ENTRY.length, at + ENTRY.length + nameLength!);
    if (directory.readUInt16LE(at + 8) & 1) throw new Error(`${name} is encrypted; unpack the archive`);
    const entry = {
      name,
      method: directory.readUInt16LE(at + 10),
      crc: directory.readUInt32LE(at + 16),
      packed: directory.readUInt32LE(at + 20),
      size: directory.readUInt32LE(at + 24),
      offset: directory.readUInt32LE(at + 42),
    };
    if (entry.method !== 0 && entry.method !== 8) throw new Error(`${name} is packed by a method that is not read`);
    if (!name.endsWith('/')) entries.push(entry);
    at += ENTRY.length + nameLength! + extraLength! + commentLength!;
  }
  return entries;
}

/** Throws when entries are not one after the other before the directory: archives that unpack without end share bytes. */
function checkPlaces(entries: readonly ZipEntry[], directory: number): void {
  let end = 0;
  for (const { name, offset, packed } of [...entries].sort((a, b) => a.offset - b.offset)) {
    const shared = offset < end ? 'overlaps another file' : 'ends after the archive';
    end = offset + LOCAL_HEADER + packed;
    if (shared.startsWith('overlaps') || end > directory)
      throw new Error(`the directory of the zip archive is damaged: ${name} ${shared}`);
  }
}

/** The bytes of an entry, unpacked. Throws when they differ from what the archive states. */
export async function* zipBytes(path: string, entry: ZipEntry): AsyncGenerator<Buffer> {
  const file = await open(path);
  const header = await bytesAt(file, entry.offset, entry.offset + LOCAL_HEADER).finally(() => file.close());
  const start = entry.offset + LOCAL_HEADER + header.readUInt16LE(26) + header.readUInt16LE(28);
  if (entry.packed === 0) return;
  const packed = createReadStream(path, { start, end: start + entry.packed - 1 });
  const bytes = entry.method === 0 ? packed : packed.pipe(createInflateRaw());
  if (bytes !== packed) packed.on('error', (error) => bytes.destroy(error));
  let [size, crc] = [0, 0];
  try {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      size += chunk.length;
      // Without this bound, a forged archive would unpack without end.
      if (size > entry.size) break;
      crc = crc32(chunk, crc);
      yield chunk;
    }
  } finally {
    packed.destroy();
    bytes.destroy();
  }
  if (size !== entry.size || crc !== entry.crc) throw new Error(`${entry.name} in the zip archive is damaged`);
}
