// /keys and /account: the pages of keys and accounts, with the rate limits of all calls. The session cookie is
// read here only: /v1, MCP and A2A take no cookies (contract section 9, "Keys").
import type { App, RestDeps } from '../channels/rest/rest.ts';
import { toApiError } from '../contract/errors.ts';
import { admit } from '../gate/execute.ts';
import { type Http, readRequest, readText } from '../http/request.ts';
import type { AccountServer } from './server.ts';

/** Mounts all routes of the pages. */
export function mountAccount(app: App, { gate, report, account }: RestDeps & { account: AccountServer }): void {
  const answered = async (c: Http, route: string): Promise<Response> => {
    const { visitor, headers, request_id, urlError } = readRequest(gate, c);
    const anonymous = { ...visitor, credential: null };
    let response: Response;
    try {
      await admit(gate, anonymous, 'free');
      if (urlError) throw urlError;
      response = await account.answer(route, {
        query: new URL(c.req.url).searchParams,
        form: c.req.method === 'POST' ? new URLSearchParams(await readText(c)) : null,
        header: (name) => c.req.header(name),
        address: visitor.address,
        request_id,
        attempt: async () => void (await admit(gate, anonymous, 'signin')),
      });
    } catch (error) {
      const apiError = toApiError(error);
      if (apiError.code === 'internal') report(error, request_id);
      response = account.errorPage(apiError);
    }
    // Scripts of other sites may not read these, so the response has no CORS headers.
    for (const [name, value] of Object.entries(headers))
      if (!name.startsWith('Access-Control-') && !response.headers.has(name)) response.headers.set(name, value);
    return response;
  };
  for (const route of Object.keys(account.routes)) {
    const [method = '', path = ''] = route.split(' ');
    app.on(method, path, (c) => answered(c, route));
  }
  // The address of a form, opened without the form.
  app.get('/account/*', (c) => answered(c, 'GET /account/*'));
}
