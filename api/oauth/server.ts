// The authorization server as functions from requests to responses; the channel counts them and knows their addresses.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { parse, serialize } from 'hono/utils/cookie';
import type Provider from 'oidc-provider';
import { keyById } from '../../data/state/keys/keys.ts';
import { signingKeys } from '../../data/state/keys/signing-keys.ts';
import { endGrant, grantOf, grantsOf } from '../../data/state/oauth/grants.ts';
import type { Quotas } from '../../data/state/quotas.ts';
import { sharedSecret } from '../../data/state/secrets.ts';
import type { Store } from '../../data/state/store.ts';
import { type Credential, type Identify, refusal } from '../access/caller.ts';
import { ApiError, ERRORS } from '../contract/errors.ts';
import { approve } from './approve.ts';
import { carry } from './bridge.ts';
import { busyPage, connectionsPage, connectionsSignInPage, errorPage, foreignPage } from './pages.ts';
import { PATHS } from './paths.ts';
import { makeProvider, type ProviderParts } from './provider.ts';
import { PAGE_HEADERS } from './shell.ts';
import { signIn } from './signin.ts';

export interface OAuthParts extends ProviderParts {
  quotas: Quotas;
  identify: Identify;
}

/** A request as the channel read it. */
export interface Asked {
  request: Request;
  /** Its body as text; '' where there is none. */
  body: string;
  /** The address that limits count by. */
  address: string;
  credential: Credential | null;
  /** Counts an attempt to sign in; throws `rate_limited`. */
  attempt(): Promise<void>;
}

/** Each answers one kind of request; what they throw is an ApiError, or our own fault. */
export interface OAuthServer {
  /** Authorization, token and revocation endpoint, as oidc-provider answers them. */
  provide(asked: Asked): Promise<Response>;
  /** Registration (RFC 7591), with an API key or without. */
  register(asked: Asked): Promise<Response>;
  /** The key set (RFC 7517). */
  keys(): Promise<Response>;
  /** The page where a person signs in and decides. */
  approve(asked: Asked): Promise<Response>;
  /** The page of what a person allowed. */
  connections(asked: Asked): Promise<Response>;
  /** An error as a page for people, with further headers. */
  tell(error: ApiError, headers: Record<string, string>): Response;
}

/** Clients that one address may register a day. */
const CLIENTS_A_DAY = 200;

/** Opens the server; oidc-provider is loaded when it is first asked. */
export function openOAuth(parts: OAuthParts): OAuthServer {
  const { base_url, store, now } = parts;
  let made: Promise<Provider> | null = null;
  const provider = async () => {
    made ??= makeProvider(parts);
    try {
      return await made;
    } catch (error) {
      made = null;
      throw error;
    }
  };

  async function provide(
    { request, body, address }: Asked,
    key_id?: string,
    without: string[] = [],
  ): Promise<Response> {
    const listener = (await provider()).callback();
    const answer = await carry(listener, request, { base_url, body, told: { address, key_id }, without });
    const isPage = (answer.headers.get('content-type') ?? '').startsWith('text/html');
    for (const [name, value] of Object.entries(isPage ? PAGE_HEADERS : { 'Cache-Control': 'no-store' }))
      answer.headers.set(name, value);
    return answer;
  }

  /** Only our own pages may post our forms: browsers say where a form came from, and other sites cannot change that. */
  const isOwn = (request: Request) => {
    const from = request.headers.get('origin');
    return from === null ? request.headers.get('sec-fetch-site') === 'same-origin' : from === new URL(base_url).origin;
  };
  const formOf = ({ request, body }: Asked) => (request.method === 'POST' ? new URLSearchParams(body) : null);
  const shown = (html: string, status: number) => new Response(html, { status, headers: PAGE_HEADERS });
  const foreign = () => shown(foreignPage(base_url), 403);

  return {
    provide: (asked) => provide(asked),
    async register(asked) {
      const caller = asked.credential === null ? null : await parts.identify(asked.credential);
      if (asked.credential !== null && (caller?.kind !== 'key' || caller.grant)) throw refusal(asked.credential);
      const quota = { name: `clients ${asked.address}`, quota: CLIENTS_A_DAY };
      if ((await parts.quotas.take(quota, 1, now())) === 0)
        throw new ApiError('rate_limited', `More than ${CLIENTS_A_DAY} clients a day from one address.`, {
          retry_after_seconds: 3600,
        });
      return provide(asked, caller?.kind === 'key' ? caller.id : undefined, ['authorization', 'x-api-key']);
    },
    async keys() {
      const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'public, max-age=300' };
      return new Response(JSON.stringify((await signingKeys(store)).published), { headers });
    },
    async approve(asked) {
      const form = formOf(asked);
      if (form !== null && !isOwn(asked.request)) return foreign();
      if (form?.get('action') === 'signin') await asked.attempt();
      const server = await provider();
      let answer = foreign();
      await carry(
        async (request, response) => {
          const step = await approve(parts, server, request, response, form);
          answer =
            'to' in step
              ? new Response(null, { status: 303, headers: { Location: step.to, 'Cache-Control': 'no-store' } })
              : shown(step.html, step.status);
          response.end();
        },
        asked.request,
        { base_url, body: '', told: { address: asked.address } },
      );
      return answer;
    },
    async connections(asked) {
      const form = formOf(asked);
      if (form !== null && !isOwn(asked.request)) return foreign();
      if (form?.get('action') === 'signin') await asked.attempt();
      const { cookie, options } = sessionCookie(base_url);
      const sent = parse(asked.request.headers.get('cookie') ?? '', cookie)[cookie];
      const step = await connections(parts, sent, form);
      const answer = shown(step.html, step.status);
      if (step.session !== undefined) {
        const maxAge = step.session === '' ? 0 : SIGNED_IN / 1000;
        answer.headers.append('Set-Cookie', serialize(cookie, step.session, { ...options, maxAge }));
      }
      return answer;
    },
    tell(error, headers) {
      const { status } = ERRORS[error.code];
      const seconds = error.extras.retry_after_seconds;
      const html =
        error.code === 'rate_limited' && seconds !== undefined
          ? busyPage(base_url, seconds)
          : errorPage(base_url, error.code, error.message);
      const retry = seconds === undefined ? {} : { 'Retry-After': String(seconds) };
      return new Response(html, { status, headers: { ...headers, ...retry, ...PAGE_HEADERS } });
    },
  };
}

function sessionCookie(base_url: string) {
  const { pathname, protocol } = new URL(base_url);
  const path = pathname.replace(/\/$/, '') + PATHS.connections;
  const options = { path, httpOnly: true, sameSite: 'Strict', secure: protocol === 'https:' } as const;
  return { cookie: 'register_connections', options };
}

interface Parts {
  store: Store;
  identify: Identify;
  base_url: string;
  now(): Date;
}

/** What the page answers; `session` is the cookie to set, empty to end it, absent to leave it. */
interface ConnectionsStep {
  status: number;
  html: string;
  session?: string;
}

/** How long a person stays signed in, in milliseconds. */
const SIGNED_IN = 900_000;

/** A signed note of who signed in until when; the key itself is in no cookie. */
async function seal(store: Store, note: string): Promise<string> {
  const secret = await sharedSecret(store, 'oauth_cookies');
  return `${note}.${createHmac('sha256', secret).update(`connections ${note}`).digest('base64url')}`;
}

async function personOf({ store, now }: Parts, cookie: string | undefined) {
  const [id = '', until = ''] = (cookie ?? '').split('.');
  const right = Buffer.from(await seal(store, `${id}.${until}`));
  const shown = Buffer.from(cookie ?? '');
  if (shown.length !== right.length || !timingSafeEqual(shown, right)) return null;
  if (!(Number(until) > now().getTime())) return null;
  const key = await keyById(store, id);
  return key === null || key.revoked_at !== null ? null : key;
}

/** Shows the page, or does what its form asks. */
async function connections(
  parts: Parts,
  cookie: string | undefined,
  form: URLSearchParams | null,
): Promise<ConnectionsStep> {
  const { store, base_url, now } = parts;
  const at = now().getTime();
  const action = form?.get('action');
  const list = async (id: string, email: string, ended?: string) =>
    connectionsPage(base_url, email, await grantsOf(store, id, at), ended);
  if (action === 'signout') return { status: 200, html: connectionsSignInPage(base_url), session: '' };
  const person = await personOf(parts, cookie);
  if (person !== null) {
    const grant = action === 'end' ? await grantOf(store, person.id, form?.get('grant') ?? '') : null;
    if (grant !== null) await endGrant(store, grant.id);
    const ended = grant === null ? undefined : grant.client_name || grant.client_id;
    return { status: 200, html: await list(person.id, person.email, ended) };
  }
  if (form === null) return { status: 200, html: connectionsSignInPage(base_url) };
  const signed = await signIn(parts.identify, form.get('key') ?? '');
  if ('wrong' in signed) return { status: 422, html: connectionsSignInPage(base_url, signed.wrong) };
  const key = await keyById(store, signed.key_id);
  return {
    status: 200,
    html: await list(signed.key_id, key?.email ?? ''),
    session: await seal(store, `${signed.key_id}.${at + SIGNED_IN}`),
  };
}
