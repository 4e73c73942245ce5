// Paths of MCP, A2A, OAuth and their metadata in OpenAPI. Clients of a protocol read its own documents, so a
// path has its media types, statuses and security, but no schemas.
import { componentRef, pathOperationId } from './openapi-names.ts';

type Json = Record<string, unknown>;
type Status = keyof typeof STATUSES;

interface Endpoint {
  path: string;
  tag: 'agents' | 'oauth' | 'documents';
  summary: string;
  /** Media type of a request body; its endpoint then answers POST, others answer GET. */
  body?: string;
  /** The first has the response body; 400 is added. */
  statuses: readonly Status[];
  /** Media type of the response; null: no body. Default: JSON. */
  type?: string | null;
  parameters?: readonly Json[];
  /** Default: public. */
  security?: readonly Json[];
}

const STATUSES = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted; no body',
  303: 'Redirect to sign-in and consent, then back to the client',
  304: 'Not modified',
  400: 'Invalid request',
  401: 'Missing or invalid credential',
  402: 'Payment required',
  403: 'Origin or host not allowed',
  404: 'Unknown resource',
  429: 'Too many requests',
  503: 'No release to serve yet',
} as const;

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';
const KEY_OR_TOKEN = [{ bearer: [] }, { apiKey: [] }, { oauth: ['read'] }];

const query = (name: string, description: string): Json => ({
  name,
  in: 'query',
  required: false,
  description,
  schema: { type: 'string' },
});
const RESOURCE = query('resource_path', 'Path of the resource, such as /mcp; without it, the whole service');

const ENDPOINTS: readonly Endpoint[] = [
  {
    path: '/mcp',
    tag: 'agents',
    summary: 'Model Context Protocol (streamable HTTP, no sessions); a failed tool call is a result with status 200',
    parameters: [
      query('tools', 'Comma-separated names: only these tools'),
      query('datasets', 'Comma-separated ids: only these datasets'),
      query('max_tokens', 'Maximum size of an answer in tokens, 1000 to 200000'),
    ],
    body: JSON_TYPE,
    statuses: [200, 202, 400, 401, 403],
    security: [{}, ...KEY_OR_TOKEN],
  },
  {
    path: '/mcp/account',
    tag: 'agents',
    summary: 'Model Context Protocol for clients that sign in after a 401',
    body: JSON_TYPE,
    statuses: [200, 400, 401, 403],
    security: KEY_OR_TOKEN,
  },
  {
    path: '/a2a/v1/message:send',
    tag: 'agents',
    summary: 'Agent2Agent 1.0; a data part {"skill": …, …arguments} runs a skill of the agent card',
    body: JSON_TYPE,
    statuses: [200, 400, 401, 402, 429],
    type: 'application/a2a+json',
    security: [{}, ...KEY_OR_TOKEN],
  },
  { path: '/.well-known/agent-card.json', tag: 'agents', summary: 'Signed agent card of A2A', statuses: [200, 304] },
  {
    path: '/oauth/register',
    tag: 'oauth',
    summary: 'Client registration (RFC 7591); with an API key, the client may use client_credentials',
    body: JSON_TYPE,
    statuses: [201, 400, 401, 429],
    security: [{}, { bearer: [] }],
  },
  {
    path: '/oauth/authorize',
    tag: 'oauth',
    summary: 'Authorization endpoint: code with PKCE S256',
    statuses: [303, 400],
    type: null,
  },
  {
    path: '/oauth/token',
    tag: 'oauth',
    summary: 'Token endpoint: authorization_code, refresh_token, client_credentials',
    body: FORM_TYPE,
    statuses: [200, 400, 401],
  },
  {
    path: '/oauth/revoke',
    tag: 'oauth',
    summary: 'Revocation of a refresh token and its consent (RFC 7009)',
    body: FORM_TYPE,
    statuses: [200, 400],
    type: null,
  },
  {
    path: '/oauth/jwks.json',
    tag: 'oauth',
    summary: 'Public keys of access tokens and of the agent card (RFC 7517)',
    statuses: [200],
  },
  ...['/.well-known/oauth-authorization-server', '/.well-known/oauth-authorization-server/v1'].map(
    (path): Endpoint => ({ path, tag: 'oauth', summary: 'Authorization server metadata (RFC 8414)', statuses: [200] }),
  ),
  {
    path: '/.well-known/oauth-protected-resource',
    tag: 'oauth',
    summary: 'Protected resource metadata (RFC 9728)',
    parameters: [RESOURCE],
    statuses: [200, 404],
  },
  {
    path: '/.well-known/oauth-protected-resource{resource_path}',
    tag: 'oauth',
    summary: 'Protected resource metadata by path, such as …/mcp',
    parameters: [{ ...RESOURCE, in: 'path', required: true }],
    statuses: [200, 404],
  },
  {
    path: '/.well-known/http-message-signatures-directory',
    tag: 'documents',
    summary: 'Public key of the crawler that reads sources (Web Bot Auth); the response is signed',
    statuses: [200],
    type: 'application/http-message-signatures-directory+json',
  },
  {
    path: '/.well-known/did.json',
    tag: 'documents',
    summary: 'Public keys of the signed offers and receipts of x402 (did:web)',
    statuses: [200, 404],
  },
  { path: '/healthz', tag: 'documents', summary: 'Liveness, start time, served releases', statuses: [200] },
  {
    path: '/readyz',
    tag: 'documents',
    summary: 'Whether a load balancer should send calls: `status`, `reasons` with 503, `warnings` about the rest',
    statuses: [200, 503],
  },
  { path: '/docs', tag: 'documents', summary: 'The documentation, as pages', statuses: [200, 404], type: 'text/html' },
  {
    path: '/',
    tag: 'documents',
    summary: 'Home page; as JSON or Markdown, by `Accept`, a map of all entry points',
    statuses: [200],
  },
];

/** Tag objects of these paths; the tag `documents` is also used by others (openapi.ts). */
export const PROTOCOL_TAGS = [
  { name: 'agents', description: 'MCP and A2A: the same operations by other protocols' },
  { name: 'oauth', description: 'OAuth 2.1: a client spends from a key with the consent of its owner' },
];

/** Path items by path, next to those of the operations. */
export function protocolPaths(): Record<string, Json> {
  return Object.fromEntries(ENDPOINTS.map((endpoint) => [endpoint.path, pathItem(endpoint)]));
}

function pathItem({ path, tag, summary, body, statuses, type = JSON_TYPE, parameters, security = [] }: Endpoint): Json {
  const method = body === undefined ? 'get' : 'post';
  const content = (mediaType: string) => ({
    content: { [mediaType]: { schema: { type: /json|form/.test(mediaType) ? 'object' : 'string' } } },
  });
  const responses = statuses.map((status, i) => [
    status,
    { description: STATUSES[status], ...(i === 0 && type !== null ? content(type) : {}) },
  ]);
  return {
    [method]: {
      operationId: pathOperationId(method, path),
      tags: [tag],
      summary,
      ...(parameters ? { parameters } : {}),
      ...(body ? { requestBody: { required: true, ...content(body) } } : {}),
      responses: { 400: componentRef('responses', 'BadRequest'), ...Object.fromEntries(responses) },
      security,
    },
  };
}
