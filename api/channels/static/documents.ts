// Routes of the root, the health check, and the discovery documents: free, without rate limit.

import { readFile } from 'node:fs/promises';
import type { FollowState } from '../../../data/releases/follow.ts';
import { ApiError } from '../../contract/errors.ts';
import { authorizationServer, protectedResource } from '../../discovery/auth.ts';
import { fileHeaders } from '../../discovery/hosting.ts';
import { DOCUMENTS, type Document, type View } from '../../discovery/index.ts';
import { llmsText } from '../../discovery/llms.ts';
import { rootLinks, rootMap } from '../../discovery/map.ts';
import type { CallDeps } from '../../gate/execute.ts';
import { isRefused, isUnchanged } from '../../http/conditions.ts';
import { findFile } from '../../http/files.ts';
import { OpenFile } from '../../http/open-files.ts';
import { parseRange } from '../../http/ranges.ts';
import type { Headers } from '../../http/respond.ts';
import type { Route, RouteAnswer, RouteRequest, RouteTable } from '../../http/server.ts';
import { fileState } from '../../http/static-overlay.ts';
import { preferred } from '../../render/negotiate.ts';
import { type StaticDeps, sendFile, unwritten } from './static.ts';

export interface DocumentDeps extends StaticDeps {
  started_at: Date;
  /** Why no load balancer should send calls, and what fails although it should, as sentences. */
  readiness: () => Promise<{ reasons: string[]; warnings: string[] }>;
  /** The object storage of RELEASES_URL; null without one. */
  storage: () => FollowState | null;
}

const JSON_TYPE = 'application/json';
/** Path of the metadata of a protected resource; RFC 9728 appends the resource's own path. */
const RESOURCE = '/.well-known/oauth-protected-resource';

/**
 * `/`, `/healthz`, `/readyz`, the discovery documents and the metadata of OAuth: free, without rate limit.
 *
 * @example
 * ```ts
 * mountTable(app, services, documentsTable(deps));
 * await app.request('/readyz'); // 200 {"status":"ready"}
 * ```
 */
export function documentsTable(deps: DocumentDeps): RouteTable {
  const { base_url } = deps.gate;
  const server = () => ({ document: JSON.stringify(authorizationServer(base_url)), type: JSON_TYPE });
  const resource = (request: RouteRequest): RouteAnswer => {
    const path = request.path.slice(RESOURCE.length);
    const metadata = protectedResource(base_url, path === '' ? (request.parameter('resource_path') ?? '') : path);
    if (metadata === null) throw new ApiError('not_found', 'There is no protected resource at this path.');
    return { document: JSON.stringify(metadata), type: JSON_TYPE };
  };
  return {
    policy: { bucket: null, caching: 'public, no-cache' },
    routes: {
      'GET /': withView(deps, (view, request) => root(deps, view, request)),
      'GET /healthz': { caching: 'no-store', answer: withView(deps, (view) => ({ json: health(view, deps) })) },
      'GET /readyz': { caching: 'no-store', answer: () => readiness(deps) },
      ...Object.fromEntries(DOCUMENTS.map((document) => [`GET ${document.path}`, documentRoute(deps, document)])),
      'GET /.well-known/oauth-authorization-server': server,
      'GET /.well-known/oauth-authorization-server/v1': server,
      [`GET ${RESOURCE}`]: resource,
      [`GET ${RESOURCE}/*`]: resource,
    },
  };
}

async function readiness(deps: DocumentDeps): Promise<RouteAnswer> {
  const { reasons, warnings } = await deps.readiness();
  const more = warnings.length === 0 ? {} : { warnings };
  if (reasons.length === 0) return { json: { status: 'ready', ...more } };
  return { status: 503, json: { status: 'not_ready', reasons, ...more }, headers: { 'Retry-After': '5' } };
}

function documentRoute(deps: DocumentDeps, document: Document): Route {
  return withView(deps, async (view, request) => {
    const type = selectedType(document, request);
    const negotiated = document.markdown ? { Vary: 'Accept' } : {};
    if (document.markdown && type === 'text/markdown')
      return { document: document.markdown(view), type: 'text/markdown; charset=utf-8', headers: negotiated };
    const other = document.alternates?.find(({ content_type }) => bareType(content_type) === type);
    if (other) return { document: (await other.text(view, {}))!, type: other.content_type, headers: negotiated };
    // Assets have a hash in their name, so the file of the night is the same; it may have a compressed copy.
    const file = document.path.startsWith('/assets/') ? await findFile(deps.root, document.path) : null;
    if (file !== null) return sendFile(request.http, file, {});
    const text = await document.text(view, request.params);
    if (text === null) throw new ApiError('not_found', 'Not found.');
    return { document: text, type: document.content_type, headers: { ...negotiated, ...document.headers?.(view) } };
  });
}

/** Leases the current releases while a document is built. */
function withView(
  { gate, root }: DocumentDeps,
  make: (view: View, request: RouteRequest) => RouteAnswer | Promise<RouteAnswer>,
): (request: RouteRequest) => Promise<RouteAnswer> {
  return async (request) => {
    const leases = await gate.lease(null);
    try {
      const { base_url, operations, eur_usd, cursors, payments } = gate;
      const x402 = { x402: payments.waiting !== undefined, quote: payments.quote };
      const published = async (path: string) => {
        const file = await findFile(root, path);
        return file && readFile(file.path);
      };
      const { releases } = leases;
      const view = { base_url, operations, eur_usd, cursors, releases, now: request.now, published, ...x402 };
      return await make(view, request);
    } finally {
      leases.done();
    }
  };
}

/** The root: HTML for people, the guide as Markdown, the JSON map for all other clients. */
async function root(deps: DocumentDeps, view: View, request: RouteRequest): Promise<RouteAnswer> {
  const { http, accept } = request;
  const kind = preferred(accept, [JSON_TYPE, 'text/html', 'text/markdown', 'text/plain']);
  const links = rootLinks(view.base_url).map(({ rel, href, type }) => `<${href}>; rel="${rel}"; type="${type}"`);
  const headers = { Vary: 'Accept', Link: links.join(', ') };
  if (kind === 'text/html') {
    const home = await findFile(deps.root, '/');
    const state = home === null ? 'as_is' : await fileState(deps.gate, deps.root, home);
    const pageHeaders = { ...headers, ...fileHeaders(view.base_url) };
    if (home !== null && state === 'as_is') return sendFile(http, home, pageHeaders);
    if (home !== null && typeof state === 'object') return sendFile(http, { ...home, ...state }, pageHeaders);
    return unwritten(deps, request, '/') ?? { document: llmsText(view), type: 'text/plain; charset=utf-8', headers };
  }
  if (kind === 'text/markdown' || kind === 'text/plain')
    return { document: llmsText(view), type: `${kind}; charset=utf-8`, headers };
  return { document: JSON.stringify(rootMap(view)), type: JSON_TYPE, headers };
}

const bareType = (type: string): string => type.split(';')[0] ?? '';

/** The type of the document, or of an alternative that the suffix `.md` or the client selects (contract section 6). */
function selectedType({ content_type, markdown, alternates = [] }: Document, request: RouteRequest): string {
  if (request.hasMdSuffix) return 'text/markdown';
  const others = alternates.map((document) => bareType(document.content_type));
  const types = [bareType(content_type), ...(markdown ? ['text/markdown'] : []), ...others];
  return preferred(request.accept, types) ?? content_type;
}

interface Health {
  status: 'ok' | 'empty';
  started_at: string;
  /** Every current release is open and answers from memory. */
  cache_warm: boolean;
  /** Release id by dataset. */
  release: Record<string, string>;
  /** With RELEASES_URL only. `waiting`: releases by dataset that are not fetched yet. */
  storage?: { status: 'ok' | 'unavailable'; since: string; waiting: Readonly<Record<string, string>> };
}

/** `empty`: no dataset has a release yet. */
function health({ releases }: Pick<View, 'releases'>, { started_at, storage }: DocumentDeps): Health {
  const following = storage();
  return {
    status: releases.length === 0 ? 'empty' : 'ok',
    started_at: started_at.toISOString(),
    cache_warm: releases.length > 0 && releases.every(({ warm }) => warm?.() ?? true),
    release: Object.fromEntries(releases.map(({ pack, manifest }) => [pack.id, manifest.release])),
    ...(following === null ? {} : { storage: storageHealth(following) }),
  };
}

/** Without the address and the cause, which are in the log. */
const storageHealth = ({ up, since, waiting }: FollowState) => ({
  status: up ? ('ok' as const) : ('unavailable' as const),
  since: since.toISOString(),
  waiting,
});

// Snapshot files at signed links: ranges, conditional requests and HEAD (RFC 9110), without a credential.

type Snapshot = Exclude<Awaited<ReturnType<NonNullable<CallDeps['exports']>['open']>>, string>;

/** Downloads of one address at a time, and seconds after which it may try another one. */
export const DOWNLOADS = { of_address: 16, retry: 10 } as const;

/** The links. Mount them before the table of operations, whose last route matches every path under /v1. */
export function downloadTable(gate: CallDeps): RouteTable {
  const running = new Map<string, number>();
  return { routes: { 'GET /v1/:ds/export/:name': (request) => download(gate, request, running) } };
}

/** Why a link is invalid; the suggested action is the same for all. */
const REASONS = {
  forged: 'This link was not issued by this service.',
  expired: 'This link has expired.',
  gone: 'The release of this link is no longer available.',
};

/** `running`: downloads by address. */
async function download(gate: CallDeps, request: RouteRequest, running: Map<string, number>): Promise<Response> {
  const { http: c, params, query, now } = request;
  const { ds, name } = params as { ds: string; name: string };
  const { expires = '', signature = '' } = query;
  const snapshot = await gate.exports?.open(ds, name, { expires: String(expires), signature: String(signature) }, now);
  if (snapshot === undefined || typeof snapshot === 'string') {
    const alternative_action = `GET ${gate.base_url}/v1/<dataset>/export answers a new link.`;
    throw new ApiError('not_found', REASONS[snapshot ?? 'forged'], { alternative_action });
  }
  const tag = `"${snapshot.sha256}"`;
  const headers = headersOf(snapshot, tag);
  const selected = { tag, last_modified: snapshot.made_at };
  if (isRefused(c.req, selected)) return new Response(null, { status: 412, headers });
  if (isUnchanged(c.req, selected)) return new Response(null, { status: 304, headers });
  const range = c.req.method === 'HEAD' ? null : parseRange(c, { bytes: snapshot.bytes, at: snapshot.made_at }, tag);
  if (range === 'none') {
    headers['Content-Range'] = `bytes */${snapshot.bytes}`;
    delete headers['Content-Disposition'];
    return new Response(null, { status: 416, headers });
  }
  const { start, end } = range ?? { start: 0, end: snapshot.bytes - 1 };
  headers['Content-Length'] = String(end - start + 1);
  if (range !== null) headers['Content-Range'] = `bytes ${start}-${end}/${snapshot.bytes}`;
  const status = range === null ? 200 : 206;
  if (c.req.method === 'HEAD' || end < start) return new Response(null, { status, headers });
  const { address } = request.visitor;
  const others = running.get(address) ?? 0;
  if (others >= DOWNLOADS.of_address)
    throw new ApiError('rate_limited', `Your address has ${others} downloads; read them to their end.`, {
      retry_after_seconds: DOWNLOADS.retry,
    });
  const file = await OpenFile.at(snapshot.path, () => {
    const left = running.get(address)! - 1;
    if (left > 0) running.set(address, left);
    else running.delete(address);
  });
  running.set(address, (running.get(address) ?? 0) + 1);
  return new Response(await file.body(start, end), { status, headers });
}

function headersOf({ sha256, content_type, name, made_at }: Snapshot, tag: string): Headers {
  return {
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'private, no-cache',
    'Content-Disposition': `attachment; filename="${name}"`,
    'Content-Type': content_type,
    ETag: tag,
    'Last-Modified': made_at.toUTCString(),
    // The link grants access by itself, so it must not leak to other sites.
    'Referrer-Policy': 'no-referrer',
    'Repr-Digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`,
  };
}
