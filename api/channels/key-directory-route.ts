// The address of the crawler's key directory; what is there is signed by whoever holds the keys (api/channels/key-directory.ts).
import { toApiError } from '../contract/errors.ts';
import { readRequest } from '../http/request.ts';
import { errorResponse } from '../http/respond.ts';
import type { App, RestDeps } from './rest/rest.ts';

export const DIRECTORY = '/.well-known/http-message-signatures-directory';

/** The directory as it is answered. */
export interface Directory {
  body: string;
  headers: Record<string, string>;
}

/** Mounts it: free and never limited, like the other documents. */
export function mountDirectory(app: App, { gate, report }: RestDeps, directory: () => Promise<Directory>): void {
  app.get(DIRECTORY, async (c) => {
    const { headers, request_id, accept } = readRequest(gate, c);
    try {
      const made = await directory();
      return new Response(made.body, { headers: { ...headers, ...made.headers } });
    } catch (error) {
      report(error, request_id);
      return errorResponse(toApiError(error), { base_url: gate.base_url, request_id, accept, headers, resource: '' });
    }
  });
}
