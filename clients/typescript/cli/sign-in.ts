// OAuth 2.1 for the bridge: sign-in in the browser with a loopback redirect (RFC 8252) and PKCE, and refreshing.
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OAuthTokens } from './config.ts';

/** Time limit of a request to the authorization server, in milliseconds. */
const TIMEOUT = 30_000;
/** How long a person may take to sign in, in milliseconds. */
const PATIENCE = 300_000;

interface ServerMetadata {
  authorization_endpoint: string;
  token_endpoint: string;
  registration_endpoint?: string;
}

/** How a sign-in talks to the person. */
export interface SignInOptions {
  /** Opens an address; the browser of the machine by default. */
  open?: (address: string) => void;
  /** A line for the person. */
  note: (text: string) => void;
  signal?: AbortSignal;
}

/**
 * Tokens that a person allowed in the browser for the service at `url`. Throws if the service has no OAuth, the person
 * refused, or there was no answer within 5 minutes.
 *
 * @example
 * ```ts
 * const tokens = await signIn('https://register.example', { note: (text) => console.error(text) });
 * ```
 */
export async function signIn(url: string, { open = openBrowser, note, signal }: SignInOptions): Promise<OAuthTokens> {
  const metadata = await discover(url);
  const server = createServer().listen(0, '127.0.0.1');
  try {
    await new Promise((resolve) => server.once('listening', resolve));
    const redirect_uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
    const client_id = await registerClient(metadata, redirect_uri);
    const verifier = randomBytes(32).toString('base64url');
    const state = randomBytes(16).toString('base64url');
    const address = new URL(metadata.authorization_endpoint);
    const parameters = {
      response_type: 'code',
      client_id,
      redirect_uri,
      scope: 'read',
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      resource: url,
    };
    for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
    note(`Sign in to ${url} in your browser: ${address}`);
    open(address.href);
    const code = await callback(server, state, signal);
    const exchange = { grant_type: 'authorization_code', client_id, code, redirect_uri, code_verifier: verifier };
    return await requestTokens(metadata.token_endpoint, client_id, exchange);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** New tokens for an expired access token; throws if the person has ended the connection. */
export function refreshTokens({ client_id, token_endpoint, refresh_token }: OAuthTokens): Promise<OAuthTokens> {
  if (refresh_token === undefined) throw new Error('the sign-in has expired');
  return requestTokens(token_endpoint, client_id, { grant_type: 'refresh_token', client_id, refresh_token });
}

/** Metadata of the authorization server of a service (RFC 9728, RFC 8414). */
async function discover(url: string): Promise<ServerMetadata> {
  const resource = (await fetchJson(`${url}/.well-known/oauth-protected-resource`)) as {
    authorization_servers?: string[];
  };
  const issuer = resource.authorization_servers?.[0];
  if (issuer === undefined) throw new Error(`${url} names no authorization server`);
  return (await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/oauth-authorization-server`)) as ServerMetadata;
}

async function registerClient({ registration_endpoint }: ServerMetadata, redirect_uri: string): Promise<string> {
  if (registration_endpoint === undefined) throw new Error('the authorization server registers no clients');
  const client = await fetchJson(registration_endpoint, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      client_name: 'register mcp',
      redirect_uris: [redirect_uri],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    }),
  });
  return (client as { client_id: string }).client_id;
}

async function requestTokens(
  token_endpoint: string,
  client_id: string,
  fields: Record<string, string>,
): Promise<OAuthTokens> {
  const tokens = (await fetchJson(token_endpoint, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  })) as { access_token: string; refresh_token?: string; expires_in?: number };
  const { access_token, refresh_token = fields['refresh_token'], expires_in = 3600 } = tokens;
  return {
    client_id,
    token_endpoint,
    access_token,
    ...(refresh_token === undefined ? {} : { refresh_token }),
    // Refreshed half a minute early, since a call takes time.
    expires_at: Date.now() + (expires_in - 30) * 1000,
  };
}

async function fetchJson(address: string, init: RequestInit = {}): Promise<unknown> {
  const response = await fetch(address, { ...init, signal: AbortSignal.timeout(TIMEOUT) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${new URL(address).pathname} answered ${response.status}: ${text.slice(0, 200)}`);
  return JSON.parse(text);
}

/** Waits for the redirect of the browser; returns its code. */
function callback(server: Server, state: string, signal?: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('there was no sign-in within 5 minutes')), PATIENCE);
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    server.on('close', () => clearTimeout(timer));
    server.on('request', (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
      const code = searchParams.get('code');
      // Another page of the browser may know the port, but not the state.
      if (pathname !== '/callback' || searchParams.get('state') !== state) {
        response.writeHead(404).end();
        return;
      }
      const text = code === null ? 'You did not allow it.' : 'You are signed in.';
      response.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' });
      response.end(`${text} You can close this window.`, () => {
        if (code === null) reject(new Error(`not allowed: ${searchParams.get('error') ?? 'no code'}`));
        else resolve(code);
      });
    });
  });
}

const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

function openBrowser(address: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  // Without a browser the person opens the printed address.
  spawn(program, [...args, address], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}
