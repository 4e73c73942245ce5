// /ops: the operators' pages and JSON, for an operator's key or a session (contract section 3, "Credentials").

import { recordAudit } from '../../data/state/audit.ts';
import { hashSecret } from '../../data/state/key-format.ts';
import { operatorSessions } from '../../data/state/sessions.ts';
import { operatorId } from '../access/caller.ts';
import { ApiError, ERRORS, FOR_OPERATORS } from '../contract/errors.ts';
import { operatorKeyInUrl } from '../gate/execute.ts';
import { isForeignForm, SessionCookie } from '../http/browser-session.ts';
import { foreignForm, type PlainAnswer, type RouteRequest, type RouteTable } from '../http/server.ts';
import { prefixOf } from '../pages/frame.ts';
import { html } from '../pages/html.ts';
import type { ShellPage } from '../pages/shell.ts';
import { grafanaDashboard } from './dashboard.ts';
import { keyPage, keysPage, postGrant, postRefund, postRevoke } from './pages/keys.ts';
import { logPage, optOutsPage } from './pages/log.ts';
import { moneyPage } from './pages/money.ts';
import { nightsPage } from './pages/nights.ts';
import { nowPiece, overviewPage, statsJson } from './pages/overview.ts';
import { decidePost, reviewCasePage, reviewJson, reviewPage, reviewPiece } from './pages/review.ts';
import { decideManyPost } from './pages/review-bulk.ts';
import { OPS_SCRIPTS, scriptFile } from './parts/assets.ts';
import { OPS_SHELL, withPrefix } from './parts/frame.ts';
import { isPiece, type OpsAnswer, type OpsParts } from './parts/request.ts';

const cookieOf = (base_url: string) => new SessionCookie(base_url, 'register_ops', '/ops');

/** The operator of a session; null without one, or if the operator's key was removed. */
async function findSignedIn({ store, admins, base_url, now }: OpsParts, request: RouteRequest): Promise<string | null> {
  const token = cookieOf(base_url).read(request);
  if (token === undefined) return null;
  // Automatic refreshes of a page do not extend its session.
  const renews = !request.path.startsWith('/ops/partials/');
  const admin = await operatorSessions.find(store, token, now().getTime(), renews);
  return admin !== null && admins.has(admin) ? operatorId(admin) : null;
}

/** Signs in with a key under a new session token. Returns the cookie to set; null for a wrong key. */
async function signInOperator(parts: OpsParts, request: RouteRequest, typed: string): Promise<string | null> {
  const { store, admins, base_url, now, log } = parts;
  const hash = hashSecret(typed.trim().replace(/^Bearer +/i, ''));
  if (!admins.has(hash)) {
    log(`operators: sign-in with a wrong key from ${request.visitor.address}`);
    return null;
  }
  const cookie = cookieOf(base_url);
  const before = cookie.read(request);
  if (before !== undefined) await operatorSessions.end(store, before);
  const at = now().getTime();
  const token = await operatorSessions.open(store, hash, at);
  const who = `operator ${operatorId(hash)}`;
  const nothing = { dataset: null, entity_id: null, subject: null };
  await recordAudit(store, { at, who, action: 'sign in', ...nothing, request_id: request.request_id });
  return cookie.set(token);
}

/** Ends the session. Returns the cookie that deletes it in the browser. */
async function signOutOperator({ store, base_url }: OpsParts, request: RouteRequest): Promise<string> {
  const cookie = cookieOf(base_url);
  const token = cookie.read(request);
  if (token !== undefined) await operatorSessions.end(store, token);
  return cookie.clear();
}

/** The path to open after sign-in: one of these pages, else the overview. */
function checkNextPath(path: string | null | undefined): string {
  const next = path ?? '';
  return /^\/ops(\/[a-z0-9-]+)*$/.test(next) && !/^\/ops\/(login|partials|assets)/.test(next) ? next : '/ops';
}

/** The sign-in page; `wrong`: the error of the key, `next`: the path to open afterwards. */
function operatorSignInPage(next: string, wrong?: string): ShellPage {
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

type Handler = (parts: OpsParts, request: RouteRequest, who: string) => Promise<OpsAnswer>;

/** Pages and JSON for operators with a session or a key. */
const HANDLERS: Readonly<Record<string, Handler>> = {
  'GET /ops': overviewPage,
  'GET /ops/': overviewPage,
  'GET /ops/stats.json': statsJson,
  'GET /ops/grafana.json': async () => ({ json: grafanaDashboard() }),
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
  'POST /ops/ledger/:entry_id/refund': postRefund,
  'GET /ops/money': moneyPage,
  'GET /ops/opt-outs': optOutsPage,
  'GET /ops/log': logPage,
};

/**
 * The operators' routes; any other path below /ops is a 404. `metrics`: the text for Prometheus.
 *
 * @example
 * ```ts
 * mountTable(app, services, opsTable(parts, metrics));
 * await app.request('/ops/keys', { headers: { Cookie: session } });
 * ```
 */
export function opsTable(parts: OpsParts, metrics: () => Promise<{ type: string; text: string }>): RouteTable {
  return {
    policy: {
      credentials: 'keys',
      cors: false,
      errors: 'preferred',
      shell: OPS_SHELL,
      home: { path: '/ops', text: 'Back to the overview' },
      form: 'unchecked',
      // An error as an item of the review list.
      failure: (error, request) =>
        request.prefersHtml && isPiece(request)
          ? {
              page: String(html`<li class="entry done wrong" role="alert">${error.message}</li>`),
              status: ERRORS[error.code].status,
            }
          : undefined,
    },
    routes: {
      ...Object.fromEntries(
        Object.entries(HANDLERS).map(([route, handler]) => [
          route,
          (request: RouteRequest) => answerOperator(parts, request, handler),
        ]),
      ),
      'GET /ops/login': async (request) => {
        const next = checkNextPath(request.parameter('next'));
        return (await findSignedIn(parts, request)) === null
          ? { page: operatorSignInPage(next) }
          : { to: prefixOf(parts.base_url) + next };
      },
      'POST /ops/login': { form: 'session', answer: (request) => signIn(parts, request) },
      'POST /ops/logout': {
        form: 'session',
        answer: async (request) => ({
          to: `${prefixOf(parts.base_url)}/ops/login`,
          cookies: [await signOutOperator(parts, request)],
        }),
      },
      ...Object.fromEntries(OPS_SCRIPTS.map((path) => [`GET ${path}`, () => scriptFile(path)])),
      'GET /ops/metrics': {
        errors: 'json',
        answer: async ({ caller }) => {
          if (caller.kind === 'anonymous')
            throw new ApiError('key_required', 'Metrics are for operators.', FOR_OPERATORS);
          if (caller.kind !== 'admin') throw new ApiError('admin_required', "Metrics require an operator's key.");
          const { type, text } = await metrics();
          return new Response(text, { headers: { 'Content-Type': type } });
        },
      },
      'ALL /ops/*': () => {
        throw new ApiError('not_found', 'Not found.');
      },
    },
  };
}

/** Runs a handler for an operator with a key or a session; anybody else is sent to the sign-in page. */
async function answerOperator(parts: OpsParts, request: RouteRequest, handler: Handler): Promise<PlainAnswer> {
  const { base_url } = parts;
  const { caller } = request;
  if (request.visitor.credential?.via === 'api_key') throw operatorKeyInUrl();
  if (caller.kind === 'key') throw new ApiError('admin_required', "This requires an operator's key.");
  const who = caller.kind === 'admin' ? (caller.id ?? 'unnamed') : await findSignedIn(parts, request);
  if (who === null) return requireSignIn(base_url, request);
  // Another site can make a browser send the session cookie, but not a key.
  if (caller.kind === 'anonymous' && isForeignForm(base_url, 'session', request)) {
    if (request.prefersHtml) return foreignForm(base_url);
    throw new ApiError('admin_required', 'This request came from another site.');
  }
  const answer = await handler(parts, request, who);
  if ('piece' in answer) return { ...answer, page: withPrefix(base_url, answer.piece) };
  return 'to' in answer ? { to: prefixOf(base_url) + answer.to } : answer;
}

async function signIn(parts: OpsParts, request: RouteRequest): Promise<PlainAnswer> {
  await request.count('signin');
  const next = checkNextPath(request.field('next'));
  const key = request.field('key');
  if (key === '') {
    const issue = { loc: ['body', 'key'], msg: 'is required', type: 'missing' };
    if (!request.prefersHtml) throw new ApiError('validation_failed', 'key: is required', { detail: [issue] });
    return { page: operatorSignInPage(next, 'Enter your key.'), status: 422 };
  }
  const cookie = await signInOperator(parts, request, key);
  if (cookie !== null) return { to: prefixOf(parts.base_url) + next, cookies: [cookie] };
  if (!request.prefersHtml) throw new ApiError('invalid_key', "This is not an operator's key.");
  return { page: operatorSignInPage(next, 'This is not an operator’s key.'), status: 401 };
}

/** The answer without a session: a redirect to the login page for a browser, an error for a program. */
function requireSignIn(base_url: string, request: RouteRequest): PlainAnswer {
  const next = checkNextPath(request.method === 'POST' ? '/ops' : request.path);
  const to = `${prefixOf(base_url)}/ops/login${next === '/ops' ? '' : `?next=${next}`}`;
  if (isPiece(request)) return { page: '', status: 401, headers: { 'HX-Redirect': to } };
  if (request.prefersHtml) return { to };
  throw new ApiError(
    'key_required',
    "This requires an operator's key, or a session of a signed-in operator.",
    FOR_OPERATORS,
  );
}
