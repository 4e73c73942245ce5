// DIST_DIR served as static hosting would, and a record's page made live where no file of it is there yet.
import { ApiError, toApiError } from '../errors.ts';
import { etagOf, matches } from '../formats/etag.ts';
import { preferred } from '../formats/negotiate.ts';
import type { Operation } from '../operation.ts';
import { findFile, openFile, type StaticFile } from './files.ts';
import { freshness } from './fresh.ts';
import { type Http, readRequest } from './request.ts';
import { errorResponse, type Headers } from './respond.ts';
import { type App, answer, type RestDeps } from './rest.ts';

export interface StaticDeps extends RestDeps {
  /** DIST_DIR. */
  root: string;
  /** The operation that makes a record's public page. */
  page: Operation | undefined;
}

const PAGE = /^\/datasets\/([^/]+)\/([^/]+?)(\.md|\.html)?\/?$/;
const ALLOW = 'GET, HEAD, OPTIONS';

/** Mounts everything that is no other route; it must come last. */
export function mountStatic(app: App, deps: StaticDeps): void {
  app.get('/*', (c) => serve(deps, c));
  app.all('/*', (c) =>
    refuse(
      deps,
      c,
      new ApiError('method_not_allowed', `This address answers ${ALLOW}.`, { headers: { Allow: ALLOW } }),
    ),
  );
}

/** The parts of a long text, which only exist as files (docs/static-hosting.md). Mount it before the table's own routes. */
export function mountParts(app: App, deps: StaticDeps): void {
  app.get('/v1/:ds/llms-full/:part', (c) => serve(deps, c));
}

async function serve(deps: StaticDeps, c: Http): Promise<Response> {
  const request = readRequest(deps.gate, c);
  if (request.refused) return refuse(deps, c, request.refused);
  const file = await findFile(deps.root, request.path);
  const fresh = file === null ? 'live' : await freshness(deps.gate, deps.root, request.path, file);
  if (fresh === 'withheld') return refuse(deps, c, withheld());
  if (file !== null && fresh === 'as_is') return sendFile(c, file, request.headers);
  if (file !== null && typeof fresh === 'object') return sendFile(c, { ...file, ...fresh }, request.headers);
  // Of a record that is gone there is no page, whatever file is left of it: the operation says so.
  const [, dataset, slug] = PAGE.exec(request.path) ?? [];
  if (deps.page && dataset !== undefined && slug !== undefined)
    return answer(deps, c, deps.page, { ds: decoded(dataset), entity_id: decoded(slug) });
  const missing = new ApiError('not_found', 'There is nothing at this address.');
  const html = preferred(request.accept, ['application/json', 'text/html']) === 'text/html';
  const page = html ? await findFile(deps.root, '/404.html') : null;
  return page === null ? refuse(deps, c, missing) : sendFile(c, page, request.headers, 404);
}

const withheld = () =>
  new ApiError('unavailable', 'This file names a record that was just opted out; it is being written again.', {
    retry_after_seconds: 30,
  });

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** A file, or a text in its place, with its validators; 304 where the client has it. */
export async function sendFile(
  c: Http,
  file: StaticFile & { text?: string },
  common: Headers,
  status = 200,
): Promise<Response> {
  const { text } = file;
  const tag = text === undefined ? file.etag : etagOf(text);
  const headers: Headers = {
    'Cache-Control': file.immutable ? 'public, max-age=31536000, immutable' : 'public, no-cache',
    ...common,
    ETag: tag,
    'Last-Modified': file.last_modified.toUTCString(),
    'Content-Type': file.content_type,
  };
  if (status === 200 && matches(c.req.header('if-none-match'), tag))
    return new Response(null, { status: 304, headers });
  headers['Content-Length'] = String(text === undefined ? file.bytes : Buffer.byteLength(text));
  if (c.req.method === 'HEAD') return new Response(null, { status, headers });
  return new Response(text ?? (await openFile(file.path)), { status, headers });
}

function refuse({ gate }: StaticDeps, c: Http, error: unknown): Response {
  const { accept, headers, request_id } = readRequest(gate, c);
  return errorResponse(toApiError(error), { base_url: gate.base_url, request_id, accept, headers, resource: '' });
}
