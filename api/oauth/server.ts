// The authorization server: requests to responses. The channel (routes.ts) mounts the addresses and applies
// the rate limits.

import type Provider from 'oidc-provider';
import { signingKeys } from '../../data/state/keys/signing-keys.ts';
import type { Quotas } from '../../data/state/quotas.ts';
import { type Credential, credentialError, type Identify } from '../access/caller.ts';
import { ApiError, ERRORS } from '../contract/errors.ts';
import { isSameOriginForm } from '../http/browser-session.ts';
import { approve } from './approve.ts';
import { forwardRequest } from './bridge.ts';
import { errorPage, foreignPage, tooManyAttemptsPage } from './pages.ts';
import { APPS } from './paths.ts';
import { makeProvider, type ProviderParts } from './provider.ts';
import { PAGE_HEADERS } from './shell.ts';

export interface OAuthParts extends ProviderParts {
  quotas: Quotas;
  identify: Identify;
}

/** A request as the channel read it. */
export interface OAuthRequest {
  request: Request;
  /** Its body as text; '' without one. */
  body: string;
  /** The client address, for limits. */
  address: string;
  credential: Credential | null;
  /** Counts an attempt to sign in; throws `rate_limited`. */
  attempt(): Promise<void>;
}

/** New clients per address and day. */
const CLIENTS_A_DAY = 200;

/** One method per kind of request. An expected error is thrown as ApiError. */
export class OAuthServer {
  readonly #parts: OAuthParts;
  #loading: Promise<Provider> | null = null;

  /** oidc-provider is loaded at the first request. */
  constructor(parts: OAuthParts) {
    this.#parts = parts;
  }

  /** Authorization, token and revocation endpoint: handled by oidc-provider. */
  provide(request: OAuthRequest): Promise<Response> {
    return this.#forward(request);
  }

  /** Registration (RFC 7591), with an API key or without. */
  async register(request: OAuthRequest): Promise<Response> {
    const { credential, address } = request;
    const { identify, quotas, now } = this.#parts;
    const caller = credential === null ? null : await identify(credential);
    if (credential !== null && (caller?.kind !== 'key' || caller.grant)) throw credentialError(credential);
    const quota = { name: `clients ${address}`, quota: CLIENTS_A_DAY };
    if ((await quotas.take(quota, 1, now())) === 0)
      throw new ApiError('rate_limited', `More than ${CLIENTS_A_DAY} clients a day from one address.`, {
        retry_after_seconds: 3600,
      });
    return this.#forward(request, caller?.kind === 'key' ? caller.id : undefined, ['authorization', 'x-api-key']);
  }

  /** The key set (RFC 7517). */
  async keys(): Promise<Response> {
    const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'public, max-age=300' };
    return new Response(JSON.stringify((await signingKeys(this.#parts.store)).published), { headers });
  }

  /** The page where a person signs in and consents. */
  async approve(request: OAuthRequest): Promise<Response> {
    const form = await this.#form(request);
    if (form === 'foreign') return this.#foreign();
    const { base_url } = this.#parts;
    const provider = await this.#provider();
    let answer = this.#foreign();
    await forwardRequest(
      async (message, response) => {
        const step = await approve(this.#parts, provider, message, response, form);
        answer =
          'to' in step
            ? new Response(null, { status: 303, headers: { Location: step.to, 'Cache-Control': 'no-store' } })
            : pageResponse(step.html, step.status);
        response.end();
      },
      request.request,
      { base_url, body: '', requestFacts: { address: request.address } },
    );
    return answer;
  }

  /** The former page of connected clients: a section of the account page now. */
  async moved(): Promise<Response> {
    const Location = this.#parts.base_url + APPS;
    return new Response(null, { status: 301, headers: { Location, 'Cache-Control': 'no-cache' } });
  }

  /** An error as an HTML page, with further headers. */
  errorPage(error: ApiError, headers: Record<string, string>): Response {
    const { base_url } = this.#parts;
    const { status } = ERRORS[error.code];
    const seconds = error.extras.retry_after_seconds;
    const html =
      error.code === 'rate_limited' && seconds !== undefined
        ? tooManyAttemptsPage(base_url, seconds)
        : errorPage(base_url, error.code, error.message);
    const retry = seconds === undefined ? {} : { 'Retry-After': String(seconds) };
    return new Response(html, { status, headers: { ...headers, ...retry, ...PAGE_HEADERS } });
  }

  /** The provider; a failed load is tried again at the next request. */
  async #provider(): Promise<Provider> {
    this.#loading ??= makeProvider(this.#parts);
    try {
      return await this.#loading;
    } catch (error) {
      this.#loading = null;
      throw error;
    }
  }

  /**
   * Forwards a request to oidc-provider, without the headers in `without`. `key_id`: the API key of a
   * registration.
   */
  async #forward({ request, body, address }: OAuthRequest, key_id?: string, without: string[] = []): Promise<Response> {
    const { base_url } = this.#parts;
    const listener = (await this.#provider()).callback();
    const answer = await forwardRequest(listener, request, {
      base_url,
      body,
      requestFacts: { address, key_id },
      // What is posted is answered with JSON (RFC 6749 section 5.2), also to a client that prefers HTML.
      without: request.method === 'POST' ? [...without, 'accept'] : without,
    });
    const isPage = (answer.headers.get('content-type') ?? '').startsWith('text/html');
    for (const [name, value] of Object.entries(isPage ? PAGE_HEADERS : { 'Cache-Control': 'no-store' }))
      answer.headers.set(name, value);
    return answer;
  }

  /** The submitted form; null for a GET, `foreign` for another site's form. Counts a sign-in attempt. */
  async #form({ request, body, attempt }: OAuthRequest): Promise<URLSearchParams | null | 'foreign'> {
    if (request.method !== 'POST') return null;
    const header = (name: string) => request.headers.get(name) ?? undefined;
    if (!isSameOriginForm(this.#parts.base_url, header)) return 'foreign';
    await attempt();
    return new URLSearchParams(body);
  }

  #foreign(): Response {
    return pageResponse(foreignPage(this.#parts.base_url), 403);
  }
}

const pageResponse = (html: string, status: number) => new Response(html, { status, headers: PAGE_HEADERS });
