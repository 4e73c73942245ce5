// The routes of the authorization server. Limits count the client address, since requests have no API key.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import { keyById } from '../../data/state/keys/keys.ts';
import { signingKeys } from '../../data/state/keys/signing-keys.ts';
import { openGrant } from '../../data/state/oauth/grants.ts';
import { destroyItemByUid, keepItem } from '../../data/state/oauth/items.ts';
import type { Quotas } from '../../data/state/quotas.ts';
import type { Store } from '../../data/state/store.ts';
import { credentialError, type Identify } from '../access/caller.ts';
import { readAmount, signIn } from '../access/key-signin.ts';
import { consentKey } from '../accounts/consent.ts';
import { ApiError } from '../contract/errors.ts';
import { readText } from '../http/request.ts';
import type { PlainAnswer, RouteAnswer, RouteRequest, RouteTable } from '../http/server.ts';
import { forwardRequest } from './bridge.ts';
import { consentPage, expiredPage, type ShownClient, signInPage } from './pages.ts';
import { PATHS } from './paths.ts';
import { LIFETIMES, makeProvider, type ProviderParts } from './provider.ts';
import { OAUTH_SHELL } from './shell.ts';

interface ApproveParts {
  store: Store;
  identify: Identify;
  base_url: string;
  now(): Date;
}

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
  session: string | undefined,
): Promise<PlainAnswer> {
  const interaction = await provider.interactionDetails(request, response).catch(() => null);
  const client = interaction && (await shownClient(provider, interaction));
  if (!interaction || !client) return { status: 400, page: expiredPage(parts.base_url) };
  const finish = async (result: Parameters<Provider['interactionResult']>[2]): Promise<PlainAnswer> => ({
    to: await provider.interactionResult(request, response, result, { mergeWithLastSubmission: true }),
  });
  if (form?.get('action') === 'deny')
    return finish({ error: 'access_denied', error_description: 'The user denied access.' });
  if (interaction.prompt.name === 'login') {
    const { base_url, store } = parts;
    const { uid } = interaction;
    const owner = session && (await consentKey(store, uid, session, parts.now().getTime()));
    if (form === null && !owner) return { page: signInPage(base_url, client, uid) };
    const signed = owner ? { key_id: owner } : await signIn(parts.identify, form?.get('key') ?? '');
    if ('wrong' in signed) return { status: 422, page: signInPage(base_url, client, uid, signed.wrong) };
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
  finish: (result: { consent: { grantId: string } }) => Promise<PlainAnswer>,
): Promise<PlainAnswer> {
  const { store, base_url, now } = parts;
  const key = interaction.session ? await keyById(store, interaction.session.accountId) : null;
  if (key === null || key.revoked_at !== null || form?.get('action') === 'switch') return restart(parts, interaction);
  const account = { email: key.email, balance: key.balance };
  if (form === null) return { page: consentPage(base_url, client, account) };
  const entered = form.get('cap') ?? '';
  const cap = readAmount(entered);
  if (form.get('action') !== 'allow' || cap === undefined) {
    const wrong = 'Enter an amount in EUR above zero, such as 5 or 0.50, or leave the field empty.';
    return { status: 422, page: consentPage(base_url, client, account, { entered, wrong }) };
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
async function restart({ store, base_url }: ApproveParts, interaction: Interaction): Promise<PlainAnswer> {
  if (interaction.session?.uid) await destroyItemByUid(store, 'Session', interaction.session.uid);
  await interaction.destroy();
  const parameters = Object.entries(interaction.params).flatMap(([name, value]) =>
    [value].flat().map((item) => [name, String(item)]),
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

/** New clients per address and day. */
const CLIENTS_A_DAY = 200;

/** Endpoints for clients, which browsers of other sites may call; the other routes are pages. */
const ENDPOINT = { cors: true, errors: 'json' } as const;

/**
 * The authorization server.
 *
 * @example
 * ```ts
 * mountTable(app, services, new OAuthServer(parts).table);
 * await app.request('/oauth/token', { method: 'POST', body: form });
 * ```
 */
export class OAuthServer {
  readonly #parts: OAuthParts;
  #loading: Promise<Provider> | null = null;
  readonly table: RouteTable = {
    policy: { credentials: 'ignored', cors: false, errors: 'page', shell: OAUTH_SHELL },
    routes: {
      [`GET ${PATHS.authorize}`]: (request) => this.#forward(request),
      [`GET ${PATHS.authorize}/:uid`]: (request) => this.#forward(request),
      [`POST ${PATHS.token}`]: { ...ENDPOINT, answer: (request) => this.#forward(request) },
      [`POST ${PATHS.revoke}`]: { ...ENDPOINT, answer: (request) => this.#forward(request) },
      // Registrations have their own limit, since each writes a row.
      [`POST ${PATHS.register}`]: { ...ENDPOINT, bucket: 'register', answer: (request) => this.#register(request) },
      [`GET ${PATHS.keys}`]: {
        ...ENDPOINT,
        caching: 'public, max-age=300',
        // The key set (RFC 7517).
        answer: async () => ({ json: (await signingKeys(this.#parts.store)).published }),
      },
      [`GET ${PATHS.approve}/:uid`]: (request) => this.#approve(request, null),
      [`POST ${PATHS.approve}/:uid`]: {
        form: 'session',
        answer: async (request) => {
          await request.count('signin');
          return this.#approve(request, request.form);
        },
      },
    },
  };

  /** oidc-provider is loaded at the first request. */
  constructor(parts: OAuthParts) {
    this.#parts = parts;
  }

  /** Registration (RFC 7591), with an API key or without. */
  async #register(request: RouteRequest): Promise<Response> {
    const { credential, address } = request.visitor;
    const { identify, quotas, now } = this.#parts;
    const caller = credential === null ? null : await identify(credential);
    if (credential !== null && (caller?.kind !== 'key' || caller.grant || caller.child))
      throw credentialError(credential);
    const quota = { name: `clients ${address}`, quota: CLIENTS_A_DAY };
    if ((await quotas.take(quota, 1, now())) === 0)
      throw new ApiError('rate_limited', `More than ${CLIENTS_A_DAY} clients a day from one address.`, {
        retry_after_seconds: 3600,
      });
    return this.#forward(request, caller?.kind === 'key' ? caller.id : undefined, ['authorization', 'x-api-key']);
  }

  /** The page where a person signs in and consents; `form`: the submitted one. */
  async #approve(request: RouteRequest, form: URLSearchParams | null): Promise<RouteAnswer> {
    const { base_url } = this.#parts;
    const provider = await this.#provider();
    let answer: PlainAnswer = { page: expiredPage(base_url), status: 400 };
    await forwardRequest(
      async (message, response) => {
        answer = await approve(this.#parts, provider, message, response, form, request.parameter('session'));
        response.end();
      },
      request.http.req.raw,
      { base_url, body: '', requestFacts: { address: request.visitor.address } },
    );
    return answer;
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
   * Forwards a request to oidc-provider: authorization, token and revocation. The headers in `without` are left out;
   * `key_id`: the API key of a registration.
   */
  async #forward(request: RouteRequest, key_id?: string, without: string[] = []): Promise<Response> {
    const { base_url } = this.#parts;
    const isPost = request.method === 'POST';
    const body = isPost ? await readText(request.http) : '';
    const listener = (await this.#provider()).callback();
    const response = await forwardRequest(listener, request.http.req.raw, {
      base_url,
      body,
      requestFacts: { address: request.visitor.address, key_id },
      // What is posted is answered with JSON (RFC 6749 section 5.2), also to a client that prefers HTML.
      without: isPost ? [...without, 'accept'] : without,
    });
    const isPage = (response.headers.get('content-type') ?? '').startsWith('text/html');
    for (const [name, value] of Object.entries(isPage ? OAUTH_SHELL.headers : { 'Cache-Control': 'no-store' }))
      response.headers.set(name, value);
    return response;
  }
}
