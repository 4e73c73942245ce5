// The MCP clients of both SDK generations behind one interface: the same test runs with each.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export interface ListedTool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: { properties?: Record<string, Record<string, unknown>>; required?: string[] };
  outputSchema?: Record<string, unknown>;
  annotations?: Record<string, unknown>;
  _meta?: Record<string, unknown>;
}

export interface CallResult {
  isError?: boolean;
  content: { type: string; text: string }[];
  structuredContent: Record<string, unknown>;
  _meta: Record<string, unknown>;
}

/** The methods that the tests use. */
export interface McpClient {
  /** The negotiated revision. */
  version: string | undefined;
  tools(): Promise<ListedTool[]>;
  call(name: string, given?: Record<string, unknown>, meta?: Record<string, unknown>): Promise<CallResult>;
  resources(): Promise<{ uri: string }[]>;
  templates(): Promise<{ uriTemplate: string }[]>;
  read(uri: string): Promise<{ mimeType?: string; text: string }[]>;
  close(): Promise<void>;
}

export const GENERATIONS = ['2026-07-28', '2025-11-25', 'first SDK'] as const;
export type Generation = (typeof GENERATIONS)[number];

const INFO = { name: 'tests', version: '1.0.0' };

/** Connects a client of a generation to an address, with headers such as a key. */
export async function connectMcp(
  generation: Generation,
  url: string,
  headers: Record<string, string> = {},
): Promise<McpClient> {
  const requestInit = { headers };
  if (generation === 'first SDK') {
    const client = new FirstClient(INFO);
    const transport = new FirstTransport(new URL(url), { requestInit });
    // The types of the first SDK do not support exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    return faceOf(client, transport.protocolVersion);
  }
  const mode = generation === '2026-07-28' ? 'auto' : 'legacy';
  const client = new Client(INFO, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return faceOf(client, client.getNegotiatedProtocolVersion());
}

/** The common part of both generations. */
interface Face {
  listTools(): Promise<unknown>;
  callTool(params: {
    name: string;
    arguments: Record<string, unknown>;
    _meta?: Record<string, unknown>;
  }): Promise<unknown>;
  listResources(): Promise<unknown>;
  listResourceTemplates(): Promise<unknown>;
  readResource(params: { uri: string }): Promise<unknown>;
  close(): Promise<void>;
}

function faceOf(client: Face, version: string | undefined): McpClient {
  return {
    version,
    tools: async () => ((await client.listTools()) as { tools: ListedTool[] }).tools,
    call: async (name, given = {}, meta) =>
      (await client.callTool({ name, arguments: given, ...(meta ? { _meta: meta } : {}) })) as CallResult,
    resources: async () => ((await client.listResources()) as { resources: { uri: string }[] }).resources,
    templates: async () =>
      ((await client.listResourceTemplates()) as { resourceTemplates: { uriTemplate: string }[] }).resourceTemplates,
    read: async (uri) => ((await client.readResource({ uri })) as { contents: { text: string }[] }).contents,
    close: () => client.close(),
  };
}
