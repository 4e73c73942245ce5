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

/** Ends of the names of files by their kind. */
const KINDS = {
  csv: ['.csv', '.tsv', '.tab', '.txt', '.csv.gz', '.tsv.gz'],
  jsonl: ['.jsonl', '.ndjson', '.jsonl.gz', '.ndjson.gz'],
  json: ['.json', '.json.gz', '.geojson', '.geojson.gz'],
  parquet: ['.parquet'],
  xlsx: ['.xlsx', '.xlsm'],
  sqlite: ['.sqlite', '.sqlite3', '.db'],
} as const;
type FileKind = keyof typeof KINDS;
const SUFFIXES: Readonly<Record<string, FileKind>> = Object.fromEntries(
  Object.entries(KINDS).flatMap(([kind, suffixes]) => suffixes.map((suffix) => [suffix, kind as FileKind])),
);

/** Whether files with a suffix are read. */
export const isSupported = (suffix: string): boolean => suffix in SUFFIXES;

/** Suffix of a file name, with the one before `.gz`: `.csv.gz`. */
export function suffixOf(file: string): string {
  const last = extname(file).toLowerCase();
  return last === '.gz' ? extname(basename(file, extname(file))).toLowerCase() + last : last;
}

/** Where the rows are. A file is not opened. Throws UsageError for an unsupported file and a missing flag. */
export function placeOf(source: string, flags: Flags): DeclaredPlace {
  const options = <T extends Record<string, unknown>>(values: T) =>
    Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  if (source === 'postgres') {
    if (flags.query === undefined) throw new UsageError("postgres needs --query 'select …'");
    // The variable is written too, so that the reader of the pack finds what to set.
    const url_env = flags['url-env'] ?? 'SOURCE_DATABASE_URL';
    return { kind: 'postgres', target: null, options: { url_env, query: flags.query }, complete: true };
  }
  if (/^https?:\/\//i.test(source)) return httpPlace(source, flags, options);
  const kind = SUFFIXES[suffixOf(source)];
  if (kind === undefined) {
    const suffix = suffixOf(source) === '' ? 'no suffix' : `the suffix ${suffixOf(source)}`;
    const advice = suffixOf(source) === '.duckdb' ? "; export a table of it: COPY <table> TO 'table.parquet'" : '';
    throw new UsageError(
      `${source} has ${suffix}; supported are ${Object.keys(SUFFIXES).join(', ')}, an http or https address, and postgres${advice}`,
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
  options: (values: Record<string, unknown>) => Record<string, unknown>,
): DeclaredPlace {
  const kind = SUFFIXES[suffixOf(new URL(source).pathname)];
  const format = flags.format ?? (kind === 'csv' ? 'csv' : kind === 'jsonl' ? 'ndjson' : undefined);
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
