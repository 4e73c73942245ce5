// The page that creates a key: a form with an e-mail address, the new key with a first call, and the errors
// of the form.

import { WELCOME_CREDIT } from '../../data/model/subscriptions.ts';
import { eur } from '../../packs/define/money.ts';
import { KEY_BODY_TEXT } from '../contract/errors.ts';
import { prefixOf } from '../pages/frame.ts';
import { type Html, html } from '../pages/html.ts';
import type { ShellPage } from '../pages/shell.ts';
import { printEuro } from '../render/print.ts';

const welcome = printEuro(eur(WELCOME_CREDIT));

/** The rejected input of the form, with the error. */
export interface KeyFormState {
  email: string;
  problem: string;
  /** The address has a key already. */
  exists: boolean;
}

/** The field of the page to return to. */
export const returnField = (next: string | null): Html | false =>
  next !== null && html`<input type="hidden" name="next" value="${next}">`;

/** The call of the API that does the same as a form. */
export const callHtml = (call: string): Html => html`<p class="hint">API: <code>${call}</code></p>`;

/** The form; `next`: the page to return to. */
export function keyFormPage(base_url: string, state: KeyFormState | null, next: string | null): ShellPage {
  const prefix = prefixOf(base_url);
  const invalid = state === null ? '' : html` aria-invalid="true" aria-describedby="email-wrong"`;
  const sign_in = html`<a href="${prefix}/account">Sign in</a>`;
  const problem =
    state !== null &&
    html`<p class="wrong" role="alert" id="email-wrong">${state.problem}${state.exists && html` ${sign_in} with it, or by a mailed link.`}</p>`;
  return {
    title: 'Get an API key',
    path: '/keys',
    body: html`<p class="lead">Your e-mail address is enough. A new key has ${welcome} of credit, and you can make a first call on the next page.</p>
<form class="ask" method="post" action="${prefix}/keys">${returnField(next)}
${problem}
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="email" maxlength="254" required autofocus value="${state?.email ?? ''}"${invalid}>
<p class="hint">One key for each address. We use it to restore a lost key, for nothing else.</p>
<div class="buttons"><button type="submit" class="button">Create key</button></div>
</form>
<p>You have a key? ${sign_in}. What calls cost: <a href="${prefix}/pricing/">pricing</a>.</p>
<section aria-labelledby="api"><h2 id="api">With the API</h2>
<div class="code"><pre tabindex="0"><code>curl -X POST ${base_url}/v1/keys -H 'Content-Type: application/json' -d '${KEY_BODY_TEXT}'</code></pre></div></section>`,
  };
}

/** A first call: the address in each dataset. */
export interface FirstCall {
  title: string;
  /** Path and query, with the path of the base URL. */
  call: string;
  /** EUR. */
  price: number;
}

/** A secret with a button that copies it. */
export const secretHtml = (secret: string): Html => html`<div class="secret"><code>${secret}</code>
<button class="copy" type="button" data-copy="${secret}" aria-label="Copy the key">Copy</button></div>
<p>It is shown only once. Store it safely: anyone who has it can spend your credit.</p>`;

/** The new key, shown once, with a first call. `notice`: why it starts without credit. */
export function newKeyPage(
  base_url: string,
  created: { secret: string; email: string; balance: number; notice: string | null; next: string | null },
  calls: readonly FirstCall[],
): ShellPage {
  const prefix = prefixOf(base_url);
  const { secret, email, balance, notice, next } = created;
  const [first] = calls;
  return {
    title: 'Your API key',
    path: '/keys',
    body: html`${secretHtml(secret)}
<dl class="sum"><div><dt>E-mail</dt><dd>${email}</dd></div><div><dt>Credit</dt><dd>${printEuro(eur(balance))}</dd></div></dl>
${notice !== null && html`<p class="warn">${notice}</p>`}
<p class="actions"><a class="button" href="${next ?? `${prefix}/account`}">${next === null ? 'Your account' : 'Back to the page'}</a></p>
${first && firstCallHtml(secret, new URL(first.call, base_url).href, calls)}
<section aria-labelledby="next"><h2 id="next">Next</h2><ul class="points">
<li><a href="${prefix}/account">Your account</a>: balance, top up, plan, replace or revoke the key.</li>
<li><a href="${prefix}/guides/">Guides</a> and <a href="${prefix}/docs">API reference</a></li>
<li><a href="${prefix}/guides/mcp/">Connect an agent (MCP)</a></li></ul></section>`,
  };
}

function firstCallHtml(secret: string, first: string, calls: readonly FirstCall[]): Html {
  const command = `curl -H 'Authorization: Bearer ${secret}' '{call}'`;
  const options = calls.map(
    ({ title, call, price }) => html`<option data-call="${call}">${title} (${printEuro(price)})</option>`,
  );
  return html`<section aria-labelledby="first"><h2 id="first">First call</h2>
<p>A search for three records with your key, charged to its credit.</p>
<form data-first-call data-key="${secret}">
<label class="away" for="dataset">Dataset</label><select id="dataset" name="dataset">${options}</select>
<button type="submit" class="button">Run</button></form>
<p role="status"></p>
<pre class="answer" data-answer tabindex="0" aria-label="Answer" role="group" hidden></pre>
<figure class="call"><figcaption>The same from a terminal</figcaption><button class="copy" type="button" data-copy="${command.replace('{call}', first)}">Copy</button><pre tabindex="0" role="group" aria-label="The call as a command"><code data-command="${command}">${command.replace('{call}', first)}</code></pre></figure></section>`;
}
