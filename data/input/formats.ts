// The formats of answers: one row each. Parsers, negotiation, renderers, headers and documents read this table.

/** A format (contract sections 2, 6 and 9). */
export interface FormatRow {
  /** Its value of the `format` parameter; absent where only `Accept` or the operation chooses it. */
  parameter?: string;
  media_type: string;
  /** A search can be answered in it. */
  search?: true;
  /** For programs that read many records: takes a key, up to 1,000 a page, the next cursor in `X-Next-Cursor`. */
  bulk?: true;
  /** Has a place for the hint of a search. */
  hint?: true;
  /** Only for datasets with geography. */
  geographic?: true;
  /** Sent without a content coding. */
  uncompressed?: true;
}

const ROWS = {
  json: { parameter: 'json', media_type: 'application/json', search: true, hint: true },
  markdown: { parameter: 'md', media_type: 'text/markdown; charset=utf-8', search: true, hint: true },
  csv: { parameter: 'csv', media_type: 'text/csv; charset=utf-8', search: true, bulk: true },
  ndjson: { parameter: 'ndjson', media_type: 'application/x-ndjson', search: true, bulk: true },
  arrow: {
    parameter: 'arrow',
    media_type: 'application/vnd.apache.arrow.stream',
    search: true,
    bulk: true,
    uncompressed: true,
  },
  geojson: { parameter: 'geojson', media_type: 'application/geo+json', search: true, geographic: true },
  text: { media_type: 'text/plain; charset=utf-8' },
  html: { media_type: 'text/html; charset=utf-8' },
} as const satisfies Record<string, FormatRow>;

export type Format = keyof typeof ROWS;

export const FORMATS: Readonly<Record<Format, FormatRow>> = ROWS;

const NAMES = Object.keys(ROWS) as Format[];

/** The formats of a search, best first. */
export const SEARCH_FORMATS: readonly Format[] = NAMES.filter((format) => FORMATS[format].search);

/** Values of the `format` parameter for some formats. */
export const formatParameters = (formats: readonly Format[]): string[] =>
  formats.flatMap((format) => FORMATS[format].parameter ?? []);

const BY_PARAMETER = new Map(NAMES.flatMap((format) => formatParameters([format]).map((name) => [name, format])));

/** The format that a value of the `format` parameter names; undefined for an unknown value. */
export const formatNamed = (parameter: string): Format | undefined => BY_PARAMETER.get(parameter);
