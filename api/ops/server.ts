// The operators' pages: requests to responses. The channel (routes.ts) mounts the addresses and applies the
// rate limits.

import { recordAudit } from '../../data/state/audit.ts';
import { hashSecret } from '../../data/state/key-format.ts';
import { operatorSessions } from '../../data/state/sessions.ts';
import { operatorId } from '../access/caller.ts';
import { ApiError, ERRORS, FOR_OPERATORS } from '../contract/errors.ts';
import { isSameOriginForm, SessionCookie } from '../http/browser-session.ts';
import { prefixOf } from '../pages/frame.ts';
import { html } from '../pages/html.ts';
import { keyPage, keysPage, postGrant, postRevoke } from './pages/keys.ts';
import { logPage, optOutsPage } from './pages/log.ts';
import { moneyPage } from './pages/money.ts';
import { nightsPage } from './pages/nights.ts';
import { nowPiece, overviewPage, statsJson } from './pages/overview.ts';
import { decidePost, reviewCasePage, reviewJson, reviewPage, reviewPiece } from './pages/review.ts';
import { decideManyPost } from './pages/review-bulk.ts';
import { OPS_SCRIPTS, scriptFile } from './parts/assets.ts';
import { FRAME_HEADERS, type OpsPage, printPage, withPrefix } from './parts/frame.ts';
import type { OpsAnswer, OpsParts, OpsRequest } from './parts/request.ts';

const cookieOf = (base_url: string) => new SessionCookie(base_url, 'register_ops', '/ops');

/** The operator of a session; null without one, or if the operator's key was removed. */
async function findSignedIn({ store, admins, base_url, now }: OpsParts, request: OpsRequest): Promise<string | null> {
  const token = cookieOf(base_url).read(request.header);
  if (token === undefined) return null;
  // Automatic refreshes of a page do not extend its session.
  const renews = !request.path.startsWith('/ops/partials/');
  const admin = await operatorSessions.find(store, token, now().getTime(), renews);
  return admin !== null && admins.has(admin) ? operatorId(admin) : null;
}

/** Signs in with a key under a new session token. Returns the cookie to set; null for a wrong key. */
async function signInOperator(parts: OpsParts, request: OpsRequest, typed: string): Promise<string | null> {
  const { store, admins, base_url, now, log } = parts;
  const hash = hashSecret(typed.trim().replace(/^Bearer +/i, ''));
  if (!admins.has(hash)) {
    log(`operators: sign-in with a wrong key from ${request.address}`);
    return null;
  }
  const cookie = cookieOf(base_url);
  const before = cookie.read(request.header);
  if (before !== undefined) await operatorSessions.end(store, before);
  const at = now().getTime();
  const token = await operatorSessions.open(store, hash, at);
  const who = `operator ${operatorId(hash)}`;
  const nothing = { dataset: null, entity_id: null, subject: null };
  await recordAudit(store, { at, who, action: 'sign in', ...nothing, request_id: request.request_id });
  return cookie.set(token);
}

/** Ends the session. Returns the cookie that deletes it in the browser. */
async function signOutOperator({ store, base_url }: OpsParts, request: OpsRequest): Promise<string> {
  const cookie = cookieOf(base_url);
  const token = cookie.read(request.header);
  if (token !== undefined) await operatorSessions.end(store, token);
  return cookie.clear();
}

/** The path to open after sign-in: one of these pages, else the overview. */
function checkNextPath(path: string | null | undefined): string {
  const next = path ?? '';
  return /^\/ops(\/[a-z0-9-]+)*$/.test(next) && !/^\/ops\/(login|partials|assets)/.test(next) ? next : '/ops';
}

/** The sign-in page; `wrong`: the error of the key, `next`: the path to open afterwards. */
function operatorSignInPage(next: string, wrong?: string): OpsPage {
  const invalid = wrong === undefined ? '' : html` aria-invalid="true" aria-describedby="wrong"`;
  return {
    title: 'Sign in',
    body: html`<p>These pages are for operators of the register.</p>
<form class="ask" method="post" action="/ops/login">
${wrong === undefined ? '' : html`<p class="wrong" role="alert" id="wrong">${wrong}</p>`}
<label for="key">Operator’s key</label>
<input type="text" name="username" autocomplete="username" value="operator" readonly hidden>
<input id="key" name="key" type="password" autocomplete="current-password" autocapitalize="none" spellcheck="false" required autofocus${invalid}>
<input type="hidden" name="next" value="${next}">
<p class="hint">It was shown when the service first started, or is listed in <code>ADMIN_KEYS</code>.</p>
<button type="submit" class="button">Sign in</button>
</form>`,
  };
}

/** The answer to a form that another site sent. */
function operatorForeignFormPage(base_url: string): OpsPage {
  return {
    title: 'This form came from another site',
    body: html`<p>Nothing was changed. If you opened these pages under another URL than <code>${base_url}</code>, use that one.</p>
<p class="actions"><a class="button" href="${base_url}/ops">Open the overview</a></p>`,
  };
}

const TITLES: Partial<Record<ApiError['code'], string>> = {
  rate_limited: 'Too many attempts',
  not_found: 'Not found',
  admin_required: 'Operators only',
  invalid_key: 'Invalid key',
  internal: 'Something went wrong',
  unavailable: 'Temporarily unavailable',
};

/** An error as a page, with the next step. */
function operatorErrorPage(error: ApiError, request_id: string): OpsPage {
  const { retry_after_seconds: seconds } = error.extras;
  const fault = error.code === 'internal';
  return {
    title: TITLES[error.code] ?? 'Request failed',
    body: html`<p>${fault ? 'The log has details under the request id below.' : error.message}</p>
${seconds === undefined ? '' : html`<p>Wait ${seconds} seconds, then try again.</p>`}
<p class="hint">Request <code>${request_id}</code></p>
<p class="actions"><a class="button" href="/ops">Back to the overview</a></p>`,
  };
}

/** An error as an item of the review list. */
function operatorErrorItem(error: ApiError): string {
  return String(html`<li class="entry done wrong" role="alert">${error.message}</li>`);
}

type Handler = (parts: OpsParts, request: OpsRequest, who: string) => Promise<OpsAnswer>;

/** Addresses for operators with a session or a key. */
const HANDLERS: Readonly<Record<string, Handler>> = {
  'GET /ops': overviewPage,
  'GET /ops/': overviewPage,
  'GET /ops/stats.json': statsJson,
  'GET /ops/review.json': reviewJson,
  'GET /ops/review': reviewPage,
  // Before the addresses of single items, which match its path too.
  'POST /ops/review/decide': decideManyPost,
  'GET /ops/review/:item_id': reviewCasePage,
  'POST /ops/review/:item_id/approve': (parts, request, who) => decidePost(parts, request, who, 'approved'),
  'POST /ops/review/:item_id/reject': (parts, request, who) => decidePost(parts, request, who, 'rejected'),
  'GET /ops/partials/review': reviewPiece,
  'GET /ops/partials/now': nowPiece,
  'GET /ops/nights': nightsPage,
  'GET /ops/keys': keysPage,
  'GET /ops/keys/:key_id': keyPage,
  'POST /ops/keys/:key_id/grant': postGrant,
  'POST /ops/keys/:key_id/revoke': postRevoke,
  'GET /ops/money': moneyPage,
  'GET /ops/opt-outs': optOutsPage,
  'GET /ops/log': logPage,
};

/** Addresses without sign-in. */
const PUBLIC = ['GET /ops/login', 'POST /ops/login', 'POST /ops/logout', ...OPS_SCRIPTS.map((path) => `GET ${path}`)];

/** The operators' pages and their JSON. An expected error is thrown as ApiError. */
export class OpsServer {
  /** Every address, such as `GET /ops/review/:item_id`. */
  readonly routes: readonly string[] = [...Object.keys(HANDLERS), ...PUBLIC];
  readonly #parts: OpsParts;
  readonly #prefix: string;

  constructor(parts: OpsParts) {
    this.#parts = parts;
    this.#prefix = prefixOf(parts.base_url);
  }

  /** Answers a request for one of the routes. */
  async answer(route: string, request: OpsRequest): Promise<Response> {
    const handler = HANDLERS[route];
    if (handler === undefined) return this.#answerPublic(route, request);
    const parts = this.#parts;
    const who = request.operator ?? (await findSignedIn(parts, request));
    if (who === null) return this.#requireSignIn(request);
    // Another site can make a browser send the session cookie, but not a key.
    if (request.form !== null && request.operator === null && !isSameOriginForm(parts.base_url, request.header)) {
      if (request.html) return this.#page(operatorForeignFormPage(parts.base_url), 403);
      throw new ApiError('admin_required', 'This request came from another site.');
    }
    return this.#response(await handler(parts, request, who));
  }

  /** An error as a page; as a fragment for htmx (`piece`). */
  errorPage(error: ApiError, request_id: string, piece: boolean): Response {
    const { status } = ERRORS[error.code];
    if (piece) return this.#response({ piece: operatorErrorItem(error), status });
    const seconds = error.extras.retry_after_seconds;
    const retry = seconds === undefined ? {} : { 'Retry-After': String(seconds) };
    return this.#page(operatorErrorPage(error, request_id), status, retry);
  }

  async #answerPublic(route: string, request: OpsRequest): Promise<Response> {
    const parts = this.#parts;
    const script = OPS_SCRIPTS.find((path) => route === `GET ${path}`);
    if (script !== undefined) return scriptFile(script);
    if (route === 'GET /ops/login') {
      const next = checkNextPath(typeof request.query['next'] === 'string' ? request.query['next'] : null);
      return (await findSignedIn(parts, request)) === null
        ? this.#page(operatorSignInPage(next), 200)
        : this.#redirect(next);
    }
    if (!isSameOriginForm(parts.base_url, request.header))
      return this.#page(operatorForeignFormPage(parts.base_url), 403);
    if (route === 'POST /ops/logout')
      return this.#redirect('/ops/login', { 'Set-Cookie': await signOutOperator(parts, request) });
    return this.#signIn(request);
  }

  async #signIn(request: OpsRequest): Promise<Response> {
    await request.attempt();
    const next = checkNextPath(request.form?.get('next'));
    const key = request.form?.get('key') ?? '';
    if (key.trim() === '') {
      const issue = { loc: ['body', 'key'], msg: 'is required', type: 'missing' };
      if (!request.html) throw new ApiError('validation_failed', 'key: is required', { detail: [issue] });
      return this.#page(operatorSignInPage(next, 'Enter your key.'), 422);
    }
    const cookie = await signInOperator(this.#parts, request, key);
    if (cookie !== null) return this.#redirect(next, { 'Set-Cookie': cookie });
    if (!request.html) throw new ApiError('invalid_key', "This is not an operator's key.");
    return this.#page(operatorSignInPage(next, 'This is not an operator’s key.'), 401);
  }

  /** The answer without a session: a redirect to the login page for a browser, an error for a program. */
  #requireSignIn(request: OpsRequest): Response {
    const next = checkNextPath(request.form === null ? request.path : '/ops');
    const login = next === '/ops' ? '/ops/login' : `/ops/login?next=${next}`;
    if (request.piece)
      return new Response(null, {
        status: 401,
        headers: { 'HX-Redirect': this.#prefix + login, 'Cache-Control': 'no-store' },
      });
    if (request.html) return this.#redirect(login);
    throw new ApiError(
      'key_required',
      "This requires an operator's key, or a session of a signed-in operator.",
      FOR_OPERATORS,
    );
  }

  #response(answer: OpsAnswer): Response {
    if ('to' in answer) return this.#redirect(answer.to);
    const { status = 200 } = answer;
    if ('page' in answer) return this.#page(answer.page, status);
    if ('piece' in answer) {
      const html = withPrefix(this.#parts.base_url, answer.piece);
      return new Response(html, { status, headers: { ...FRAME_HEADERS } });
    }
    return Response.json(answer.json, { status, headers: { 'Cache-Control': 'no-store' } });
  }

  #page(page: OpsPage, status: number, headers: Record<string, string> = {}): Response {
    const html = printPage(this.#parts.base_url, page);
    return new Response(html, { status, headers: { ...FRAME_HEADERS, ...headers } });
  }

  #redirect(path: string, headers: Record<string, string> = {}): Response {
    const location = { 'Cache-Control': 'no-store', Location: this.#prefix + path };
    return new Response(null, { status: 303, headers: { ...location, ...headers } });
  }
}
