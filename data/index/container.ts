// A file of named typed arrays that loads without parsing: arrays are views on the bytes read.
//
//   | magic 8 | u32 header bytes | u32 crc32 of everything after the header | header JSON | pad | array | pad | …
//
// The header lists {name, type, offset, length}; offsets count from the first byte after the padded header;
// every array starts at a multiple of 8. A wrong magic, length or checksum throws IndexDamaged.
import { closeSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { z } from 'zod';

const MAGIC = 'DSRIDX07';
const FIXED = 16;

export type Packed = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array;
/** Unsigned integers in the narrowest array that fits them. */
export type Codes = Uint8Array | Uint16Array | Uint32Array;

const KINDS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f64: Float64Array } as const;
type Kind = keyof typeof KINDS;

const Header = z.array(
  z.object({
    name: z.string(),
    type: z.enum(['u8', 'u16', 'u32', 'i32', 'f64']),
    offset: z.number(),
    length: z.number(),
  }),
);
type Entry = z.infer<typeof Header>[number];
type ArrayOf<K extends Kind> = InstanceType<(typeof KINDS)[K]>;

/** The index is unusable; the caller uses DuckDB instead. */
export class IndexDamaged extends Error {}

const padded = (bytes: number) => (bytes + 7) & ~7;

/** Writes arrays to a file in the given order: equal arrays give equal bytes. */
export function writeContainer(file: string, arrays: Record<string, Packed>): void {
  const entries: Entry[] = [];
  let offset = 0;
  for (const [name, array] of Object.entries(arrays)) {
    entries.push({ name, type: kindOf(array), offset, length: array.length });
    offset = padded(offset + array.byteLength);
  }
  const header = Buffer.from(JSON.stringify(entries));
  const start = padded(FIXED + header.length);
  const out = Buffer.alloc(start + offset);
  out.write(MAGIC, 0, 'latin1');
  out.writeUInt32LE(header.length, 8);
  header.copy(out, FIXED);
  for (const entry of entries) {
    const array = arrays[entry.name] as Packed;
    out.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), start + entry.offset);
  }
  out.writeUInt32LE(crc32(out.subarray(FIXED)), 12);
  writeFileSync(file, out);
}

/**
 * The format of a file when it is newer than the one that this program reads, such as `DSRIDX99`; null when it is
 * not, also for a file that is no index.
 */
export function newerFormat(file: string): string | null {
  const format = formatOf(file);
  return format !== null && format > MAGIC ? format : null;
}

/** Whether a file is an index of an earlier program version. */
export function olderFormat(file: string): boolean {
  const format = formatOf(file);
  return format !== null && format < MAGIC;
}

/** The magic bytes of a file, also of another program version; null for a file that is no index. */
function formatOf(file: string): string | null {
  const begin = Buffer.alloc(MAGIC.length);
  const opened = openSync(file, 'r');
  try {
    readSync(opened, begin);
  } finally {
    closeSync(opened);
  }
  const magic = begin.toString('latin1');
  return /^DSRIDX\d\d$/.test(magic) ? magic : null;
}

/** The format that this program reads and writes. */
export const INDEX_FORMAT = MAGIC;

/** Whether the file has the magic bytes of this program version. */
export const isContainer = (file: string): boolean => formatOf(file) === MAGIC;

/** A loaded container. `get` throws IndexDamaged when the array is missing or of another type. */
export class Container {
  readonly bytes: number;
  readonly #data: Buffer;
  readonly #start: number;
  readonly #entries: Map<string, Entry>;

  /** `raw`: the content of the file. */
  constructor(file: string, raw: Buffer = readFileSync(file)) {
    // A small file shares Node's buffer pool and may start at an odd address; views need an aligned one.
    this.#data = raw.byteOffset % 8 === 0 ? raw : Buffer.from(new Uint8Array(raw).buffer);
    this.bytes = this.#data.length;
    if (this.bytes < FIXED || this.#data.toString('latin1', 0, 8) !== MAGIC)
      throw new IndexDamaged(`${file}: the index has another format; the next nightly run builds it again`);
    const header = this.#data.readUInt32LE(8);
    if (FIXED + header > this.bytes || crc32(this.#data.subarray(FIXED)) !== this.#data.readUInt32LE(12)) {
      throw new IndexDamaged(`${file}: checksum differs`);
    }
    const entries = Header.parse(JSON.parse(this.#data.toString('utf8', FIXED, FIXED + header)));
    this.#entries = new Map(entries.map((entry) => [entry.name, entry]));
    this.#start = padded(FIXED + header);
  }

  names(): string[] {
    return [...this.#entries.keys()];
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** An array written by `narrow`. */
  codes(name: string): Codes {
    const type = this.#entries.get(name)?.type;
    return this.get(name, type === 'u8' || type === 'u16' ? type : 'u32');
  }

  get<K extends Kind>(name: string, kind: K): ArrayOf<K> {
    const entry = this.#entries.get(name);
    if (entry?.type !== kind) throw new IndexDamaged(`the index has no ${kind} array ${name}`);
    const at = this.#data.byteOffset + this.#start + entry.offset;
    return new KINDS[kind](this.#data.buffer as ArrayBuffer, at, entry.length) as ArrayOf<K>;
  }
}

/** The numbers in the narrowest array that fits them. */
export function narrow(numbers: Uint32Array): Codes {
  let most = 0;
  for (const number of numbers) if (number > most) most = number;
  const bytes = codeBytes(most);
  return bytes === 1 ? Uint8Array.from(numbers) : bytes === 2 ? Uint16Array.from(numbers) : numbers;
}

/** Bytes of each number of `narrow`, by the largest number. */
export const codeBytes = (most: number): 1 | 2 | 4 => (most < 0x100 ? 1 : most < 0x10000 ? 2 : 4);

function kindOf(array: Packed): Kind {
  for (const [kind, type] of Object.entries(KINDS)) if (array instanceof type) return kind as Kind;
  throw new TypeError('not a packed array');
}
