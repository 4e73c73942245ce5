// Sign-in to the operators' pages with an operator's key, session cookies, and the check that a form is ours.

import { recordAudit } from '../../data/state/audit.ts';
import { hashSecret } from '../../data/state/key-format.ts';
import { operatorSessions } from '../../data/state/sessions.ts';
import { operatorId } from '../access/caller.ts';
import type { ApiError } from '../contract/errors.ts';
import { SessionCookie } from '../http/browser-session.ts';
import { html } from '../pages/html.ts';
import type { OpsPage } from './parts/frame.ts';
import type { OpsParts, OpsRequest } from './parts/request.ts';

const cookieOf = (base_url: string) => new SessionCookie(base_url, 'register_ops', '/ops');

/** The operator of a session; null without one, or if the operator's key was removed. */
export async function findSignedIn(
  { store, admins, base_url, now }: OpsParts,
  request: OpsRequest,
): Promise<string | null> {
  const token = cookieOf(base_url).read(request.header);
  if (token === undefined) return null;
  // Automatic refreshes of a page do not extend its session.
  const renews = !request.path.startsWith('/ops/partials/');
  const admin = await operatorSessions.find(store, token, now().getTime(), renews);
  return admin !== null && admins.has(admin) ? operatorId(admin) : null;
}

/** Signs in with a key under a new session token. Returns the cookie to set; null for a wrong key. */
export async function signInOperator(parts: OpsParts, request: OpsRequest, typed: string): Promise<string | null> {
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
export async function signOutOperator({ store, base_url }: OpsParts, request: OpsRequest): Promise<string> {
  const cookie = cookieOf(base_url);
  const token = cookie.read(request.header);
  if (token !== undefined) await operatorSessions.end(store, token);
  return cookie.clear();
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
