// Sign-in to the operators' pages with an operator's key, session cookies, and the check that a form is ours.

import { parse, serialize } from 'hono/utils/cookie';
import { recordAudit } from '../../data/state/audit.ts';
import { hashSecret } from '../../data/state/key-format.ts';
import { endSession, findSession, openSession, SESSION_LIFETIME } from '../../data/state/ops/sessions.ts';
import { operatorId } from '../access/caller.ts';
import type { ApiError } from '../contract/errors.ts';
import { prefixOf } from '../pages/frame.ts';
import { html } from '../pages/html.ts';
import type { OpsPage } from './parts/frame.ts';
import type { OpsParts, OpsRequest } from './parts/request.ts';

/** The session cookie; on HTTPS it is `Secure`, with the `__Secure-` prefix. */
function cookieOf(base_url: string) {
  const secure = base_url.startsWith('https:');
  const name = secure ? '__Secure-register_ops' : 'register_ops';
  const options = { path: `${prefixOf(base_url)}/ops`, httpOnly: true, sameSite: 'Strict', secure } as const;
  return { name, options };
}

function tokenIn(base_url: string, request: OpsRequest): string | undefined {
  const { name } = cookieOf(base_url);
  return parse(request.header('cookie') ?? '', name)[name];
}

/** The operator of a session; null without one, or if the operator's key was removed. */
export async function findSignedIn(
  { store, admins, base_url, now }: OpsParts,
  request: OpsRequest,
): Promise<string | null> {
  const token = tokenIn(base_url, request);
  if (token === undefined) return null;
  // Automatic refreshes of a page do not extend its session.
  const renews = !request.path.startsWith('/ops/partials/');
  const session = await findSession(store, token, now().getTime(), renews);
  return session !== null && admins.has(session.admin) ? operatorId(session.admin) : null;
}

/** Signs in with a key under a new session token. Returns the cookie to set; null for a wrong key. */
export async function signInOperator(parts: OpsParts, request: OpsRequest, typed: string): Promise<string | null> {
  const { store, admins, base_url, now, log } = parts;
  const hash = hashSecret(typed.trim().replace(/^Bearer +/i, ''));
  if (!admins.has(hash)) {
    log(`operators: sign-in with a wrong key from ${request.address}`);
    return null;
  }
  const before = tokenIn(base_url, request);
  if (before !== undefined) await endSession(store, before);
  const at = now().getTime();
  const token = await openSession(store, hash, at);
  const who = `operator ${operatorId(hash)}`;
  const nothing = { dataset: null, entity_id: null, subject: null };
  await recordAudit(store, { at, who, action: 'sign in', ...nothing, request_id: request.request_id });
  const { name, options } = cookieOf(base_url);
  return serialize(name, token, { ...options, maxAge: SESSION_LIFETIME.life / 1000 });
}

/** Ends the session. Returns the cookie that deletes it in the browser. */
export async function signOutOperator({ store, base_url }: OpsParts, request: OpsRequest): Promise<string> {
  const token = tokenIn(base_url, request);
  if (token !== undefined) await endSession(store, token);
  const { name, options } = cookieOf(base_url);
  return serialize(name, '', { ...options, maxAge: 0 });
}

/**
 * Whether a form came from one of our pages, by the headers that browsers set and other sites cannot change.
 * A request without them is rejected.
 */
export function isSameOriginForm({ base_url }: Pick<OpsParts, 'base_url'>, request: OpsRequest): boolean {
  const origin = request.header('origin');
  const site = request.header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin') return false;
  return origin === undefined ? site === 'same-origin' : origin === new URL(base_url).origin;
}

/** The path to open after sign-in: one of these pages, else the overview. */
export function checkNextPath(path: string | null | undefined): string {
  const next = path ?? '';
  return /^\/ops(\/[a-z0-9-]+)*$/.test(next) && !/^\/ops\/(login|partials|assets)/.test(next) ? next : '/ops';
}

/** The sign-in page; `wrong`: the error of the key, `next`: the path to open afterwards. */
export function operatorSignInPage(next: string, wrong?: string): OpsPage {
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
export function operatorForeignFormPage(base_url: string): OpsPage {
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
export function operatorErrorPage(error: ApiError, request_id: string): OpsPage {
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
export function operatorErrorItem(error: ApiError): string {
  return String(html`<li class="entry done wrong" role="alert">${error.message}</li>`);
}
