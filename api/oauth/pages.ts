// The pages of OAuth: sign-in, consent, errors.
import { WELCOME } from '../contract/errors.ts';
import { type Html, html } from '../pages/html.ts';
import { printEuro } from '../render/print.ts';
import { destination } from './clients.ts';
import { APPS } from './paths.ts';
import { page } from './shell.ts';

/** Micro-euros in a euro. */
const MICROS = 1_000_000;

/** A client as the consent page shows it. */
export interface ShownClient {
  /** Its own name, or its id. */
  name: string;
  /** URL of its metadata document, whose host vouches for the name; absent for a registered client. */
  document?: string | undefined;
  redirect: string;
}

/** The error of a field. */
const mistake = (text: string | undefined, id: string): Html | string =>
  text === undefined ? '' : html`<p class="wrong" role="alert" id="${id}">${text}</p>`;

const invalid = (text: string | undefined, id: string): Html | string =>
  text === undefined ? '' : html` aria-invalid="true" aria-describedby="${id}"`;

/** The field for an API key. */
const keyField = (wrong: string | undefined): Html => html`
${mistake(wrong, 'key-wrong')}
<label for="key">Your API key</label>
<input type="text" name="username" autocomplete="username" value="API key" readonly hidden>
<input id="key" name="key" type="password" autocomplete="current-password" autocapitalize="none" spellcheck="false" required autofocus placeholder="dsr_…"${invalid(wrong, 'key-wrong')}>`;

const noKey = (base_url: string): Html => html`
<h2>No key yet?</h2>
<p><a href="${base_url}/keys" target="_blank" rel="noopener">Get an API key</a> in a new tab, with ${WELCOME} of credit, then return to this page. Have you lost yours? <a href="${base_url}/account" target="_blank" rel="noopener">Sign in by mail</a> and replace it.</p>`;

/** The sign-in page before the consent page, of the interaction `uid`. */
export function signInPage(base_url: string, client: ShownClient, uid: string, wrong?: string): string {
  return page(
    base_url,
    'Sign in with your API key',
    html`<p><strong>${client.name}</strong> requests access to the Dataset Register on your behalf. Sign in with your API key first; you decide on the next page.</p>
<form class="owner" method="post" action="${base_url}/account/consent"><input type="hidden" name="uid" value="${uid}"><button type="submit" class="button">Continue with your account</button></form>
<form class="ask" method="post">
${keyField(wrong)}
<p class="hint">The application never receives your key.</p>
<div class="buttons"><button type="submit" class="button" name="action" value="signin">Sign in</button> <button type="submit" name="action" value="deny" formnovalidate>Cancel</button></div>
</form>`,
    noKey(base_url),
  );
}

/** The account that pays. */
export interface ShownAccount {
  email: string;
  /** Micro-euros. */
  balance: number;
}

/** The consent page. `again`: the rejected input of the limit, and its error. */
export function consentPage(
  base_url: string,
  client: ShownClient,
  account: ShownAccount,
  again?: { entered: string; wrong: string },
): string {
  const { label, local } = destination(client.redirect);
  const vouched = client.document === undefined ? undefined : URL.parse(client.document)?.host;
  return page(
    base_url,
    `Allow ${client.name} to spend from your key?`,
    html`<dl class="sum">
<div><dt>Application</dt><dd>${client.name}${vouched === undefined ? '' : html`, according to ${vouched}`}</dd></div>
<div><dt>Redirects to</dt><dd>${label}</dd></div>
<div><dt>Your key</dt><dd>of ${account.email}</dd></div>
<div><dt>Credit</dt><dd>${printEuro(account.balance / MICROS)}</dd></div>
</dl>
${warning(local, vouched)}
<ul class="rules">
<li>It can search and read records. Each paid call is charged to your key.</li>
<li>It can see your balance and your charges.</li>
<li>It cannot see your key, top it up, change your plan or create keys.</li>
</ul>
<form class="ask" method="post">
${mistake(again?.wrong, 'cap-wrong')}
<label for="cap">Spending limit</label>
<div class="money"><input id="cap" name="cap" inputmode="decimal" autocomplete="off" maxlength="12" placeholder="no limit" value="${again?.entered ?? ''}"${again === undefined ? html` aria-describedby="cap-hint"` : html`${invalid(again.wrong, 'cap-wrong')} autofocus`}> EUR in total</div>
<p class="hint" id="cap-hint">Without a limit it can spend all your credit, including credit that you add later.</p>
<div class="buttons"><button type="submit" class="button" name="action" value="allow">Allow</button> <button type="submit" name="action" value="deny" formnovalidate>Deny</button></div>
<p class="hint">Not your key? <button type="submit" class="link" name="action" value="switch" formnovalidate>Use another key</button></p>
</form>`,
    html`You can revoke this at any time at <a href="${base_url}${APPS}">${base_url}${APPS}</a>.`,
  );
}

function warning(local: boolean, vouched: string | undefined): Html | string {
  if (local)
    return html`<p class="warn">Continue only if you just started this from an application on this device.</p>`;
  if (vouched === undefined)
    return html`<p class="warn">We did not verify this name; anyone can choose it. Continue only if you know the address it redirects to.</p>`;
  return '';
}

/** The error of an authorization request that cannot be redirected to the client. */
export function errorPage(base_url: string, error: string, description: string): string {
  return page(
    base_url,
    'Authorization failed',
    html`<p>The application that sent you here made an invalid request. Nothing was allowed and nothing was charged. Go back and try again. If it fails again, report this error to its developers:</p>
<pre><code>${error}${description === '' ? '' : `: ${description}`}</code></pre>`,
  );
}

/** A sign-in or consent that expired, was completed, or was opened in another browser. */
export function expiredPage(base_url: string): string {
  return page(
    base_url,
    'This page has expired',
    html`<p>It was already completed, was open for more than 15 minutes, or belongs to another browser. Go back to the application and connect again.</p>`,
  );
}
