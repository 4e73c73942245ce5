// The channel of the agent: REST or MCP. Both count tokens and EUR.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { countTokens } from 'gpt-tokenizer';
import type { CallRow } from './guide.ts';

/** One answer and its cost. */
export interface AgentAnswer {
  text: string;
  /** Tokens of request and answer. */
  tokens: number;
  eur: number;
  /** The request as text. */
  asked: string;
}

export interface Channel {
  /** Whether calls without a key show public fields. */
  anonymous: boolean;
  has(row: CallRow): boolean;
  guide(dataset: string, address: string): Promise<AgentAnswer>;
  call(url: URL, row: CallRow, dataset: string): Promise<AgentAnswer>;
  /** All answers so far. */
  said: AgentAnswer[];
  close(): Promise<void>;
}

type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** REST: Markdown at the addresses of the guide, with the key when the call is not free. */
export function restChannel(base: string, key: string, fetch: Fetch = globalThis.fetch): Channel {
  const said: AgentAnswer[] = [];
  const ask = async (path: string, open: boolean): Promise<AgentAnswer> => {
    const headers: Record<string, string> = open ? {} : { Authorization: `Bearer ${key}` };
    const response = await fetch(base + path, { headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 300)}`);
    const eur = Number(response.headers.get('x-charge-eur') ?? 0);
    const told = { text, tokens: countTokens(path) + countTokens(text), eur, asked: `GET ${path}` };
    said.push(told);
    return told;
  };
  return {
    anonymous: true,
    has: () => true,
    guide: (_dataset, address) => ask(new URL(address).pathname, true),
    call: (url, row) => ask(url.pathname + url.search, row.open),
    said,
    close: async () => {},
  };
}

/** MCP: the tool of the row, with the parameters of its address and the dataset, as Markdown or JSON. */
export async function mcpChannel(base: string, key: string, format = 'md'): Promise<Channel> {
  const client = new Client({ name: 'guided-agent', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit }));
  const { tools } = await client.listTools();
  const names = new Set(tools.map(({ name }) => name));
  const listed = JSON.stringify(tools);
  const said: AgentAnswer[] = [{ text: listed, tokens: countTokens(listed), eur: 0, asked: 'tools/list' }];
  const ask = async (name: string, given: Record<string, string>): Promise<AgentAnswer> => {
    const result = (await client.callTool({ name, arguments: given })) as {
      isError?: boolean;
      content: { text: string }[];
      _meta?: { charge_eur?: number };
    };
    const text = result.content.map((part) => part.text).join('\n');
    const asked = `${name} ${JSON.stringify(given)}`;
    if (result.isError) throw new Error(`${asked}: ${text.slice(0, 300)}`);
    const told = { text, tokens: countTokens(asked) + countTokens(text), eur: result._meta?.charge_eur ?? 0, asked };
    said.push(told);
    return told;
  };
  return {
    anonymous: false,
    has: ({ tool }) => names.has(tool),
    guide: (dataset) => ask('dataset_guide', { dataset }),
    call: (url, row, dataset) => {
      const [, slug] = /\/entities\/([^/.]+)/.exec(url.pathname) ?? [];
      const named = row.template.includes('{slug}') && slug !== undefined;
      const entity = named ? { entity_id: decodeURIComponent(slug) } : {};
      return ask(row.tool, { dataset, ...entity, ...Object.fromEntries(url.searchParams), format });
    },
    said,
    close: () => client.close(),
  };
}
