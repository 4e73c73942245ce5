// Serves DIST_DIR like a static host, and generates a record's page if it has no current file.

import type { Context } from 'hono';
import { ApiError, toApiError } from '../../contract/errors.ts';
import type { Operation } from '../../contract/operation.ts';
import { CACHING, fileHeaders } from '../../discovery/hosting.ts';
import { compressReply, varyHeader } from '../../http/coding.ts';
import { findCompressedCopies, pickEncodedCopy } from '../../http/compressed-copies.ts';
import { etagOf, isRefused, isUnchanged } from '../../http/conditions.ts';
import { findFile, openFile, type StaticFile } from '../../http/files.ts';
import { methodNotAllowed, methodsAt, notFound, registerFallback } from '../../http/not-found.ts';
import { OpenFile } from '../../http/open-files.ts';
import { parseRange } from '../../http/ranges.ts';
import { type Http, readRequest } from '../../http/request.ts';
import { errorResponse, type Headers as ReplyHeaders, responseOf } from '../../http/respond.ts';
import { editsOf, fileState } from '../../http/static-overlay.ts';
import { LIST_FILES } from '../../pages/file-list.ts';
import { preferred } from '../../render/negotiate.ts';
import { type App, answer, type RestDeps } from '../rest/rest.ts';

export interface StaticDeps extends RestDeps {
  /** DIST_DIR. */
  root: string;
  /** The operations that render the page of a record, and of a comparison. */
  pages: { record: Operation; comparison: Operation };
}

/** `/files/` and `/files/{ds}/`. */
const LIST = /^\/files(\/[^/.]+)?$/;
const PAGE = /^\/datasets\/([^/]+)\/([^/]+?)(\.md|\.html|\/index\.html)?\/?$/;
const COMPARISON = /^\/compare\/([^/]+?)(\.md)?\/?$/;
/** Former addresses of pages, and their present ones. */
const MOVED: readonly (readonly [RegExp, string])[] = [
  [/^\/explore\/([^/]+)\/?$/, '/datasets/$1/'],
  [/^\/guides\/reference\/?$/, '/docs'],
];

/** Mounts the catch-all route. Mount it last. */
export function mountStatic(app: App, deps: StaticDeps): void {
  app.get('/files/:ds/edits.json', (c) => sendEdits(deps, c));
  app.get(
    '/*',
    registerFallback((c: Http) => serve(deps, c)),
  );
  app.all(
    '/*',
    registerFallback(async (c: Context) => {
      const { path, urlError } = readRequest(deps.gate, c);
      if (urlError) return refuse(deps, c, urlError);
      const methods = methodsAt(app, path);
      // Whether there is a page or a file is what HEAD answers.
      const headers = new Headers(c.req.raw.headers);
      for (const name of ['content-length', 'transfer-encoding', 'content-type']) headers.delete(name);
      const probe = methods.includes('GET')
        ? null
        : await app.fetch(new Request(c.req.url, { method: 'HEAD', headers }), c.env);
      if (probe !== null && probe.status !== 404) methods.unshift('GET');
      return refuse(deps, c, methods.length > 0 ? methodNotAllowed(methods) : (await notFound(deps.gate, path)).error);
    }),
  );
}

/**
 * Parts of a long text, which exist as files only (docs/static-hosting.md). Mount before the table's own
 * routes.
 */
export function mountParts(app: App, deps: StaticDeps): void {
  app.get('/v1/:ds/llms-full/:part', (c) => serve(deps, c));
}

async function serve(deps: StaticDeps, c: Http): Promise<Response> {
  const request = readRequest(deps.gate, c);
  if (request.urlError) return refuse(deps, c, request.urlError);
  const path = request.path.replace(/\/{2,}/g, '/');
  const moved = MOVED.find(([former]) => former.test(path));
  if (moved !== undefined) {
    const target = `${deps.gate.base_url}${path.replace(...moved)}${new URL(c.req.url).search}`;
    return new Response(null, { status: 301, headers: { ...request.headers, Location: target } });
  }
  const page = PAGE.exec(path);
  const program = programPath(path, request.accept);
  const varies = program !== undefined;
  const file = await findFile(deps.root, program ?? request.path);
  const state = file === null ? 'live' : await fileState(deps.gate, deps.root, file);
  const headers = { ...request.headers, ...fileHeaders(deps.gate.base_url), ...(varies ? { Vary: 'Accept' } : {}) };
  if (typeof state === 'object' && 'withheld' in state) return refuse(deps, c, withheld(state.withheld));
  if (file !== null && state === 'as_is') return sendFile(c, file, headers);
  if (file !== null && typeof state === 'object') return sendFile(c, { ...file, ...state }, headers);
  // A deleted record has no page, even if its file remains: the operation answers.
  const [, dataset, slug] = page ?? [];
  const html = preferred(request.accept, ['application/json', 'text/html']) === 'text/html';
  const lost = html && page?.[3] !== '.md' ? await findFile(deps.root, '/404.html') : null;
  const [, compared] = COMPARISON.exec(path) ?? [];
  const call = slug === undefined ? compared && { ds: compared } : { ds: dataset ?? '', entity_id: slug };
  if (call) {
    const operation = 'entity_id' in call ? deps.pages.record : deps.pages.comparison;
    const decoded = Object.fromEntries(Object.entries(call).map(([name, value]) => [name, decodeSegment(value)]));
    const response = await answer(deps, c, operation, decoded);
    if (response.status !== 404 || lost === null) return response;
    return sendFile(c, lost, headers, 404);
  }
  return lost === null
    ? refuse(deps, c, (await notFound(deps.gate, request.path)).error)
    : sendFile(c, lost, headers, 404);
}

/** What the files of a dataset lack: edited, restored and removed records (contract section 5, "Overlay"). */
async function sendEdits(deps: StaticDeps, c: Http): Promise<Response> {
  const { gate, root } = deps;
  const request = readRequest(gate, c);
  const headers: ReplyHeaders = {
    ...request.headers,
    ...fileHeaders(gate.base_url),
    'Cache-Control': CACHING.asked_again,
  };
  try {
    const leases = await gate.lease(request.path.split('/')[2] ?? '');
    const edits = await editsOf(root, leases.release!).finally(leases.done);
    if (edits === null)
      throw new ApiError('not_found', 'The files contain every edit, and no removed record.', { headers });
    const body = `${JSON.stringify(edits)}\n`;
    const tag = etagOf(body);
    const shown = { ...headers, ETag: tag, 'Content-Type': 'application/json', Vary: varyHeader(headers['Vary']) };
    if (isUnchanged(c, { tag })) return new Response(null, { status: 304, headers: shown });
    return responseOf(await compressReply({ status: 200, headers: shown, body }, c.req.header('accept-encoding')));
  } catch (error) {
    return refuse(deps, c, error);
  }
}

/**
 * A record's page has a Markdown file for programs, a list of files a JSON file. Path of that file where
 * `accept` prefers it, else `path`; undefined for any other path, which has one file for every client.
 */
function programPath(path: string, accept: string | undefined): string | undefined {
  const plain = path.replace(/\/$/, '');
  const page = PAGE.exec(path);
  if (page !== null && page[3] === undefined)
    return preferred(accept, ['text/html', 'text/markdown', 'text/plain']) === 'text/html' ? path : `${plain}.md`;
  if (LIST.test(plain))
    return preferred(accept, ['application/json', 'text/html']) === 'text/html' ? path : `${plain}/${LIST_FILES.json}`;
  return undefined;
}

const withheld = (seconds: number) =>
  new ApiError('unavailable', 'This file contains a record that was just removed; it is being written again.', {
    retry_after_seconds: seconds,
  });

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/**
 * Sends a file, or a text in its place, with its validators; compressed if there is a copy that the client
 * accepts; 304 if the client has it.
 */
export async function sendFile(
  c: Http,
  file: StaticFile & { text?: string },
  common: ReplyHeaders,
  status = 200,
): Promise<Response> {
  const { text } = file;
  const copies = text === undefined && status === 200 ? await findCompressedCopies(file) : [];
  // A range is a part of the uncompressed file.
  const inRanges = file.ranges && c.req.header('range') !== undefined;
  const copy = inRanges ? null : pickEncodedCopy(copies, c.req.header('accept-encoding'));
  // Each coding is a representation with its own tag (RFC 9110 section 8.8.3).
  const codedTag = copy === null ? file.etag : file.etag.replace(/"$/, `-${copy.coding}"`);
  const tag = text === undefined ? codedTag : etagOf(text);
  const headers: ReplyHeaders = {
    'Cache-Control': file.immutable ? CACHING.for_ever : CACHING.asked_again,
    ...common,
    ETag: tag,
    'Content-Type': file.content_type,
  };
  // A replacement text is newer than the file, at an unknown time.
  const last_modified = text === undefined ? file.last_modified : undefined;
  if (last_modified) headers['Last-Modified'] = last_modified.toUTCString();
  if (copies.length > 0 || text !== undefined) headers['Vary'] = varyHeader(headers['Vary']);
  const selected = { tag, last_modified };
  if (status === 200 && file.ranges && isRefused(c, selected)) return new Response(null, { status: 412, headers });
  if (status === 200 && isUnchanged(c, selected)) return new Response(null, { status: 304, headers });
  const send = async (start: number, end: number, as: number) => {
    const opened = await openFile(file, copy);
    if (!(opened instanceof OpenFile)) return sendFile(c, opened, common, status);
    return new Response(await opened.body(start, end), { status: as, headers });
  };
  if (copy !== null) headers['Content-Encoding'] = copy.coding;
  if (text === undefined) headers['Content-Length'] = String((copy ?? file).bytes);
  if (file.ranges && status === 200) {
    headers['Accept-Ranges'] = 'bytes';
    const range = c.req.method === 'HEAD' ? null : parseRange(c, { bytes: file.bytes, at: file.last_modified }, tag);
    if (range === 'none') {
      headers['Content-Range'] = `bytes */${file.bytes}`;
      delete headers['Content-Length'];
      return new Response(null, { status: 416, headers });
    }
    if (range !== null) {
      headers['Content-Range'] = `bytes ${range.start}-${range.end}/${file.bytes}`;
      headers['Content-Length'] = String(range.end - range.start + 1);
      return send(range.start, range.end, 206);
    }
  }
  if (text !== undefined)
    return responseOf(await compressReply({ status, headers, body: text }, c.req.header('accept-encoding')));
  if (c.req.method === 'HEAD') return new Response(null, { status, headers });
  return send(0, (copy ?? file).bytes - 1, status);
}

function refuse({ gate }: StaticDeps, c: Http, error: unknown): Response {
  const { accept, headers, request_id } = readRequest(gate, c);
  return errorResponse(toApiError(error), { base_url: gate.base_url, request_id, accept, headers, resource: '' });
}
