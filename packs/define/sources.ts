// Declared sources: where the rows of a source are, and how their columns become values. `csv()`, `postgres()`
// and the others return plain data, which `npm run pack -- check` checks and build/sources reads.
import { z } from 'zod';
import {
  arrayOf,
  boundedNumber,
  exactText,
  flagWithDefault,
  functionOf,
  httpAddress,
  oneOfTexts,
  strictObject,
  textValue,
  wholeNumber,
} from './shape-parts.ts';
import { normalizeText } from './text.ts';
import { isTimeZone } from './times.ts';

/** A row of a declared source: its columns as the source has them. Texts for CSV; JSON values for JSON. */
export type SourceRow = Readonly<Record<string, unknown>>;

const ColumnName = exactText('the name of a column');
const DATE_PATTERN = "a pattern with YYYY, such as 'DD.MM.YYYY', or 'unix' or 'unix_ms', or a list of them";
const OnePattern = exactText(DATE_PATTERN).regex(/YYYY|^unix(_ms)?$/, DATE_PATTERN);
const DatePattern = z.union([OnePattern, z.array(OnePattern).min(1)], { error: DATE_PATTERN });
const TIMEZONE = 'the name of a time zone, such as Europe/Berlin';
const FILE_PATTERN = "a pattern with YYYY, such as 'YYYY-MM-DD'";
const FileNamePattern = exactText(FILE_PATTERN).regex(/YYYY/, FILE_PATTERN);

const Bytes = wholeNumber('a whole number of bytes of at least 1', 1);
const Decimal = oneOfTexts(['.', ',']);
const Thousands = oneOfTexts(['.', ',', ' ', "'"]);
const Missing = arrayOf(
  z.string({ error: 'a text' }).overwrite(normalizeText),
  'a list of texts that mean that there is no value',
).default([]);
const Delimiter = z.enum([',', ';', '\t', '|'], { error: "one of ',', ';', '\\t' and '|'" });

const ENCODING = 'a label of the Encoding Standard, such as utf-8 or windows-1252';
const Encoding = exactText(ENCODING).refine(isEncoding, ENCODING);

function isEncoding(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== '';
  } catch {
    return false;
  }
}

/**
 * How the value of one attribute is read from its column. A cell that does not fit is rejected and reported
 * with its line.
 */
const ColumnShape = strictObject({
  column: ColumnName.optional().describe(
    'The column; the name of the attribute unless set. For JSON, a path such as `address.city`.',
  ),
  decimal: Decimal.optional().describe(
    'Decimal sign of a number. Unset: a point, and a text such as `1.000` is refused as ambiguous.',
  ),
  thousands: Thousands.optional().describe('Sign between thousands. Unset: none is allowed.'),
  date: DatePattern.optional().describe(
    'Pattern of a date or time, of `YYYY`, `MM`, `DD`, `HH`, `mm`, `ss` and other characters, with ` A` for AM and PM ' +
      'or `Z` for an offset at the end; or seconds or milliseconds since 1970. Of a list, the first that fits counts.',
  ),
  trim: flagWithDefault(true).describe('Whether white space around a text is removed before it is read.'),
  missing: Missing.describe('Texts that mean that there is no value, besides the empty one.'),
  truths: strictObject({
    true: arrayOf(textValue('a text'), 'a list of texts').describe('Texts for true.'),
    false: arrayOf(textValue('a text'), 'a list of texts').describe('Texts for false.'),
  })
    .default({ true: ['true', 'yes', '1'], false: ['false', 'no', '0'] })
    .describe('Texts for true and false, without regard to case.'),
  separator: z
    .string({ error: 'a text' })
    .min(1, 'a text')
    .default(';')
    .describe('Text between the entries of a list.'),
  multiply: z
    .number({ error: 'a number' })
    .optional()
    .describe('Factor from the unit of the column to the unit of the attribute: 0.3048 from feet to metres.'),
});
export type ColumnRule = z.output<typeof ColumnShape>;

/** A point from two columns. */
const PointShape = strictObject({
  lat: ColumnName.describe('Column of the latitude, in degrees.'),
  lng: ColumnName.describe('Column of the longitude, in degrees.'),
});

/** One value for every row, such as `listed` for a status. */
const ConstantShape = strictObject({
  constant: z
    .union([z.string(), z.number(), z.boolean()], { error: 'a text, a number, true or false' })
    .describe('Value of every row: `listed` for a status that `gone` changes when the record is no longer listed.'),
});

/** What an attribute is read from: a column, a rule, a point, a constant, or a function of the row. */
const AttributeSource = z.union(
  [
    ColumnName,
    functionOf<(row: SourceRow) => unknown>('a function (row) => value'),
    PointShape,
    ConstantShape,
    ColumnShape,
  ],
  { error: 'the name of a column, {column, decimal, date, …}, {lat, lng}, {constant}, or a function (row) => value' },
);

/** Members that every kind of declared source has. */
const COMMON = {
  attributes: z
    .record(z.string(), AttributeSource, { error: 'an object of columns by attribute' })
    .default({})
    .describe(
      'Attributes by name. Attributes that are not listed are read from the column of their name, if ' +
        'there is one.',
    ),
  decimal: Decimal.optional().describe('Decimal sign of all attributes that set none.'),
  thousands: Thousands.optional().describe('Sign between thousands of all attributes that set none.'),
  date: DatePattern.optional().describe(
    'Pattern of the dates and times of all attributes that set none. Unset: ISO 8601.',
  ),
  timezone: exactText(TIMEZONE)
    .refine(isTimeZone, TIMEZONE)
    .optional()
    .describe(
      'Time zone of times without an offset. Of an hour that occurs twice when the clocks change they are in the first, ' +
        'and in an hour that is skipped they are an hour later. Unset: UTC.',
    ),
  missing: Missing.describe('Texts that mean that there is no value, in every column.'),
  columns: oneOfTexts(['any', 'exact'])
    .default('any')
    .describe('`exact`: a column that nothing reads is a mistake; `any`: it is reported once.'),
  where: functionOf<(row: SourceRow) => boolean>('a function (row) => true or false')
    .optional()
    .describe('Keeps a row when it returns true.'),
  observed_at: strictObject({
    column: ColumnName.optional().describe(
      'Column with the time of each row. Rows with a time in the future are left out.',
    ),
    file_name: FileNamePattern.optional().describe('Pattern that finds the date in the name of the file.'),
    date: DatePattern.optional().describe('Pattern of the column. Unset: ISO 8601.'),
  })
    .optional()
    .describe(
      'Time that the values describe. Unset: when the file was changed, the header `Last-Modified`, ' +
        'or when the query ran.',
    ),
  source_url: exactText('an address, with {column} for a value of the row')
    .optional()
    .describe('A page where a person can check the values of a row; `{column}` is replaced. Unset: the home page.'),
  evidence: exactText('a text, with {column} for a value of the row')
    .optional()
    .describe('What a person sees there; `{column}` is replaced. Unset: the file and the line.'),
};

const FILE = {
  file: exactText('the path of a file, or a pattern such as exports/*.csv').describe(
    'Path from the folder of the pack, or of a pinned package; `*` and `**` match several files.',
  ),
  ...COMMON,
};

/**
 * A file that may be packed: `.gz`, or in a zip archive. Members of a declaration that a later version adds have no
 * `default`: it would change the hash of declarations that lack them, and all their readings would be repeated
 * (build/collect/declared.ts).
 */
const PACKED_FILE = {
  ...FILE,
  inside: exactText('the name of a file in the zip archive, or a pattern such as *.csv')
    .optional()
    .describe('For a `.zip` file: the name of a file in it, or a pattern. Unset: the archive has one file.'),
  max_bytes: Bytes.optional().describe(
    'Most bytes of a packed file when it is unpacked; more stop the run. Unset: 1,000,000,000.',
  ),
};

const CsvShape = strictObject({
  kind: z.literal('csv'),
  ...PACKED_FILE,
  delimiter: Delimiter.optional().describe('Unset: the one of `,` `;` tab and `|` that the header has most.'),
  encoding: Encoding.default('utf-8').describe('A label of the WHATWG Encoding Standard, such as `windows-1252`.'),
  skip_lines: wholeNumber('a whole number of at least 0', 0).optional().describe('Lines above the header. Unset: 0.'),
}).describe('A CSV file. A file whose name ends with `.gz` or `.zip` is unpacked.');

const JsonlShape = strictObject({ kind: z.literal('jsonl'), ...PACKED_FILE }).describe(
  'A file with one JSON object on each line.',
);

const JsonShape = strictObject({
  kind: z.literal('json'),
  ...PACKED_FILE,
  items: exactText('a path such as data.items')
    .optional()
    .describe('Path of the list in the document. Unset: the document is the list.'),
  entries: ColumnName.optional().describe(
    'For an object keyed by name in place of a list: the column that gets the names.',
  ),
  geojson: z
    .boolean({ error: 'true or false' })
    .optional()
    .describe(
      'Whether the rows are features: their properties, `location.lat` and `location.lng` of points, and `geometry`, other shapes as WKT.',
    ),
}).describe('A JSON file: a list of objects, or a document with such a list at the path `items`.');

const ParquetShape = strictObject({ kind: z.literal('parquet'), ...FILE }).describe('A Parquet file.');

const XlsxShape = strictObject({
  kind: z.literal('xlsx'),
  ...FILE,
  sheet: exactText('the name of a sheet')
    .optional()
    .describe('Sheet whose rows are read. Unset: the first visible one with a table.'),
  skip_rows: wholeNumber('a whole number of at least 0', 0)
    .optional()
    .describe('Rows above the header. Unset: titles above the table are recognised.'),
  max_bytes: Bytes.default(200_000_000).describe(
    'Most bytes of the parts of the workbook together when they are unpacked; more stop the run.',
  ),
}).describe('A workbook of a spreadsheet program: the stored values of one sheet.');

const SqliteShape = strictObject({
  kind: z.literal('sqlite'),
  ...FILE,
  table: exactText('the name of a table').optional().describe('Table whose rows are read. Give this or `query`.'),
  query: exactText('a SELECT statement').optional().describe('Query whose rows are read.'),
}).describe('A SQLite file: all rows of a table, or of a query.');

const PostgresShape = strictObject({
  kind: z.literal('postgres'),
  ...COMMON,
  url_env: exactText('the name of an environment variable')
    .default('SOURCE_DATABASE_URL')
    .describe('Environment variable with the connection string, so that no secret is in the pack.'),
  query: exactText('a SELECT statement').describe('Query whose rows are read, in a read-only transaction.'),
  cursor: ColumnName.optional().describe(
    'A column that grows, such as `updated_at`: later runs read only rows with a greater value. ' +
      'Unset: every run reads all rows.',
  ),
}).describe('A query to PostgreSQL, in a read-only transaction.');

/** How an address leads to the next page: a number in the query, a cursor in the answer, or the header Link. */
const PagesShape = z.discriminatedUnion(
  'by',
  [
    strictObject({
      by: z.literal('query').describe('Pages are numbered by a query parameter; they end with a page without rows.'),
      parameter: exactText('the name of a query parameter').describe(
        'Query parameter with the number of the page, or of its first row.',
      ),
      from: wholeNumber('a whole number of at least 0', 0).default(1).describe('Its value for the first page.'),
      step: wholeNumber('a whole number of at least 1', 1)
        .default(1)
        .describe('What is added for the next page: 1 for pages, the size of a page for rows.'),
    }),
    strictObject({
      by: z.literal('cursor').describe('Each answer has the cursor of the next page.'),
      parameter: exactText('the name of a query parameter').describe('Query parameter with the cursor.'),
      at: exactText('the path of the next cursor in the answer, such as meta.next').describe(
        'Path of the next cursor in a JSON answer. None there: the last page.',
      ),
    }),
    strictObject({ by: z.literal('link').describe('The header `Link` with `rel="next"` has the next page.') }),
  ],
  { error: "{by: 'query' or 'cursor' or 'link', …}" },
);

const HttpShape = strictObject({
  kind: z.literal('http'),
  ...COMMON,
  urls: arrayOf(httpAddress(), 'a list of addresses')
    .min(1, 'at least one address')
    .describe('Addresses that are read, in order.'),
  format: oneOfTexts(['json', 'csv', 'ndjson']).default('json').describe('Format of the answers.'),
  items: exactText('a path such as data.items')
    .optional()
    .describe('Path of the list of rows in a JSON answer; unset: the answer is the list.'),
  headers: z
    .record(z.string(), z.string({ error: 'a text' }), { error: 'an object of header values by name' })
    .default({})
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the notation of the header values
    .describe('Request headers; `${NAME}` is replaced by an environment variable: `Bearer ${API_KEY}`.'),
  pages: PagesShape.optional().describe('How an address leads to the next page. Unset: each address is one page.'),
  per_second: boundedNumber('a number above 0', Number.MIN_VALUE).default(2).describe('Most requests a second.'),
  max_pages: wholeNumber('a whole number of at least 1', 1)
    .default(10_000)
    .describe('Most pages of one address; more stop the run.'),
  max_bytes: Bytes.default(100_000_000).describe('Largest answer.'),
  delimiter: Delimiter.optional().describe('Delimiter of CSV, as in `csv()`.'),
  encoding: Encoding.default('utf-8').describe('Encoding of CSV, as in `csv()`.'),
}).describe('Answers of an HTTP API, or files on the web.');

/** What `from` of a source may be. */
export const DeclaredSourceShape = z.discriminatedUnion(
  'kind',
  [CsvShape, JsonlShape, JsonShape, ParquetShape, XlsxShape, SqliteShape, PostgresShape, HttpShape],
  { error: 'csv(…), jsonl(…), json(…), parquet(…), xlsx(…), sqlite(…), postgres(…) or http(…)' },
);
export type DeclaredSource = z.output<typeof DeclaredSourceShape>;
export type DeclaredKind = DeclaredSource['kind'];
/** The declaration of one kind. */
export type DeclaredAs<K extends DeclaredKind> = Extract<DeclaredSource, { kind: K }>;
type Options<K extends DeclaredKind, Given extends string> = Omit<
  Extract<z.input<typeof DeclaredSourceShape>, { kind: K }>,
  'kind' | Given
>;

const fileOf =
  <K extends DeclaredKind>(kind: K) =>
  (file: string, options?: Options<K, 'file'>) =>
    ({ kind, file, ...options }) as { kind: K; file: string } & Options<K, 'file'>;

/** Reads a CSV file: `csv('prices.csv', { attributes: { 'price.list': 'Price' } })`. */
export const csv = fileOf('csv');

/** Reads a file with one JSON object on each line. */
export const jsonl = fileOf('jsonl');

/** Reads a JSON file; `items` is the path of its list of objects. */
export const json = fileOf('json');

/** Reads a Parquet file. */
export const parquet = fileOf('parquet');

/** Reads a sheet of a workbook: `xlsx('prices.xlsx', { sheet: 'Prices' })`. */
export const xlsx = fileOf('xlsx');

/** Reads a table of a SQLite file, or the rows of a query. */
export const sqlite = fileOf('sqlite');

/**
 * The versions of an npm package, as members of a source: `...npm('world-cities', { pins: [{ version: '1.2.0',
 * … }] })`. Beside it, `from: csv('data.csv')` reads a file of the package; without `from`, collect.ts reads it.
 */
export function npm<Version extends object>(
  name: string,
  { pins = [], newest = false }: { pins?: Version[]; newest?: boolean },
) {
  return { pins: pins.map((pin) => ({ package: name, ...pin })), newest: newest ? name : null };
}

/** Reads the rows of a query from PostgreSQL. */
export const postgres = (options: Options<'postgres', never>) => ({ kind: 'postgres' as const, ...options });

/** Reads the answers of an HTTP API, or files on the web. */
export const http = (urls: string | string[], options: Options<'http', 'urls'> = {}) => ({
  kind: 'http' as const,
  urls: typeof urls === 'string' ? [urls] : urls,
  ...options,
});
