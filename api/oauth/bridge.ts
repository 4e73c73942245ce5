// Carries a request of ours into Node's form, which oidc-provider speaks, and its answer back (decision: oauth).
import type { IncomingMessage, ServerResponse } from 'node:http';
import inject from 'light-my-request';

/** Headers that would tell the provider another story than the base URL does, or belong to the connection alone. */
const DROPPED =
  /^(x-forwarded-.*|forwarded|host|connection|content-length|transfer-encoding|expect|upgrade|keep-alive|te)$/;

/** What else the provider's configuration may want to know of a request. */
export interface RequestFacts {
  /** The address that limits count by. */
  address: string;
  /** Id of the API key that a registration was sent with. */
  key_id?: string | undefined;
}

const facts = new WeakMap<IncomingMessage, RequestFacts>();

/** The facts of a request that came over the bridge. */
export function factsOf(request: IncomingMessage): RequestFacts {
  return facts.get(request) ?? { address: '' };
}

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

/**
 * Has a Node listener answer a request. Host and scheme are those of `base_url`, whatever the request says. `without` names
 * further headers that do not pass.
 */
export async function forwardRequest(
  listener: Listener,
  request: Request,
  { base_url, body, told, without = [] }: { base_url: string; body: string; told: RequestFacts; without?: string[] },
): Promise<Response> {
  const base = new URL(base_url);
  const { pathname, search } = new URL(request.url);
  const headers = Object.fromEntries(
    [...request.headers].filter(([name]) => !DROPPED.test(name) && !without.includes(name)),
  );
  const dispatch: Listener = (incoming, outgoing) => {
    facts.set(incoming, told);
    // What stands before our paths, where the base URL has a path of its own.
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
    for (const each of [value].flat()) sent.append(name, String(each));
  }
  const bare = answer.statusCode === 204 || answer.statusCode === 304 || answer.rawPayload.length === 0;
  return new Response(bare ? null : new Uint8Array(answer.rawPayload), { status: answer.statusCode, headers: sent });
}
