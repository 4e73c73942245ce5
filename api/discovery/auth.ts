// /auth.md: how an agent gets, uses and revokes a credential; and the OAuth metadata documents.
import { TOKEN_RESOURCES } from '../../packs/define/links.ts';
import { KEY_BODY_TEXT, WELCOME } from '../contract/errors.ts';
import { PREPAID_BODY } from '../payments/payments.ts';
import { blocks } from '../render/markdown.ts';
import type { Document, View } from './document.ts';

function authText({ base_url, x402 }: View): string {
  return blocks(
    '# auth.md: how to authenticate with the Dataset register',
    `> Free operations need no credential. Everything else needs an API key, an access token that spends from one${x402 ? ', or an x402 payment' : ''}.`,
    '## 1. Discover',
    [
      `A 401 has the header \`WWW-Authenticate: Bearer resource_metadata="…"\`, which points to ${base_url}/.well-known/oauth-protected-resource (RFC 9728); that document names the authorization server.`,
      `A 402 has the price of the call (\`price_eur\`, \`price_usd\`) and the available payment methods with their URLs (\`how_to_pay\`).`,
    ].join('\n\n'),
    '## 2. Register',
    [
      `\`POST ${base_url}/v1/keys\` with \`${KEY_BODY_TEXT}\` answers 201 with \`key\`, which is shown only once, and ${WELCOME} of credit. One key for each e-mail address; a second request returns 409 \`key_exists\`.`,
      `Lost it: \`POST ${base_url}/v1/keys/recover\` with the same body mails a link that replaces it.`,
    ].join('\n\n'),
    '## 3. Use',
    [
      '- `Authorization: Bearer <API_KEY>`, or `X-API-Key: <API_KEY>`. In a URL (`?api_key=`) only for tests in a browser.',
      `- \`GET ${base_url}/v1/keys/me\`: balance, plan, ledger. \`POST ${base_url}/v1/keys/topup\` with \`{"amount_eur": 10}\` returns a checkout URL for a person to pay, or 503 \`unavailable\` if this service has no checkout.`,
      '- `X-Charge-EUR` and `X-Balance-EUR` on every charged answer; `X-Max-Price-EUR` in a request caps its price; `Idempotency-Key` runs and charges a repeated request once.',
    ].join('\n'),
    '## 4. Let a client spend from your key (OAuth 2.1)',
    [
      `Metadata: ${base_url}/.well-known/oauth-authorization-server (RFC 8414). Register a client at ${base_url}/oauth/register (RFC 7591), or use a client ID metadata document. Authorization code with PKCE, method S256; scope \`read\`; send \`resource\` (RFC 8707).`,
      `The person signs in with their own key and sets a spending limit; ${base_url}/account#apps lists connected applications and disconnects them. Access tokens are ES256 JWTs, valid for an hour; refresh tokens rotate. A client registered with an API key may also use \`client_credentials\`.`,
      `MCP clients that authenticate only after a 401 connect to ${base_url}/mcp/account instead of ${base_url}/mcp.`,
    ].join('\n\n'),
    ...(x402
      ? [
          '## 5. Pay a call without an account (x402)',
          `Send the request without a credential; the 402 has the header \`PAYMENT-REQUIRED\`. Sign one of the payments it accepts and repeat the request with \`PAYMENT-SIGNATURE\`. Terms: ${base_url}/.well-known/x402.json`,
          '## 6. An agent with a wallet',
          [
            `Buy a key with credit once, instead of signing each call: \`POST ${base_url}/v1/keys/prepaid\` with \`${JSON.stringify(PREPAID_BODY)}\` and the header \`Idempotency-Key\` (32 to 128 random characters, kept secret). The 402 has one payment to sign, below the 1 USD that stock x402 clients pay by default; repeat the request with \`PAYMENT-SIGNATURE\` and the same header.`,
            'The answer, 201, has `key`. The same request with the same `Idempotency-Key` returns it again; after 503 or 409 `payment_in_progress` repeat it, and sign nothing new.',
          ].join('\n\n'),
        ]
      : []),
    '## A key for a sub-agent',
    `Never pass your own key on. \`POST ${base_url}/v1/keys/me/children\` with \`{"name": "sub-agent", "cap_eur": 0.2, "per_day_eur": 0.1, "operations": ["entity_search", "entity_get"]}\` answers 201 with a \`key\` that spends your balance within these bounds and manages nothing. Beyond a bound its calls are 403 \`limit_exceeded\`. \`DELETE ${base_url}/v1/keys/me/children/{id}\` ends it.`,
    '## Errors',
    [
      '- 401 `key_required`, `invalid_key`, `invalid_token`: no credential, or an unknown or revoked one.',
      '- 402 `payment_required`, `insufficient_credits`, `quota_exceeded`: pay, top up, or wait until midnight UTC for free previews.',
      '- 403 `limit_exceeded`: a bound of the key, child key or call, which no payment lifts; `detail` has `bound`, `limit_eur`, `resets_at`. `plan_required`, `admin_required`: the plan or role of the key does not allow it. 429 `rate_limited`: wait `retry_after_seconds`.',
    ].join('\n'),
    '## Revoke',
    `Tokens: \`POST ${base_url}/oauth/revoke\` with \`token\` and \`client_id\` (RFC 7009). A key: \`POST ${base_url}/v1/keys/me/rotate\` replaces it and ends its child keys and connected applications, unless the body has \`keep_children\` or \`keep_apps\`; \`/v1/keys/recover\` does so by mail.`,
    `Guide: ${base_url}/llms.txt`,
  );
}

export const auth: Document = {
  path: '/auth.md',
  title: 'How to authenticate',
  rel: 'service-meta',
  content_type: 'text/markdown; charset=utf-8',
  text: authText,
};

/** Metadata of one resource by its path; null for an unknown path (an allow-list: no input is echoed). */
export function protectedResource(base_url: string, path: string): Record<string, unknown> | null {
  const resource = path === '/' ? '' : path;
  if (!TOKEN_RESOURCES.some((tokenResource) => tokenResource === resource)) return null;
  return {
    resource: `${base_url}${resource}`,
    authorization_servers: [base_url],
    scopes_supported: ['read'],
    bearer_methods_supported: ['header'],
    resource_name: 'Dataset register',
    resource_documentation: `${base_url}/auth.md`,
  };
}

/**
 * Metadata of the authorization server; the same under `/v1`. The issuer is the base URL in both: clients
 * compare it byte for byte. It contains nothing of OpenID, which is not supported (specification section 5).
 */
export function authorizationServer(base_url: string): Record<string, unknown> {
  const authMethods = ['none', 'client_secret_basic', 'client_secret_post'];
  return {
    issuer: base_url,
    authorization_endpoint: `${base_url}/oauth/authorize`,
    token_endpoint: `${base_url}/oauth/token`,
    registration_endpoint: `${base_url}/oauth/register`,
    revocation_endpoint: `${base_url}/oauth/revoke`,
    jwks_uri: `${base_url}/oauth/jwks.json`,
    scopes_supported: ['read'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
    token_endpoint_auth_methods_supported: authMethods,
    revocation_endpoint_auth_methods_supported: authMethods,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    service_documentation: `${base_url}/auth.md`,
  };
}
