// Signing in, and what is said where something does not work.
import { html } from 'hono/html';
import type { ApiError } from '../../contract/errors.ts';
import type { OpsPage } from '../parts/frame.ts';

/** The login; `wrong` says what was wrong with the key, `next` is where it leads. */
export function signInPage(next: string, wrong?: string): OpsPage {
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
export function foreignPage(base_url: string): OpsPage {
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
export function errorPage(error: ApiError, request_id: string): OpsPage {
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
export function errorPiece(error: ApiError): string {
  return String(html`<li class="entry done wrong" role="alert">${error.message}</li>`);
}
