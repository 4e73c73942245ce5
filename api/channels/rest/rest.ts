// REST: every operation of the table at its path, with its Markdown twin, HEAD, conditional requests and 405.

import { FORMATS } from '../../../data/input/formats.ts';
import { derive } from '../../../packs/define/derive.ts';
import { type Caller, holderOf } from '../../access/caller.ts';
import { ApiError, toApiError } from '../../contract/errors.ts';
import type { Context, Format, Operation, RenderedFile, Result, Validators } from '../../contract/operation.ts';
import { fileHeaders } from '../../discovery/hosting.ts';
import { admit, type Call, type CallDeps, execute, type Outcome } from '../../gate/execute.ts';
import { compressReply, varyHeader } from '../../http/coding.ts';
import { findCompressedCopies, pickEncodedCopy } from '../../http/compressed-copies.ts';
import { isUnchanged } from '../../http/conditions.ts';
import { findFile, openFile } from '../../http/files.ts';
import { methodNotAllowed, notFound } from '../../http/not-found.ts';
import { OpenFile } from '../../http/open-files.ts';
import {
  decodePayment,
  type HttpContext,
  type HttpRequest,
  readBody,
  readRequest,
  routedPath,
} from '../../http/request.ts';
import { errorReply, type Headers, isPieces, type Reply, responseOf } from '../../http/respond.ts';
import { type App, mountTable, type Services } from '../../http/server.ts';
import { isPublished } from '../../http/static-overlay.ts';
import type { StreamLimit } from '../../http/streams.ts';
import { type Choice, negotiate } from '../../render/negotiate.ts';
import { nextUrl, render } from '../../render/render.ts';
import { REST_ANSWER_CODEC, type RestAnswer } from './stored-answer.ts';

/** Dependencies of the channel. */
export interface RestDeps extends Services {
  /** DIST_DIR, whose files are sent if they hold the same answer; absent: answers are always generated. */
  root?: string;
  /** Limits the long texts that are generated at the same time. */
  streams: StreamLimit;
}

/**
 * Mounts the table. The app must route by `routedPath`, so that `.md` twins reach the same handlers. An unknown path
 * or method is identified and limited like any other call, then rejected.
 *
 * @example
 * ```ts
 * mountRest(app, { gate, root: 'dist', streams, report });
 * await app.request('/v1/:ds/entities?country=CH');
 * ```
 */
export function mountRest(app: App, deps: RestDeps): void {
  const byPath = Map.groupBy(deps.gate.operations, ({ rest }) => routedPath(rest.path));
  for (const [path, operations] of byPath) {
    for (const operation of operations) app.on(operation.rest.method, path, (c) => answer(deps, c, operation));
    const refuse = () => {
      throw methodNotAllowed(operations.map(({ rest }) => rest.method));
    };
    mountTable(app, deps, { routes: { [`ALL ${path}`]: refuse } });
  }
  const unknown = async ({ path }: { path: string }) => {
    throw await notFound(deps.gate, path);
  };
  mountTable(app, deps, { routes: { 'ALL /v1/*': unknown } });
}

/** Runs one operation, from the request to the response. `path` holds its path parameters. Never rejects. */
export async function answer(
  deps: RestDeps,
  c: HttpContext,
  operation: Operation,
  path: Record<string, string> = c.req.param(),
): Promise<Response> {
  const call = new RestCall(deps.gate, c, operation, path);
  try {
    // The 413 of an address that is too long counts like a free call.
    if (call.request.urlError) {
      await admit(deps.gate, call, 'free');
      throw call.request.urlError;
    }
    const outcome = await execute<RestAnswer>(deps.gate, call, present, REST_ANSWER_CODEC);
    return responseOf(await reply(deps, call, outcome));
  } catch (error) {
    return responseOf(failedReply(deps, call, error));
  }
}

/** A request of an operation as the gate's call; members that few calls need are computed on demand. */
class RestCall implements Call {
  readonly http: HttpContext;
  readonly request: HttpRequest;
  readonly choice: Choice;
  readonly credential: Call['credential'];
  readonly address: string;
  readonly headers: Call['headers'];
  readonly operation: Operation;
  readonly raw: Call['raw'];
  readonly query: string | undefined;
  readonly dataset: string | null;
  readonly entity: string | null;
  readonly format: Format;
  readonly head: boolean;
  readonly request_id: string;
  readonly idempotency_key: string | undefined;
  readonly max_price: string | undefined;
  readonly payment: unknown;
  readonly misread: ApiError | undefined;
  readonly body: (() => Promise<unknown>) | undefined;
  /** Entity tag of the response, set once its version is known. */
  tag: string | undefined;
  /** Time of the last change, as a header, set once it is known. */
  last_modified: string | undefined;
  readonly #gate: CallDeps;

  /** `path` holds the path parameters. */
  constructor(gate: CallDeps, http: HttpContext, operation: Operation, path: Record<string, string>) {
    const request = readRequest(gate, http);
    this.http = http;
    this.request = request;
    this.choice = negotiate(formsOf(operation), {
      accept: request.accept,
      suffix: request.hasMdSuffix,
      parameter: operation.own_format ? undefined : single(request.query['format']),
    });
    this.#gate = gate;
    this.credential = request.visitor.credential;
    this.address = request.visitor.address;
    this.headers = request.headers;
    this.operation = operation;
    this.raw = request.search === '' ? path : { ...request.query, ...path };
    this.query = operation.rest.method === 'GET' ? request.search : undefined;
    this.dataset = path['ds'] ?? null;
    this.entity = path['entity_id'] ?? null;
    this.format = this.choice.format;
    this.head = request.method === 'HEAD';
    this.request_id = request.request_id;
    this.idempotency_key = request.header('idempotency-key');
    this.max_price = request.header('x-max-price-eur');
    this.payment = decodePayment(request.header('payment-signature'));
    this.misread = request.search === '' ? undefined : strayIn(request, path);
    let body: Promise<unknown> | undefined;
    this.body = operation.rest.method === 'GET' ? undefined : () => (body ??= readBody(http, operation.rest.form));
    this.tag = undefined;
    this.last_modified = undefined;
  }

  get url(): URL {
    return this.request.url;
  }

  get signal(): AbortSignal {
    return this.http.req.raw.signal;
  }

  /** Reads the connection's state, so that no abort signal has to be created. */
  gone(): boolean {
    return this.http.env?.outgoing?.destroyed ?? this.signal.aborted;
  }

  unchanged(validators: Validators, ctx: Context): boolean {
    // HTML pages of paid answers are never stored, so no client can have one.
    if (ctx.format === 'html') return false;
    const { last_modified, source } = validators;
    const { name, charge } = this.operation;
    // For paid answers the tag excludes the caller, so that it is compared for callers without a credential too
    // (contract section 3).
    const caller = charge.access === 'free' ? `${ctx.visibility} ${ctx.admin}` : '';
    const tag = () => this.#tagOf(validators, caller);
    const date = () => (last_modified === undefined ? undefined : new Date(last_modified).toUTCString());
    // Only of addresses without a query, of which there are few for a record.
    const derives = source !== undefined && this.request.search === '';
    this.tag = derives ? derive(source, `tag of ${name} as ${ctx.format} ${caller}`, tag) : tag();
    this.last_modified = source === undefined ? date() : derive(source, 'Last-Modified', date);
    return this.had();
  }

  /** Whether the client has the current version, by its conditional headers. */
  had(): boolean {
    return isUnchanged(this.request, this);
  }

  /** The tag of a version, with everything else that the body depends on. */
  #tagOf({ version, pack_version = '' }: Validators, caller: string): string {
    const { code, base_url, tags } = this.#gate;
    const query = sortedQuery(this.request.search);
    return tags.ofVersion(version, [pack_version, code, this.operation.name, this.format, caller, base_url, query]);
  }
}

/** The query with its parameters in order of their names. */
function sortedQuery(search: string): string {
  if (search === '') return '';
  const query = new URLSearchParams(search);
  query.sort();
  return query.toString();
}

/** Rejects a query parameter with the name of a path parameter, which would be lost in the input. */
function strayIn({ query }: HttpRequest, path: Record<string, string>): ApiError | undefined {
  const stray = Object.keys(path).find((name) => query[name] !== undefined);
  return stray === undefined
    ? undefined
    : new ApiError('unknown_filter', `"${stray}" is part of the path and no parameter of this operation.`);
}

/** The reply of a call that passed the gate. */
async function reply(deps: RestDeps, call: RestCall, outcome: Outcome<RestAnswer>): Promise<Reply> {
  const { operation, choice, headers } = call;
  const { base_url, tags } = deps.gate;
  const priced = outcome.kind === 'not_run' || (outcome.kind === 'answer' && outcome.priced);
  const free = operation.charge.access === 'free' && !priced;
  // One object for all headers: those of the gate, of caches and of the answer.
  const { extension, media_type } = FORMATS[choice.format];
  if (extension) headers['Content-Disposition'] = `attachment; filename="${call.dataset ?? 'register'}.${extension}"`;
  addCacheHeaders(headers, operation, free && outcome.caller.kind === 'anonymous', choice);
  if (choice.format === 'html') Object.assign(headers, fileHeaders(base_url));
  if (outcome.kind !== 'answer') {
    outcome.done();
    addValidators(headers, call);
    if (outcome.kind === 'unchanged') return { status: 304, headers, body: null };
    headers['Content-Type'] = media_type;
    return { status: 200, headers, body: null };
  }
  const { result, rendered } = outcome.answer;
  if (result.framed) Object.assign(headers, fileHeaders(base_url, true));
  const { body } = rendered;
  const inMemory = typeof body === 'string' || body instanceof Uint8Array;
  if (inMemory && free && operation.rest.method === 'GET') call.tag ??= tags.ofBody(body);
  if (result.last_modified !== undefined) call.last_modified ??= new Date(result.last_modified).toUTCString();
  addValidators(headers, call);
  describe(headers, result, rendered, call);
  if (free && operation.rest.method === 'GET' && call.had()) {
    outcome.done();
    return { status: 304, headers, body: null };
  }
  const { caller, done } = outcome;
  if (!inMemory && !isPieces(body)) return streamedReply(deps, call, { result, body, headers, caller, done });
  outcome.done();
  return compressReply({ status: result.status ?? 200, headers, body }, call.request.header('accept-encoding'));
}

interface Streamed {
  result: Result<unknown>;
  body: AsyncIterable<string>;
  headers: Headers;
  caller: Caller;
  done: () => void;
}

/** The reply of a long text: the static file with the same content, or the text as it is generated. */
async function streamedReply(
  { gate, root, streams, report }: RestDeps,
  call: RestCall,
  { result, body, headers, caller, done }: Streamed,
): Promise<Reply> {
  if (call.head) return { status: 200, headers, body: closeStream(body, done) };
  const accepts = call.request.header('accept-encoding');
  try {
    const file = root && result.file ? await openRendered(root, result.file, gate, accepts) : null;
    if (file !== null) {
      done();
      return { status: 200, headers: { ...headers, ...file.headers }, body: file.body };
    }
    const release = streams.open(holderOf(caller, call.address), caller.kind !== 'anonymous', done);
    const fault = (error: unknown) => call.signal.aborted || report(error, call.request_id);
    return await compressReply({ status: 200, headers, body: streamOf(body, release, fault) }, accepts);
  } catch (error) {
    done();
    throw error;
  }
}

/** The reply of a failed call: a page if the client prefers one, else JSON. */
function failedReply({ gate: { base_url }, report }: RestDeps, call: RestCall, error: unknown): Reply {
  const { request_id, request, headers, operation, choice } = call;
  const apiError = toApiError(error);
  if (apiError.code === 'internal' && !call.signal.aborted) report(error, request_id);
  // Only an existing dataset has a guide to link to.
  const dataset = headers['X-Dataset-Version'] === undefined ? undefined : (call.dataset ?? undefined);
  const place = { base_url, request_id, dataset, accept: request.accept, headers, resource: '/v1' };
  const failed = errorReply(apiError, place);
  const page = choice.format === 'html' ? operation.rest.html?.failure : undefined;
  if (page === undefined) return failed;
  const pageHeaders = { ...failed.headers, ...fileHeaders(base_url), 'Content-Type': FORMATS.html.media_type };
  return {
    status: failed.status,
    headers: pageHeaders,
    body: page(apiError.message, { base_url, path: request.path }),
  };
}

/** Formats of an operation, preferred ones first; HTML is one of them if the operation has a page. */
function formsOf({ formats, rest: { html } }: Operation): readonly Format[] {
  if (!html) return formats;
  return derive(html, 'formats', () => (html.first ? ['html', ...formats] : [...formats, 'html']));
}

/** Renders a result in the requested format. */
async function present(result: Result<unknown>, ctx: Context, operation: Operation): Promise<RestAnswer> {
  const { parts } = result;
  // The tag of a free answer is computed from its bytes.
  if (ctx.format === 'json' && parts && parts.length > 1 && (operation.charge.access !== 'free' || ctx.priced))
    return { result, rendered: { content_type: FORMATS.json.media_type, body: parts } };
  return { result, rendered: await render(operation, result, ctx) };
}

const single = (value: string | string[] | undefined) => (typeof value === 'string' ? value : undefined);

/**
 * Adds the cache headers of contract section 2: answers about records are private, free ones may be stored and
 * revalidated. The no-store of a request with a credential in its URL stays.
 */
function addCacheHeaders(headers: Headers, operation: Operation, open: boolean, { format, varies }: Choice): void {
  // The page of a paid answer must not stay in the history of a shared browser (specification section 8).
  const page = format === 'html' && operation.charge.access !== 'free';
  if (page) headers['Cache-Control'] ??= 'private, no-store';
  else if (operation.rest.personal) headers['Cache-Control'] ??= 'no-store';
  else headers['Cache-Control'] ??= open ? 'public, no-cache' : 'private, no-cache';
  const accept = varies || page ? 'Accept' : undefined;
  const vary = page || operation.rest.personal || FORMATS[format].uncompressed ? accept : varyHeader(accept);
  if (vary !== undefined) headers['Vary'] ??= vary;
}

function addValidators(headers: Headers, { tag, last_modified }: RestCall): void {
  if (tag !== undefined) headers['ETag'] = tag;
  if (last_modified !== undefined) headers['Last-Modified'] = last_modified;
}

function describe(headers: Headers, result: Result<unknown>, rendered: RestAnswer['rendered'], call: RestCall): void {
  headers['Content-Type'] = rendered.content_type;
  if (result.truncated) headers['X-Truncated'] = 'true';
  if (typeof result.next_cursor !== 'string') return;
  headers['Link'] = `<${nextUrl(call.url, result.next_cursor)}>; rel="next"`;
  if (FORMATS[call.format].bulk) headers['X-Next-Cursor'] = result.next_cursor;
}

/** A streamed body. The release stays leased until the last piece is sent or the client is gone. */
function streamOf(
  body: AsyncIterable<string>,
  done: () => void,
  fault: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = await pieces.next();
          if (!piece.done) return controller.enqueue(Buffer.from(piece.value));
          done();
          controller.close();
        } catch (error) {
          done();
          fault(error);
          controller.error(error);
        }
      },
      async cancel() {
        done();
        await pieces.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Body of a HEAD response: closes the stream that was opened for it. */
function closeStream(body: AsyncIterable<string>, done: () => void): null {
  void body[Symbol.asyncIterator]().return?.();
  done();
  return null;
}

/**
 * Body and headers of a static file; null if the file is missing, was built from another release, overlay,
 * code or BASE_URL, or is being replaced. Without a compressed copy that the client accepts, it is sent
 * uncompressed.
 */
async function openRendered(
  root: string,
  { path, release }: RenderedFile,
  gate: CallDeps,
  accepts: string | undefined,
): Promise<{ body: Reply['body']; headers: Headers } | null> {
  const file = await findFile(root, `/${path}`);
  if (file === null || !(await isPublished(root, release, gate, file.last_modified))) return null;
  const copy = pickEncodedCopy(await findCompressedCopies(file), accepts);
  const opened = await openFile(file, copy);
  if (!(opened instanceof OpenFile)) return null;
  const { bytes } = copy ?? file;
  const headers: Headers = { 'Content-Length': String(bytes) };
  if (copy !== null) headers['Content-Encoding'] = copy.coding;
  return { body: await opened.body(0, bytes - 1), headers };
}
