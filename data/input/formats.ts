// The table of response formats, one row each. Parsers, negotiation, renderers, headers and documents use it.

/** A row of the table (contract sections 2, 6 and 9). */
export interface FormatRow {
  /** Value of the `format` parameter; absent if only `Accept` or the operation selects the format. */
  parameter?: string;
  media_type: string;
  /** Search results are available in it. */
  search?: true;
  /** Requires an API key; up to 1,000 records a page; the next cursor is in `X-Next-Cursor`. */
  bulk?: true;
  /** Contains the hint of a search. */
  hint?: true;
  /** Only for datasets with geography. */
  geographic?: true;
  /** Extension of the file in which a client saves an answer; absent: it shows the answer. */
  extension?: string;
  /** Sent without a content coding. */
  uncompressed?: true;
}

const ROWS = {
  json: { parameter: 'json', media_type: 'application/json', search: true, hint: true },
  markdown: { parameter: 'md', media_type: 'text/markdown; charset=utf-8', search: true, hint: true },
  csv: { parameter: 'csv', media_type: 'text/csv; charset=utf-8', search: true, bulk: true, extension: 'csv' },
  ndjson: { parameter: 'ndjson', media_type: 'application/x-ndjson', search: true, bulk: true, extension: 'ndjson' },
  arrow: {
    parameter: 'arrow',
    media_type: 'application/vnd.apache.arrow.stream',
    search: true,
    bulk: true,
    extension: 'arrow',
    uncompressed: true,
  },
  geojson: {
    parameter: 'geojson',
    media_type: 'application/geo+json',
    search: true,
    geographic: true,
    extension: 'geojson',
  },
  atom: { parameter: 'atom', media_type: 'application/atom+xml; charset=utf-8' },
  text: { media_type: 'text/plain; charset=utf-8' },
  html: { media_type: 'text/html; charset=utf-8' },
} as const satisfies Record<string, FormatRow>;

export type Format = keyof typeof ROWS;

export const FORMATS: Readonly<Record<Format, FormatRow>> = ROWS;

const NAMES = Object.keys(ROWS) as Format[];

/** The formats of a search, in the order of preference when `Accept` allows several. */
export const SEARCH_FORMATS: readonly Format[] = NAMES.filter((format) => FORMATS[format].search);

/** Values of the `format` parameter for some formats, without those that have none. */
export const formatParameters = (formats: readonly Format[]): string[] =>
  formats.flatMap((format) => FORMATS[format].parameter ?? []);

const BY_PARAMETER = new Map(NAMES.flatMap((format) => formatParameters([format]).map((name) => [name, format])));

/** The format for a value of the `format` parameter; undefined for an unknown value. */
export const formatNamed = (parameter: string): Format | undefined => BY_PARAMETER.get(parameter);
