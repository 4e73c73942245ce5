// Reads CSV: streamed, with the line of every row; a broken row is reported and the next line is read.
import type { DeclaredAs } from '../../packs/define/sources.ts';
import { type CsvFormat, CsvStream, endOfLines, headerOf } from './csv-stream.ts';
import { changedFiles, fileBytes } from './files.ts';
import type { RawRow, SourceContext, SourceVersion } from './reader.ts';

/** A table in one body of bytes: its columns and rows. */
export interface ByteTable {
  columns: readonly string[];
  rows: AsyncIterable<RawRow>;
}

/** How the bytes of a CSV are read. */
export interface CsvOptions {
  delimiter?: string | undefined;
  /** Label of the WHATWG Encoding Standard. */
  encoding: string;
  /** Lines above the header. */
  skip_lines?: number | undefined;
}

/** Versions of a CSV file. */
export async function* readCsv(declared: DeclaredAs<'csv'>, context: SourceContext): AsyncGenerator<SourceVersion> {
  for (const file of await changedFiles(declared, context)) {
    const { name, observed_at, mark } = file;
    const open = (shown: boolean) => fileBytes(file, shown ? context.progress : undefined);
    const table = await readCsvTable(name, open, declared, context.broken);
    yield { name, observed_at, ...table, mark: () => mark };
  }
}

/**
 * The table of a CSV. `open` is called twice: for the header, then (`shown` true) for the rows. Throws when there
 * is no header.
 */
export async function readCsvTable(
  name: string,
  open: (shown: boolean) => AsyncIterable<Buffer>,
  options: CsvOptions,
  broken: SourceContext['broken'],
): Promise<ByteTable> {
  const { encoding } = options;
  const format = await headerOf(name, utf8Bytes(open(false), encoding), options.delimiter, options.skip_lines);
  return { columns: format.columns, rows: csvRows(utf8Bytes(open(true), encoding), format, broken) };
}

async function* csvRows(
  bytes: AsyncIterable<Buffer>,
  format: CsvFormat,
  broken: SourceContext['broken'],
): AsyncGenerator<RawRow> {
  const stream = new CsvStream(format, broken);
  for await (const chunk of withoutLines(bytes, format.skipped)) {
    await stream.write(chunk, false);
    for (const row of stream.takeRows()) yield row;
  }
  await stream.write(Buffer.alloc(0), true);
  for (const row of stream.takeRows()) yield row;
}

/** The bytes after a number of lines. */
async function* withoutLines(bytes: AsyncIterable<Buffer>, count: number): AsyncGenerator<Buffer> {
  let head: Buffer | null = Buffer.alloc(0);
  for await (const chunk of bytes) {
    if (head === null) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    const end = endOfLines(head, count);
    if (end === null) continue;
    yield head.subarray(end);
    head = null;
  }
}

/** Byte order marks; one decides the encoding, whatever was declared (Encoding Standard section 6). */
const MARKS = [
  { encoding: 'utf-8', mark: Buffer.from([0xef, 0xbb, 0xbf]) },
  { encoding: 'utf-16le', mark: Buffer.from([0xff, 0xfe]) },
  { encoding: 'utf-16be', mark: Buffer.from([0xfe, 0xff]) },
] as const;

/**
 * Bytes of a text as UTF-8 without a byte order mark. Bytes that are not valid become U+FFFD instead of an
 * error, here or when a cell becomes a text: the parser of values rejects such a cell and reports its line.
 */
async function* utf8Bytes(chunks: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  let first: Buffer | null = Buffer.alloc(0);
  let decoder: TextDecoder | null = null;
  const start = (head: Buffer): Buffer => {
    const byteOrderMark = MARKS.find(({ mark }) => head.subarray(0, mark.length).equals(mark));
    const label = byteOrderMark?.encoding ?? new TextDecoder(encoding).encoding;
    if (label !== 'utf-8') decoder = new TextDecoder(label);
    return byteOrderMark?.encoding === 'utf-8' ? head.subarray(byteOrderMark.mark.length) : head;
  };
  const convert = (bytes: Buffer) => (decoder === null ? bytes : Buffer.from(decoder.decode(bytes, { stream: true })));
  for await (const chunk of chunks) {
    if (first === null) {
      yield convert(chunk);
      continue;
    }
    first = Buffer.concat([first, chunk]);
    if (first.length < 3) continue;
    yield convert(start(first));
    first = null;
  }
  if (first !== null) yield convert(start(first));
  // The end of the text: an incomplete character becomes U+FFFD.
  const rest = (decoder as TextDecoder | null)?.decode();
  if (rest) yield Buffer.from(rest);
}
