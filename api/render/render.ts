// Renders the result of an operation to bytes: pure, shared by the live API and the nightly build.
import { FORMATS, type Format } from '../../data/input/formats.ts';
import type { PublicRecord } from '../../data/model/record.ts';
import { mapSlices } from '../../data/plan/slices.ts';
import { csvHeader, csvRow, flatCells, recordColumn } from '../../data/write/csv.ts';
import type { Context, Operation, Result } from '../contract/operation.ts';
import { geojson } from './geojson.ts';
import { ROWS_A_SLICE, type Rows, rowsOf } from './rows.ts';

/** Columns that only answers in CSV have, since they depend on the base URL of the service. */
const ORIGIN = ['url', 'license', 'attribution'] as const;

/**
 * A header row and a row for each record, each ended by CR LF. A missing value is an empty cell; sources are
 * on the page at `url`.
 */
async function csvTable({ pack, attributes, items, distances, group, options }: Rows): Promise<string> {
  const lastColumns = distances ? (['distance_km', ...ORIGIN] as const) : ORIGIN;
  const groups = group ? [group] : [];
  const header = [
    ...csvHeader(pack, attributes),
    ...[...groups.map(({ name }) => `group.${name}`), ...lastColumns].map((name) => recordColumn(pack, name)),
  ];
  const line = (cells: Parameters<typeof csvRow>[0]) => `${csvRow(cells)}\r\n`;
  const row = (record: PublicRecord) =>
    line([
      ...[record.id, record.slug, record.name],
      ...attributes.flatMap((attribute) => flatCells(attribute, record.attributes[attribute.name])),
      ...[record.quality_score, record.completeness, record.verified_owner, record.updated_at],
      ...groups.flatMap((attribute) => flatCells(attribute, record.group?.[attribute.name])),
      ...lastColumns.map((name) => record[name] ?? null),
    ]);
  return line(header) + (await mapSlices(items, ROWS_A_SLICE, row, options)).join('');
}

/** One line for each record, with provenance and freshness; empty without records. */
async function ndjson({ items, options }: Rows): Promise<string> {
  const line = (record: PublicRecord) => `${JSON.stringify(record)}\n`;
  return (await mapSlices(items, ROWS_A_SLICE, line, options)).join('');
}

/**
 * The form in which a channel sends and the build writes an answer. A long text comes in pieces, to limit
 * memory.
 */
export interface Rendered {
  content_type: string;
  body: string | Uint8Array<ArrayBuffer> | AsyncIterable<string>;
}

type Body = Rendered['body'];
type Renderer = (operation: Operation, result: Result<unknown>, ctx: Context) => Body | Promise<Body>;

/** The Markdown of the operation, with the link to the next page. */
const markdown: Renderer = async (operation, { body, next_cursor, fields }, ctx) => {
  const text = await operation.markdown(body, ctx, fields);
  return typeof next_cursor === 'string' ? `${text}\n${nextLine(ctx, next_cursor)}\n` : text;
};

/** One renderer for each format. Results that are text streams are sent unchanged. */
const RENDERERS: Record<Format, Renderer> = {
  json: (_operation, { body }) => JSON.stringify(body),
  markdown,
  text: markdown,
  html: (operation, { body }, ctx) => {
    if (!operation.rest.html) throw new Error(`${operation.name} has no page`);
    return operation.rest.html.print(body, ctx);
  },
  atom: (operation, { body }, ctx) => {
    if (!operation.rest.atom) throw new Error(`${operation.name} has no feed`);
    return operation.rest.atom(body, ctx);
  },
  csv: async (operation, result, ctx) =>
    (result.bom ? '\uFEFF' : '') + (await csvTable(rowsOf(operation, result, ctx))),
  ndjson: (operation, result, ctx) => ndjson(rowsOf(operation, result, ctx)),
  // A large library that few calls need: it is loaded on first use.
  arrow: async (operation, result, ctx) => (await import('./arrow.ts')).arrow(rowsOf(operation, result, ctx)),
  geojson: (operation, result, ctx) => geojson(rowsOf(operation, result, ctx), result),
};

/**
 * Renders a result in the format of the context. JSON is compact, without missing values; bulk formats and
 * GeoJSON contain its records. Depends on its arguments alone. Long answers are rendered in slices
 * (data/plan/slices.ts).
 */
export async function render(operation: Operation, result: Result<unknown>, ctx: Context): Promise<Rendered> {
  const content_type = FORMATS[ctx.format].media_type;
  const content = ctx.format === 'json' ? result.json : result.text;
  if (content) return { content_type, body: content };
  if (isStream(result.body)) return { content_type, body: result.body };
  return { content_type, body: await RENDERERS[ctx.format](operation, result, ctx) };
}

function isStream(body: unknown): body is AsyncIterable<string> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}

/** The next page: a URL for calls by URL, else the argument to call again with. */
const nextLine = ({ url, by_name }: Context, cursor: string): string =>
  by_name ? `Next page: the same call with cursor: ${cursor}` : `Next page: ${nextUrl(url, cursor)}`;

/** URL of the next page: the same request with the cursor. */
export function nextUrl(url: URL, cursor: string): string {
  const parameters = new URLSearchParams(url.search);
  parameters.set('cursor', cursor);
  return `${url.origin}${url.pathname}?${parameters}`;
}
