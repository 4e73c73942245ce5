// Conditional requests (RFC 9110 section 13): 304 if the client has the current version, 412 if a
// precondition fails.
import { hash } from 'node:crypto';
import type { HttpContext, HttpRequest } from './request.ts';

/** Maximum number of compared tags per header; the rest is ignored. */
const MOST_TAGS = 10;

/** A request whose headers are read by their names in lower case. */
type Headed = Pick<HttpContext['req'], 'header'> | Pick<HttpRequest, 'header'>;

/** Validators of the selected representation. Without a tag or a time, conditions on it do not apply. */
interface Selected {
  tag?: string | undefined;
  /** ISO 8601 or a date, compared in seconds. */
  last_modified?: string | Date | undefined;
}

/**
 * Whether the response is 304: `If-None-Match` contains the tag, or without that header, nothing changed
 * since `If-Modified-Since`.
 */
export function isUnchanged(request: Headed, { tag, last_modified }: Selected): boolean {
  const tags = request.header('if-none-match');
  if (tags !== undefined) return tag !== undefined && matches(tags, tag);
  const since = httpTime(request.header('if-modified-since'));
  return since !== null && last_modified !== undefined && seconds(last_modified) <= since;
}

/**
 * Whether the response is 412: `If-Match` does not contain the tag, or without that header, it changed since
 * `If-Unmodified-Since`.
 */
export function isRefused(request: Headed, { tag, last_modified }: Selected): boolean {
  const tags = request.header('if-match');
  if (tags !== undefined) return tag === undefined || !matches(tags, tag, 'strong');
  const since = httpTime(request.header('if-unmodified-since'));
  return since !== null && last_modified !== undefined && seconds(last_modified) > since;
}

/**
 * Whether a list of tags contains this one; `*` matches every tag. Weak comparison ignores `W/`, strong
 * comparison matches no weak tag (RFC 9110 section 8.8.3.2).
 */
export function matches(header: string | undefined, tag: string, comparison: 'weak' | 'strong' = 'weak'): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  if (comparison === 'strong' && tag.startsWith('W/')) return false;
  let compared = 0;
  for (const [candidate] of header.matchAll(/(?:W\/)?"[^"]*"/g)) {
    if (candidate === tag || (comparison === 'weak' && opaque(candidate) === opaque(tag))) return true;
    compared += 1;
    if (compared === MOST_TAGS) return false;
  }
  return false;
}

const opaque = (tag: string) => tag.replace(/^W\//, '');

const seconds = (time: string | Date) => Math.floor(new Date(time).getTime() / 1000);

/**
 * `Sun, 06 Nov 1994 08:49:37 GMT`, and both obsolete formats that recipients must accept (RFC 9110 section
 * 5.6.7).
 */
const DATES = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

/** Parses a date header, in seconds since 1970; null if it is absent or invalid. */
function httpTime(header: string | undefined): number | null {
  const text = header?.trim() ?? '';
  if (!DATES.some((form) => form.test(text))) return null;
  const time = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(time) ? null : time / 1000;
}

/** Weak tag of a public text, the same in every process; tags of answers are keyed (access/entity-tags.ts). */
export function etagOf(body: string | Uint8Array): string {
  return `W/"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
}
