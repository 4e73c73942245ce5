// An operation's result as bytes to send or to write: pure, shared by the live API and the nightly prerender.
import { after } from '../../data/plan/slices.ts';
import type { Context, Operation, Result } from '../contract/operation.ts';
import { csv } from './csv.ts';
import { ndjson } from './ndjson.ts';
import { MEDIA_TYPES } from './negotiate.ts';
import { rowsOf } from './rows.ts';

/** What a channel sends and the build writes. A long text comes in pieces, so that nobody holds all of it. */
export interface Rendered {
  content_type: string;
  body: string | Uint8Array<ArrayBuffer> | AsyncIterable<string>;
}

/**
 * Renders a result. `text` and `markdown` come from the operation's own `markdown`, or from the body itself where it is a
 * stream of text; `json` is the body, compact (bytes where they existed already), with missing values
 * absent; the tabular formats hold its records. The form is that of the context. Depends on nothing but its arguments.
 * Long answers are rendered in slices (data/plan/slices.ts).
 */
export function render(operation: Operation, result: Result<unknown>, ctx: Context): Rendered | Promise<Rendered> {
  const { format } = ctx;
  const content_type = MEDIA_TYPES[format];
  if (format === 'json' && result.json) return { content_type, body: result.json };
  if (isStream(result.body)) return { content_type, body: result.body };
  if (format === 'json') return { content_type, body: JSON.stringify(result.body) };
  if (format === 'html' && operation.html) return { content_type, body: operation.html.print(result.body, ctx) };
  if (format === 'markdown' || format === 'text') {
    const next = result.next_cursor ?? null;
    return after(operation.markdown(result.body, ctx), (body) => ({
      content_type,
      body: next === null ? body : `${body}\n${nextLine(ctx, next)}\n`,
    }));
  }
  const rows = rowsOf(operation, result, ctx);
  if (format === 'csv') return after(csv(rows), (body) => ({ content_type, body }));
  if (format === 'ndjson') return after(ndjson(rows), (body) => ({ content_type, body }));
  // The library is large and few ask for it: it is loaded with the first question.
  return import('./arrow.ts').then(async ({ arrow }) => ({ content_type, body: await arrow(rows) }));
}

function isStream(body: unknown): body is AsyncIterable<string> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}

/** How to go on: an address for whoever asked one, else the argument to call again with. */
const nextLine = ({ url, by_name }: Context, cursor: string): string =>
  by_name ? `Next page: the same call with cursor: ${cursor}` : `Next page: ${nextUrl(url, cursor)}`;

/** Address of the next page: the same question with the cursor. */
export function nextUrl(url: URL, cursor: string): string {
  const parameters = new URLSearchParams(url.search);
  parameters.set('cursor', cursor);
  return `${url.origin}${url.pathname}?${parameters}`;
}
