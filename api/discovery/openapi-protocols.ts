// Addresses of other protocols in OpenAPI: MCP, A2A, OAuth and their documents. Each protocol defines more
// than OpenAPI can.

type Json = Record<string, unknown>;

interface Address {
  path: string;
  method: 'get' | 'post';
  tag: 'agents' | 'oauth' | 'documents';
  summary: string;
  description?: string;
  parameters?: Json[];
  /** Media type and schema of the body, if there is one. */
  body?: [type: string, schema: Json];
  /** Statuses with their descriptions, and the media type of the first; null: no body. */
  answers: [type: string | null, Record<string, string>];
  security?: Json[];
}

const OBJECT = { type: 'object' };
const ANYBODY: Json[] = [];
const PAYING = [{}, { bearer: [] }, { apiKey: [] }, { oauth: ['read'] }];

const rpc = (required: readonly string[]): Json => ({
  type: 'object',
  required,
  properties: { jsonrpc: { const: '2.0' }, id: {}, method: { type: 'string' }, params: OBJECT },
});

const form = (properties: Record<string, string>, required: string[]): Json => ({
  type: 'object',
  required,
  properties: Object.fromEntries(
    Object.entries(properties).map(([name, description]) => [name, { type: 'string', description }]),
  ),
});

const query = (name: string, description: string, required = false): Json => ({
  name,
  in: 'query',
  required,
  description,
  schema: { type: 'string' },
});

const JSON_TYPE = 'application/json';
const FORM = 'application/x-www-form-urlencoded';
const MESSAGE = rpc(['jsonrpc', 'method']);
const RESOURCE = query('resource_path', 'Path of the resource, such as /mcp; without it, the whole service');

const ADDRESSES: readonly Address[] = [
  {
    path: '/mcp',
    method: 'post',
    tag: 'agents',
    summary: 'Model Context Protocol, streamable HTTP',
    description:
      'One JSON-RPC message a request, no sessions. What fails in a tool is a result of 200, with the error body of the API in it.',
    parameters: [
      query('tools', 'Comma list: only these tools'),
      query('datasets', 'Comma list: only these datasets'),
      query('max_tokens', 'Tokens of an answer at most, 1000 to 200000'),
    ],
    body: [JSON_TYPE, MESSAGE],
    answers: [
      JSON_TYPE,
      {
        200: 'The response',
        202: 'A notification was taken',
        400: 'No message of the protocol',
        401: 'A credential that is no good',
        403: 'A page of another origin, or another host',
      },
    ],
    security: PAYING,
  },
  {
    path: '/mcp/account',
    method: 'post',
    tag: 'agents',
    summary: 'The same, for clients that sign in when they are told 401',
    body: [JSON_TYPE, MESSAGE],
    answers: [
      JSON_TYPE,
      {
        200: 'The response',
        400: 'No message of the protocol',
        401: 'No credential, or none that is good',
        403: 'A page of another origin, or another host',
      },
    ],
    security: PAYING.slice(1),
  },
  {
    path: '/a2a/v1/message:send',
    method: 'post',
    tag: 'agents',
    summary: 'Agent2Agent 1.0: one message, one reply',
    description:
      'A data part {"skill": …, …arguments} runs a skill of the agent card; words are answered with what to send.',
    body: [
      JSON_TYPE,
      { type: 'object', required: ['message'], properties: { message: OBJECT, configuration: OBJECT } },
    ],
    answers: [
      'application/a2a+json',
      {
        200: 'The reply',
        400: 'No message, or one that cannot be read',
        401: 'A credential that is no good',
        402: 'The skill must be paid',
        429: 'Too many calls',
      },
    ],
    security: PAYING,
  },
  {
    path: '/.well-known/agent-card.json',
    method: 'get',
    tag: 'agents',
    summary: 'Agent card, signed',
    answers: [JSON_TYPE, { 200: 'The card', 304: 'Still good' }],
  },
  {
    path: '/oauth/register',
    method: 'post',
    tag: 'oauth',
    summary: 'Register a client (RFC 7591)',
    description: 'Public clients need nothing. With an API key the client also gets a secret and client_credentials.',
    body: [
      JSON_TYPE,
      {
        type: 'object',
        properties: { client_name: { type: 'string' }, redirect_uris: { type: 'array', items: { type: 'string' } } },
      },
    ],
    answers: [
      JSON_TYPE,
      { 201: 'The client', 400: 'Metadata that is refused', 401: 'A key that is no good', 429: 'Too many' },
    ],
    security: [{}, { bearer: [] }],
  },
  {
    path: '/oauth/authorize',
    method: 'get',
    tag: 'oauth',
    summary: 'Ask a person for consent, in their browser (code with PKCE S256)',
    parameters: [
      query('response_type', 'Always `code`', true),
      query('client_id', 'Id of the client', true),
      query('redirect_uri', 'Where the code goes; one of the registered', true),
      query('code_challenge', 'BASE64URL(SHA-256(code_verifier))', true),
      query('code_challenge_method', 'Always `S256`', true),
      query('state', 'Comes back as it was'),
      query('scope', 'Always `read`'),
      query('resource', 'What the token is for, such as {base}/mcp (RFC 8707)'),
    ],
    answers: [
      null,
      { 303: 'To sign-in and consent, and from there back to the client', 400: 'A page that says why not' },
    ],
  },
  {
    path: '/oauth/token',
    method: 'post',
    tag: 'oauth',
    summary: 'Exchange a code, refresh, or client credentials for an access token of one hour',
    body: [
      FORM,
      form(
        {
          grant_type: 'authorization_code, refresh_token or client_credentials',
          code: 'The code',
          code_verifier: 'PKCE',
          redirect_uri: 'As in the request for consent',
          refresh_token: 'The newest one; each is good once',
          client_id: 'The client',
          resource: 'What the token is for',
        },
        ['grant_type'],
      ),
    ],
    answers: [
      JSON_TYPE,
      {
        200: 'access_token, refresh_token, expires_in',
        400: 'error and error_description (RFC 6749)',
        401: 'A client that is not who it says',
      },
    ],
  },
  {
    path: '/oauth/revoke',
    method: 'post',
    tag: 'oauth',
    summary: 'Revoke a refresh token, and the consent with it (RFC 7009)',
    body: [FORM, form({ token: 'The refresh token', client_id: 'The client' }, ['token', 'client_id'])],
    answers: [null, { 200: 'Revoked, or never known', 400: 'No client' }],
  },
  {
    path: '/oauth/jwks.json',
    method: 'get',
    tag: 'oauth',
    summary: 'Keys that access tokens and the agent card are signed with',
    answers: [JSON_TYPE, { 200: 'JSON Web Key Set' }],
  },
  {
    path: '/.well-known/oauth-authorization-server',
    method: 'get',
    tag: 'oauth',
    summary: 'Authorization server metadata (RFC 8414)',
    answers: [JSON_TYPE, { 200: 'Metadata' }],
  },
  {
    path: '/.well-known/oauth-authorization-server/v1',
    method: 'get',
    tag: 'oauth',
    summary: 'The same, for clients that look by the path of the API',
    answers: [JSON_TYPE, { 200: 'Metadata' }],
  },
  {
    path: '/.well-known/oauth-protected-resource',
    method: 'get',
    tag: 'oauth',
    summary: 'Protected resource metadata (RFC 9728)',
    parameters: [RESOURCE],
    answers: [JSON_TYPE, { 200: 'Metadata', 404: 'No such resource' }],
  },
  {
    path: '/.well-known/oauth-protected-resource{resource_path}',
    method: 'get',
    tag: 'oauth',
    summary: 'The same by path, such as …/mcp',
    parameters: [{ ...RESOURCE, in: 'path', required: true }],
    answers: [JSON_TYPE, { 200: 'Metadata', 404: 'No such resource' }],
  },
  {
    path: '/.well-known/http-message-signatures-directory',
    method: 'get',
    tag: 'documents',
    summary: 'Public key of the crawler that fetches sources, signed with it (Web Bot Auth)',
    answers: ['application/http-message-signatures-directory+json', { 200: 'JSON Web Key Set' }],
  },
  {
    path: '/healthz',
    method: 'get',
    tag: 'documents',
    summary: 'Liveness, start, and the releases that are served',
    answers: [JSON_TYPE, { 200: 'It serves', 503: 'There is nothing to serve yet' }],
  },
  {
    path: '/',
    method: 'get',
    tag: 'documents',
    summary:
      'The map: where everything is. A page for people, JSON for `Accept: application/json`, Markdown for `text/markdown`',
    answers: [JSON_TYPE, { 200: 'The map' }],
  },
];

/** Tags of these addresses. */
export const PROTOCOL_TAGS = [
  { name: 'agents', description: 'MCP and A2A: the same operations by other protocols' },
  { name: 'oauth', description: 'OAuth 2.1: a client spends from a key with the consent of its owner' },
];

/** Path items by path, next to those of the operations. */
export function protocolPaths(): Record<string, Json> {
  return Object.fromEntries(
    ADDRESSES.map((address) => [address.path, { [address.method]: describeEndpoint(address) }]),
  );
}

function describeEndpoint({
  path,
  method,
  tag,
  summary,
  description,
  parameters,
  body,
  answers,
  security = ANYBODY,
}: Address): Json {
  const [type, statuses] = answers;
  const [first] = Object.keys(statuses);
  const responses = Object.entries(statuses).map(([status, description]) => [
    status,
    { description, ...(status === first && type !== null ? { content: { [type]: { schema: OBJECT } } } : {}) },
  ]);
  return {
    operationId: `${method}${path.replace(/\W+(\w)/g, (_, letter: string) => letter.toUpperCase()).replace(/\W/g, '')}`,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(parameters ? { parameters } : {}),
    ...(body ? { requestBody: { required: true, content: { [body[0]]: { schema: body[1] } } } } : {}),
    responses: Object.fromEntries(responses),
    security,
  };
}
