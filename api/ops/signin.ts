// Signing in to the operators' pages with an operator's key: a session in a cookie, and what a form must show to be one of ours.

import { parse, serialize } from 'hono/utils/cookie';
import { recordAudit } from '../../data/state/audit.ts';
import { hashSecret } from '../../data/state/key-format.ts';
import { endSession, findSession, openSession, SESSION } from '../../data/state/ops/sessions.ts';
import { operatorId } from '../access/caller.ts';
import type { ApiError } from '../contract/errors.ts';
import { prefixOf } from '../pages/frame.ts';
import { html } from '../pages/html.ts';
import type { OpsPage } from './parts/frame.ts';
import type { OpsParts, OpsRequest } from './parts/request.ts';

/** Behind TLS the browser keeps the cookie from anything else, and its name says so. */
function cookieOf(base_url: string) {
  const secure = base_url.startsWith('https:');
  const name = secure ? '__Secure-register_ops' : 'register_ops';
  const options = { path: `${prefixOf(base_url)}/ops`, httpOnly: true, sameSite: 'Strict', secure } as const;
  return { name, options };
}

function tokenIn(base_url: string, asked: OpsRequest): string | undefined {
  const { name } = cookieOf(base_url);
  return parse(asked.header('cookie') ?? '', name)[name];
}

/** The operator who is signed in with this browser; null when nobody is. A key that is no longer one signs nobody in. */
export async function findSignedIn(
  { store, admins, base_url, now }: OpsParts,
  asked: OpsRequest,
): Promise<string | null> {
  const token = tokenIn(base_url, asked);
  if (token === undefined) return null;
  // What a page asks by itself does not keep its operator signed in.
  const renews = !asked.path.startsWith('/ops/partials/');
  const session = await findSession(store, token, now().getTime(), renews);
  return session !== null && admins.has(session.admin) ? operatorId(session.admin) : null;
}

/** Signs in with a key, under a new token whatever the browser brought along; the cookie to set, or null for a wrong key. */
export async function signInOperator(parts: OpsParts, asked: OpsRequest, typed: string): Promise<string | null> {
  const { store, admins, base_url, now, log } = parts;
  const hash = hashSecret(typed.trim().replace(/^Bearer +/i, ''));
  if (!admins.has(hash)) {
    log(`operators: a wrong key from ${asked.address}`);
    return null;
  }
  const before = tokenIn(base_url, asked);
  if (before !== undefined) await endSession(store, before);
  const at = now().getTime();
  const token = await openSession(store, hash, at);
  const who = `operator ${operatorId(hash)}`;
  const nothing = { dataset: null, entity_id: null, subject: null };
  await recordAudit(store, { at, who, action: 'sign in', ...nothing, request_id: asked.request_id });
  const { name, options } = cookieOf(base_url);
  return serialize(name, token, { ...options, maxAge: SESSION.life / 1000 });
}

/** Signs out; the cookie that ends it in the browser too. */
export async function signOutOperator({ store, base_url }: OpsParts, asked: OpsRequest): Promise<string> {
  const token = tokenIn(base_url, asked);
  if (token !== undefined) await endSession(store, token);
  const { name, options } = cookieOf(base_url);
  return serialize(name, '', { ...options, maxAge: 0 });
}

/**
 * Whether a form came from a page of ours: a browser says where it came from, and another site cannot change what it says. A client that says
 * neither is no browser, and brings no cookie unless somebody typed it in.
 */
export function isSameOriginForm({ base_url }: Pick<OpsParts, 'base_url'>, asked: OpsRequest): boolean {
  const origin = asked.header('origin');
  const site = asked.header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin') return false;
  return origin === undefined ? site === 'same-origin' : origin === new URL(base_url).origin;
}

/** Where to go after signing in: an address of these pages, or their first one. */
export function checkNextPath(asked: string | null | undefined): string {
  const next = asked ?? '';
  return /^\/ops(\/[a-z0-9-]+)*$/.test(next) && !/^\/ops\/(login|partials|assets)/.test(next) ? next : '/ops';
}

/** The login; `wrong` says what was wrong with the key, `next` is where it leads. */
export function operatorSignInPage(next: string, wrong?: string): OpsPage {
  const invalid = wrong === undefined ? '' : html` aria-invalid="true" aria-describedby="wrong"`;
  return {
    title: 'Sign in',
    body: html`<p>These pages are for those who run the register.</p>
<form class="ask" method="post" action="/ops/login">
${wrong === undefined ? '' : html`<p class="wrong" role="alert" id="wrong">${wrong}</p>`}
<label for="key">Operator’s key</label>
<input type="text" name="username" autocomplete="username" value="operator" readonly hidden>
<input id="key" name="key" type="password" autocomplete="current-password" autocapitalize="none" spellcheck="false" required autofocus${invalid}>
<input type="hidden" name="next" value="${next}">
<p class="hint">It was shown when the service started for the first time, or is one of <code>ADMIN_KEYS</code>.</p>
<button type="submit" class="button">Sign in</button>
</form>`,
  };
}

/** A form that did not come from a page of ours. */
export function operatorForeignFormPage(base_url: string): OpsPage {
  return {
    title: 'This form did not come from here',
    body: html`<p>Another site may have sent it, or you opened these pages under another address than <code>${base_url}</code>. Nothing was changed.</p>
<p class="actions"><a class="button" href="${base_url}/ops">Open the operators’ pages</a></p>`,
  };
}

const TITLES: Partial<Record<ApiError['code'], string>> = {
  rate_limited: 'Too many attempts',
  not_found: 'There is nothing here',
  admin_required: 'This is for operators',
  invalid_key: 'This key does not work',
  internal: 'Something went wrong',
  unavailable: 'This does not work right now',
};

/** An error, with what to do. */
export function operatorErrorPage(error: ApiError, request_id: string): OpsPage {
  const { retry_after_seconds: seconds } = error.extras;
  const fault = error.code === 'internal';
  return {
    title: TITLES[error.code] ?? 'This did not work',
    body: html`<p>${fault ? 'The log has the details, under the id below.' : error.message}</p>
${seconds === undefined ? '' : html`<p>Wait ${seconds} seconds and try again. Nothing is lost.</p>`}
<p class="hint">Request <code>${request_id}</code></p>
<p class="actions"><a class="button" href="/ops">Back to the overview</a></p>`,
  };
}

/** An error as one line of a list. */
export function operatorErrorItem(error: ApiError): string {
  return String(html`<li class="entry done wrong" role="alert">${error.message}</li>`);
}
