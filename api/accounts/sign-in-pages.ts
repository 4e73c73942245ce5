// The sign-in pages of the account: with the key, or with a mailed link.
import { prefixOf } from '../pages/frame.ts';
import { html } from '../pages/html.ts';
import type { ShellPage } from '../pages/shell.ts';

/** The rejected input of one of the two forms, with the error. */
export interface SignInState {
  form: 'key' | 'email';
  problem: string;
  email?: string;
}

const PATH = '/account';

/** The sign-in page. */
export function accountSignInPage(base_url: string, state: SignInState | null, notice?: string): ShellPage {
  const prefix = prefixOf(base_url);
  const wrong = (form: SignInState['form']) => (state?.form === form ? state.problem : null);
  const alert = (form: SignInState['form']) =>
    wrong(form) !== null && html`<p class="wrong" role="alert" id="${form}-wrong">${wrong(form)}</p>`;
  const invalid = (form: SignInState['form']) =>
    wrong(form) !== null && html` aria-invalid="true" aria-describedby="${form}-wrong"`;
  return {
    title: 'Sign in to your account',
    path: PATH,
    body: html`${notice !== undefined && html`<p class="warn" role="status">${notice}</p>`}
<p>See your balance and usage, top up, choose a plan, replace or revoke your key.</p>
<section aria-labelledby="with-key"><h2 id="with-key">With your key</h2>
<form class="ask" method="post" action="${prefix}/account/sign-in">
${alert('key')}
<label for="key">API key</label>
<input type="text" name="username" autocomplete="username" value="API key" readonly hidden>
<input id="key" name="key" type="password" autocomplete="current-password" autocapitalize="none" spellcheck="false" required autofocus placeholder="dsr_…"${invalid('key')}>
<div class="buttons"><button type="submit" class="button">Sign in</button></div>
</form></section>
<section aria-labelledby="by-mail"><h2 id="by-mail">By mail</h2>
<form class="ask" method="post" action="${prefix}/account/mail-link">
${alert('email')}
<label for="email">E-mail address of your key</label>
<input id="email" name="email" type="email" autocomplete="email" maxlength="254" required value="${state?.email ?? ''}"${invalid('email')}>
<div class="buttons"><button type="submit">Send a sign-in link</button></div>
</form></section>
<p>No key yet? <a href="${prefix}/keys">Get an API key</a>.</p>`,
  };
}

/** The page after the request for a link; the same whether the address has a key or not. */
export function linkSentPage(base_url: string, email: string): ShellPage {
  return {
    title: 'Check your e-mail',
    path: PATH,
    body: html`<p>If ${email} has a key, a sign-in link is on its way. It is valid for one hour and can be used once.</p>
<p>No mail after a few minutes? Check your spam folder. We send at most one link an hour while the last one is unused.</p>
<p><a href="${prefixOf(base_url)}/account">Back</a></p>`,
  };
}

/** The page of a mailed link. Opening it changes nothing, since mail scanners open links; its button does. */
export function useLinkPage(base_url: string, token: string, email: string): ShellPage {
  return {
    title: 'Sign in to your account',
    path: PATH,
    body: html`<p>This link signs you in as <strong>${email}</strong>.</p>
<form method="post" action="${prefixOf(base_url)}/account/link"><input type="hidden" name="token" value="${token}"><button type="submit" class="button">Sign in</button></form>`,
  };
}

/** An expired or used link. */
export function invalidSignInPage(base_url: string): ShellPage {
  return {
    title: 'This link has expired or is invalid',
    path: PATH,
    body: html`<p>A link is valid for one hour and can be used once.</p>
<p class="actions"><a class="button" href="${prefixOf(base_url)}/account">Request another link</a></p>`,
  };
}

/** The answer to a form that another site sent. */
export function foreignAccountForm(base_url: string): ShellPage {
  return {
    title: 'This form came from another site',
    path: PATH,
    body: html`<p>Nothing was changed. If you opened this page under another address than <code>${base_url}</code>, use that one.</p>
<p class="actions"><a class="button" href="${base_url}/account">Open the account</a></p>`,
  };
}

/** An error with one sentence. */
export function accountErrorPage(base_url: string, message: string, seconds: number | undefined): ShellPage {
  return {
    title: 'Request failed',
    path: PATH,
    body: html`<p>${message}</p>${seconds !== undefined && html`<p>Wait ${seconds} seconds, then try again.</p>`}
<p class="actions"><a class="button" href="${prefixOf(base_url)}/account">Back to the account</a></p>`,
  };
}
