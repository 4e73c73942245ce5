// /keys/recover: the page that a mailed link opens; its button replaces the key (contract section 3, "Abuse").

import type { App, RestDeps } from '../channels/rest/rest.ts';
import { toApiError } from '../contract/errors.ts';
import { admit } from '../gate/execute.ts';
import { type Http, readRequest, readText } from '../http/request.ts';
import { errorResponse } from '../http/respond.ts';
import { SHELL_HEADERS, type ShellPage, shellPage } from '../pages/shell.ts';
import type { Recovery } from './accounts.ts';

const OVER = {
  title: 'This link is no good',
  body: '<p>It was used, is older than an hour, or was never one. Ask for another with <code>POST /v1/keys/recover</code>.</p>',
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
      const told = toApiError(error);
      if (told.code === 'internal') report(error, request_id);
      return errorResponse(told, { base_url: gate.base_url, request_id, accept, headers, resource: '' });
    }
  };
  app.get('/keys/recover', (c) =>
    guarded(c, async () => {
      const token = new URL(c.req.url).searchParams.get('token') ?? '';
      if (!(await recovery.good(token, gate.now()))) return { status: 404, page: OVER };
      // A good token is base64url, so it needs no escaping.
      const form = `<form method="post"><input type="hidden" name="token" value="${token}"><button type="submit" class="button">Replace my key</button></form>`;
      const text = '<p>Your present key stops working at once. Credit and plan stay.</p>';
      return { status: 200, page: { title: 'Replace your API key', body: text + form } };
    }),
  );
  app.post('/keys/recover', (c) =>
    guarded(c, async () => {
      const token = new URLSearchParams(await readText(c)).get('token') ?? '';
      const secret = await recovery.rotate(token, gate.now());
      if (secret === null) return { status: 404, page: OVER };
      const body = `<p><code>${secret}</code></p><p>It is shown this once.</p>`;
      return { status: 200, page: { title: 'Your new API key', body } };
    }),
  );
}
