// Reads JSON Lines: one object on each line, streamed.
import { parseJson } from '../../packs/define/digits.ts';
import type { DeclaredAs } from '../../packs/define/sources.ts';
import type { ByteTable } from './csv.ts';
import { changedFiles, fileBytes } from './files.ts';
import { isJsonObject, ObjectColumns } from './json-values.ts';
import type { RawRow, SourceContext, SourceVersion } from './reader.ts';

/** Versions of a JSONL file. */
export async function* readJsonl(declared: DeclaredAs<'jsonl'>, context: SourceContext): AsyncGenerator<SourceVersion> {
  for (const file of await changedFiles(declared, context)) {
    const { name, observed_at, mark } = file;
    const table = await readJsonlTable(fileBytes(file, context.progress), context);
    yield { name, observed_at, ...table, mark: () => mark };
  }
}

/** Rows whose members become columns before the first row is returned. */
const HEAD_ROWS = 1_000;

/**
 * The table of a body of JSON lines. Its columns are the members of the first 1,000 objects, in order of
 * appearance; a member that appears later is appended to `columns` while the rows are read.
 */
export async function readJsonlTable(
  bytes: AsyncIterable<Buffer>,
  { wanted, broken }: Pick<SourceContext, 'wanted' | 'broken'>,
): Promise<ByteTable> {
  const table = new ObjectColumns(wanted);
  const rows = jsonlRows(bytes, table, broken);
  const head: RawRow[] = [];
  while (head.length < HEAD_ROWS) {
    const next = await rows.next();
    if (next.done) break;
    head.push(next.value);
  }
  return { columns: table.columns, rows: chain(head, rows) };
}

/** Rows that were read for the columns, then the others. */
async function* chain(head: readonly RawRow[], rest: AsyncGenerator<RawRow>): AsyncGenerator<RawRow> {
  try {
    for (const row of head) yield row;
    for await (const row of rest) yield row;
  } finally {
    await rest.return(undefined);
  }
}

/** Bytes of a line. A file without line breaks would be collected in memory. */
const LONGEST_LINE = 64_000_000;
/** Characters of a broken line in a message. */
const SHOWN_TEXT = 200;

async function* jsonlRows(
  bytes: AsyncIterable<Buffer>,
  table: ObjectColumns,
  broken: SourceContext['broken'],
): AsyncGenerator<RawRow> {
  let line = 0;
  for await (const lines of lineBlocks(bytes)) {
    for (const text of lines) {
      line++;
      if (text.trim() === '') continue;
      const object = parsedObject(text);
      if (object === null)
        broken({ line, text: text.slice(0, SHOWN_TEXT).trimEnd(), expected: 'a JSON object of at most 100 levels' });
      else yield { line, cells: table.cells(object) };
    }
  }
}

function parsedObject(text: string) {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

const LF = 10;

/** Lines of a text in UTF-8, a block at a time. Bytes that are not valid become U+FFFD, as in csv.ts. */
async function* lineBlocks(chunks: AsyncIterable<Buffer>): AsyncGenerator<string[]> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let first = true;
  const text = (whole: Buffer) => {
    const decoded = whole.toString();
    const marked = first && decoded.startsWith('\ufeff');
    first = false;
    return marked ? decoded.slice(1) : decoded;
  };
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(LF);
    if (end >= 0) {
      yield text(Buffer.concat([...pieces, chunk.subarray(0, end)])).split('\n');
      pieces = [];
      bytes = 0;
    }
    const rest = chunk.subarray(end + 1);
    pieces.push(rest);
    bytes += rest.length;
    if (bytes > LONGEST_LINE) throw new Error(`a line has more than ${LONGEST_LINE / 1_000_000} MB`);
  }
  if (bytes > 0) yield text(Buffer.concat(pieces)).split('\n');
}
