// Dirty tables of every kind of source, made by code, each with the records that a release of it must have.
import { mkdirSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32, gzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { type WriteOptions, writeXlsx } from 'hucre/xlsx';
import type { Value } from '../../packs/define/model.ts';

/** Where a table is written. */
export interface DirtyPlace {
  folder: string;
  /** Serves answers until the test ends; returns the address. */
  serve: (answer: RequestListener) => Promise<string>;
  /** Runs SQL in PostgreSQL in a schema of its own, whose name replaces `{s}`. */
  sql: (text: string) => Promise<string>;
}

/** Values of a record by attribute, without those that it lacks. */
type DirtyRecord = Record<string, Value>;

export interface DirtyTable {
  name: string;
  /** Writes the table and returns the arguments of `pack from`. */
  write: (place: DirtyPlace) => string[] | Promise<string[]>;
  /** The records of its release. */
  records: DirtyRecord[];
  /** Cells that the balance counts as rejected, with those of rows that cannot be read; 0 unless set. */
  rejected?: number;
  /** Types of attributes, where the table is about them. */
  types?: Record<string, string>;
  /** Needs PostgreSQL. */
  postgres?: true;
  /** Texts that the command prints. */
  printed?: RegExp;
}

/** A column: header, attribute, the text of a cell, and its value; undefined: no value. */
interface Column {
  header: string;
  name: string;
  text: (i: number) => string;
  value: (i: number) => Value | undefined;
}

const column = (
  header: string,
  name: string,
  text: Column['text'],
  value: (i: number) => Value | undefined = text,
): Column => ({ header, name, text, value });

const ROWS = 40;
const TOWNS = ['Ringham', 'Bellford', 'Chimewick'];
const ID = column('id', 'id', (i) => `K-${1000 + i}`);
const NAME = column('name', 'name', (i) => `Kiosk ${i}`);
const TOWN = column('town', 'town', (i) => TOWNS[i % 3]!);
const PLAIN = [ID, NAME, TOWN];
const pad = (n: number, digits = 2) => String(n).padStart(digits, '0');
const day = (i: number) => `2026-${pad(1 + (i % 12))}-${pad(1 + (i % 28))}`;
const germanDay = (i: number) => day(i).split('-').reverse().join('.');
const americanDay = (i: number) => `${day(i).slice(5, 7)}/${day(i).slice(8)}/2026`;

const recordsOf = (columns: readonly Column[], count = ROWS, from = 0): DirtyRecord[] =>
  Array.from({ length: count }, (_, i) => {
    const cells = columns.map(({ name, value }) => [name, value(i + from)] as const);
    return Object.fromEntries(cells.filter((cell): cell is readonly [string, Value] => cell[1] !== undefined));
  });

interface CsvForm {
  delimiter?: string;
  end?: string;
  above?: string[];
  encode?: (text: string) => Buffer;
  file?: string;
  rows?: number;
  from?: number;
  args?: string[];
  /** Changes the lines of the rows. */
  lines?: (lines: string[]) => string[];
  /** Changes the expected records. */
  records?: (records: DirtyRecord[]) => DirtyRecord[];
}

function csvText(columns: readonly Column[], { delimiter = ',', end = '\n', above = [], ...form }: CsvForm = {}) {
  const quoted = (text: string) =>
    text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const { rows = ROWS, from = 0, lines = (texts: string[]) => texts } = form;
  const texts = Array.from({ length: rows }, (_, i) =>
    columns.map(({ text }) => quoted(text(i + from))).join(delimiter),
  );
  return [...above, columns.map(({ header }) => quoted(header)).join(delimiter), ...lines(texts), ''].join(end);
}

/** A CSV of these columns. */
function csv(
  name: string,
  columns: readonly Column[],
  form: CsvForm = {},
  more: Partial<Omit<DirtyTable, 'name'>> = {},
): DirtyTable {
  const { file = 'table.csv', encode = Buffer.from, args = [], rows = ROWS, from = 0, records } = form;
  const all = recordsOf(columns, rows, from);
  return {
    name: `csv: ${name}`,
    write: ({ folder }) => {
      writeFileSync(join(folder, file), encode(csvText(columns, form)));
      return [file, ...args];
    },
    records: records === undefined ? all : records(all),
    ...more,
  };
}

/** A table with one more column than id, name and town. */
const dirtyColumn = (
  name: string,
  header: string,
  attribute: string,
  text: Column['text'],
  value?: Column['value'],
  more: CsvForm & { rejected?: number; type?: string } = {},
): DirtyTable => {
  const { rejected = 0, type, ...form } = more;
  const types = type === undefined ? {} : { types: { [attribute]: type } };
  return csv(name, [ID, NAME, TOWN, column(header, attribute, text, value)], form, { rejected, ...types });
};

const STORIES = (i: number) => `Story ${i}: ${'It was a long day at the kiosk. '.repeat(150 + i)}`.trim();
const WINDOWS_1252 = (text: string) => Buffer.from(text, 'latin1');
const UTF_16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');

const CSV_TABLES: DirtyTable[] = [
  csv('byte order mark, CRLF', [ID, NAME, TOWN], { end: '\r\n', encode: (text) => Buffer.from(`\ufeff${text}`) }),
  csv('UTF-16', [ID, NAME, column('straße', 'strasse', (i) => `Öder Weg ${i}`)], { encode: UTF_16 }),
  csv('windows-1252', [ID, NAME, column('Größe', 'groesse', (i) => `süß ${i}`)], { encode: WINDOWS_1252 }),
  csv('sep= above the header', [ID, NAME, TOWN], { above: ['sep=;'], delimiter: ';', end: '\r\n' }),
  csv('title lines', [ID, NAME, TOWN], { above: ['Kiosks of the region', 'as of 2026; all', ''], delimiter: ';' }),
  csv('comments above the header', [ID, NAME, TOWN], { above: ['# exported by the shop', '# one row for each kiosk'] }),
  csv('tabs', [ID, NAME, TOWN], { delimiter: '\t', file: 'table.tsv' }),
  csv('pipes, old line ends', [ID, NAME, TOWN], { delimiter: '|', end: '\r', file: 'table.txt' }),
  dirtyColumn(
    'decimal comma',
    'Fläche',
    'flaeche',
    (i) => `${i},${(i % 9) + 1}5`,
    (i) => Number(`${i}.${(i % 9) + 1}5`),
    {
      delimiter: ';',
      type: 'number',
    },
  ),
  dirtyColumn(
    'points between thousands',
    'stock',
    'stock',
    (i) => `${i + 1}.${pad(i, 3)},5`,
    (i) => (i + 1) * 1000 + i + 0.5,
  ),
  dirtyColumn(
    'apostrophes between thousands',
    'stock',
    'stock',
    (i) => `${i + 1}'${pad(i, 3)}.25`,
    (i) => (i + 1) * 1000 + i + 0.25,
  ),
  dirtyColumn(
    'spaces between thousands',
    'stock',
    'stock',
    (i) => `${i + 1}\u00a0${pad(i, 3)}`,
    (i) => (i + 1) * 1000 + i,
    {
      type: 'integer',
    },
  ),
  dirtyColumn('two orders of dates', 'opened', 'opened', (i) => (i % 4 ? germanDay(i) : day(i)), day, { type: 'date' }),
  dirtyColumn(
    'American times',
    'opened',
    'opened',
    (i) => `${americanDay(i)} ${1 + (i % 12)}:30 PM`,
    (i) => `${day(i)}T${12 + ((1 + (i % 12)) % 12)}:30:00Z`,
    { type: 'datetime' },
  ),
  dirtyColumn(
    'times with offsets',
    'seen_at',
    'seen_at',
    (i) => `${day(i)}T08:30:00+02:00`,
    (i) => `${day(i)}T06:30:00Z`,
    {
      type: 'datetime',
    },
  ),
  dirtyColumn(
    'times without offsets',
    'seen_at',
    'seen_at',
    (i) => `${day(i)} 08:30`,
    (i) => `${day(i)}T08:30:00Z`,
    {
      type: 'datetime',
    },
  ),
  dirtyColumn(
    'German times',
    'gesehen am',
    'gesehen_am',
    (i) => `${germanDay(i)} 08:${pad(i)}:15`,
    (i) => `${day(i)}T08:${pad(i)}:15Z`,
    {
      type: 'datetime',
    },
  ),
  dirtyColumn(
    'seconds since 1970',
    'created_at',
    'created_at',
    (i) => String(1_790_000_000 + i),
    (i) => new Date((1_790_000_000 + i) * 1000).toISOString().replace('.000', ''),
    { type: 'datetime' },
  ),
  dirtyColumn(
    'quotes and line breaks in cells',
    'note',
    'note',
    (i) => `He said "${i}",\nthen; left`,
    (i) => `He said "${i}",\nthen; left`,
  ),
  csv(
    'rows of other lengths',
    [ID, NAME, TOWN, column('steps', 'steps', String, (i) => i)],
    {
      rows: 300,
      lines: (lines) => lines.toSpliced(100, 0, 'K-1,too short').toSpliced(200, 0, 'K-2,too,long,by,2'),
    },
    // As many cells as the rows have.
    { rejected: 8, printed: /2 rows could not be read/ },
  ),
  csv('two columns of one name', [
    ID,
    NAME,
    TOWN,
    column('note', 'note', (i) => `first ${i}`),
    column('note', 'note_column_5', (i) => `second ${i}`),
  ]),
  csv(
    'columns without a name',
    [ID, NAME, TOWN, { ...column('', 'unnamed', (i) => `x${i}`), value: () => undefined }],
    {
      lines: (lines) => lines,
    },
  ),
  csv('units in headers', [
    ID,
    NAME,
    TOWN,
    column(
      'Weight (kg)',
      'weight',
      (i) => `${i}.5`,
      (i) => i + 0.5,
    ),
    column('length_cm', 'length_cm', String, (i) => i),
    column(
      'Temperature [°C]',
      'temperature',
      (i) => `${i - 20}`,
      (i) => i - 20,
    ),
  ]),
  dirtyColumn(
    'percentages',
    'share',
    'share',
    (i) => `${i}.5 %`,
    (i) => i + 0.5,
    { type: 'number' },
  ),
  dirtyColumn(
    'currency before the number',
    'fee',
    'fee',
    (i) => `€ ${i + 1},50`,
    (i) => i + 1.5,
    { delimiter: ';', type: 'price' },
  ),
  dirtyColumn(
    'dollars with thousands',
    'fee',
    'fee',
    (i) => `$${i + 1},${pad(i, 3)}.99`,
    (i) => (i + 1) * 1000 + i + 0.99,
    {
      type: 'price',
    },
  ),
  dirtyColumn(
    'currency after the number',
    'Preis',
    'preis',
    (i) => `1.${pad(i, 3)},50 €`,
    (i) => 1000 + i + 0.5,
    { type: 'price' },
  ),
  csv('yes and no', [
    ID,
    NAME,
    TOWN,
    column(
      'open',
      'open',
      (i) => (i % 2 ? 'Yes' : 'no'),
      (i) => i % 2 === 1,
    ),
    column(
      'geprüft',
      'geprueft',
      (i) => (i % 2 ? 'ja' : 'nein'),
      (i) => i % 2 === 1,
    ),
    column(
      'is_new',
      'is_new',
      (i) => String(i % 2),
      (i) => i % 2 === 1,
    ),
    column(
      'x',
      'x',
      (i) => (i % 2 ? 'TRUE' : 'FALSE'),
      (i) => i % 2 === 1,
    ),
  ]),
  csv('words for no value', [
    ID,
    NAME,
    TOWN,
    column(
      'steps',
      'steps',
      (i) => (i % 5 ? String(i) : ['N/A', 'NULL', '-', 'k.A.'][i % 4]!),
      (i) => (i % 5 ? i : undefined),
    ),
    column(
      'opened',
      'opened',
      (i) => (i % 6 ? day(i) : ' '),
      (i) => (i % 6 ? day(i) : undefined),
    ),
    column(
      'phone',
      'phone',
      (i) => (i % 4 ? `+49 30 ${1000 + i}` : 'n/a'),
      (i) => (i % 4 ? `+49 30 ${1000 + i}` : undefined),
    ),
  ]),
  csv('ids that repeat with other values', [column('id', 'id', (i) => `K-${i === 7 ? 6 : i}`), NAME, TOWN]),
  csv('rows that repeat', [ID, NAME, TOWN], {
    lines: (lines) => [...lines, lines[3]!, lines[4]!],
  }),
  csv('no id', [
    column('month', 'month', (i) => `2026-${pad(1 + (i % 4))}`),
    TOWN_OF(4),
    column('kind', 'kind', (i) => ['day', 'night', 'feast', 'market'][Math.floor(i / 12) % 4]!),
    column(
      'sold',
      'sold',
      (i) => String(10 + ((i * 7) % 5)),
      (i) => 10 + ((i * 7) % 5),
    ),
  ]),
  dirtyColumn('very long texts', 'story', 'story', STORIES, STORIES, { type: 'text' }),
  dirtyColumn(
    'a text that is too long',
    'story',
    'story',
    (i) => (i === 20 ? 'x'.repeat(1_000_001) : STORIES(i)),
    (i) => (i === 20 ? undefined : STORIES(i)),
    { rejected: 1, rows: 100 },
  ),
  csv('lists in cells', [
    ID,
    NAME,
    TOWN,
    column(
      'sells',
      'sells',
      (i) => ['tea; coffee', 'tea', 'coffee; cake; tea'][i % 3]!,
      (i) => [['tea', 'coffee'], ['tea'], ['coffee', 'cake', 'tea']][i % 3]!,
    ),
    column(
      'weekdays',
      'weekdays',
      (i) => ['Mon|Tue', 'Tue|Wed', 'Mon'][i % 3]!,
      (i) => [['Mon', 'Tue'], ['Tue', 'Wed'], ['Mon']][i % 3]!,
    ),
  ]),
  dirtyColumn('points in cells', 'at', 'at', (i) => `(47.${100 + i}, 8.5)`),
  dirtyColumn('one cell with a semicolon', 'remark', 'remark', (i) => (i === 5 ? 'red; green' : `colour ${i % 9}`)),
  csv(
    'coordinates with a comma',
    [
      ID,
      NAME,
      TOWN,
      column(
        'lat',
        'location',
        (i) => `47,${100 + i}`,
        (i) => ({ lat: Number(`47.${100 + i}`), lng: Number(`8.${500 + i}`) }),
      ),
      { ...column('lon', 'lon', (i) => `8,${500 + i}`), value: () => undefined },
    ],
    { delimiter: ';' },
  ),
  dirtyColumn('codes with leading zeros', 'plz', 'plz', (i) => pad(1000 + i, 5), undefined, { type: 'string' }),
  csv('ids of 16 digits', [column('id', 'id', (i) => `90071992547409${93 + i}`), NAME, TOWN], { rows: 7 * 8 }),
  dirtyColumn(
    'a mostly empty column',
    'remark',
    'remark',
    (i) => (i % 19 ? '' : `seen ${i}`),
    (i) => (i % 19 ? undefined : `seen ${i}`),
  ),
  csv('constant and empty columns', [
    ID,
    NAME,
    column('country', 'country', () => 'DE'),
    { ...column('empty', 'empty', () => ''), value: () => undefined },
  ]),
  csv('emoji', [
    ID,
    column('name', 'name', (i) => `🏪 Kiosk ${i} 👩‍👩‍👧`),
    column('mood', 'mood', (i) => ['😀', '🙁'][i % 2]!),
  ]),
  csv('texts from right to left', [
    ID,
    column('name', 'name', (i) => `קיוסק ${i}`),
    column('مدينة', 'mdynt', (i) => ['القاهرة', 'دبي'][i % 2]!),
  ]),
  dirtyColumn(
    'control characters',
    'note',
    'note',
    (i) => `a\u0007b\u200b ${i}`,
    (i) => `ab\u200b ${i}`,
  ),
  csv('reserved names', [
    column('ID', 'id', ID.text),
    column('limit', 'limit_value', String, (i) => i),
    column('sort', 'sort_value', (i) => `sort ${i}`),
    column('constructor', 'constructor_value', (i) => `firm ${i % 4}`),
    column('quality', 'quality_value', (i) => ['good', 'bad'][i % 2]!),
    column('price', 'price', String, (i) => i),
    column('min_price', 'price_min', String, (i) => i),
    column('__proto__', 'proto', (i) => `p${i}`),
  ]),
  csv('names of more than 60 characters', [
    ID,
    NAME,
    column(
      `the number of the customers that came on ${'a working '.repeat(4)}day`,
      'the_number_of_the_customers_that_came_on_a_working_a_working',
      String,
      (i) => i,
    ),
    column(
      `the number of the customers that came on ${'a working '.repeat(4)}night`,
      'the_number_of_the_customers_that_came_on_a_working_a_working_2',
      (i) => String(i + 1),
      (i) => i + 1,
    ),
  ]),
  dirtyColumn('numbers among texts', 'room', 'room', (i) => (i % 9 ? String(i) : `B${i}`), undefined, {
    type: 'string',
  }),
  dirtyColumn(
    'one wrong number',
    'steps',
    'steps',
    (i) => (i === 70 ? 'many' : String(i)),
    (i) => (i === 70 ? undefined : i),
    {
      rows: 120,
      rejected: 1,
      type: 'integer',
    },
  ),
  dirtyColumn(
    'a wrong number in a nearly empty column',
    'steps',
    'steps',
    (i) => (i % 3 ? '' : i === 300 ? 'many' : String(i)),
    (i) => (i % 3 || i === 300 ? undefined : i),
    { rows: 600, rejected: 1, type: 'integer' },
  ),
  dirtyColumn(
    'one day that does not exist',
    'opened',
    'opened',
    (i) => (i === 30 ? '31.02.2026' : germanDay(i)),
    (i) => (i === 30 ? undefined : day(i)),
    {
      rows: 100,
      rejected: 1,
    },
  ),
];

CSV_TABLES.push(
  csv('one row', PLAIN, { rows: 1 }),
  csv('headers that are numbers', [
    ID,
    NAME,
    TOWN,
    column('2025', 'value_2025', String, (i) => i),
    column(
      '2026',
      'value_2026',
      (i) => `${i}.5`,
      (i) => i + 0.5,
    ),
  ]),
  csv(
    '200 columns',
    [
      ID,
      NAME,
      TOWN,
      ...Array.from({ length: 197 }, (_, n) =>
        column(
          `q${n}`,
          `q${n}`,
          (i) => String(i * n),
          (i) => i * n,
        ),
      ),
    ],
    {
      rows: 30,
    },
  ),
  dirtyColumn('numbers of 20 digits', 'exact', 'exact', (i) => `0.123456789012345678${10 + i}`, undefined, {
    type: 'string',
  }),
  csv(
    'points without a longitude',
    [
      ID,
      NAME,
      TOWN,
      column(
        'lat',
        'location',
        (i) => `47.${100 + i}`,
        (i) => (i === 50 ? undefined : { lat: Number(`47.${100 + i}`), lng: 8.5 }),
      ),
      column(
        'lng',
        'lng',
        (i) => (i === 50 ? '' : '8.5'),
        () => undefined,
      ),
    ],
    { rows: 100 },
    { rejected: 2 },
  ),
  dirtyColumn('units that differ', 'size', 'size', (i) => (i % 2 ? `${i} kg` : `${i} g`), undefined, {
    type: 'string',
  }),
  dirtyColumn(
    'dates that may be of either order',
    'opened',
    'opened',
    (i) => `0${1 + (i % 9)}/0${1 + (i % 7)}/2026`,
    (i) => `2026-0${1 + (i % 7)}-0${1 + (i % 9)}`,
    { type: 'date' },
  ),
  dirtyColumn(
    'links, some of them none',
    'link',
    'link',
    (i) => (i % 4 ? `https://kiosk.example/${i}` : 'soon'),
    undefined,
    { type: 'string' },
  ),
);

/** Towns that change every `n` rows. */
function TOWN_OF(n: number): Column {
  return column('town', 'town', (i) => TOWNS[Math.floor(i / n) % 3]!);
}

const KIOSKS = Array.from({ length: ROWS }, (_, i) => ({
  id: `K-${1000 + i}`,
  name: `Kiosk ${i}`,
  town: TOWNS[i % 3]!,
  steps: i,
}));
const kiosks = (): DirtyRecord[] => KIOSKS.map((kiosk) => ({ ...kiosk }));

const file =
  (name: string, text: string | Buffer | (() => string), args: string[] = []) =>
  ({ folder }: DirtyPlace) => {
    writeFileSync(join(folder, name), typeof text === 'function' ? text() : text);
    return [name, ...args];
  };

const nested = (i: number) => ({
  ...KIOSKS[i]!,
  at: { street: `Way ${i}`, geo: { lat: 47 + i / 100, lng: 8.5 } },
  sells: [['tea', 'coffee'], ['tea']][i % 2]!,
  ...(i >= 30 ? { late: `member ${i}` } : {}),
});
const nestedRecords = KIOSKS.map((kiosk, i) => ({
  ...kiosk,
  'at.street': `Way ${i}`,
  at_geo: { lat: 47 + i / 100, lng: 8.5 },
  sells: nested(i).sells,
  ...(i >= 30 ? { late: `member ${i}` } : {}),
})) as unknown as DirtyRecord[];

const features = (geometry: (i: number) => object) => ({
  type: 'FeatureCollection',
  features: KIOSKS.map((properties, i) => ({ type: 'Feature', id: `f${i}`, properties, geometry: geometry(i) })),
});

const JSON_TABLES: DirtyTable[] = [
  {
    name: 'json lines: nested, members that appear late',
    write: file('table.jsonl', () => KIOSKS.map((_, i) => JSON.stringify(nested(i))).join('\n')),
    records: nestedRecords,
  },
  {
    name: 'json lines: gzip, numbers as texts',
    write: file(
      'table.ndjson.gz',
      gzipSync(KIOSKS.map((kiosk) => JSON.stringify({ ...kiosk, steps: `${kiosk.steps}` })).join('\n')),
    ),
    records: kiosks(),
  },
  {
    name: 'json: an array with nulls',
    write: file(
      'table.json',
      JSON.stringify(KIOSKS.map((kiosk, i) => ({ ...kiosk, town: i % 5 ? kiosk.town : null }))),
    ),
    records: KIOSKS.map(({ town, ...kiosk }, i) => (i % 5 ? { ...kiosk, town } : kiosk)),
  },
  {
    name: 'json: a list in a document',
    write: file('table.json', JSON.stringify({ meta: { count: 40 }, kiosks: KIOSKS.map((_, i) => nested(i)) })),
    records: nestedRecords,
  },
  {
    name: 'json: objects keyed by name',
    write: file(
      'table.json',
      JSON.stringify({ kiosks: Object.fromEntries(KIOSKS.map(({ id, ...kiosk }) => [id, kiosk])) }),
    ),
    records: KIOSKS.map(({ id, ...kiosk }) => ({ key: id, ...kiosk })),
  },
  {
    name: 'json: lists of numbers, lists of objects, mixed members',
    write: file(
      'table.json',
      JSON.stringify(
        KIOSKS.map((kiosk, i) => ({ ...kiosk, sizes: [i, i + 1], parts: [{ a: i }], mixed: i % 2 ? i : `no ${i}` })),
      ),
    ),
    records: KIOSKS.map((kiosk, i) => ({ ...kiosk, mixed: i % 2 ? String(i) : `no ${i}` })),
  },
  {
    name: 'geojson: points',
    write: file(
      'table.geojson',
      JSON.stringify(features((i) => ({ type: 'Point', coordinates: [8.5, 47 + i / 100] }))),
    ),
    records: KIOSKS.map((kiosk, i) => ({
      ...kiosk,
      location: { lat: 47 + i / 100, lng: 8.5 },
    })) as unknown as DirtyRecord[],
  },
  {
    name: 'geojson: lines and polygons',
    write: file(
      'table.geojson',
      JSON.stringify(
        features((i) =>
          i % 2
            ? {
                type: 'LineString',
                coordinates: [
                  [8, 47],
                  [9, 47 + i],
                ],
              }
            : {
                type: 'Polygon',
                coordinates: [
                  [
                    [8, 47],
                    [9, 47],
                    [9, 48 + i],
                    [8, 47],
                  ],
                ],
              },
        ),
      ),
    ),
    records: KIOSKS.map((kiosk, i) => ({
      ...kiosk,
      geometry: i % 2 ? `LINESTRING (8 47, 9 ${47 + i})` : `POLYGON ((8 47, 9 47, 9 ${48 + i}, 8 47))`,
    })),
  },
];

JSON_TABLES.push({
  name: 'json: whole numbers beyond 2^53, booleans with nulls, empty lists',
  write: file(
    'table.json',
    `[${KIOSKS.map(({ id, name }, i) => `{"id":"${id}","name":"${name}","big":90071992547409${93 + i},"open":${i % 3 ? i % 2 === 0 : null},"sells":${i % 2 ? '[]' : '["tea"]'}}`).join(',')}]`,
  ),
  records: KIOSKS.map(({ id, name }, i) => ({
    ...{ id, name, big: `90071992547409${93 + i}` },
    ...(i % 3 ? { open: i % 2 === 0 } : {}),
    ...(i % 2 ? {} : { sells: ['tea'] }),
  })),
});

async function parquet(path: string, select: string): Promise<void> {
  const duck = await (await DuckDBInstance.create()).connect();
  await duck.run(`COPY (${select}) TO '${path}' (FORMAT parquet)`);
  duck.closeSync();
}

function sqlite(path: string, statements: string): void {
  const database = new DatabaseSync(path);
  database.exec(statements);
  database.close();
}

const SERIES = `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS - 1})`;
const SHOP = `
  CREATE TABLE towns (town_id INTEGER PRIMARY KEY, town TEXT);
  INSERT INTO towns VALUES (0, 'Ringham'), (1, 'Bellford'), (2, 'Chimewick');
  CREATE TABLE kiosks (id TEXT, name TEXT, town_id INTEGER, steps INTEGER, attrs TEXT);
  ${SERIES} INSERT INTO kiosks SELECT 'K-' || (1000 + i), 'Kiosk ' || i, i % 3, i, NULL FROM n;
  CREATE VIEW "old kiosks" AS SELECT * FROM kiosks;`;

const DATABASE_TABLES: DirtyTable[] = [
  {
    name: 'sqlite: one of several tables',
    write: ({ folder }) => {
      sqlite(join(folder, 'shop.db'), SHOP);
      return ['shop.db', '--table', 'kiosks'];
    },
    records: KIOSKS.map(({ town: _, ...kiosk }, i) => ({ ...kiosk, town_id: i % 3 })),
  },
  {
    name: 'sqlite: a join',
    write: ({ folder }) => {
      sqlite(join(folder, 'shop.sqlite'), SHOP);
      return ['shop.sqlite', '--query', 'SELECT id, name, town, steps FROM kiosks JOIN towns USING (town_id)'];
    },
    records: kiosks(),
  },
  {
    name: 'parquet: lists, structs, decimals, times',
    write: async ({ folder }) => {
      const path = join(folder, 'table.parquet');
      await parquet(
        path,
        `SELECT 'K-' || (1000 + i) AS id, 'Kiosk ' || i AS name, (10 + i)::DECIMAL(9,2) / 4 AS mass, ['tea', 'n' || (i % 3)] AS sells,
         {'street': 'Way ' || i, 'floor': i} AS at, TIMESTAMP '2026-01-01 08:00:00' + INTERVAL (i) HOUR AS seen_at,
         DATE '2026-01-01' + i::INTEGER AS opened, i % 2 = 0 AS open, 9007199254740993 + i AS big FROM range(${ROWS}) t(i)`,
      );
      return ['table.parquet'];
    },
    records: KIOSKS.map(({ id, name }, i) => ({
      ...{ id, name, mass: (10 + i) / 4, sells: ['tea', `n${i % 3}`], 'at.street': `Way ${i}`, 'at.floor': i },
      seen_at: new Date(Date.UTC(2026, 0, 1, 8 + i)).toISOString().replace('.000', ''),
      opened: new Date(Date.UTC(2026, 0, 1 + i)).toISOString().slice(0, 10),
      open: i % 2 === 0,
      big: String(9007199254740993n + BigInt(i)),
    })),
  },
  {
    name: 'postgres: jsonb, arrays, numeric, timestamptz',
    write: async ({ sql }) => {
      const schema = await sql(
        `CREATE TABLE {s}.kiosks AS SELECT 'K-' || (1000 + i) AS id, 'Kiosk ' || i AS name, (10 + i)::numeric / 4 AS mass,
         ARRAY['tea', 'n' || (i % 3)] AS sells, jsonb_build_object('street', 'Way ' || i, 'n', i) AS attrs,
         timestamptz '2026-01-01 08:00:00+00' + i * interval '1 hour' AS updated_at FROM generate_series(0, ${ROWS - 1}) AS i`,
      );
      return ['postgres', '--query', `SELECT * FROM ${schema}.kiosks`, '--id', 'table'];
    },
    records: KIOSKS.map(({ id, name }, i) => ({
      ...{ id, name, mass: (10 + i) / 4, sells: ['tea', `n${i % 3}`], 'attrs.street': `Way ${i}`, 'attrs.n': i },
      updated_at: new Date(Date.UTC(2026, 0, 1, 8 + i)).toISOString().replace('.000', ''),
    })),
    postgres: true,
    printed: /`observed_at`: check that it changes.*\n.*how it becomes `cursor`/,
  },
];

DATABASE_TABLES.push(
  {
    name: 'sqlite: bytes, mixed types, empty texts',
    write: ({ folder }) => {
      sqlite(
        join(folder, 'table.db'),
        `CREATE TABLE kiosks (id TEXT, name TEXT, mixed, photo BLOB, note TEXT);
         ${SERIES} INSERT INTO kiosks SELECT 'K-' || (1000 + i), 'Kiosk ' || i, CASE i % 2 WHEN 0 THEN i ELSE 'n' || i END, x'0102', '' FROM n;`,
      );
      return ['table.db'];
    },
    records: KIOSKS.map(({ id, name }, i) => ({ id, name, mixed: i % 2 ? `n${i}` : String(i) })),
  },
  {
    name: 'parquet: bytes, ids, clocks, maps, huge numbers, lists of numbers',
    write: async ({ folder }) => {
      await parquet(
        join(folder, 'table.parquet'),
        `SELECT 'K-' || (1000 + i) AS id, 'Kiosk ' || i AS name, '\\x01'::BLOB AS photo, ('00000000-0000-0000-0000-0000000000' || (10 + i))::UUID AS code,
         TIME '08:30:00' AS opens, MAP {'a': i} AS parts, 18446744073709551000::UBIGINT + i::UBIGINT AS huge, [i, i + 1] AS sizes, 0.1::FLOAT AS tenth FROM range(${ROWS}) t(i)`,
      );
      return ['table.parquet'];
    },
    records: KIOSKS.map(({ id, name }, i) => ({
      ...{ id, name, code: `00000000-0000-0000-0000-0000000000${10 + i}`, opens: '08:30:00', 'parts.a': i },
      ...{ huge: String(18446744073709551000n + BigInt(i)), tenth: 0.1 },
    })),
  },
  {
    name: 'postgres: bytes, infinite times, NaN',
    write: async ({ sql }) => {
      const schema = await sql(
        `CREATE TABLE {s}.kiosks AS SELECT 'K-' || (1000 + i) AS id, 'Kiosk ' || i AS name, '\\x01'::bytea AS photo,
         CASE WHEN i = 50 THEN 'infinity' ELSE timestamp '2026-01-01' + i * interval '1 hour' END AS ends,
         CASE WHEN i = 51 THEN 'NaN' ELSE i + 0.5 END::numeric AS mass, NULL AS nothing FROM generate_series(0, 99) AS i`,
      );
      return ['postgres', '--query', `SELECT * FROM ${schema}.kiosks`, '--id', 'table'];
    },
    records: Array.from({ length: 100 }, (_, i) => ({
      ...{ id: `K-${1000 + i}`, name: `Kiosk ${i}` },
      ...(i === 50 ? {} : { ends: new Date(Date.UTC(2026, 0, 1, i)).toISOString().replace('.000', '') }),
      ...(i === 51 ? {} : { mass: i + 0.5 }),
    })),
    rejected: 1,
    postgres: true,
  },
);

const workbook =
  (book: WriteOptions, args: string[] = []) =>
  async ({ folder }: DirtyPlace) => {
    writeFileSync(join(folder, 'table.xlsx'), await writeXlsx(book));
    return ['table.xlsx', ...args];
  };

const HEADER = ['id', 'name', 'town', 'opened', 'price', 'share'];
const cells = KIOSKS.map(({ id, name, town }, i) => [
  id,
  name,
  town,
  new Date(`${day(i)}T00:00:00Z`),
  i + 0.5,
  i / 100,
]);
const FORMATS = [{}, {}, {}, { numFmt: 'yyyy-mm-dd' }, { numFmt: '#,##0.00 "€"' }, { numFmt: '0%' }];
const xlsxRecords = KIOSKS.map(({ id, name, town }, i) => ({
  id,
  name,
  town,
  opened: day(i),
  price: i + 0.5,
  share: i,
}));

const XLSX_TABLES: DirtyTable[] = [
  {
    name: 'xlsx: dates of the system of 1904',
    write: workbook({ dateSystem: '1904', sheets: [{ name: 'K', rows: [HEADER, ...cells], columns: FORMATS }] }),
    records: xlsxRecords,
    types: { opened: 'date', price: 'price' },
  },
  {
    name: 'xlsx: merged title, hidden sheet, percent and currency',
    write: workbook({
      sheets: [
        { name: 'Old', hidden: true, rows: [['id'], ['a']] },
        {
          name: 'Kiosks',
          rows: [['Price list 2026', ...Array(5).fill(null)], Array(6).fill(null), HEADER, ...cells],
          columns: FORMATS,
          merges: [{ startRow: 0, startCol: 0, endRow: 0, endCol: 5 }],
        },
      ],
    }),
    records: xlsxRecords,
    types: { share: 'number', price: 'price' },
  },
  {
    name: 'xlsx: numbers as texts, empty rows, a sheet by name',
    write: workbook(
      {
        sheets: [
          { name: 'About', rows: [['read me']] },
          {
            name: 'Data',
            rows: [
              ['id', 'name', 'steps'],
              ...KIOSKS.flatMap(({ id, name, steps }, i) =>
                i % 10
                  ? [[id, name, String(steps)]]
                  : [
                      [null, null, null],
                      [id, name, String(steps)],
                    ],
              ),
            ],
          },
        ],
      },
      ['--sheet', 'Data'],
    ),
    records: KIOSKS.map(({ id, name, steps }) => ({ id, name, steps })),
  },
];

XLSX_TABLES.push({
  name: 'xlsx: errors, dates among texts, booleans',
  write: workbook({
    sheets: [
      {
        name: 'K',
        rows: [
          ['id', 'name', 'opened', 'open'],
          ...KIOSKS.map(({ id, name }, i) => [
            id,
            name,
            i % 5 ? new Date(`${day(i)}T00:00:00Z`) : 'unknown',
            i % 2 === 0,
          ]),
        ],
        columns: [{}, {}, { numFmt: 'yyyy-mm-dd' }, {}],
      },
    ],
  }),
  records: KIOSKS.map(({ id, name }, i) => ({ id, name, open: i % 2 === 0, ...(i % 5 ? { opened: day(i) } : {}) })),
});

/** A zip archive with stored files. */
export function zipOf(files: Record<string, string>): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  for (const [name, text] of Object.entries(files)) {
    const [data, path] = [Buffer.from(text), Buffer.from(name)];
    const fields = Buffer.alloc(26);
    fields.writeUInt32LE(crc32(data), 10);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(data.length, 18);
    fields.writeUInt16LE(path.length, 22);
    const offset = Buffer.alloc(14);
    offset.writeUInt32LE(Buffer.concat(locals).length, 10);
    locals.push(Buffer.from('PK\x03\x04'), fields, path, data);
    entries.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), fields, offset, path]));
  }
  const [local, directory] = [Buffer.concat(locals), Buffer.concat(entries)];
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(local.length, 12);
  return Buffer.concat([local, directory, Buffer.from('PK\x05\x06'), end]);
}

const MONTHS = ['2026-01', '2026-02', '2026-03'];

/** Files of three months in a folder; `from`: the first row of each. */
const months =
  (from: (month: number) => number, source: string) =>
  ({ folder }: DirtyPlace) => {
    mkdirSync(join(folder, 'months'));
    MONTHS.forEach((month, i) => {
      writeFileSync(join(folder, `months/kiosks-${month}.csv`), csvText(PLAIN, { from: from(i) }));
    });
    return [source, '--id', 'table'];
  };

const HEIGHT = column(
  'Höhe (m)',
  'hoehe',
  (i) => `${i}.5`,
  () => undefined,
);

const json =
  (body: unknown): RequestListener =>
  (request, response) =>
    request.url === '/robots.txt'
      ? void response.writeHead(404).end()
      : void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));

const paged =
  (answer: (url: URL) => unknown): RequestListener =>
  (request, response) => {
    const url = new URL(request.url!, 'http://localhost');
    return json(url.pathname === '/robots.txt' ? null : answer(url))(request, response);
  };

const OTHER_TABLES: DirtyTable[] = [
  {
    name: 'zip: one CSV',
    write: file('table.zip', zipOf({ 'data/kiosks.csv': csvText(PLAIN, { delimiter: ';' }) })),
    records: recordsOf(PLAIN),
  },
  { name: 'gzip: CSV', write: file('table.csv.gz', gzipSync(csvText(PLAIN))), records: recordsOf(PLAIN) },
  { name: 'folder: monthly files with all records', write: months(() => 0, 'months'), records: recordsOf(PLAIN) },
  {
    name: 'pattern: monthly files with records of their own',
    write: months((i) => i * ROWS, 'months/*.csv'),
    records: recordsOf(PLAIN, 3 * ROWS),
  },
  {
    name: 'folder: monthly files that list fewer records each time',
    write: ({ folder }) => {
      mkdirSync(join(folder, 'months'));
      MONTHS.forEach((month, i) => {
        writeFileSync(join(folder, `months/kiosks-${month}.csv`), csvText(PLAIN, { rows: ROWS - 10 * i }));
      });
      return ['months', '--id', 'table'];
    },
    records: recordsOf(PLAIN),
  },
  {
    name: 'pattern: an older file lacks a column',
    write: ({ folder }) => {
      mkdirSync(join(folder, 'months'));
      writeFileSync(join(folder, 'months/kiosks-2026-01.csv'), csvText(PLAIN));
      writeFileSync(join(folder, 'months/kiosks-2026-02.csv'), csvText([...PLAIN, HEIGHT]));
      return ['months', '--id', 'table'];
    },
    records: recordsOf([...PLAIN, HEIGHT]),
    printed: /Höhe \(m\): months\/kiosks-2026-01\.csv lacks it/,
  },
  {
    name: 'http: numbered pages',
    write: async ({ serve }) => {
      const base = await serve(
        paged((url) => ({
          items: KIOSKS.slice(
            (Number(url.searchParams.get('page')) - 1) * 15,
            Number(url.searchParams.get('page')) * 15,
          ),
        })),
      );
      return [`${base}/kiosks`, '--items', 'items', '--pages', 'page', '--id', 'table'];
    },
    records: kiosks(),
  },
  {
    name: 'http: a cursor, nested rows',
    write: async ({ serve }) => {
      const base = await serve(
        paged((url) => {
          const at = Number(url.searchParams.get('cursor') ?? 0);
          const rows = KIOSKS.map((_, i) => nested(i)).slice(at, at + 15);
          return { data: { rows }, meta: { next: at + 15 < ROWS ? String(at + 15) : null } };
        }),
      );
      return [`${base}/kiosks`, '--items', 'data.rows', '--pages', 'cursor=meta.next', '--id', 'table'];
    },
    records: nestedRecords,
  },
  {
    name: 'http: a CSV in windows-1252',
    write: async ({ serve }) => {
      const body = WINDOWS_1252(csvText([ID, column('name', 'name', (i) => `Süd ${i}`), TOWN], { delimiter: ';' }));
      const base = await serve((request, response) =>
        request.url === '/robots.txt'
          ? void response.writeHead(404).end()
          : void response.writeHead(200, { 'content-type': 'text/csv' }).end(body),
      );
      return [`${base}/table.csv`, '--encoding', 'windows-1252'];
    },
    records: recordsOf([ID, column('name', 'name', (i) => `Süd ${i}`), TOWN]),
  },
];

/** All tables. */
export const DIRTY_TABLES: readonly DirtyTable[] = [
  ...CSV_TABLES,
  ...JSON_TABLES,
  ...DATABASE_TABLES,
  ...XLSX_TABLES,
  ...OTHER_TABLES,
];
