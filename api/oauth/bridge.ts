// Forwards Fetch requests to oidc-provider, which is a Node listener, and returns its response (decision:
// oauth).
import type { IncomingMessage, ServerResponse } from 'node:http';
import inject from 'light-my-request';

/** Headers that would contradict the base URL, or that belong to the connection. */
const DROPPED =
  /^(x-forwarded-.*|forwarded|host|connection|content-length|transfer-encoding|expect|upgrade|keep-alive|te)$/;

/** Data of a request for the provider's configuration. */
export interface RequestFacts {
  /** The client address, for limits. */
  address: string;
  /** Id of the API key that a registration was sent with. */
  key_id?: string | undefined;
}

const facts = new WeakMap<IncomingMessage, RequestFacts>();

/** The data of a forwarded request. */
export function factsOf(request: IncomingMessage): RequestFacts {
  return facts.get(request) ?? { address: '' };
}

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

/**
 * Answers a request with a Node listener. Host and scheme are those of `base_url`, whatever the request has;
 * the headers in `without` are removed.
 */
export async function forwardRequest(
  listener: Listener,
  request: Request,
  {
    base_url,
    body,
    requestFacts,
    without = [],
  }: { base_url: string; body: string; requestFacts: RequestFacts; without?: string[] },
): Promise<Response> {
  const base = new URL(base_url);
  const { pathname, search } = new URL(request.url);
  const headers = Object.fromEntries(
    [...request.headers].filter(([name]) => !DROPPED.test(name) && !without.includes(name)),
  );
  const dispatch: Listener = (incoming, outgoing) => {
    facts.set(incoming, requestFacts);
    // The path of the base URL, which the provider prepends to its own paths.
    Object.assign(incoming, { baseUrl: base.pathname.replace(/\/$/, '') });
    return listener(incoming, outgoing);
  };
  const answer = await inject(dispatch, {
    method: request.method,
    url: pathname + search,
    headers: { ...headers, host: base.host, 'x-forwarded-proto': base.protocol.slice(0, -1) },
    ...(body === '' ? {} : { payload: body }),
  });
  const sent = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    if (DROPPED.test(name) || name === 'date' || value === undefined) continue;
    for (const item of [value].flat()) sent.append(name, String(item));
  }
  const bare = answer.statusCode === 204 || answer.statusCode === 304 || answer.rawPayload.length === 0;
  return new Response(bare ? null : new Uint8Array(answer.rawPayload), { status: answer.statusCode, headers: sent });
}
