// Serves DIST_DIR like a static host, and generates a record's page if it has no current file.

import type { RegisterProgress } from '../../../data/releases/night-state.ts';
import { ApiError, toApiError } from '../../contract/errors.ts';
import type { Operation } from '../../contract/operation.ts';
import { CACHING, fileHeaders } from '../../discovery/hosting.ts';
import { compressReply, varyHeader } from '../../http/coding.ts';
import { findCompressedCopies, pickEncodedCopy } from '../../http/compressed-copies.ts';
import { etagOf, isRefused, isUnchanged } from '../../http/conditions.ts';
import { findFile, openFile, type StaticFile } from '../../http/files.ts';
import { methodNotAllowed, notFound } from '../../http/not-found.ts';
import { OpenFile } from '../../http/open-files.ts';
import { parseRange } from '../../http/ranges.ts';
import type { HttpContext } from '../../http/request.ts';
import { type Headers as ReplyHeaders, responseOf } from '../../http/respond.ts';
import { type RouteAnswer, RouteRequest, type RouteTable } from '../../http/server.ts';
import { editsOf, fileState } from '../../http/static-overlay.ts';
import { LIST_FILES } from '../../pages/file-list.ts';
import { PROGRESS_HEADERS, progressPage } from '../../pages/progress-page.ts';
import { preferred } from '../../render/negotiate.ts';
import { answer, type RestDeps } from '../rest/rest.ts';
import { addressPage, resultsPage } from './address-rows.ts';

export interface StaticDeps extends RestDeps {
  /** DIST_DIR. */
  root: string;
  /** The operations that render the page of a record, and of a comparison. */
  pages: { record: Operation; comparison: Operation };
  /** What is built and what is not. */
  progress: () => RegisterProgress;
}

/** `/files/` and `/files/{ds}/`. */
const LIST = /^\/files(\/[^/.]+)?$/;
const PAGE = /^\/datasets\/([^/]+)\/([^/]+?)(\.md|\.html|\/index\.html)?\/?$/;
/** The page of a dataset, whose table has the rows of the address. */
const DATASET = /^\/datasets\/([^/]+)\/?$/;
/** The page of results of a search of all datasets. */
const SEARCH = /^\/search\/?$/;
const COMPARISON = /^\/compare\/([^/]+?)(\.md)?\/?$/;
/** Another address of the page of a dataset. */
const EXPLORE = /^\/explore\/([^/]+)\/?$/;

/** The catch-all routes. Mount them last. */
export function staticTable(deps: StaticDeps): RouteTable {
  return {
    policy: { bucket: null, caching: CACHING.asked_again },
    routes: {
      'GET /files/:ds/edits.json': ({ params }) => sendEdits(deps, params['ds'] ?? ''),
      'GET /*': (request) => serve(deps, request),
      // No other method has a route here: whether there is a page or a file is what HEAD answers.
      'ALL /*': async ({ http: { req, env } }) => {
        const header = (name: string) => req.header(name);
        const head = { method: 'HEAD', url: req.url, path: req.path, raw: req.raw, header, param: () => req.param() };
        // What a request reads of its context.
        const context = { req: head, env } as unknown as HttpContext;
        const headResponse = await serve(deps, new RouteRequest(deps.gate, context));
        throw headResponse.status === 404 ? await notFound(deps.gate, req.path) : methodNotAllowed(['GET']);
      },
    },
  };
}

/**
 * Parts of a long text, which exist as files only (docs/static-hosting.md). Mount before the table's own
 * routes.
 */
export const partsTable = (deps: StaticDeps): RouteTable => ({
  policy: { bucket: null },
  routes: { 'GET /v1/:ds/llms-full/:part': (request) => serve(deps, request) },
});

async function serve(deps: StaticDeps, request: RouteRequest): Promise<Response> {
  const { http: c, accept } = request;
  const { gate } = deps;
  const path = request.path.replace(/\/{2,}/g, '/');
  if (EXPLORE.test(path)) {
    const target = `${gate.base_url}${path.replace(EXPLORE, '/datasets/$1/')}${new URL(c.req.url).search}`;
    return new Response(null, { status: 301, headers: { Location: target } });
  }
  const page = PAGE.exec(path);
  const program = programPath(path, accept);
  const file = (await isDropped(deps, path)) ? null : await findFile(deps.root, program ?? request.path);
  const state = file === null ? 'live' : await fileState(gate, deps.root, file);
  const headers = { ...fileHeaders(gate.base_url), ...(program !== undefined && { Vary: 'Accept' }) };
  if (typeof state === 'object' && 'withheld' in state) throw withheld(state.withheld);
  const [, viewed] = DATASET.exec(path) ?? [];
  if (file !== null && (viewed !== undefined || SEARCH.test(path))) {
    const shown = typeof state === 'object' ? { ...file, ...state } : file;
    const text = await (viewed === undefined
      ? resultsPage(gate, request, shown)
      : addressPage(deps, request, viewed, shown));
    if (text !== null) return sendFile(c, { ...file, text }, headers);
  }
  if (file !== null && state === 'as_is') return sendFile(c, file, headers);
  if (file !== null && typeof state === 'object') return sendFile(c, { ...file, ...state }, headers);
  // A deleted record has no page, even if its file remains: the operation answers.
  const [, dataset, slug] = page ?? [];
  const html = preferred(accept, ['application/json', 'text/html']) === 'text/html';
  const lost = html && page?.[3] !== '.md' ? await findFile(deps.root, '/404.html') : null;
  const [, compared] = COMPARISON.exec(path) ?? [];
  const call = slug === undefined ? compared && { ds: compared } : { ds: dataset ?? '', entity_id: slug };
  if (call) {
    const operation = 'entity_id' in call ? deps.pages.record : deps.pages.comparison;
    const decoded = Object.fromEntries(Object.entries(call).map(([name, value]) => [name, decodeSegment(value)]));
    const response = await answer(deps, c, operation, decoded);
    if (response.status !== 404 || lost === null) return response;
  }
  const building = unwritten(deps, request, path);
  if (building !== null) return building;
  if (lost === null) throw await notFound(gate, request.path);
  return sendFile(c, lost, headers, 404);
}

/** Page of a dataset, and of the site. */
const DATASET_PAGE = /^\/(?:datasets|compare|files)\/([^/]+)\/?$/;
const SITE_PAGE = /^\/(search|changes|pricing|connect|guides|status|sql|files|docs)(\/|$)/;

/**
 * The page of a page that is not written yet; null for any other path, and when no run will write it. Throws
 * `unavailable` (503) for a client that wants no HTML.
 */
export function unwritten(deps: StaticDeps, { accept }: RouteRequest, path: string): Response | null {
  const progress = deps.progress();
  const [, id] = DATASET_PAGE.exec(path) ?? [];
  const dataset = progress.datasets.find((candidate) => candidate.id === id);
  const waits = progress.running || progress.datasets.some(({ records }) => records === null);
  if (!waits || (dataset === undefined && path !== '/' && !SITE_PAGE.test(path))) return null;
  if (preferred(accept, ['application/json', 'text/html']) !== 'text/html') {
    if (path === '/') return null;
    throw new ApiError('unavailable', `${path} is not written yet.`, { retry_after_seconds: 10 });
  }
  const status = path === '/' || (dataset !== undefined && dataset.records !== null) ? 200 : 503;
  const page = progressPage(deps.gate.base_url, path, progress, dataset?.id);
  return new Response(page, { status, headers: PROGRESS_HEADERS });
}

/** Whether a path is of a dataset that is no longer served: its files remain until the next nightly run. */
async function isDropped({ gate }: StaticDeps, path: string): Promise<boolean> {
  const [, dataset] = /^\/(?:datasets|files|compare|sql)\/([^/.]+)(?:\/|$)/.exec(path) ?? [];
  if (dataset === undefined) return false;
  try {
    (await gate.lease(dataset)).done();
    return false;
  } catch (error) {
    return toApiError(error).code === 'unknown_dataset';
  }
}

/** What the files of a dataset lack: edited, restored and removed records (contract section 5, "Overlay"). */
async function sendEdits({ gate, root }: StaticDeps, dataset: string): Promise<RouteAnswer> {
  const leases = await gate.lease(dataset);
  const edits = await editsOf(root, leases.release!).finally(leases.done);
  if (edits === null) throw new ApiError('not_found', 'The files contain every edit, and no removed record.');
  return { document: `${JSON.stringify(edits)}\n`, type: 'application/json', headers: fileHeaders(gate.base_url) };
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
  c: HttpContext,
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
  if (status === 200 && file.ranges && isRefused(c.req, selected)) return new Response(null, { status: 412, headers });
  if (status === 200 && isUnchanged(c.req, selected)) return new Response(null, { status: 304, headers });
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
