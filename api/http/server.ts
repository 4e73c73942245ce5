// The server of pages and documents. Features declare tables of routes; it admits a request, runs the route's
// handler, and sends the answer or the error with the headers that the route declares.
import type { Hono } from 'hono';
import type { Requester } from '../../data/model/accounts.ts';
import { derive } from '../../packs/define/derive.ts';
import { ANONYMOUS, type Caller, holderOf } from '../access/caller.ts';
import type { Bucket } from '../access/limits.ts';
import { type ApiError, ERRORS, toApiError } from '../contract/errors.ts';
import type { Content } from '../discovery/document.ts';
import { admit, type CallDeps } from '../gate/execute.ts';
import { prefixOf } from '../pages/frame.ts';
import { type Html, html } from '../pages/html.ts';
import { PLAIN_SHELL, type Shell, type ShellPage } from '../pages/shell.ts';
import { preferred } from '../render/negotiate.ts';
import { isForeignForm } from './browser-session.ts';
import { compressReply, varyHeader } from './coding.ts';
import { etagOf, matches } from './conditions.ts';
import { methodNotAllowed } from './not-found.ts';
import { type HttpContext, HttpRequest, type NodeBindings, readForm } from './request.ts';
import { errorReply, type Headers, type Reply, responseOf } from './respond.ts';

export type App = Hono<{ Bindings: NodeBindings }>;

/** What every route is served with. */
export interface Services {
  gate: CallDeps;
  /** Receives every internal error. */
  report(error: unknown, request_id: string): void;
}

/** How a route admits requests and answers them. */
export interface Policy {
  /** The rate limit that a request counts against; null: none. */
  bucket: Bucket | null;
  /**
   * `any`: the caller is identified, and a wrong credential refused. `keys`: access tokens are refused too.
   * `ignored`: the address is counted, whatever the request contains.
   */
  credentials: 'any' | 'keys' | 'ignored';
  /** Whether scripts of other sites may read the answers. */
  cors: boolean;
  /** Cache-Control of answers that set none. */
  caching: string;
  /** Errors are pages, JSON, or what the client prefers. */
  errors: 'page' | 'json' | 'preferred';
  /** The frame of pages. */
  shell: Shell;
  /** The page that pages of errors link to, below the base URL. */
  home?: { path: string; text: string };
  /**
   * A POST has a form, which is read before the handler runs. Forms of other sites are refused: `session`
   * requires the headers of a browser, for pages with cookies; `token` is for forms with a secret field.
   */
  form?: 'session' | 'token' | 'unchecked' | undefined;
  /** Answers an error in the feature's own form; undefined: as `errors` says. */
  failure?: (error: ApiError, request: RouteRequest, thrown: unknown) => RouteAnswer | undefined;
  /** Whether a thrown value is an answer of the feature's protocol, and no fault to report. */
  expected?: (thrown: unknown) => boolean;
}

const DEFAULTS: Policy = {
  bucket: 'free',
  credentials: 'any',
  cors: true,
  caching: 'no-store',
  errors: 'json',
  shell: PLAIN_SHELL,
};

type Handler = (request: RouteRequest) => RouteAnswer | Promise<RouteAnswer>;

/** A handler, with its differences to the policy of its table. */
export type Route = Handler | (Partial<Policy> & { answer: Handler });

/**
 * Routes by method and path, with a policy that they share. Earlier ones win. `ALL` is any method. A method that
 * none of the routes of a path has is counted and answered with 405, unless the path ends in `*`.
 *
 * @example
 * const table: RouteTable = {
 *   policy: { errors: 'page', shell: KEYS_SHELL, form: 'session' },
 *   routes: {
 *     'GET /keys': () => ({ page: keyFormPage(null) }),
 *     'POST /keys': (request) => createKey(request),
 *     'POST /keys/recover': { bucket: 'signin', answer: (request) => recover(request) },
 *   },
 * };
 */
export interface RouteTable {
  policy?: Partial<Policy>;
  routes: Readonly<Record<string, Route>>;
}

interface AnswerParts {
  status?: number;
  headers?: Headers;
  /** Values of Set-Cookie. */
  cookies?: readonly string[];
}

/** What a handler returns; an expected error is thrown as ApiError. */
export type RouteAnswer =
  /** A response that a library or a file produced. */
  | Response
  /** A page, or a printed page or fragment. */
  | (AnswerParts & { page: ShellPage | string; shell?: Shell })
  | (AnswerParts & { json: unknown })
  /** A redirect, 303 by default. */
  | (AnswerParts & { to: string })
  /** A text or file with an entity tag, answered with 304 where the client has it; compressed. */
  | (AnswerParts & { document: Content; type: string; tag?: string });

/** An answer without a finished response. */
export type PlainAnswer = Exclude<RouteAnswer, Response>;

/** A request as handlers read it. */
export class RouteRequest extends HttpRequest {
  readonly http: HttpContext;
  readonly now: Date;
  /** Set once the request is admitted. */
  caller: Caller = ANONYMOUS;
  /** Fields of a POST; empty for other methods. */
  form = new URLSearchParams();
  readonly #gate: CallDeps;

  constructor(gate: CallDeps, http: HttpContext) {
    super(gate, http);
    this.#gate = gate;
    this.http = http;
    this.now = gate.now();
  }

  /** Path parameters. */
  get params(): Record<string, string> {
    return this.http.req.param();
  }

  /** Whether the client prefers HTML to JSON. */
  get prefersHtml(): boolean {
    return preferred(this.accept, ['application/json', 'text/html']) === 'text/html';
  }

  /** The context of queries of public values. */
  get publicContext() {
    const [{ now }, { base_url }, { signal }] = [this, this.#gate, this.http.req.raw];
    const holder = holderOf(ANONYMOUS, this.visitor.address);
    return { now, base_url, visibility: 'public' as const, admin: false, signal, holder };
  }

  /** A query parameter; undefined if it is absent or repeated. */
  parameter(name: string): string | undefined {
    const value = this.query[name];
    return typeof value === 'string' ? value : undefined;
  }

  /** A field of the form, without space around it; empty if it is absent. */
  field(name: string): string {
    return this.form.get(name)?.trim() ?? '';
  }

  /** Who makes the changes of this request; `key`: the id of their key, null without one. */
  requester(key: string | null): Requester {
    return { key, address: this.visitor.address, request_id: this.request_id, now: this.now.getTime() };
  }

  /** Counts the request against a further limit, by its address; throws `rate_limited`. */
  async count(bucket: Bucket): Promise<void> {
    await admit(this.#gate, { ...this.visitor, credential: null }, bucket);
  }
}

/** Mounts the routes of a table. */
export function mountTable(app: App, services: Services, { policy = {}, routes }: RouteTable): void {
  const paths = Map.groupBy(Object.entries(routes), ([route]) => route.slice(route.indexOf(' ') + 1));
  for (const [path, rows] of paths) {
    const methods = rows.map(([route]) => route.slice(0, route.indexOf(' ')));
    for (const [i, [, route]] of rows.entries()) {
      const handler = routeHandler(services, policy, route);
      if (methods[i] === 'ALL') app.all(path, handler);
      else app.on(methods[i]!, path, handler);
    }
    if (path.endsWith('*') || methods.includes('ALL')) continue;
    const refuse = () => {
      throw methodNotAllowed(methods);
    };
    // Other methods: the policy of the path's first route, but counted, without a form, and with JSON for programs.
    const first = rows[0]![1];
    const firstPolicy = { ...DEFAULTS, ...policy, ...(typeof first === 'function' ? {} : first) };
    const errors = firstPolicy.errors === 'page' ? 'preferred' : firstPolicy.errors;
    app.all(path, routeHandler(services, firstPolicy, { bucket: 'free', form: undefined, errors, answer: refuse }));
  }
}

/** The handler of one route, for Hono. */
function routeHandler({ gate, report }: Services, policy: Partial<Policy>, route: Route) {
  const declared = typeof route === 'function' ? { answer: route } : route;
  const { answer: run, ...rules } = { ...DEFAULTS, ...policy, ...declared };
  return async (c: HttpContext): Promise<Response> => {
    const request = new RouteRequest(gate, c);
    let answer: RouteAnswer;
    try {
      await prepare(gate, rules, request);
      answer = isForeignForm(gate.base_url, rules.form, request) ? foreignForm(gate.base_url) : await run(request);
    } catch (thrown) {
      const error = toApiError(thrown);
      const fault = error.code === 'internal' && !c.req.raw.signal.aborted && !rules.expected?.(thrown);
      if (fault) report(thrown, request.request_id);
      answer = rules.failure?.(error, request, thrown) ?? errorAnswer(gate.base_url, rules, request, error);
    }
    return send(gate.base_url, rules, request, answer);
  };
}

/** Admits the request, or throws, and sets its `caller` and `form`. */
async function prepare(gate: CallDeps, { bucket, credentials, form }: Policy, request: RouteRequest): Promise<void> {
  const visitor = credentials === 'ignored' ? { ...request.visitor, credential: null } : request.visitor;
  if (bucket !== null) request.caller = await admit(gate, visitor, bucket, credentials === 'keys');
  if (request.urlError) throw request.urlError;
  if (form !== undefined && request.method === 'POST') request.form = await readForm(request.http);
}

/** The response, with the headers of the request and those that the policy declares. */
async function send(base_url: string, policy: Policy, request: RouteRequest, answer: RouteAnswer): Promise<Response> {
  const response = answer instanceof Response ? answer : responseOf(await replyOf(base_url, policy, request, answer));
  const { headers } = response;
  if (!(answer instanceof Response)) for (const cookie of answer.cookies ?? []) headers.append('Set-Cookie', cookie);
  for (const [name, value] of Object.entries(request.headers)) {
    // These replace those of the answer: CORS is the server's alone, and a request with a credential in its URL has the others.
    const replaces = /^(?:Access-Control-.*|Cache-Control|Referrer-Policy)$/.test(name);
    if (replaces || !headers.has(name)) headers.set(name, value);
  }
  if (!headers.has('Cache-Control')) headers.set('Cache-Control', policy.caching);
  if (!policy.cors)
    for (const name of ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers']) headers.delete(name);
  return response;
}

async function replyOf(
  base_url: string,
  { shell: policyShell, caching }: Policy,
  request: RouteRequest,
  answer: PlainAnswer,
): Promise<Reply> {
  const { status = 200, headers = {} } = answer;
  if ('to' in answer) {
    // The address may contain a secret, as that of a page.
    const { 'Content-Type': _, ...guards } = policyShell.headers;
    const redirectHeaders = { ...guards, 'Cache-Control': caching, ...headers, Location: answer.to };
    return { status: answer.status ?? 303, headers: redirectHeaders, body: null };
  }
  if ('json' in answer) {
    return { status, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(answer.json) };
  }
  if ('page' in answer) {
    const { page, shell = policyShell } = answer;
    const body = typeof page === 'string' ? page : shell.page(base_url, page);
    return { status, headers: { ...shell.headers, ...headers }, body };
  }
  const { document: body, type } = answer;
  const tag = answer.tag ?? (typeof body === 'string' ? etagOf(body) : derive(body, 'entity tag', () => etagOf(body)));
  const documentHeaders = {
    'Cache-Control': caching,
    ...headers,
    Vary: varyHeader(headers['Vary']),
    ETag: tag,
    'Content-Type': type,
  };
  if (matches(request.header('if-none-match'), tag)) return { status: 304, headers: documentHeaders, body: null };
  return compressReply({ status, headers: documentHeaders, body }, request.header('accept-encoding'));
}

const TITLES: Partial<Record<ApiError['code'], string>> = {
  rate_limited: 'Too many attempts',
  not_found: 'Not found',
  admin_required: 'Operators only',
  invalid_key: 'Invalid key',
  internal: 'Something went wrong',
  unavailable: 'Temporarily unavailable',
};

/** The answer to an error: a page with the next step, or JSON. */
function errorAnswer(base_url: string, { errors, home }: Policy, request: RouteRequest, error: ApiError): RouteAnswer {
  const { request_id, accept, headers, path } = request;
  if (errors === 'json' || (errors === 'preferred' && !request.prefersHtml)) {
    const resource = path.startsWith('/v1/') ? '/v1' : '';
    return responseOf(errorReply(error, { base_url, request_id, accept, headers, resource }));
  }
  const { retry_after_seconds: seconds, headers: errorHeaders } = error.extras;
  const body = html`<p>${error.message}</p>${
    seconds !== undefined &&
    html`
<p>Wait ${seconds} seconds, then try again.</p>`
  }
<p class="hint">Request <code>${request_id}</code></p>${home && button(prefixOf(base_url) + home.path, home.text)}`;
  return {
    status: ERRORS[error.code].status,
    headers: { ...errorHeaders, ...(seconds !== undefined && { 'Retry-After': String(seconds) }) },
    page: { title: TITLES[error.code] ?? 'Request failed', body },
  };
}

const button = (href: string, text: string): Html => html`
<p class="actions"><a class="button" href="${href}">${text}</a></p>`;

/** The answer to a form that another site sent. */
export const foreignForm = (base_url: string): PlainAnswer => ({
  status: 403,
  page: {
    title: 'This form came from another site',
    body: html`<p>Nothing was changed. If you opened this page under another address than <code>${base_url}</code>, use that one; if it came by mail, open its link again.</p>`,
  },
});
