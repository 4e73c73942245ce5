// The page of a recovery mail: its button replaces a lost key.
import type { App, RestDeps } from '../channels/rest/rest.ts';
import { toApiError } from '../contract/errors.ts';
import { admit } from '../gate/execute.ts';
import { type Http, readRequest, readText } from '../http/request.ts';
import { errorResponse } from '../http/respond.ts';
import { html } from '../pages/html.ts';
import { SHELL_HEADERS, type ShellPage, shellPage } from '../pages/shell.ts';
import type { Recovery } from './accounts.ts';

const INVALID_LINK = {
  title: 'This link has expired or is invalid',
  body: html`<p>A link is valid for one hour and can be used once. <a href="../account">Sign in by mail</a> and replace the key there, or request another link with <code>POST /v1/keys/recover</code>.</p>`,
};

/** Mounts the page. Opening it changes nothing, since mail scanners open links; its button does. */
export function mountRecover(app: App, { gate, report, recovery }: RestDeps & { recovery: Recovery }): void {
  const guarded = async (c: Http, make: () => Promise<{ status: number; page: ShellPage }>): Promise<Response> => {
    const { visitor, headers, request_id, accept } = readRequest(gate, c);
    try {
      await admit(gate, visitor, 'free');
      const { status, page } = await make();
      return new Response(shellPage(gate.base_url, page), { status, headers: { ...headers, ...SHELL_HEADERS } });
    } catch (error) {
      const apiError = toApiError(error);
      if (apiError.code === 'internal') report(error, request_id);
      return errorResponse(apiError, { base_url: gate.base_url, request_id, accept, headers, resource: '' });
    }
  };
  app.get('/keys/recover', (c) =>
    guarded(c, async () => {
      const token = new URL(c.req.url).searchParams.get('token') ?? '';
      if (!(await recovery.good(token, gate.now()))) return { status: 404, page: INVALID_LINK };
      const form = html`<form method="post"><input type="hidden" name="token" value="${token}"><button type="submit" class="button">Replace my key</button></form>`;
      const text = html`<p>Your current key stops working immediately. Credit and plan stay.</p>`;
      return { status: 200, page: { title: 'Replace your API key', body: html`${text}${form}` } };
    }),
  );
  app.post('/keys/recover', (c) =>
    guarded(c, async () => {
      const token = new URLSearchParams(await readText(c)).get('token') ?? '';
      const secret = await recovery.rotate(token, gate.now());
      if (secret === null) return { status: 404, page: INVALID_LINK };
      const body = html`<p><code>${secret}</code></p><p>It is shown only once. Store it safely.</p>`;
      return { status: 200, page: { title: 'Your new API key', body } };
    }),
  );
}
