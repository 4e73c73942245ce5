// /ops: the operators' pages and JSON, for an operator's key or a session (contract section 3,
// "Credentials").
import type { App, RestDeps } from '../channels/rest/rest.ts';
import { ApiError, FOR_OPERATORS, toApiError } from '../contract/errors.ts';
import { admit, operatorKeyInUrl } from '../gate/execute.ts';
import { methodNotAllowed } from '../http/not-found.ts';
import { type Http, type HttpRequest, readRequest, readText } from '../http/request.ts';
import { errorResponse } from '../http/respond.ts';
import { preferred } from '../render/negotiate.ts';
import type { OpsRequest } from './parts/request.ts';
import type { OpsServer } from './server.ts';

/** Mounts all routes of the pages; any other path below /ops is a 404. */
export function mountOps(app: App, { gate, report, ops }: RestDeps & { ops: OpsServer }): void {
  const answered = async (c: Http, make: (request: HttpRequest, opsRequest: OpsRequest) => Promise<Response>) => {
    const request = readRequest(gate, c);
    const { visitor, headers, request_id, accept } = request;
    const html = preferred(accept, ['application/json', 'text/html']) === 'text/html';
    try {
      if (visitor.credential?.via === 'api_key') throw operatorKeyInUrl();
      const caller = await admit(gate, visitor, 'free', true);
      if (caller.kind === 'key') throw new ApiError('admin_required', "This requires an operator's key.");
      if (request.urlError) throw request.urlError;
      const answer = await make(request, {
        params: c.req.param(),
        query: request.query,
        form: c.req.method === 'POST' ? new URLSearchParams(await readText(c)) : null,
        header: (name) => c.req.header(name),
        path: request.path,
        operator: caller.kind === 'admin' ? (caller.id ?? 'unnamed') : null,
        address: visitor.address,
        request_id,
        html,
        piece: c.req.header('hx-request') === 'true',
        attempt: async () => void (await admit(gate, { ...visitor, credential: null }, 'signin')),
      });
      // Scripts of other sites may not read these, so the response has no CORS headers.
      for (const [name, value] of Object.entries(headers))
        if (!name.startsWith('Access-Control-') && !answer.headers.has(name)) answer.headers.set(name, value);
      return answer;
    } catch (error) {
      const apiError = toApiError(error);
      if (apiError.code === 'internal') report(error, request_id);
      if (!html) return errorResponse(apiError, { base_url: gate.base_url, request_id, accept, headers, resource: '' });
      const page = ops.errorPage(apiError, request_id, c.req.header('hx-request') === 'true');
      page.headers.set('X-Request-Id', request_id);
      return page;
    }
  };

  const byPath = Map.groupBy(ops.routes, (route) => route.slice(route.indexOf(' ') + 1));
  for (const [path, routes] of byPath) {
    const methods = routes.map((route) => route.slice(0, route.indexOf(' ')));
    for (const [i, route] of routes.entries())
      app.on(methods[i]!, path, (c) => answered(c, (_, opsRequest) => ops.answer(route, opsRequest)));
    app.all(path, (c) =>
      answered(c, async () => {
        throw methodNotAllowed(methods);
      }),
    );
  }
  app.all('/ops/*', (c) =>
    answered(c, async () => {
      throw new ApiError('not_found', 'Not found.');
    }),
  );
}

/** Mounts /ops/metrics: 401 without a credential, 403 with an API key (contract section 3, "Credentials"). */
export function mountMetrics(
  app: App,
  { gate, report }: RestDeps,
  text: () => Promise<{ type: string; text: string }>,
): void {
  app.get('/ops/metrics', async (c) => {
    const { visitor, headers, request_id, accept } = readRequest(gate, c);
    try {
      const caller = await admit(gate, visitor, 'free', true);
      if (caller.kind === 'anonymous') throw new ApiError('key_required', 'Metrics are for operators.', FOR_OPERATORS);
      if (caller.kind !== 'admin') throw new ApiError('admin_required', "Metrics require an operator's key.");
      const metrics = await text();
      return new Response(metrics.text, {
        headers: { ...headers, 'Content-Type': metrics.type, 'Cache-Control': 'no-store' },
      });
    } catch (error) {
      const apiError = toApiError(error);
      if (apiError.code === 'internal') report(error, request_id);
      return errorResponse(apiError, { base_url: gate.base_url, request_id, accept, headers, resource: '' });
    }
  });
}
