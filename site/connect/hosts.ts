// How each host of agents connects to the register, in the form that it takes. Checked on 2026-11-27 against what the
// hosts publish:
// - Claude: support.claude.com/en/articles/11503834-building-custom-integrations-via-remote-mcp-servers
// - Claude Code: code.claude.com/docs/en/mcp
// - ChatGPT: developers.openai.com/api/docs/guides/developer-mode.md
// - Cursor: cursor.com/docs/mcp/install-links
// - VS Code: code.visualstudio.com/docs/agents/reference/mcp-configuration
// - mcp-remote, for commands in place of addresses: github.com/punkpeye/mcp-remote

const SERVER = 'dataset-register';

/** A way to connect: steps, a link that installs, or a text to copy. */
export interface ConnectWay {
  title: string;
  steps?: string[];
  install?: { text: string; href: string };
  code?: string;
}

export interface AgentHost {
  id: string;
  name: string;
  ways: ConnectWay[];
}

const SIGN_IN = 'Sign in with OAuth';
const WITH_KEY = 'With an API key';
/** Where a reader puts the key. */
const KEY = '<API_KEY>';

const json = (value: unknown): string => JSON.stringify(value, null, 2);

/** The link of Cursor: the configuration in base64. */
const cursorLink = (server: object): string =>
  `cursor://anysphere.cursor-deeplink/mcp/install?name=${SERVER}&config=${encodeURIComponent(btoa(JSON.stringify(server)))}`;

/** The link of VS Code: the configuration with its name. */
const codeLink = (server: object): string =>
  `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: SERVER, ...server }))}`;

/** The hosts, for a register at this base URL. */
export function agentHosts(base: string): AgentHost[] {
  const [open, account] = [`${base}/mcp`, `${base}/mcp/account`];
  const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });
  const claude = ['Open Customize, then Connectors.', 'Press +, then Add custom connector.'];
  const inputs = [{ type: 'promptString', id: 'register-key', description: 'API key', password: true }];
  return [
    {
      id: 'claude',
      name: 'Claude (desktop, web)',
      ways: [
        {
          title: SIGN_IN,
          steps: [...claude, 'Paste the address below, press Add, then Connect, and sign in.'],
          code: account,
        },
        { title: 'Free tools, without an account', steps: [...claude, 'Paste the address and press Add.'], code: open },
        {
          title: `${WITH_KEY}: claude_desktop_config.json`,
          steps: ['Claude Desktop takes keys through a local command only.'],
          code: json({
            mcpServers: {
              [SERVER]: {
                command: 'npx',
                args: ['mcp-remote', open, '--header', 'Authorization:$' + '{AUTH_HEADER}'],
                env: { AUTH_HEADER: `Bearer ${KEY}` },
              },
            },
          }),
        },
      ],
    },
    {
      id: 'claude-code',
      name: 'Claude Code',
      ways: [
        {
          title: SIGN_IN,
          steps: ['Run the command, then /mcp in a session, and sign in.'],
          code: `claude mcp add --transport http ${SERVER} ${account}`,
        },
        {
          title: WITH_KEY,
          code: `claude mcp add --transport http ${SERVER} ${open} --header "Authorization: Bearer ${KEY}"`,
        },
        {
          title: 'For a project: .mcp.json',
          code: json({
            mcpServers: { [SERVER]: { type: 'http', url: open, headers: bearer('$' + '{REGISTER_KEY}') } },
          }),
        },
      ],
    },
    {
      id: 'chatgpt',
      name: 'ChatGPT',
      ways: [
        {
          title: SIGN_IN,
          steps: [
            'Open Settings, Apps, Advanced settings, and turn on Developer mode.',
            'Press Create app, paste the address, choose OAuth, and sign in.',
          ],
          code: account,
        },
        { title: 'Free tools, without an account', steps: ['The same, with No authentication.'], code: open },
      ],
    },
    {
      id: 'cursor',
      name: 'Cursor',
      ways: [
        { title: SIGN_IN, install: { text: 'Install in Cursor', href: cursorLink({ url: account }) } },
        {
          title: `${WITH_KEY}: ~/.cursor/mcp.json`,
          code: json({ mcpServers: { [SERVER]: { url: open, headers: bearer('$' + '{env:REGISTER_KEY}') } } }),
        },
      ],
    },
    {
      id: 'vscode',
      name: 'VS Code',
      ways: [
        { title: SIGN_IN, install: { text: 'Install in VS Code', href: codeLink({ type: 'http', url: account }) } },
        {
          title: `${WITH_KEY}: .vscode/mcp.json`,
          code: json({
            inputs,
            servers: { [SERVER]: { type: 'http', url: open, headers: bearer('$' + '{input:register-key}') } },
          }),
        },
      ],
    },
    {
      id: 'python',
      name: 'Python',
      ways: [
        {
          title: 'MCP SDK 2: pip install mcp',
          code: `import asyncio

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

async def main():
    headers = {"Authorization": "Bearer ${KEY}"}
    async with httpx2.AsyncClient(headers=headers) as http:
        async with Client(streamable_http_client("${open}", http_client=http)) as client:
            print(await client.call_tool("datasets_list", {}))

asyncio.run(main())`,
        },
      ],
    },
    {
      id: 'typescript',
      name: 'TypeScript',
      ways: [
        {
          title: 'MCP SDK 2: npm install @modelcontextprotocol/client',
          code: `import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const headers = { Authorization: 'Bearer ${KEY}' };
const client = new Client({ name: 'my-agent', version: '1.0.0' });
await client.connect(new StreamableHTTPClientTransport(new URL('${open}'), { requestInit: { headers } }));
console.log(await client.callTool({ name: 'datasets_list', arguments: {} }));
await client.close();`,
        },
      ],
    },
  ];
}
