// Tab-separated lines to and from DuckDB, the fastest way for millions of rows (docs/releases.md, "How it is
// made").
import { closeSync, fstatSync, openSync, readSync, statSync, writeSync } from 'node:fs';

/** NULL in a line; of the control characters, stored texts contain tabs and line feeds only. */
export const NULL = '\u0001';

/** What tabs and line feeds of a text are in a line. */
const ENCODED = { tab: '\u0002', lineFeed: '\u0003' };

/** A stored text as a cell of a line. */
export function encodedCell(text: string): string {
  return /[\t\n]/.test(text) ? text.replaceAll('\t', ENCODED.tab).replaceAll('\n', ENCODED.lineFeed) : text;
}

/** SQL expression of the stored text in a column of lines. */
export const decodedCell = (column: string): string =>
  `translate(${column}, '${ENCODED.tab}${ENCODED.lineFeed}', chr(9) || chr(10))`;

const CHUNK = 1 << 22;

/** Small chunks: Node keeps strings of a megabyte and more outside its heap, where they are freed late. */
const PIECE = 1 << 18;

/** Keeps a text on one line: white space and control characters become spaces. */
export function oneLine(text: string): string {
  return /[\p{Cc}\u2028\u2029]/u.test(text) ? text.replace(/[\s\p{Cc}]+/gu, ' ').trim() : text;
}

/** Characters of lines that are encoded together: fewer calls, in a string that stays in the young heap. */
const BATCH = 1 << 15;

/** Appends lines to a file through a buffer. */
export class LineWriter {
  readonly path: string;
  /** Number of lines. */
  lines = 0;
  /** The most characters of a line. */
  longest = 0;
  readonly #file: number;
  readonly #buffer = Buffer.allocUnsafe(CHUNK);
  #used = 0;
  #written = 0;
  /** Lines that are not encoded yet. */
  #text = '';

  constructor(path: string) {
    this.path = path;
    this.#file = openSync(path, 'w');
  }

  /** Number of bytes of all lines. */
  get at(): number {
    this.#encode();
    return this.#written + this.#used;
  }

  /** Writes a text and a line feed. */
  line(text: string): void {
    this.#text += `${text}\n`;
    this.lines++;
    if (text.length > this.longest) this.longest = text.length;
    if (this.#text.length > BATCH) this.#encode();
  }

  /** Writes the beginning of a line; `line` or `bytes` writes its end. */
  text(text: string): void {
    this.#text += text;
  }

  /** Writes bytes unchanged; `ends`: they end a line. */
  bytes(bytes: Buffer, ends: boolean): void {
    this.#encode();
    this.#append(bytes);
    if (ends) this.lines++;
  }

  close(): void {
    this.#encode();
    this.#flush();
    closeSync(this.#file);
  }

  #encode(): void {
    const text = this.#text;
    if (text === '') return;
    this.#text = '';
    // At most three bytes per UTF-16 unit; a longer text is written without the buffer.
    if (text.length * 3 > CHUNK) {
      this.#append(Buffer.from(text));
      return;
    }
    if (this.#used + text.length * 3 > CHUNK) this.#flush();
    this.#used += this.#buffer.write(text, this.#used);
  }

  #append(bytes: Buffer): void {
    if (this.#used + bytes.length > CHUNK) this.#flush();
    if (bytes.length > CHUNK) {
      this.#write(bytes);
      return;
    }
    bytes.copy(this.#buffer, this.#used);
    this.#used += bytes.length;
  }

  #flush(): void {
    this.#write(this.#buffer.subarray(0, this.#used));
    this.#used = 0;
  }

  #write(bytes: Buffer): void {
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#file, bytes, done);
    this.#written += bytes.length;
  }
}

/** The lines of a file, or of its bytes from `from` to `to`, without their line feeds. */
export function* readLines(path: string, from = 0, to = Number.POSITIVE_INFINITY): Generator<string> {
  const file = openSync(path, 'r');
  try {
    let buffer = Buffer.allocUnsafe(PIECE);
    let at = from;
    // Bytes of an unfinished line, moved to the start of the buffer.
    let held = 0;
    for (;;) {
      if (held === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
      const read = readSync(file, buffer, held, Math.min(buffer.length - held, to - at), at);
      if (read === 0) break;
      at += read;
      const full = held + read;
      const end = buffer.lastIndexOf(10, full - 1);
      if (end >= 0) {
        yield* buffer.toString('utf8', 0, end).split('\n');
        buffer.copyWithin(0, end + 1, full);
      }
      held = full - (end + 1);
    }
    if (held > 0) yield buffer.toString('utf8', 0, held);
  } finally {
    closeSync(file);
  }
}

/**
 * Divides a file of lines into ranges of about the same size: the start of each, and the file's end. Adjacent
 * lines of one group, by `groupOf`, stay together.
 */
export function cutLines(path: string, count: number, groupOf: (line: string) => string): number[] {
  const size = statSync(path).size;
  const cuts = [0];
  for (let i = 1; i < count; i++) {
    let at = nextLine(path, Math.max(cuts.at(-1)!, Math.floor((size * i) / count)));
    let group: string | null = null;
    for (const line of readLines(path, at)) {
      group ??= groupOf(line);
      if (groupOf(line) !== group) break;
      at += Buffer.byteLength(line) + 1;
    }
    cuts.push(Math.min(at, size));
  }
  return [...cuts, size];
}

/** Start of the first complete line after a byte, which may be inside a character. */
function nextLine(path: string, from: number): number {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.allocUnsafe(PIECE);
    for (let at = from; ; ) {
      const read = readSync(file, buffer, 0, PIECE, at);
      const end = buffer.subarray(0, read).indexOf(10);
      if (end >= 0) return at + end + 1;
      if (read === 0) return at;
      at += read;
    }
  } finally {
    closeSync(file);
  }
}

/** A copy of a text from `readLines`, to keep: a substring would keep its whole chunk in memory. */
export function copyText(text: string): string {
  return Buffer.from(text).toString();
}

/** Groups of lines on disk, read back in another order. */
export class Shelf {
  readonly #writer: LineWriter;
  readonly #starts: number[] = [];

  constructor(path: string) {
    this.#writer = new LineWriter(path);
  }

  get size(): number {
    return this.#starts.length;
  }

  /** The most characters of a line. */
  get longest(): number {
    return this.#writer.longest;
  }

  /** Writes lines as one entry; entries are numbered from 0. */
  put(lines: readonly string[]): void {
    this.#starts.push(this.#writer.at);
    for (const line of lines) this.#writer.line(line);
  }

  /** Writes the buffer; returns the start of each entry. */
  close(): Float64Array {
    this.#writer.close();
    return Float64Array.from(this.#starts);
  }
}

/** A closed shelf. */
export interface ClosedShelf {
  path: string;
  starts: Float64Array;
}

/**
 * Entries as bytes, in the given order, numbered across all shelves. The buffer is valid until the next one.
 */
export function* takeFrom(shelves: readonly ClosedShelf[], order: Iterable<number>): Generator<Buffer> {
  const files: number[] = [];
  try {
    for (const { path } of shelves) files.push(openSync(path, 'r'));
    const ends = files.map((file) => fstatSync(file).size);
    let buffer = Buffer.allocUnsafe(1 << 16);
    for (const place of order) {
      let shelf = 0;
      let entry = place;
      while (entry >= shelves[shelf]!.starts.length) entry -= shelves[shelf++]!.starts.length;
      const { starts } = shelves[shelf]!;
      const start = starts[entry]!;
      const length = (starts[entry + 1] ?? ends[shelf]!) - start;
      if (length > buffer.length) buffer = Buffer.allocUnsafe(length * 2);
      for (let done = 0; done < length; ) done += readSync(files[shelf]!, buffer, done, length - done, start + done);
      yield buffer.subarray(0, length);
    }
  } finally {
    for (const file of files) closeSync(file);
  }
}
