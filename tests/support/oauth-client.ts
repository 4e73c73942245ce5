// An OAuth client without a library, so that tests can break the protocol.
import { createHash, randomBytes } from 'node:crypto';
import { allow } from './oauth-person.ts';

export interface Registered {
  client_id: string;
  client_secret?: string;
  [name: string]: unknown;
}

export interface OAuthAnswer {
  status: number;
  body: Record<string, string>;
  headers: Headers;
}

export const REDIRECT = 'http://127.0.0.1:3000/callback';

export function pkce(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

async function answerOf(response: Response): Promise<OAuthAnswer> {
  const text = await response.text();
  const body = text === '' ? {} : (JSON.parse(text) as Record<string, string>);
  return { status: response.status, body, headers: response.headers };
}

/** Registers a client; with `key`, authenticated by that key. */
export async function register(
  base: string,
  metadata: unknown = {},
  key?: string,
): Promise<OAuthAnswer & { body: Registered }> {
  const whole = {
    client_name: 'Reader',
    redirect_uris: [REDIRECT],
    grant_types: ['authorization_code', 'refresh_token'],
  };
  const response = await fetch(`${base}/oauth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }) },
    body: JSON.stringify(typeof metadata === 'object' && metadata !== null ? { ...whole, ...metadata } : metadata),
  });
  return answerOf(response) as Promise<OAuthAnswer & { body: Registered }>;
}

/** Address of an authorization request; `changed` replaces parameters, undefined removes one. */
export function authorizeUrl(
  base: string,
  client_id: string,
  challenge: string,
  changed: Record<string, string | undefined> = {},
): string {
  const parameters = {
    response_type: 'code',
    client_id,
    redirect_uri: REDIRECT,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    state: 'a state',
    scope: 'read',
    resource: base,
    ...changed,
  };
  const given = Object.entries(parameters).filter((each): each is [string, string] => each[1] !== undefined);
  return `${base}/oauth/authorize?${new URLSearchParams(given)}`;
}

/** Posts a form to an endpoint; undefined fields are left out. */
export async function post(
  base: string,
  path: string,
  fields: Record<string, string | undefined>,
  headers: Record<string, string> = {},
): Promise<OAuthAnswer> {
  const given = Object.entries(fields).filter((each): each is [string, string] => each[1] !== undefined);
  return answerOf(
    await fetch(base + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams(given).toString(),
    }),
  );
}

export const token = (base: string, fields: Record<string, string | undefined>, headers?: Record<string, string>) =>
  post(base, '/oauth/token', fields, headers);

export interface Connected {
  client_id: string;
  access_token: string;
  refresh_token: string;
  code: string;
  /** The fields of the token request, to repeat it. */
  exchange: Record<string, string>;
}

/** The fields of a token request for a code that a person just allowed. */
export async function allowCode(
  base: string,
  key: string,
  { cap = '', changed = {}, client_id }: { cap?: string; changed?: Record<string, string>; client_id?: string } = {},
): Promise<Record<string, string>> {
  const id = client_id ?? (await register(base)).body.client_id;
  const { verifier, challenge } = pkce();
  const left = await allow(base, authorizeUrl(base, id, challenge, changed), key, cap);
  const code = left.searchParams.get('code');
  if (code === null) throw new Error(String(left));
  const redirect_uri = changed['redirect_uri'] ?? REDIRECT;
  return { grant_type: 'authorization_code', client_id: id, code, redirect_uri, code_verifier: verifier };
}

/** The complete flow: registration, consent, token request. */
export async function connectClient(
  base: string,
  key: string,
  how: Parameters<typeof allowCode>[2] = {},
): Promise<Connected> {
  const exchange = await allowCode(base, key, how);
  const { status, body } = await token(base, exchange);
  if (status !== 200) throw new Error(JSON.stringify(body));
  const { access_token = '', refresh_token = '' } = body;
  return {
    client_id: exchange['client_id'] ?? '',
    access_token,
    refresh_token,
    code: exchange['code'] ?? '',
    exchange,
  };
}

export const bearer = (credential: string) => ({ Authorization: `Bearer ${credential}` });
