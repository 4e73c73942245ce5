// Registrations that real hosts of MCP send, each with the public text that it was taken from. ChatGPT's complete
// body is not published: only its redirects are known, and the documented fields of a public client.

interface HostRegistration {
  host: string;
  source: string;
  body: Record<string, unknown>;
}

/** Grant types that VS Code requests where a server's metadata does not list any. */
const VS_CODE_GRANTS = ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'];

export const HOST_REGISTRATIONS: readonly HostRegistration[] = [
  {
    host: 'Claude (claude.ai and Claude Desktop)',
    source:
      'a captured request in the client notes of Curity’s MCP example, "Claude Desktop", section "Use a Web Connector"; client_secret_post also in github.com/anthropics/claude-ai-mcp/issues/1043',
    body: {
      client_name: 'Claude',
      client_uri: 'https://claude.ai/api/mcp/auth_callback',
      grant_types: ['authorization_code', 'refresh_token'],
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      response_types: ['code'],
      scope: 'address phone email openid profile stocks/read',
      token_endpoint_auth_method: 'client_secret_post',
    },
  },
  {
    host: 'Claude Code',
    source:
      'github.com/appstrate/appstrate/issues/1267 (the members) and github.com/elmohq/elmo/pull/684 (redirect and type, captured)',
    body: {
      client_name: 'Claude Code',
      redirect_uris: ['http://localhost:3118/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
  },
  {
    host: 'VS Code',
    source: 'github.com/microsoft/vscode, src/vs/base/common/oauth.ts, fetchDynamicRegistration, commit 05f882b',
    body: {
      client_name: 'Visual Studio Code',
      client_uri: 'https://code.visualstudio.com',
      grant_types: VS_CODE_GRANTS,
      response_types: ['code'],
      redirect_uris: [
        'https://insiders.vscode.dev/redirect',
        'https://vscode.dev/redirect',
        'http://127.0.0.1/',
        'http://127.0.0.1:33418/',
      ],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
  },
  {
    host: 'Cursor',
    source: 'github.com/erp-mafia/accounted/pull/2225 and github.com/soflyy/agent-connector-for-wp/issues/111',
    body: {
      client_name: 'Cursor',
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ],
    },
  },
  {
    host: 'Dify, with the members that it does not set',
    source:
      'github.com/langgenius/dify, api/core/entities/mcp_provider.py and api/core/mcp/types.py, commit 2f0e11b; null members: pull request 34949',
    body: {
      client_name: 'Dify',
      redirect_uris: ['https://dify.example/console/api/mcp/oauth/callback'],
      grant_types: ['refresh_token', 'authorization_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      client_uri: 'https://github.com/langgenius/dify',
      scope: null,
    },
  },
  {
    host: 'ChatGPT, its redirects',
    source:
      'github.com/danielealbano/android-remote-control-mcp/pull/166 (both callbacks) and community.openai.com/t/1366784',
    body: {
      client_name: 'ChatGPT',
      redirect_uris: [
        'https://chatgpt.com/connector_platform_oauth_redirect',
        'https://chatgpt.com/connector/oauth/OUbdUMlL15Ct',
      ],
    },
  },
];
