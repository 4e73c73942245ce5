// Snapshot files at signed links: ranges, conditional requests and HEAD (RFC 9110), without a credential.
import { ApiError, toApiError } from '../../contract/errors.ts';
import { admit, type CallDeps } from '../../gate/execute.ts';
import { isRefused, isUnchanged } from '../../http/conditions.ts';
import { methodNotAllowed } from '../../http/not-found.ts';
import { OpenFile } from '../../http/open-files.ts';
import { parseRange } from '../../http/ranges.ts';
import { type Http, type HttpRequest, readRequest } from '../../http/request.ts';
import { errorResponse, type Headers } from '../../http/respond.ts';
import type { App, RestDeps } from '../rest/rest.ts';

type Snapshot = Exclude<Awaited<ReturnType<NonNullable<CallDeps['exports']>['open']>>, string>;

const PATH = '/v1/:ds/export/:name';

/** Mounts the links. Mount them before the table, whose last route matches every path under /v1. */
export function mountDownload(app: App, deps: RestDeps): void {
  app.get(PATH, (c) => answerFree(deps, c, '/v1', (request) => download(deps, c, request)));
  app.all(PATH, (c) =>
    answerFree(deps, c, '/v1', () => {
      throw methodNotAllowed(['GET']);
    }),
  );
}

/**
 * Answers a free request outside the table of operations: limited like the others, and its errors are sent in the
 * form of all errors. `resource` as in `ErrorShape`.
 */
export async function answerFree(
  { gate, report }: Pick<RestDeps, 'gate' | 'report'>,
  c: Http,
  resource: string,
  answer: (request: HttpRequest) => Promise<Response>,
): Promise<Response> {
  const request = readRequest(gate, c);
  const { accept, headers, request_id } = request;
  try {
    await admit(gate, request.visitor, 'free');
    if (request.urlError) throw request.urlError;
    return await answer(request);
  } catch (error) {
    const apiError = toApiError(error);
    if (apiError.code === 'internal') report(error, request_id);
    return errorResponse(apiError, { base_url: gate.base_url, request_id, accept, headers, resource });
  }
}

/** Why a link is invalid; the suggested action is the same for all. */
const REASONS = {
  forged: 'This link was not issued by this service.',
  expired: 'This link has expired.',
  gone: 'The release of this link is no longer available.',
};

async function download({ gate }: RestDeps, c: Http, request: HttpRequest): Promise<Response> {
  const { ds, name } = c.req.param() as { ds: string; name: string };
  const { expires = '', signature = '' } = request.query;
  const snapshot = await gate.exports?.open(
    ds,
    name,
    { expires: String(expires), signature: String(signature) },
    gate.now(),
  );
  if (snapshot === undefined || typeof snapshot === 'string') {
    const alternative_action = `GET ${gate.base_url}/v1/<dataset>/export answers a new link.`;
    throw new ApiError('not_found', REASONS[snapshot ?? 'forged'], { alternative_action });
  }
  const tag = `"${snapshot.sha256}"`;
  const headers = { ...request.headers, ...headersOf(snapshot, tag) };
  const selected = { tag, last_modified: snapshot.made_at };
  if (isRefused(c, selected)) return new Response(null, { status: 412, headers });
  if (isUnchanged(c, selected)) return new Response(null, { status: 304, headers });
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
  return new Response(await (await OpenFile.at(snapshot.path)).body(start, end), { status, headers });
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
