// /.well-known/oauth-authorization-server: where and how a client gets access tokens (RFC 8414).

/**
 * Metadata of the authorization server; the same under `/v1`. The issuer is the base URL in both: clients compare it byte for
 * byte. It names nothing of OpenID, which this service has not (specification section 5).
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
