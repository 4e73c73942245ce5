// Routes of the root, the health check, and the discovery documents: free, without rate limit.

import { readFile } from 'node:fs/promises';
import type { FollowState } from '../../../data/releases/follow.ts';
import { derive } from '../../../packs/define/derive.ts';
import { ApiError, toApiError } from '../../contract/errors.ts';
import { authorizationServer, protectedResource } from '../../discovery/auth.ts';
import { fileHeaders } from '../../discovery/hosting.ts';
import { type Content, DOCUMENTS, type View } from '../../discovery/index.ts';
import { llmsText } from '../../discovery/llms.ts';
import { rootLinks, rootMap } from '../../discovery/map.ts';
import type { CallDeps } from '../../gate/execute.ts';
import { compressReply, varyHeader } from '../../http/coding.ts';
import { etagOf, matches } from '../../http/conditions.ts';
import { findFile } from '../../http/files.ts';
import { type Http, readRequest } from '../../http/request.ts';
import { errorResponse, type Headers, responseOf } from '../../http/respond.ts';
import { fileState } from '../../http/static-overlay.ts';
import { preferred } from '../../render/negotiate.ts';
import type { App } from '../rest/rest.ts';
import { type StaticDeps, sendFile } from './static.ts';

export interface DocumentDeps extends StaticDeps {
  started_at: Date;
  /** Why no load balancer should send calls, and what fails although it should, as sentences. */
  readiness: () => Promise<{ reasons: string[]; warnings: string[] }>;
  /** The object storage of RELEASES_URL; null without one. */
  storage: () => FollowState | null;
}

/** Mounts `/`, `/healthz`, `/readyz`, the plain documents and the protected-resource metadata. */
export function mountDocuments(app: App, deps: DocumentDeps): void {
  const { gate } = deps;
  app.get('/', (c) => withReleases(deps, c, (view, headers) => root(deps, c, view, headers)));
  app.get('/healthz', (c) => withReleases(deps, c, (view, headers) => stateResponse(200, health(view, deps), headers)));
  app.get('/readyz', async (c) => {
    const { headers } = readRequest(gate, c);
    const { reasons, warnings } = await deps.readiness();
    const more = warnings.length === 0 ? {} : { warnings };
    if (reasons.length === 0) return stateResponse(200, { status: 'ready', ...more }, headers);
    return stateResponse(503, { status: 'not_ready', reasons, ...more }, { ...headers, 'Retry-After': '5' });
  });
  for (const document of DOCUMENTS)
    app.get(document.path, (c) =>
      withReleases(deps, c, async (view, headers) => {
        if (document.markdown && wantsMarkdown(c)) {
          const markdownHeaders = { ...headers, Vary: 'Accept' };
          return send(c, document.markdown(view), 'text/markdown; charset=utf-8', markdownHeaders);
        }
        // Assets have a hash in their name, so the file of the night is the same; it may have a compressed
        // copy.
        const file = document.path.startsWith('/assets/') ? await findFile(deps.root, document.path) : null;
        if (file !== null) return sendFile(c, file, headers);
        const text = await document.text(view, c.req.param());
        if (text === null) return missing(gate, c, 'Not found.');
        return send(c, text, document.content_type, { ...headers, ...document.headers?.(view) });
      }),
    );
  for (const path of ['', '/v1'])
    app.get(`/.well-known/oauth-authorization-server${path}`, (c) => {
      const { headers } = readRequest(gate, c);
      return send(c, JSON.stringify(authorizationServer(gate.base_url)), JSON_TYPE['Content-Type'], headers);
    });
  // RFC 9728 appends the resource's path to the well-known one.
  const WELL_KNOWN = '/.well-known/oauth-protected-resource';
  const metadata = (c: Http) => {
    const request = readRequest(gate, c);
    const suffix = request.path.slice(WELL_KNOWN.length);
    const parameter = request.query['resource_path'];
    const resourceMetadata = protectedResource(
      gate.base_url,
      suffix === '' && typeof parameter === 'string' ? parameter : suffix,
    );
    if (resourceMetadata === null) return missing(gate, c, 'There is no protected resource at this path.');
    return send(c, JSON.stringify(resourceMetadata), JSON_TYPE['Content-Type'], request.headers);
  };
  app.get(WELL_KNOWN, metadata);
  app.get(`${WELL_KNOWN}/*`, metadata);
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

const stateResponse = (status: number, state: object, headers: Headers) =>
  new Response(JSON.stringify(state), { status, headers: { ...headers, ...JSON_TYPE, 'Cache-Control': 'no-store' } });

/** Leases the current releases while a document is built. */
async function withReleases(
  { gate, report, root }: DocumentDeps,
  c: Http,
  make: (view: View, headers: Headers) => Response | Promise<Response>,
): Promise<Response> {
  const { headers, request_id, accept } = readRequest(gate, c);
  try {
    const leases = await gate.lease(null);
    try {
      const { base_url, operations, eur_usd, cursors, payments } = gate;
      const x402 = { x402: payments.waiting !== undefined, quote: payments.quote };
      const published = async (path: string) => {
        const file = await findFile(root, path);
        return file && readFile(file.path);
      };
      const { releases } = leases;
      const view = { base_url, operations, eur_usd, cursors, releases, now: gate.now(), published, ...x402 };
      return await make(view, headers);
    } finally {
      leases.done();
    }
  } catch (error) {
    const apiError = toApiError(error);
    if (apiError.code === 'internal') report(error, request_id);
    return errorResponse(apiError, { base_url: gate.base_url, request_id, accept, headers, resource: '' });
  }
}

/** The root: HTML for people, the guide as Markdown, the JSON map for all other clients. */
async function root(deps: DocumentDeps, c: Http, view: View, common: Headers): Promise<Response> {
  const kind = preferred(c.req.header('accept'), ['application/json', 'text/html', 'text/markdown', 'text/plain']);
  const links = rootLinks(view.base_url).map(({ rel, href, type }) => `<${href}>; rel="${rel}"; type="${type}"`);
  const headers = { ...common, Vary: 'Accept', Link: links.join(', ') };
  if (kind === 'text/html') {
    const home = await findFile(deps.root, '/');
    const state = home === null ? 'as_is' : await fileState(deps.gate, deps.root, home);
    const pageHeaders = { ...headers, ...fileHeaders(view.base_url) };
    if (home !== null && state === 'as_is') return sendFile(c, home, pageHeaders);
    if (home !== null && typeof state === 'object') return sendFile(c, { ...home, ...state }, pageHeaders);
    return send(c, llmsText(view), 'text/plain; charset=utf-8', headers);
  }
  if (kind === 'text/markdown' || kind === 'text/plain')
    return send(c, llmsText(view), `${kind}; charset=utf-8`, headers);
  return send(c, JSON.stringify(rootMap(view)), 'application/json', headers);
}

/** Whether the path ends in `.md`, or the client prefers Markdown (contract section 6). */
function wantsMarkdown(c: Http): boolean {
  if (new URL(c.req.url).pathname.endsWith('.md')) return true;
  return preferred(c.req.header('accept'), ['application/linkset+json', 'text/markdown']) === 'text/markdown';
}

/** Sends a document with its tag, or 304. */
async function send(c: Http, content: Content, content_type: string, common: Headers): Promise<Response> {
  const tag = typeof content === 'string' ? etagOf(content) : derive(content, 'entity tag', () => etagOf(content));
  const vary = { Vary: varyHeader(common['Vary']) };
  const headers: Headers = {
    'Cache-Control': 'public, no-cache',
    ...common,
    ...vary,
    ETag: tag,
    'Content-Type': content_type,
  };
  if (matches(c.req.header('if-none-match'), tag)) return new Response(null, { status: 304, headers });
  return responseOf(await compressReply({ status: 200, headers, body: content }, c.req.header('accept-encoding')));
}

function missing(gate: CallDeps, c: Http, message: string): Response {
  const { accept, headers, request_id } = readRequest(gate, c);
  const error = new ApiError('not_found', message);
  return errorResponse(error, { base_url: gate.base_url, request_id, accept, headers, resource: '' });
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
