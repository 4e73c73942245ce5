// Mounts the endpoints of the authorization server, with the rate limits and errors of all calls.

import type { App, RestDeps } from '../channels/rest/rest.ts';
import { ApiError, toApiError } from '../contract/errors.ts';
import { admit } from '../gate/execute.ts';
import { type Http, readRequest, readText } from '../http/request.ts';
import { errorResponse } from '../http/respond.ts';
import { PATHS } from './paths.ts';
import type { OAuthRequest, OAuthServer } from './server.ts';

export interface OAuthDeps extends RestDeps {
  oauth: OAuthServer;
}

interface Address {
  path: string;
  methods: readonly ('GET' | 'POST')[];
  answer: (request: OAuthRequest) => Promise<Response>;
  /** Registrations have their own limit, since each writes a row. */
  bucket?: 'free' | 'register';
  /** A page: errors are pages too, and scripts of other sites may not read it (no CORS). */
  page?: true;
}

/** Mounts the endpoints. Limits count the client address, since requests have no API key. */
export function mountOAuth(app: App, { gate, report, oauth }: OAuthDeps): void {
  const provide: Address['answer'] = (request) => oauth.provide(request);
  const register: Address['answer'] = (request) => oauth.register(request);
  const approve: Address['answer'] = (request) => oauth.approve(request);
  const moved: Address['answer'] = () => oauth.moved();
  const addresses: Address[] = [
    { path: PATHS.authorize, methods: ['GET'], answer: provide, page: true },
    { path: `${PATHS.authorize}/:uid`, methods: ['GET'], answer: provide, page: true },
    { path: PATHS.token, methods: ['POST'], answer: provide },
    { path: PATHS.revoke, methods: ['POST'], answer: provide },
    { path: PATHS.register, methods: ['POST'], answer: register, bucket: 'register' },
    { path: PATHS.keys, methods: ['GET'], answer: () => oauth.keys() },
    { path: `${PATHS.approve}/:uid`, methods: ['GET', 'POST'], answer: approve, page: true },
    { path: PATHS.connections, methods: ['GET'], answer: moved, page: true },
  ];

  const answered = async (c: Http, { answer, bucket = 'free', page }: Address): Promise<Response> => {
    const { visitor, headers, request_id, accept, urlError } = readRequest(gate, c);
    const count = async (what: 'free' | 'register' | 'signin') => {
      await admit(gate, { ...visitor, credential: null }, what);
    };
    try {
      await count(bucket);
      if (urlError) throw urlError;
      const body = c.req.method === 'POST' ? await readText(c) : '';
      const { address, credential } = visitor;
      const made = await answer({ request: c.req.raw, body, address, credential, attempt: () => count('signin') });
      for (const [name, value] of Object.entries(headers))
        if (!page || !name.startsWith('Access-Control-')) made.headers.set(name, value);
      return made;
    } catch (error) {
      const apiError = toApiError(error);
      if (apiError.code === 'internal') report(error, request_id);
      if (page) return oauth.errorPage(apiError, headers);
      return errorResponse(apiError, { base_url: gate.base_url, request_id, accept, headers, resource: '' });
    }
  };

  for (const address of addresses) {
    for (const method of address.methods) app.on(method, address.path, (c) => answered(c, address));
    const allow = [...address.methods.map((each) => (each === 'GET' ? 'GET, HEAD' : each)), 'OPTIONS'].join(', ');
    const refuse = async () => {
      throw new ApiError('method_not_allowed', `This path allows ${allow}.`, { headers: { Allow: allow } });
    };
    app.all(address.path, (c) => answered(c, { path: address.path, methods: [], answer: refuse }));
  }
}
