// Flags of `npm run pack -- from`, and the source that they describe.

import { basename, extname } from 'node:path';
import { parseArgs } from 'node:util';
import { commandLine } from '../../../data/model/program.ts';
import type { DeclaredPlace } from './pack-text.ts';

/** The command cannot start: wrong arguments, an unsupported file. */
export class UsageError extends Error {}

export const FROM_USAGE = `${commandLine('pack', 'from <source> [flags]')}   write a pack from data

  <source> is a file, a folder, or a pattern such as 'exports/*.csv' (.csv, .tsv, .jsonl, .ndjson, .json, .geojson, .xlsx, .parquet, .sqlite, .db; .gz and .zip),
  an http or https address, or \`postgres\`.

  --title, --license, --license-url, --attribution, --homepage   what cannot be read from the data
  --id <id>           id of the dataset, or a path; the name of the file unless given
  --identity <a,b>    columns that identify a record
  --currency <EUR>    currency of prices whose column names none
  --sheet <name>      of a workbook
  --table, --query    of a SQLite file: a table, or a SELECT statement
  --query, --url-env  of PostgreSQL: a SELECT statement, and the variable with the connection string
  --items, --header, --format   of an address: path of the list, request headers, json, csv or ndjson
  --pages <how>       of an address: the query parameter with the number of the page; link for the header Link;
                      or <parameter>=<path of the next cursor>, such as cursor=meta.next
  --delimiter, --encoding       of a CSV
  --copy              copy a file of more than 100 MB too
  --yes               ask nothing`;

const OPTIONS = {
  id: { type: 'string' },
  title: { type: 'string' },
  license: { type: 'string' },
  'license-url': { type: 'string' },
  attribution: { type: 'string' },
  homepage: { type: 'string' },
  identity: { type: 'string' },
  currency: { type: 'string' },
  sheet: { type: 'string' },
  table: { type: 'string' },
  query: { type: 'string' },
  'url-env': { type: 'string' },
  items: { type: 'string' },
  header: { type: 'string', multiple: true },
  format: { type: 'string' },
  pages: { type: 'string' },
  delimiter: { type: 'string' },
  encoding: { type: 'string' },
  copy: { type: 'boolean' },
  yes: { type: 'boolean' },
} as const;

/** Arguments of the command. */
export type Flags = ReturnType<typeof parsed>['values'];

function parsed(args: readonly string[]) {
  return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, strict: true });
}

/** Source and flags. Throws UsageError. */
export function readFlags(args: readonly string[]): { source: string; flags: Flags } {
  let result: ReturnType<typeof parsed>;
  try {
    result = parsed(args);
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${FROM_USAGE}`);
  }
  const [source, ...more] = result.positionals;
  if (source === undefined || more.length > 0) throw new UsageError(FROM_USAGE);
  if (result.values.currency !== undefined && !/^[A-Z]{3}$/.test(result.values.currency))
    throw new UsageError(`--currency: '${result.values.currency}'; expected a code such as EUR`);
  return { source, flags: result.values };
}

/** Kinds by the end of a file's name. */
const SUFFIXES: Readonly<Record<string, 'csv' | 'jsonl' | 'json' | 'parquet' | 'xlsx' | 'sqlite'>> = {
  ...{ '.csv': 'csv', '.tsv': 'csv', '.tab': 'csv', '.txt': 'csv', '.csv.gz': 'csv', '.tsv.gz': 'csv' },
  ...{ '.jsonl': 'jsonl', '.ndjson': 'jsonl', '.jsonl.gz': 'jsonl', '.ndjson.gz': 'jsonl', '.json': 'json' },
  ...{ '.json.gz': 'json', '.geojson': 'json', '.geojson.gz': 'json' },
  ...{
    '.xlsx': 'xlsx',
    '.xlsm': 'xlsx',
    '.parquet': 'parquet',
    '.sqlite': 'sqlite',
    '.sqlite3': 'sqlite',
    '.db': 'sqlite',
  },
};

/** Whether files with a suffix are read. */
export const isSupported = (suffix: string): boolean => suffix in SUFFIXES;

/** Suffix of a file name, with the one before `.gz`: `.csv.gz`. */
export function suffixOf(file: string): string {
  const last = extname(file).toLowerCase();
  return last === '.gz' ? extname(basename(file, extname(file))).toLowerCase() + last : last;
}

/** Where the rows are. A file is not opened. Throws UsageError for an unsupported file and a missing flag. */
export function placeOf(source: string, flags: Flags): DeclaredPlace {
  const options = <T extends Record<string, unknown>>(given: T) =>
    Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  if (source === 'postgres') {
    if (flags.query === undefined) throw new UsageError("postgres needs --query 'select …'");
    // The variable is written too, so that the reader of the pack finds what to set.
    const url_env = flags['url-env'] ?? 'SOURCE_DATABASE_URL';
    return { kind: 'postgres', target: null, options: { url_env, query: flags.query }, complete: true };
  }
  if (/^https?:\/\//i.test(source)) return httpPlace(source, flags, options);
  const kind = SUFFIXES[suffixOf(source)];
  if (kind === undefined) {
    const found = suffixOf(source) === '' ? 'no suffix' : `the suffix ${suffixOf(source)}`;
    throw new UsageError(
      `${source} has ${found}; supported are ${Object.keys(SUFFIXES).join(', ')}, an http or https address, and postgres`,
    );
  }
  const members = {
    csv: { delimiter: flags.delimiter, encoding: flags.encoding },
    json: { items: flags.items, geojson: suffixOf(source).startsWith('.geojson') || undefined },
    sqlite: { table: flags.table, query: flags.query },
    jsonl: {},
    parquet: {},
    xlsx: { sheet: flags.sheet },
  }[kind];
  return { kind, target: source, options: options(members), complete: true };
}

function httpPlace(
  source: string,
  flags: Flags,
  options: (given: Record<string, unknown>) => Record<string, unknown>,
): DeclaredPlace {
  const byName = {
    csv: 'csv',
    jsonl: 'ndjson',
    json: undefined,
    parquet: undefined,
    xlsx: undefined,
    sqlite: undefined,
  };
  const kind = SUFFIXES[suffixOf(new URL(source).pathname)];
  const format = flags.format ?? (kind === undefined ? undefined : byName[kind]);
  const headers = Object.fromEntries(
    (flags.header ?? []).map((header) => {
      const [, name, value] = /^([^:\s]+):\s*(.+)$/.exec(header) ?? [];
      if (name === undefined) throw new UsageError(`--header: '${header}'; expected 'name: value'`);
      return [name, value!];
    }),
  );
  const members = {
    format,
    items: flags.items,
    headers: flags.header === undefined ? undefined : headers,
    pages: pagesOf(flags.pages),
    delimiter: flags.delimiter,
    encoding: flags.encoding,
  };
  return { kind: 'http', target: source, options: options(members), complete: true };
}

/** `page`, `cursor=meta.next` or `link` as the member `pages` of a source. */
function pagesOf(flag: string | undefined): Record<string, string> | undefined {
  if (flag === undefined) return undefined;
  if (flag === 'link') return { by: 'link' };
  const [parameter = '', at] = flag.split('=');
  return at === undefined ? { by: 'query', parameter } : { by: 'cursor', parameter, at };
}
