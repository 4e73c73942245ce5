// Reads .xlsx workbooks: one sheet, row by row. hucre reads cells; what it leaves out in streams (formats, hidden
// sheets, formulas without a stored value) is read from the XML of the workbook.
import { readFile } from 'node:fs/promises';
import { streamXlsxRows } from 'hucre/xlsx';
import { nearestName } from '../../packs/define/mistakes.ts';
import type { DeclaredAs } from '../../packs/define/sources.ts';
import { changedFiles, checkUnchanged, type SourceFile, tooLarge } from './files.ts';
import type { RawRow, SourceContext, SourceVersion } from './reader.ts';
import { type ZipEntry, zipBytes, zipEntries } from './zip.ts';

type Declared = DeclaredAs<'xlsx'>;

/** Largest workbook, packed: hucre needs its bytes in memory. */
const LARGEST = 512_000_000;

/** Versions of a workbook. */
export async function* readXlsx(declared: Declared, context: SourceContext): AsyncGenerator<SourceVersion> {
  for (const file of await changedFiles(declared, context)) {
    const { name, observed_at, mark } = file;
    try {
      if (file.size > LARGEST) throw new Error(`it has more than ${LARGEST / 1_000_000} MB; save the sheet as CSV`);
      const book = await Workbook.open(file, declared.max_bytes);
      const { sheet, table } = await chosenSheet(book, declared);
      const { formats, unstored } = await sheetDetails(book, sheet, table);
      const notes = [...sheetNotes(book, sheet, declared), ...unstoredNotes(name, sheet, unstored)];
      const rows = rowsOf(file, table, context, notes);
      yield { name, observed_at, columns: table.columns, rows, mark: () => mark, formats, notes };
    } catch (error) {
      throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
    }
  }
}

/** A sheet with cells. */
interface Sheet {
  name: string;
  hidden: boolean;
  /** Position among all sheets of the workbook. */
  index: number;
  entry: ZipEntry;
}

/** An attribute of an XML tag. */
const attributeOf = (tag: string, name: string): string | undefined => {
  const text = new RegExp(`(?:^|[\\s:])${name}="([^"]*)"`).exec(tag)?.[1];
  return text
    ?.replace(/&#(x?)([\da-f]+);/gi, (_, hex, code) => String.fromCodePoint(Number.parseInt(code, hex ? 16 : 10)))
    .replace(/&(lt|gt|quot|apos|amp);/g, (_, entity) => ENTITIES[entity]!);
};
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

/** The tags of a name in an XML text, with any prefix. */
const tagsOf = (xml: string, name: string): string[] => xml.match(new RegExp(`<(?:\\w+:)?${name}\\b[^<>]*`, 'g')) ?? [];

/** The parts of a workbook besides its cells. */
class Workbook {
  readonly file: SourceFile;
  readonly bytes: Buffer;
  readonly sheets: readonly Sheet[];
  readonly date1904: boolean;
  readonly #entries: readonly ZipEntry[];

  constructor(file: SourceFile, bytes: Buffer, entries: readonly ZipEntry[], workbook: string, relations: string) {
    this.file = file;
    this.bytes = bytes;
    this.#entries = entries;
    this.date1904 = tagsOf(workbook, 'workbookPr').some((tag) => /date1904="(?:1|true)"/.test(tag));
    const targets = new Map(
      tagsOf(relations, 'Relationship')
        .filter((tag) => attributeOf(tag, 'Type')?.endsWith('/worksheet'))
        .map((tag) => [attributeOf(tag, 'Id'), attributeOf(tag, 'Target') ?? '']),
    );
    this.sheets = tagsOf(workbook, 'sheet').flatMap((tag, index) => {
      const target = targets.get(attributeOf(tag, 'id'));
      const entry = target === undefined ? undefined : this.entry(target);
      const name = attributeOf(tag, 'name') ?? '';
      const hidden = /state="(?:hidden|veryHidden)"/.test(tag);
      return entry === undefined ? [] : [{ name, hidden, index, entry }];
    });
  }

  /** Reads the directory and the list of sheets. Throws when the parts have more than `most` bytes. */
  static async open(file: SourceFile, most: number): Promise<Workbook> {
    const entries = await zipEntries(file.path).catch((error: Error) => {
      const advice = 'expected an .xlsx workbook without a password; save it again as .xlsx';
      throw new Error(`${error.message}; ${advice}`, { cause: error });
    });
    const parts = entries.filter(({ name }) => /\.(?:xml|rels)$/i.test(name));
    const largest = parts.reduce((large, part) => (part.size > large.size ? part : large), { name: '', size: 0 });
    if (largest.size > most) throw new Error(tooLarge(largest.name, most));
    if (parts.reduce((sum, { size }) => sum + size, 0) > most) throw new Error(tooLarge('it', most));
    const repeated = entries.find(({ name }, i) => entries.findIndex((other) => other.name === name) < i);
    if (repeated !== undefined) throw new Error(`the zip archive has two files ${repeated.name}`);
    // hucre unpacks parts without a bound; here each is as large as the archive states.
    for (const part of parts) for await (const _ of zipBytes(file.path, part));
    const [workbook, relations] = ['workbook.xml', '_rels/workbook.xml.rels'].map((name) =>
      entries.find((entry) => entry.name === `xl/${name}` || entry.name.endsWith(`/${name}`)),
    );
    if (workbook === undefined || relations === undefined)
      throw new Error('it has no sheets; is it an .xlsx workbook?');
    const texts = [await entryText(file.path, workbook), await entryText(file.path, relations)] as const;
    return new Workbook(file, await readFile(file.path), entries, ...texts);
  }

  /** A part by the target of its relation: from the root, or from the folder `xl`. */
  entry(target: string): ZipEntry | undefined {
    const names = [target.replace(/^\//, ''), `xl/${target}`];
    return this.#entries.find(({ name }) => names.includes(name));
  }

  rows(sheet: Sheet) {
    return streamXlsxRows(this.bytes, { sheet: sheet.index });
  }
}

async function entryText(path: string, entry: ZipEntry): Promise<string> {
  return Buffer.concat(await Array.fromAsync(zipBytes(path, entry))).toString();
}

/** The rows of a sheet: where they begin, and the columns. */
interface SheetTable {
  columns: string[];
  /** Number of the row with the header, from 1. */
  header: number;
  book: Workbook;
  sheet: Sheet;
}

/** The sheet by its name, else the first visible one with a table. Throws with the names of the sheets. */
async function chosenSheet(book: Workbook, { sheet: wanted, skip_rows }: Declared) {
  const names = book.sheets.map(({ name }) => name);
  const chosen = book.sheets.find(({ name }) => name === wanted);
  if (wanted !== undefined && chosen === undefined) {
    const near = nearestName(wanted, names);
    throw new Error(
      `it has no sheet '${wanted}': its sheets are ${names.join(', ')}${near === undefined ? '' : `; nearest: ${near}`}`,
    );
  }
  for (const sheet of chosen === undefined ? book.sheets.filter(({ hidden }) => !hidden) : [chosen]) {
    const table = await headOf(book, sheet, skip_rows);
    if (table !== null) return { sheet, table };
  }
  throw new Error(`no sheet has a header and a row: its sheets are ${names.join(', ') || 'none'}`);
}

/** Rows in which the header must be. */
const HEAD_ROWS = 60;

/** Header and columns of a sheet; null for a sheet without a row below a header. */
async function headOf(book: Workbook, sheet: Sheet, skip_rows: number | undefined): Promise<SheetTable | null> {
  const head: { number: number; cells: unknown[] }[] = [];
  for await (const { index, values } of book.rows(sheet)) {
    if (index < (skip_rows ?? 0)) continue;
    const cells = values.map((value) => cellOf(value, book.date1904));
    if (cells.some((cell) => cell !== undefined)) head.push({ number: index + 1, cells });
    if (head.length === HEAD_ROWS) break;
  }
  const filled = (cells: readonly unknown[]) => cells.filter((cell) => cell !== undefined).length;
  const width = Math.max(0, ...head.map(({ cells }) => filled(cells)));
  // A title above the table has one cell, or a few; a header has a text for most columns.
  const isHeader = (cells: readonly unknown[]) =>
    filled(cells) > width / 2 && cells.every((cell) => cell === undefined || typeof cell === 'string');
  const header = skip_rows !== undefined ? head[0] : (head.find(({ cells }) => isHeader(cells)) ?? head[0]);
  if (header === undefined || header === head.at(-1)) return null;
  const columns = header.cells.map((cell) => (cell === undefined ? '' : String(cell).replace(/\s+/g, ' ').trim()));
  const repeated = columns.find((column, i) => column !== '' && columns.indexOf(column) < i);
  if (repeated !== undefined)
    throw new Error(
      `the header in row ${header.number} of sheet ${sheet.name} has two columns '${repeated}'; rename one`,
    );
  return { columns, header: header.number, book, sheet };
}

const ERRORS = new Set(['#DIV/0!', '#N/A', '#NAME?', '#NULL!', '#NUM!', '#REF!', '#VALUE!', '#SPILL!', '#CALC!']);

/** A value of hucre as a cell: dates as ISO 8601 without a zone, which a workbook does not have. */
function cellOf(value: unknown, date1904: boolean): unknown {
  if (value === null || value === '' || value === undefined) return undefined;
  if (!(value instanceof Date)) return value;
  const text = value.toISOString().replace(/(?:\.000)?Z$/, '');
  const [day, time] = text.split('T');
  // A cell with a time and no day has the day before the first one.
  if (day === (date1904 ? '1904-01-01' : '1899-12-31')) return time;
  return time === '00:00:00' ? day : text;
}

async function* rowsOf(
  file: SourceFile,
  { book, sheet, columns, header }: SheetTable,
  { progress }: SourceContext,
  notes: string[],
): AsyncGenerator<RawRow> {
  let [errors, first] = [0, ''];
  for await (const { index, values } of book.rows(sheet)) {
    const line = index + 1;
    if (line <= header) continue;
    const cells = values.map((value, i) => {
      const cell = cellOf(value, book.date1904);
      if (!ERRORS.has(cell as string)) return cell;
      if (errors++ === 0) first = `${cell} in column ${columns[i] ?? i + 1}, row ${line}`;
      return undefined;
    });
    if (cells.every((cell) => cell === undefined)) continue;
    while (cells.length > columns.length) columns.push('');
    yield { line, cells };
    if (line % 10_000 === 0) progress(line, null, `rows of ${file.name}`);
  }
  if (errors > 0) {
    const cells = errors === 1 ? '1 cell' : `${errors.toLocaleString('en-US')} cells`;
    notes.push(`${cells} of ${file.name} with an error ${errors === 1 ? 'is' : 'are'} missing, such as ${first}`);
  }
  await checkUnchanged(file);
}

const listed = (names: readonly string[]) => `${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''}`;

/** What a publisher must know about the sheets that are not read; nothing when the sheet was chosen. */
function sheetNotes({ sheets, file }: Workbook, { name }: Sheet, declared: Declared): string[] {
  const others = sheets.filter((sheet) => sheet.name !== name && !sheet.hidden);
  const hidden = sheets.filter((sheet) => sheet.name !== name && sheet.hidden);
  if (declared.sheet !== undefined || others.length + hidden.length === 0) return [];
  const parts = [
    ...(others.length > 0 ? [`not read: ${listed(others.map((sheet) => sheet.name))}`] : []),
    ...(hidden.length > 0 ? [`hidden and not read: ${listed(hidden.map((sheet) => sheet.name))}`] : []),
  ];
  return [`the sheet ${name} of ${file.name} is read (${parts.join('; ')})`];
}

function unstoredNotes(name: string, sheet: Sheet, { count, first }: { count: number; first: string }): string[] {
  if (count === 0) return [];
  const cells = `${count.toLocaleString('en-US')} formula${count === 1 ? '' : 's'}`;
  return [
    `${cells} in the sheet ${sheet.name} of ${name} ${count === 1 ? 'has' : 'have'} no stored value and ${count === 1 ? 'is' : 'are'} missing, ` +
      `such as ${first}; open the file in a spreadsheet program and save it, so that values are stored`,
  ];
}

/** A cell with a formula and without a stored value. */
const UNSTORED =
  /<(?:\w+:)?c ([^<>]*)>\s*<(?:\w+:)?f\b(?:[^<>]*\/>|[^<>]*>[^<]*<\/(?:\w+:)?f>)\s*(?:<(?:\w+:)?v\s*\/>|<(?:\w+:)?v>\s*<\/(?:\w+:)?v>)?\s*<\/(?:\w+:)?c>/g;

/** Characters of a sheet in which the formats of its columns are looked for. */
const FORMAT_CHARACTERS = 1_000_000;

/** Number formats by column, where all numbers of the first rows have one, and formulas without a stored value. */
async function sheetDetails(book: Workbook, { entry }: Sheet, { columns, header }: SheetTable) {
  const { path } = book.file;
  const unstored = { count: 0, first: '' };
  const styles = new Map<string, Set<string>>();
  const decoder = new TextDecoder();
  let [rest, characters] = ['', 0];
  for await (const chunk of zipBytes(path, entry)) {
    const text = rest + decoder.decode(chunk, { stream: true });
    const end = text.lastIndexOf('row>') + 1;
    rest = text.slice(end);
    const rows = text.slice(0, end);
    for (const [, tag = ''] of rows.matchAll(UNSTORED)) {
      if (/\bt="str"/.test(tag)) continue;
      if (unstored.count++ === 0) unstored.first = attributeOf(tag, 'r') ?? 'a cell';
    }
    characters += rows.length;
    if (characters > FORMAT_CHARACTERS) continue;
    for (const tag of rows.match(/<(?:\w+:)?c [^<>]*(?=>\s*<)/g) ?? []) {
      const [, letters, row] = /\br="([A-Z]+)(\d+)"/.exec(tag) ?? [];
      if (letters === undefined || Number(row) <= header || /\bt="(?!n")/.test(tag)) continue;
      const ids = styles.get(letters) ?? new Set();
      styles.set(letters, ids.add(attributeOf(tag, 's') ?? '0'));
    }
  }
  const codes = await formatCodes(book);
  const formats = new Map<string, string>();
  for (const [letters, ids] of styles) {
    const column = columns[[...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1];
    const [code, ...others] = new Set([...ids].map((id) => codes[Number(id)] ?? ''));
    if (column && code && others.length === 0) formats.set(column, code);
  }
  return { formats, unstored };
}

/** Formats that have a number and no entry in the styles (ECMA-376 18.8.30). */
const BUILT_IN: Readonly<Record<string, string>> = { 9: '0%', 10: '0.00%' };

/** Format codes by the number of a style. */
async function formatCodes(book: Workbook): Promise<string[]> {
  const entry = book.entry('styles.xml');
  if (entry === undefined) return [];
  const xml = await entryText(book.file.path, entry);
  const custom = tagsOf(xml, 'numFmt').map((tag) => [
    attributeOf(tag, 'numFmtId'),
    attributeOf(tag, 'formatCode') ?? '',
  ]);
  const codes = { ...BUILT_IN, ...Object.fromEntries(custom) };
  const [, styles = ''] = /<(?:\w+:)?cellXfs\b([\s\S]*?)<\/(?:\w+:)?cellXfs>/.exec(xml) ?? [];
  return tagsOf(styles, 'xf').map((tag) => codes[attributeOf(tag, 'numFmtId') ?? ''] ?? '');
}
