// Client metadata: registration (RFC 7591) and client ID metadata documents.
import { randomBytes } from 'node:crypto';
import { hashSecret } from '../../data/state/key-format.ts';

/** Client metadata before validation: any JSON. */
export type Metadata = Record<string, unknown>;

/** Throws the provider's error for invalid metadata. */
export type Refuse = (code: 'invalid_redirect_uri' | 'invalid_client_metadata', why: string) => never;

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
/** A private-use scheme is a reversed domain name, such as `com.example.app:` (RFC 8252 section 7.1). */
const REVERSED_DOMAIN = /^[a-z][a-z\d-]*(\.[a-z\d-]+)+:$/;
/**
 * Schemes without a dot that MCP hosts register for themselves: Cursor, Windsurf, and extensions of VS Code such as
 * Cline. Their browsers hand the redirect to that program only.
 */
const HOST_SCHEMES = new Set(['cursor:', 'vscode:', 'vscode-insiders:', 'windsurf:']);
const REDIRECTS = 10;
const LONGEST = 2000;
/** Longest client ID metadata document, in bytes. */
export const LONGEST_DOCUMENT = 5 * 1024;

/** What this service supports of a list in client metadata. */
const SUPPORTED: Readonly<Record<string, ReadonlySet<unknown>>> = {
  grant_types: new Set(['authorization_code', 'refresh_token', 'client_credentials']),
  response_types: new Set(['code']),
};
const PUBLIC_GRANTS: ReadonlySet<unknown> = new Set(['authorization_code', 'refresh_token']);

/**
 * Metadata of features that this service lacks (OpenID, keys to fetch): ignored, as RFC 7591 section 2
 * requires.
 */
const IGNORED = [
  'default_acr_values',
  'default_max_age',
  'id_token_signed_response_alg',
  'initiate_login_uri',
  'jwks',
  'jwks_uri',
  'require_auth_time',
  'response_modes',
  'sector_identifier_uri',
  'subject_type',
];

/** The fields of a registration response. */
export const REGISTRATION_FIELDS = [
  'client_id',
  'client_id_issued_at',
  'client_secret',
  'client_secret_expires_at',
  'client_name',
  'client_uri',
  'logo_uri',
  'tos_uri',
  'policy_uri',
  'contacts',
  'redirect_uris',
  'grant_types',
  'response_types',
  'token_endpoint_auth_method',
  'application_type',
  'scope',
];

/** The id of a client that registers itself. */
export const newClientId = (): string => `dcr_${randomBytes(24).toString('base64url')}`;

/** A client's secret as stored: it has too much entropy to be guessed, so a hash without salt is enough. */
export const hashClientSecret = (secret: string): string => `sha256:${hashSecret(secret)}`;

/**
 * Normalizes the metadata of a new client in place, before validation. Without a key the client is public;
 * with a key it has a secret and may use client_credentials (specification section 5, scheme 4).
 */
export function normalizeRegistration(metadata: Metadata, key_id: string | undefined, refuse: Refuse): void {
  settle(metadata, refuse);
  if (key_id === undefined) {
    delete metadata['key_id'];
    bePublic(metadata);
    return;
  }
  metadata['key_id'] = key_id;
  if (metadata['token_endpoint_auth_method'] !== 'client_secret_post')
    metadata['token_endpoint_auth_method'] = 'client_secret_basic';
  if (typeof metadata['client_secret'] !== 'string') metadata['client_secret'] = randomBytes(32).toString('base64url');
  metadata['client_secret_expires_at'] = 0;
  const redirects = metadata['redirect_uris'];
  const redirected = Array.isArray(redirects) && redirects.length > 0;
  if (!redirected) metadata['response_types'] = [];
  const grantTypes = redirected && Array.isArray(metadata['grant_types']) ? metadata['grant_types'] : [];
  metadata['grant_types'] = [...new Set([...grantTypes, 'client_credentials'])];
}

/** Normalizes a client ID metadata document: always a public client, without a key. */
export function normalizeDocument(metadata: Metadata, refuse: Refuse): void {
  delete metadata['key_id'];
  settle(metadata, refuse);
  bePublic(metadata);
}

/**
 * A fetched client ID metadata document without its empty members. Throws for one of more than LONGEST_DOCUMENT
 * bytes.
 */
export async function withoutEmptyMembers(response: Response): Promise<Response> {
  if (response.status !== 200) return response;
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of response.body ?? []) {
    length += piece.length;
    if (length > LONGEST_DOCUMENT) throw new Error(`the document has more than ${LONGEST_DOCUMENT} bytes`);
    pieces.push(piece);
  }
  const metadata = JSON.parse(Buffer.concat(pieces).toString()) as unknown;
  if (typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata)) dropEmpty(metadata as Metadata);
  const caching = [...response.headers].filter(([name]) => name === 'cache-control' || name === 'expires');
  return new Response(JSON.stringify(metadata), { headers: caching });
}

/** Null and empty members count as absent: clients serialize the members that they do not set. */
function dropEmpty(metadata: Metadata): void {
  for (const [name, value] of Object.entries(metadata)) {
    const isObject = typeof value === 'object' && value !== null;
    if (value === null || value === '' || (isObject && Object.keys(value).length === 0)) delete metadata[name];
  }
}

/** Drops unsupported values, as RFC 7591 section 3.2.1 permits; without any other value the default applies. */
function dropUnsupported(metadata: Metadata, name: string, supported: ReadonlySet<unknown>): void {
  const values = metadata[name];
  if (!Array.isArray(values)) return;
  const kept = values.filter((value) => typeof value !== 'string' || supported.has(value));
  if (kept.length > 0) metadata[name] = kept;
  else delete metadata[name];
}

function bePublic(metadata: Metadata): void {
  delete metadata['client_secret'];
  delete metadata['client_secret_expires_at'];
  metadata['token_endpoint_auth_method'] = 'none';
  dropUnsupported(metadata, 'grant_types', PUBLIC_GRANTS);
}

/** Rules for every client. */
function settle(metadata: Metadata, refuse: Refuse): void {
  dropEmpty(metadata);
  for (const name of IGNORED) delete metadata[name];
  for (const [name, supported] of Object.entries(SUPPORTED)) dropUnsupported(metadata, name, supported);
  metadata['scope'] = 'read';
  const name = metadata['client_name'];
  if (typeof name === 'string') metadata['client_name'] = plainName(name) || undefined;
  const redirects = metadata['redirect_uris'];
  if (!Array.isArray(redirects)) return;
  if (redirects.length > REDIRECTS) refuse('invalid_redirect_uri', `more than ${REDIRECTS} redirect_uris`);
  const kinds = redirects.map((uri) => redirectKind(uri, refuse));
  // Desktop clients omit the type or send "web", so it is derived from their redirects (RFC 8252 section 7).
  metadata['application_type'] = kinds.every((kind) => kind === 'web') ? 'web' : 'native';
}

/** Whether a redirect is an https URL or a program on the user's machine; refuses any other. */
export function redirectKind(uri: unknown, refuse: Refuse): 'web' | 'native' {
  const url = typeof uri === 'string' && uri.length <= LONGEST ? URL.parse(uri) : null;
  if (url === null)
    return refuse('invalid_redirect_uri', `a redirect_uri must be a URL of at most ${LONGEST} characters`);
  if (url.username !== '' || url.password !== '')
    return refuse('invalid_redirect_uri', 'a redirect_uri must not have a user name or password');
  if (url.protocol === 'https:') return 'web';
  if (url.protocol === 'http:' && !LOOPBACK.has(url.hostname))
    return refuse('invalid_redirect_uri', 'http is only for redirects to a loopback address; use https');
  if (url.protocol !== 'http:' && !HOST_SCHEMES.has(url.protocol) && !REVERSED_DOMAIN.test(url.protocol))
    return refuse(
      'invalid_redirect_uri',
      `the scheme ${url.protocol.slice(0, 40)} is not accepted; use https, http to a loopback address, or a scheme that is a reversed domain name of yours, such as com.example.app:`,
    );
  return 'native';
}

/** A name without control and formatting characters, at most 80 characters. */
function plainName(name: string): string {
  const plain = name.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '').replace(/\s+/g, ' ');
  return [...plain.trim()].slice(0, 80).join('');
}

/** How the consent page shows a redirect: its host, or that it is a program on the user's machine. */
export function destination(redirect: string): { label: string; local: boolean } {
  const url = URL.parse(redirect);
  if (url === null) return { label: 'an unknown address', local: false };
  if (url.protocol === 'https:') return { label: url.host, local: false };
  if (url.protocol === 'http:') return { label: `${url.host}, on this computer`, local: true };
  return { label: `the program that opens ${url.protocol}// links on this device`, local: true };
}
