// Addresses of the pages of an HTTP API: by a number in the query, a cursor in the answer, or the header Link.
import type { DeclaredAs } from '../../packs/define/sources.ts';
import { valueAt } from './json-values.ts';

type Pages = NonNullable<DeclaredAs<'http'>['pages']>;

/** An answer that leads to the next page. */
export interface PageAnswer {
  url: URL;
  /** The header Link, or undefined. */
  link: string | undefined;
  /** The parsed answer; undefined unless the format is JSON. */
  document: unknown;
}

/** The address of the first page. */
export function firstPage(address: string, pages: Pages | undefined): URL {
  const url = new URL(address);
  if (pages?.by === 'query') url.searchParams.set(pages.parameter, String(pages.from));
  return url;
}

/**
 * The address of the page after the `number`th (from 1), or null after the last one. Throws when it is on another
 * host, which must not receive the request headers.
 */
export function nextPage(pages: Pages, number: number, { url, link, document }: PageAnswer): URL | null {
  if (pages.by === 'query') return withParameter(url, pages.parameter, String(pages.from + number * pages.step));
  const next = pages.by === 'link' ? nextLink(link) : valueAt(document, pages.at);
  if (next === null || next === undefined || next === '' || next === false) return null;
  if (typeof next !== 'string' && typeof next !== 'number')
    throw new Error(`${url.href}: ${pages.by === 'link' ? 'Link' : pages.at} is neither a text nor a number`);
  const text = String(next);
  if (pages.by === 'cursor' && !/^https?:\/\//.test(text)) return withParameter(url, pages.parameter, text);
  if (!URL.canParse(text, url)) throw new Error(`${url.href} leads to the invalid address ${text}`);
  const address = new URL(text, url);
  if (address.origin !== url.origin) throw new Error(`${url.href} leads to another host: ${address.origin}`);
  return address;
}

function withParameter(url: URL, parameter: string, value: string): URL {
  const next = new URL(url);
  next.searchParams.set(parameter, value);
  return next;
}

/** The target of `rel="next"` in a header Link (RFC 8288 section 3). */
function nextLink(header = ''): string | undefined {
  for (const [, target, parameters] of header.matchAll(
    /<([^>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"[^"]*"|[^\s;,"]*))?)*)/g,
  )) {
    const [, quoted, token] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters!) ?? [];
    const relations = (quoted ?? token ?? '').toLowerCase().split(/\s+/);
    if (relations.includes('next')) return target!;
  }
  return undefined;
}
