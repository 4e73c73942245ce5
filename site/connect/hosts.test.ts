// What each host gets: valid configurations, and install links that contain the same.
import { expect, test } from 'vitest';
import { agentHosts } from './hosts.ts';

const hosts = agentHosts('https://data.example.org');
const way = (id: string, title: string) =>
  hosts.find((host) => host.id === id)!.ways.find((candidate) => candidate.title.startsWith(title))!;
const configOf = (id: string, title: string) => JSON.parse(way(id, title).code!) as Record<string, unknown>;

test('configuration files have the form of their host', () => {
  expect(configOf('cursor', 'With')).toEqual({
    mcpServers: {
      'dataset-register': {
        url: 'https://data.example.org/mcp',
        headers: { Authorization: 'Bearer $' + '{env:REGISTER_KEY}' },
      },
    },
  });
  expect(configOf('vscode', 'With')).toMatchObject({
    inputs: [{ type: 'promptString', id: 'register-key', password: true }],
    servers: { 'dataset-register': { type: 'http', headers: { Authorization: 'Bearer $' + '{input:register-key}' } } },
  });
  expect(configOf('claude-code', 'For a project')).toMatchObject({
    mcpServers: { 'dataset-register': { type: 'http', url: 'https://data.example.org/mcp' } },
  });
  // Remote addresses in this file are ignored by its host; a header with a space is safe only in the environment.
  expect(configOf('claude', 'With')).toMatchObject({
    mcpServers: { 'dataset-register': { command: 'npx', env: { AUTH_HEADER: 'Bearer <API_KEY>' } } },
  });
});

test('install links contain the address that asks to sign in', () => {
  const cursor = new URL(way('cursor', 'Sign in').install!.href);
  expect([cursor.host, cursor.pathname]).toEqual(['anysphere.cursor-deeplink', '/mcp/install']);
  expect(JSON.parse(atob(cursor.searchParams.get('config')!))).toEqual({ url: 'https://data.example.org/mcp/account' });
  const [scheme, config = ''] = way('vscode', 'Sign in').install!.href.split('?');
  expect(scheme).toBe('vscode:mcp/install');
  expect(JSON.parse(decodeURIComponent(config))).toEqual({
    name: 'dataset-register',
    type: 'http',
    url: 'https://data.example.org/mcp/account',
  });
});
