// The rows of a CSV by csv-parse, chunk by chunk. csv-parse stops at a wrong quote; this continues at the next line.
import { CsvError, type InfoRecord, type Options, Parser } from 'csv-parse';
import { parse as parseWhole } from 'csv-parse/sync';
import type { RawRow, SourceContext } from './reader.ts';

/** Columns and delimiter of a CSV. */
export interface CsvFormat {
  columns: readonly string[];
  delimiter: string;
  /** Lines above the header: those that are skipped, and `sep=;`. */
  skipped: number;
}

/** Delimiters that are recognised, most common first. */
const DELIMITERS = [',', ';', '\t', '|'] as const;

/** Characters of a row. A quote that is never closed would collect the rest of the file. */
const LONGEST_ROW = 8_000_000;
/** Bytes in which the header must end. */
const LONGEST_HEADER = 1 << 20;
/** Characters of a broken row in a message. */
const SHOWN_TEXT = 200;

/** Reads the header. Throws when there is none. Repeated names get the position of their column. */
export async function headerOf(
  name: string,
  bytes: AsyncIterable<Buffer>,
  declared: string | undefined,
  skip_lines = 0,
): Promise<CsvFormat> {
  let head = Buffer.alloc(0);
  for await (const chunk of bytes) {
    head = Buffer.concat([head, chunk]);
    if (head.length >= LONGEST_HEADER) break;
  }
  head = head.subarray(endOfLines(head, skip_lines) ?? head.length);
  // Spreadsheet programs write and obey this line.
  const separator = /^sep=(.)(?=\r|\n)/i.exec(head.toString('utf8', 0, 10))?.[1];
  const skipped = skip_lines + (separator === undefined ? 0 : 1);
  if (separator !== undefined) head = head.subarray(endOfLines(head, 1) ?? head.length);
  const delimiter = declared ?? separator ?? delimiterOf(head.toString());
  const options = { ...optionsOf(delimiter), skip_records_with_empty_values: true, to: 1 };
  let header: string[] | undefined;
  try {
    [header] = parseWhole(head, options) as string[][];
  } catch (error) {
    throw new Error(`${name}: the header cannot be read: ${(error as Error).message}`);
  }
  if (header === undefined) throw new Error(`${name} has no header: it contains no row`);
  const names = header.map((column) => column.trim());
  // Several columns may have no name: lines that end with the delimiter have one.
  const columns = names.map((column, i) =>
    column !== '' && names.indexOf(column) < i ? repeatedName(column, i + 1) : column,
  );
  return { columns, delimiter, skipped };
}

/** The name of a column with the name of an earlier one, by its position from 1. */
export const repeatedName = (column: string, position: number): string => `${column} (column ${position})`;

/** Offset after a number of lines; null: the bytes have fewer, or end within a line break. */
export function endOfLines(bytes: Buffer, count: number): number | null {
  let at = 0;
  for (let line = 0; line < count; line++) {
    const ends = [bytes.indexOf(LF, at), bytes.indexOf(CR, at)].filter((end) => end >= 0);
    if (ends.length === 0) return null;
    const end = Math.min(...ends);
    if (bytes[end] === CR && end + 1 === bytes.length) return null;
    at = end + (bytes[end] === CR && bytes[end + 1] === LF ? 2 : 1);
  }
  return at;
}

/** The delimiter that the first line with text has most, quoted texts excepted. */
function delimiterOf(head: string): string {
  const line = /^\s*((?:"(?:[^"]|"")*"|[^"\r\n])*)/.exec(head)![1]!.replace(/"(?:[^"]|"")*"/g, '');
  const count = (delimiter: string) => line.split(delimiter).length;
  return DELIMITERS.reduce((most, delimiter) => (count(delimiter) > count(most) ? delimiter : most), ',');
}

const optionsOf = (delimiter: string): Options<string[]> => ({
  delimiter,
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
  skip_empty_lines: true,
  max_record_size: LONGEST_ROW,
});

/** What is expected instead, by the code of an error of csv-parse. */
const EXPECTED: Readonly<Record<string, string>> = {
  CSV_INVALID_CLOSING_QUOTE: 'the delimiter or the end of the line after a closing quote',
  CSV_QUOTE_NOT_CLOSED: 'a closing quote',
  INVALID_OPENING_QUOTE: 'a quote at the start of a field only',
  CSV_MAX_RECORD_SIZE: `a row of at most ${LONGEST_ROW.toLocaleString('en-US')} characters`,
};

const LINE_BREAK = /\r\n|\n|\r/g;
const [CR, LF] = [13, 10];

/**
 * A CSV in chunks of UTF-8. Lines are counted here: csv-parse counts CRLF within quotes twice, and knows the line
 * where a row ends, not the one where it begins.
 */
export class CsvStream {
  readonly #format: CsvFormat;
  readonly #broken: SourceContext['broken'];
  #parser: Parser;
  #failure: CsvError | null = null;
  #rows: RawRow[] = [];
  #headerRead = false;
  /** Bytes from the end of the last row, and their offset in the bytes that this parser received. */
  #pending: Buffer = Buffer.alloc(0);
  #offset = 0;
  /** Line where the next row begins, if no blank lines precede it. */
  #line = 1;
  /** Lines and blank lines that this parser counted until the last row. */
  #counted = { lines: 0, blank: 0 };

  constructor(format: CsvFormat, broken: SourceContext['broken']) {
    this.#format = format;
    this.#line = format.skipped + 1;
    this.#broken = broken;
    this.#parser = this.#newParser();
  }

  /** Rows since the last call. */
  takeRows(): RawRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  /** Parses a chunk; `last`: it is the end of the text. */
  async write(chunk: Buffer, last: boolean): Promise<void> {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    if (this.#failure === null) await this.#parse(chunk, last);
    while (this.#failure !== null && this.#skipLine(last)) {
      this.#failure = null;
      this.#parser = this.#newParser();
      await this.#parse(this.#pending, last);
    }
  }

  #newParser(): Parser {
    this.#offset = 0;
    this.#counted = { lines: 0, blank: 0 };
    const on_record = (record: string[], info: InfoRecord) => {
      this.#addRow(record, info);
      // Rows are collected here: the stream of csv-parse would cost two events for each.
      return null;
    };
    const parser = new Parser({ ...optionsOf(this.#format.delimiter), on_record } as Options);
    // The callbacks of `write` and `end` receive the error.
    parser.on('error', () => {});
    parser.resume();
    return parser;
  }

  /** Passes bytes to the parser; `#addRow` drops those of complete rows. */
  async #parse(bytes: Buffer, last: boolean): Promise<void> {
    const parser = this.#parser;
    const error = await new Promise<Error | null | undefined>((resolve) => {
      if (last) parser.end(bytes, () => resolve(parser.errored));
      else parser.write(bytes, resolve);
    });
    if (error instanceof CsvError) this.#failure = error;
    else if (error) throw error;
  }

  #drop(end: number): void {
    this.#pending = this.#pending.subarray(end - this.#offset);
    this.#offset = end;
  }

  #addRow(record: string[], info: InfoRecord): void {
    const { lines, empty_lines: blank, bytes } = info;
    const newBlank = blank - this.#counted.blank;
    const line = this.#line + newBlank;
    const span = lines - this.#counted.lines - newBlank;
    this.#counted = { lines, blank };
    const breaks = span > 1 ? record.reduce((sum, cell) => sum + (cell.match(LINE_BREAK)?.length ?? 0), 0) : 0;
    this.#line = line + breaks + 1;
    const raw = this.#pending.subarray(0, bytes - this.#offset);
    this.#drop(bytes);
    this.#checkRow(record, line, breaks, raw);
  }

  /** Adds a row that fits the header, and reports another one. */
  #checkRow(record: string[], line: number, breaks: number, raw: Buffer): void {
    const { columns } = this.#format;
    if (!this.#headerRead) {
      this.#headerRead = record.some((cell) => cell.trim() !== '');
      return;
    }
    // A line of white space is a blank line.
    if (record.length === 1 && record[0]!.trim() === '' && raw.toString().trim() === '') return;
    if (record.length === columns.length) {
      this.#rows.push({ line, cells: record });
      return;
    }
    const lines = breaks === 0 ? '' : ` in lines ${line} to ${line + breaks}`;
    const fields = columns.length === 1 ? '1 field' : `${columns.length} fields`;
    const expected = `${fields}, as the header has (the row has ${record.length}${lines})`;
    this.#broken({ line, text: shownText(raw), expected });
  }

  /**
   * Reports the line where the broken row begins and drops it. False: its end is not known yet, more bytes are
   * needed.
   */
  #skipLine(last: boolean): boolean {
    let start = 0;
    let line = this.#line;
    for (; this.#pending[start] === CR || this.#pending[start] === LF; line++)
      start += this.#pending[start] === CR && this.#pending[start + 1] === LF ? 2 : 1;
    const bytes = this.#pending.subarray(start);
    const ends = [bytes.indexOf(LF), bytes.indexOf(CR)].filter((at) => at >= 0);
    const end = Math.min(...ends, bytes.length);
    // A CR at the end of a chunk may be the first half of CRLF.
    if (!last && end + 1 >= bytes.length && bytes.length < 2 * LONGEST_ROW) return false;
    const text = bytes.subarray(0, end);
    const record = this.#strayQuotes(text);
    if (record !== null) this.#checkRow(record, line, 0, text);
    else {
      const expected = EXPECTED[this.#failure!.code] ?? this.#failure!.message;
      this.#broken({ line, text: shownText(text), expected });
    }
    this.#line = line + 1;
    this.#pending = bytes.subarray(end + (bytes[end] === CR && bytes[end + 1] === LF ? 2 : 1));
    return true;
  }

  /**
   * The cells of a line with quotes within a field that does not begin with one, such as `5" pipe`: they are part
   * of its text. Null: the line has another mistake.
   */
  #strayQuotes(text: Buffer): string[] | null {
    if (this.#failure?.code !== 'INVALID_OPENING_QUOTE') return null;
    try {
      const options = { ...optionsOf(this.#format.delimiter), relax_quotes: true };
      const [record] = parseWhole(text, options) as string[][];
      // csv-parse also accepts text after a closing quote here; such a cell still begins with its quote.
      return record === undefined || record.some((cell) => cell.startsWith('"')) ? null : record;
    } catch {
      return null;
    }
  }
}

/** The start of a row for a message, without the blank lines before it. */
const shownText = (bytes: Buffer) =>
  bytes
    .toString('utf8', 0, 4 * SHOWN_TEXT)
    .replace(/^[\r\n]+/, '')
    .slice(0, SHOWN_TEXT)
    .trimEnd();
