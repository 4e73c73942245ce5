// POST /webhooks/stripe: what Stripe tells us about payments. Only its signature speaks for it.

import type { App, RestDeps } from '../channels/rest/rest.ts';
import { ApiError, toApiError } from '../contract/errors.ts';
import { admit } from '../gate/execute.ts';
import { readBytes, readRequest } from '../http/request.ts';
import { errorResponse } from '../http/respond.ts';

/** Longest event that is read, in bytes; Stripe's are a few thousand, with many lines on an invoice more. */
const LONGEST_EVENT = 1_048_576;

export interface TakesWebhooks {
  /** Takes one delivery and answers what became of it; absent where there is no Stripe. `invalid_parameter` for a wrong signature. */
  webhook: ((body: Uint8Array, signature: string | undefined, now: Date) => Promise<object>) | null;
}

const PATH = '/webhooks/stripe';

/** Mounts it. Stripe repeats for three days whatever is not answered with success. */
export function mountWebhook(app: App, deps: RestDeps & { checkout: TakesWebhooks }): void {
  const { gate, report, checkout } = deps;
  app.all(PATH, async (c) => {
    const { visitor, headers, request_id, accept, method } = readRequest(gate, c);
    try {
      if (checkout.webhook === null) throw new ApiError('not_found', 'There is nothing at this address.');
      if (method !== 'POST')
        throw new ApiError('method_not_allowed', 'This address answers POST.', { headers: { Allow: 'POST, OPTIONS' } });
      const body = await readBytes(c, LONGEST_EVENT);
      const told = await checkout.webhook(body, c.req.header('stripe-signature'), gate.now());
      return new Response(JSON.stringify(told), {
        headers: { ...headers, 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
      });
    } catch (error) {
      let told = toApiError(error);
      if (told.code === 'internal') report(error, request_id);
      // What Stripe signed is not limited, since it comes in bursts from few addresses; everybody else is.
      else if (told.code !== 'unavailable') told = await admit(gate, visitor, 'free').then(() => told, toApiError);
      return errorResponse(told, { base_url: gate.base_url, request_id, accept, headers, resource: '' });
    }
  });
}
