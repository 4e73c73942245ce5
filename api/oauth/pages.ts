// The pages of OAuth, in plain words: sign in, decide, see what was allowed, and what to do when something is wrong.
import type { Grant } from '../../data/state/oauth/grants.ts';
import { KEY_BODY_TEXT, WELCOME } from '../contract/errors.ts';
import { type Html, html } from '../pages/html.ts';
import { printEuro } from '../render/print.ts';
import { destination } from './clients.ts';
import { PATHS } from './paths.ts';
import { page } from './shell.ts';

/** Micro-euros in a euro. */
const MICROS = 1_000_000;

/** A client as a person is shown it. */
export interface ShownClient {
  /** What it calls itself; its id where it has no name. */
  name: string;
  /** Address of its metadata document, which vouches for its name; absent for one that registered itself. */
  document?: string | undefined;
  redirect: string;
}

/** A mistake in a form, told beside its field. */
const mistake = (text: string | undefined, id: string): Html | string =>
  text === undefined ? '' : html`<p class="wrong" role="alert" id="${id}">${text}</p>`;

const invalid = (text: string | undefined, id: string): Html | string =>
  text === undefined ? '' : html` aria-invalid="true" aria-describedby="${id}"`;

/** The field for a key. */
const keyField = (wrong: string | undefined): Html => html`
${mistake(wrong, 'key-wrong')}
<label for="key">Your API key</label>
<input type="text" name="username" autocomplete="username" value="API key" readonly hidden>
<input id="key" name="key" type="password" autocomplete="current-password" autocapitalize="none" spellcheck="false" required autofocus placeholder="dsr_…"${invalid(wrong, 'key-wrong')}>`;

const noKey = (base_url: string): Html => html`
<h2>No key yet?</h2>
<p>This makes one, with ${WELCOME} of credit. It is shown once, so keep it somewhere safe.</p>
<pre><code>curl -X POST ${base_url}/v1/keys -H 'Content-Type: application/json' -d '${KEY_BODY_TEXT}'</code></pre>`;

/** Signing in, on the way to letting a client in. */
export function signInPage(base_url: string, client: ShownClient, wrong?: string): string {
  return page(
    base_url,
    'Sign in with your API key',
    html`<p><strong>${client.name}</strong> wants to use the Dataset Register for you. First show that you have a key; on the next page you decide.</p>
<form class="ask" method="post">
${keyField(wrong)}
<p class="hint">Your key stays with us: the program never sees it.</p>
<div class="buttons"><button type="submit" class="button" name="action" value="signin">Sign in</button> <button type="submit" name="action" value="deny" formnovalidate>Cancel</button></div>
</form>`,
    noKey(base_url),
  );
}

/** What the person has, at the moment of deciding. */
export interface ShownAccount {
  email: string;
  /** Micro-euros. */
  balance: number;
}

/** Letting a client in. `entered` is what stood in the field of the cap, when it was no amount. */
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
    `Let ${client.name} spend from your key?`,
    html`<dl class="sum">
<div><dt>Program</dt><dd>${client.name}${vouched === undefined ? '' : html`, as ${vouched} describes it`}</dd></div>
<div><dt>Access goes to</dt><dd>${label}</dd></div>
<div><dt>Your key</dt><dd>of ${account.email}</dd></div>
<div><dt>Its credit now</dt><dd>${printEuro(account.balance / MICROS)}</dd></div>
</dl>
${warning(local, vouched)}
<ul class="rules">
<li>It may search and fetch records. Each paid call is charged to your key.</li>
<li>It may see your balance and what was charged.</li>
<li>It may not see your key, top it up, change your plan or make keys.</li>
</ul>
<form class="ask" method="post">
${mistake(again?.wrong, 'cap-wrong')}
<label for="cap">It may spend at most</label>
<div class="money"><input id="cap" name="cap" inputmode="decimal" autocomplete="off" maxlength="12" placeholder="no limit" value="${again?.entered ?? ''}"${again === undefined ? html` aria-describedby="cap-hint"` : html`${invalid(again.wrong, 'cap-wrong')} autofocus`}> EUR in all</div>
<p class="hint" id="cap-hint">Leave it empty for no limit but your credit. Credit that you add later counts too.</p>
<div class="buttons"><button type="submit" class="button" name="action" value="allow">Allow</button> <button type="submit" name="action" value="deny" formnovalidate>Do not allow</button></div>
<p class="hint">Not your key? <button type="submit" class="link" name="action" value="switch" formnovalidate>Use another one</button></p>
</form>`,
    html`You can end this at any time at <a href="${base_url}${PATHS.connections}">${base_url}${PATHS.connections}</a>.`,
  );
}

function warning(local: boolean, vouched: string | undefined): Html | string {
  if (local) return html`<p class="warn">Go on only if you have just started this from a program on this device.</p>`;
  if (vouched === undefined)
    return html`<p class="warn">Anybody may choose this name, and we did not check it. Go on only if you know the address that access goes to.</p>`;
  return '';
}

/** Signing in to see one's connections. */
export function connectionsSignInPage(base_url: string, wrong?: string): string {
  return page(
    base_url,
    'What may spend from your key',
    html`<p>Sign in to see the programs that you let in, and to end it.</p>
<form class="ask" method="post">
${keyField(wrong)}
<div class="buttons"><button type="submit" class="button" name="action" value="signin">Sign in</button></div>
</form>`,
    noKey(base_url),
  );
}

const day = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The person's connections, each with a button that ends it. `ended` is the name of one that just was. */
export function connectionsPage(base_url: string, email: string, grants: readonly Grant[], ended?: string): string {
  return page(
    base_url,
    'What may spend from your key',
    html`${ended === undefined ? '' : html`<p class="warn" role="status">${ended} may no longer spend from your key.</p>`}
<p>Key of ${email}. ${grants.length === 0 ? 'No program may spend from it.' : 'Ending a connection works at once.'}</p>
${grants.map(
  ({ id, client_name, client_id, cap, spent, created_at }, i) => html`<section class="item" aria-labelledby="n${i}">
<h2 id="n${i}">${client_name || client_id}</h2>
<p class="hint">Since ${day(created_at)}. Spent ${printEuro(spent / MICROS)}${cap === null ? ', no limit' : html` of ${printEuro(cap / MICROS)}`}.</p>
<form method="post"><input type="hidden" name="grant" value="${id}"><button type="submit" name="action" value="end" aria-describedby="n${i}">End this connection</button></form>
</section>`,
)}
<form method="post"><div class="buttons"><button type="submit" name="action" value="signout">Sign out</button></div></form>`,
  );
}

/** What went wrong with an authorization request, where nobody can be sent back. */
export function errorPage(base_url: string, error: string, description: string): string {
  return page(
    base_url,
    'This did not work',
    html`<p>The program that sent you here asked in a way that we cannot answer. Nothing was allowed and nothing was charged. Go back to it and try again; if that does not help, tell its makers this:</p>
<pre><code>${error}${description === '' ? '' : `: ${description}`}</code></pre>`,
  );
}

/** A page that is over: its time is up, it was answered, or it was opened in another browser. */
export function expiredPage(base_url: string): string {
  return page(
    base_url,
    'This page is over',
    html`<p>It was answered already, it was open for longer than 15 minutes, or it belongs to another browser. Go back to the program that sent you here and connect again.</p>`,
  );
}

/** A form that did not come from a page of ours. */
export function foreignPage(base_url: string): string {
  return page(
    base_url,
    'This form did not come from here',
    html`<p>Another site may have sent it. Nothing was changed. Open the page again and try once more.</p>`,
  );
}

/** Too many attempts. */
export function tooManyAttemptsPage(base_url: string, seconds: number): string {
  return page(
    base_url,
    'Too many attempts',
    html`<p>Please wait ${seconds} seconds, then go back and try again. Nothing is lost.</p>`,
  );
}
