// REST: every operation of the table at its path, with its Markdown twin, HEAD, conditional requests and 405.
import type { Hono } from 'hono';
import { fileHeaders } from '../discovery/hosting.ts';
import { ApiError, type ErrorCode, toApiError } from '../errors.ts';
import { admit, type Call, execute, type Gate } from '../execute.ts';
import { etagOf, matches } from '../formats/etag.ts';
import { type Choice, MEDIA_TYPES, negotiate } from '../formats/negotiate.ts';
import { nextUrl, render } from '../formats/render.ts';
import { isTabular } from '../formats/rows.ts';
import type { Context, Format, Operation, Result } from '../operation.ts';
import { encoded, varied } from './coding.ts';
import { answeredBy } from './direct.ts';
import { type Answer, KEPT } from './kept.ts';
import { type Http, type HttpRequest, type NodeBindings, readRequest, routedPath } from './request.ts';
import { errorReply, type Headers, isPieces, type Reply, responseOf } from './respond.ts';
import { RestCall } from './rest-call.ts';

export type App = Hono<{ Bindings: NodeBindings }>;

/** What the channel needs beside the gate. */
export interface RestDeps {
  gate: Gate;
  /** Told of every error that is our own fault. */
  report(error: unknown, request_id: string): void;
}

/** Mounts the table. The app must route by `routedPath`, so that `.md` twins reach the same handlers. */
export function mountRest(app: App, deps: RestDeps): void {
  const byPath = Map.groupBy(deps.gate.operations, ({ route }) => routedPath(route.path));
  for (const [path, operations] of byPath) {
    for (const operation of operations)
      app.on(
        operation.route.method,
        path,
        answeredBy((c) => reply(deps, c, operation)),
      );
    const methods = operations.map(({ route }) => (route.method === 'GET' ? 'GET, HEAD' : route.method));
    const allow = [...methods, 'OPTIONS'].join(', ');
    app.all(path, (c) => refuse(deps, c, 'method_not_allowed', `This address answers ${allow}.`, { Allow: allow }));
  }
  app.all('/v1/*', (c) => refuse(deps, c, 'not_found', 'There is nothing at this address.'));
}

/** An address or method that leads nowhere: identified and limited like any other call, then refused. */
async function refuse(
  { gate, report }: RestDeps,
  c: Http,
  code: ErrorCode,
  message: string,
  headers: Headers = {},
): Promise<Response> {
  const request = readRequest(gate, c);
  try {
    await admit(gate, request.visitor, 'free');
    throw new ApiError(code, message, { headers });
  } catch (error) {
    return responseOf(failed(gate, request, error, report));
  }
}

/** Answers one operation at an address (`reply`), for handlers of Hono. */
export async function answer(
  deps: RestDeps,
  c: Http,
  operation: Operation,
  path?: Record<string, string>,
): Promise<Response> {
  return responseOf(await reply(deps, c, operation, path));
}

/** Answers one operation at an address, from the request to what is sent. `path` holds its path parameters. */
async function reply(
  { gate, report }: RestDeps,
  c: Http,
  operation: Operation,
  path: Record<string, string> = c.req.param(),
): Promise<Reply> {
  const request = readRequest(gate, c);
  const choice = negotiate(formsOf(operation), {
    accept: request.accept,
    suffix: request.suffix,
    parameter: operation.own_format ? undefined : single(request.query['format']),
  });
  const call = new RestCall(c, request, operation, path, choice.format, gate.code);
  try {
    if (request.refused) {
      await admit(gate, call, 'free');
      throw request.refused;
    }
    const outcome = await execute<Answer>(gate, call, present, KEPT);
    const headers = cacheHeaders(operation, outcome.caller.kind === 'anonymous', choice);
    Object.assign(headers, request.headers, choice.format === 'html' ? fileHeaders(gate.base_url) : {});
    if (outcome.kind === 'unchanged') {
      outcome.done();
      headers['ETag'] = call.tag ?? '';
      return { status: 304, headers, body: null };
    }
    const { result, rendered } = outcome.answer;
    const { body } = rendered;
    const whole = typeof body === 'string' || body instanceof Uint8Array;
    const complete = whole || isPieces(body);
    if (whole && operation.access === 'free' && operation.route.method === 'GET') call.tag ??= etagOf(body);
    if (call.tag !== undefined) headers['ETag'] = call.tag;
    describe(headers, result, rendered, call);
    if (call.tag !== undefined && matches(call.sent, call.tag)) {
      outcome.done();
      return { status: 304, headers, body: null };
    }
    if (complete) {
      outcome.done();
      return encoded({ status: result.status ?? 200, headers, body }, c.req.header('accept-encoding'));
    }
    const fault = (error: unknown) => call.signal.aborted || report(error, request.request_id);
    const sent = call.head ? closed(body, outcome.done) : streamed(body, outcome.done, fault);
    return encoded({ status: 200, headers, body: sent }, c.req.header('accept-encoding'));
  } catch (error) {
    return failed(gate, request, error, report, call);
  }
}

/** The forms of each operation's answers, made once. */
const forms = new WeakMap<Operation, readonly Format[]>();

/** The forms of an answer, best first; the page for people is one of them where the operation has one. */
function formsOf(operation: Operation): readonly Format[] {
  const { formats, html } = operation;
  if (!html) return formats;
  let all = forms.get(operation);
  if (all === undefined) {
    all = html.first ? ['html', ...formats] : [...formats, 'html'];
    forms.set(operation, all);
  }
  return all;
}

/** A result in the form that is asked for. What takes no time is not waited for. */
function present(result: Result<unknown>, ctx: Context, operation: Operation): Answer | Promise<Answer> {
  const { parts } = result;
  // Of a free answer the bytes are needed, for its tag.
  if (ctx.format === 'json' && parts && parts.length > 1 && operation.access !== 'free')
    return { result, rendered: { content_type: MEDIA_TYPES.json, body: parts } };
  const rendered = render(operation, result, ctx);
  return rendered instanceof Promise ? rendered.then((made) => ({ result, rendered: made })) : { result, rendered };
}

const single = (value: string | string[] | undefined) => (typeof value === 'string' ? value : undefined);

/** Cache rules of contract section 2: answers about records are private, free ones may be kept and asked again about. */
function cacheHeaders(operation: Operation, anonymous: boolean, { format, varies }: Choice): Headers {
  // A page of what was paid for would stay in the browser's history for whoever sits there next (specification section 8).
  if (format === 'html' && operation.access !== 'free') return { 'Cache-Control': 'private, no-store', Vary: 'Accept' };
  const open = operation.access === 'free' && anonymous;
  if (operation.group === 'account' || operation.group === 'owners')
    return { 'Cache-Control': 'no-store', ...(varies ? { Vary: 'Accept' } : {}) };
  const vary = varies ? 'Accept' : undefined;
  const told = format === 'arrow' ? vary : varied(vary);
  return { 'Cache-Control': `${open ? 'public' : 'private'}, no-cache`, ...(told === undefined ? {} : { Vary: told }) };
}

function describe(headers: Headers, result: Result<unknown>, rendered: Answer['rendered'], call: Call): void {
  headers['Content-Type'] = rendered.content_type;
  if (result.last_modified !== undefined) headers['Last-Modified'] = httpDate(result.last_modified);
  if (typeof result.next_cursor !== 'string') return;
  headers['Link'] = `<${nextUrl(call.url, result.next_cursor)}>; rel="next"`;
  if (isTabular(call.format)) headers['X-Next-Cursor'] = result.next_cursor;
}

/** Times as HTTP writes them. Many records were changed at the same moment, so the last few are kept. */
const dates = new Map<string, string>();

function httpDate(time: string): string {
  let date = dates.get(time);
  if (date === undefined) {
    if (dates.size > 1000) dates.clear();
    date = new Date(time).toUTCString();
    dates.set(time, date);
  }
  return date;
}

/** A long body, piece by piece; the release it reads stays lent until the last piece is gone, or the client is. */
function streamed(
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

/** No body at all, for HEAD: what was opened for it is closed. */
function closed(body: AsyncIterable<string>, done: () => void): null {
  void body[Symbol.asyncIterator]().return?.();
  done();
  return null;
}

function failed(gate: Gate, request: HttpRequest, error: unknown, report: RestDeps['report'], call?: Call): Reply {
  const told = toApiError(error);
  if (told.code === 'internal' && !call?.signal.aborted) report(error, request.request_id);
  // Only a dataset that was found has a guide to point to.
  const known = call?.headers['X-Dataset-Version'] === undefined ? undefined : (call.dataset ?? undefined);
  return errorReply(told, {
    base_url: gate.base_url,
    request_id: request.request_id,
    dataset: known,
    accept: request.accept,
    headers: request.headers,
    resource: '/v1',
  });
}
