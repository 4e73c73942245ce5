// The authorization server: requests to responses. The channel (routes.ts) mounts the addresses and applies
// the rate limits.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import { keyById } from '../../data/state/keys/keys.ts';
import { signingKeys } from '../../data/state/keys/signing-keys.ts';
import { openGrant } from '../../data/state/oauth/grants.ts';
import { destroyItemByUid, keepItem } from '../../data/state/oauth/items.ts';
import type { Quotas } from '../../data/state/quotas.ts';
import type { Store } from '../../data/state/store.ts';
import { type Credential, credentialError, type Identify } from '../access/caller.ts';
import { readAmount, signIn } from '../access/key-signin.ts';
import { ApiError, ERRORS } from '../contract/errors.ts';
import { isSameOriginForm } from '../http/browser-session.ts';
import { forwardRequest } from './bridge.ts';
import {
  consentPage,
  errorPage,
  expiredPage,
  foreignPage,
  type ShownClient,
  signInPage,
  tooManyAttemptsPage,
} from './pages.ts';
import { APPS, PATHS } from './paths.ts';
import { LIFETIMES, makeProvider, type ProviderParts } from './provider.ts';
import { PAGE_HEADERS } from './shell.ts';

interface ApproveParts {
  store: Store;
  identify: Identify;
  base_url: string;
  now(): Date;
}

/** The result of a step: a page, or a redirect. */
type ApprovalStep = { status: number; html: string } | { to: string };

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** How long a client is stored after a consent, in milliseconds: longer than the grant. */
const KEPT = 400 * 86_400_000;

/** Shows the current step, or processes its submitted form. */
async function approve(
  parts: ApproveParts,
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
  form: URLSearchParams | null,
): Promise<ApprovalStep> {
  const interaction = await provider.interactionDetails(request, response).catch(() => null);
  const client = interaction && (await shownClient(provider, interaction));
  if (!interaction || !client) return { status: 400, html: expiredPage(parts.base_url) };
  const finish = async (result: Parameters<Provider['interactionResult']>[2]): Promise<ApprovalStep> => ({
    to: await provider.interactionResult(request, response, result, { mergeWithLastSubmission: true }),
  });
  if (form?.get('action') === 'deny')
    return finish({ error: 'access_denied', error_description: 'The user denied access.' });
  if (interaction.prompt.name === 'login') {
    if (form === null) return { status: 200, html: signInPage(parts.base_url, client) };
    const signed = await signIn(parts.identify, form.get('key') ?? '');
    if ('wrong' in signed) return { status: 422, html: signInPage(parts.base_url, client, signed.wrong) };
    const before = await provider.Session.get(provider.createContext(request, response));
    if (interaction.session && interaction.session.accountId !== signed.key_id) return restart(parts, interaction);
    if (before.accountId !== undefined && before.accountId !== signed.key_id) await before.destroy();
    return finish({ login: { accountId: signed.key_id, remember: false } });
  }
  return decide(parts, provider, interaction, client, form, finish);
}

async function decide(
  parts: ApproveParts,
  provider: Provider,
  interaction: Interaction,
  client: ShownClient,
  form: URLSearchParams | null,
  finish: (result: { consent: { grantId: string } }) => Promise<ApprovalStep>,
): Promise<ApprovalStep> {
  const { store, base_url, now } = parts;
  const key = interaction.session ? await keyById(store, interaction.session.accountId) : null;
  if (key === null || key.revoked_at !== null || form?.get('action') === 'switch') return restart(parts, interaction);
  const account = { email: key.email, balance: key.balance };
  if (form === null) return { status: 200, html: consentPage(base_url, client, account) };
  const entered = form.get('cap') ?? '';
  const cap = readAmount(entered);
  if (form.get('action') !== 'allow' || cap === undefined) {
    const wrong = 'Enter an amount in EUR above zero, such as 5 or 0.50, or leave the field empty.';
    return { status: 422, html: consentPage(base_url, client, account, { entered, wrong }) };
  }
  const client_id = String(interaction.params['client_id']);
  const grant = new provider.Grant({ accountId: key.id, clientId: client_id });
  grant.addOIDCScope('read');
  const scopes = interaction.prompt.details['missingResourceScopes'] as Record<string, string[]> | undefined;
  for (const resource of Object.keys(scopes ?? {})) grant.addResourceScope(resource, 'read');
  const grantId = await grant.save();
  const at = now().getTime();
  const about = { key_id: key.id, client_id, client_name: client.name, created_at: at };
  await openGrant(store, grantId, { ...about, cap, expires_at: at + LIFETIMES.Grant * 1000 });
  await keepItem(store, 'Client', client_id, at + KEPT);
  return finish({ consent: { grantId } });
}

/** Signs out and restarts the authorization request. */
async function restart({ store, base_url }: ApproveParts, interaction: Interaction): Promise<ApprovalStep> {
  if (interaction.session?.uid) await destroyItemByUid(store, 'Session', interaction.session.uid);
  await interaction.destroy();
  const parameters = Object.entries(interaction.params).flatMap(([name, value]) =>
    [value].flat().map((each) => [name, String(each)]),
  );
  return { to: `${base_url}${PATHS.authorize}?${new URLSearchParams(parameters)}` };
}

async function shownClient(provider: Provider, { params }: Interaction): Promise<ShownClient | null> {
  const id = String(params['client_id']);
  const client = await provider.Client.find(id).catch(() => undefined);
  if (!client) return null;
  const document = /^https:/i.test(id) ? id : undefined;
  return { name: client.clientName ?? id, document, redirect: String(params['redirect_uri']) };
}

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
