// /ops/metrics: what Prometheus reads, with an operator's key.

import type { App, RestDeps } from '../channels/rest/rest.ts';
import { ApiError, FOR_OPERATORS, toApiError } from '../contract/errors.ts';
import { admit } from '../gate/execute.ts';
import { readRequest } from '../http/request.ts';
import { errorResponse } from '../http/respond.ts';

/** Mounts it: without a credential 401, with an ordinary key 403 (contract section 3, "Credentials"). */
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
      if (caller.kind !== 'admin') throw new ApiError('admin_required', "Metrics take an operator's key.");
      const metrics = await text();
      return new Response(metrics.text, {
        headers: { ...headers, 'Content-Type': metrics.type, 'Cache-Control': 'no-store' },
      });
    } catch (error) {
      const told = toApiError(error);
      if (told.code === 'internal') report(error, request_id);
      return errorResponse(told, { base_url: gate.base_url, request_id, accept, headers, resource: '' });
    }
  });
}
