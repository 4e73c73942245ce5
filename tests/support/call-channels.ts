// The same call over REST, MCP and A2A, with answers in one form that tests compare.
import { type AgentCall, addressOf } from './agent-questions.ts';
import type { TestApp } from './app.ts';
import type { McpClient } from './mcp-clients.ts';

/** The body without ids of the request, and its price. */
export interface ChannelAnswer {
  body: unknown;
  charge: number | undefined;
}

/** The body without next steps, which contain tool names or addresses, and without the channel's sign-in. */
function plain({ request_id: _, alternative_action: __, how_to_pay, ...body }: Record<string, unknown>) {
  const { oauth, ...ways } = (how_to_pay ?? {}) as Record<string, unknown>;
  return how_to_pay === undefined ? body : { ...body, how_to_pay: { ...ways, oauth: oauth !== undefined } };
}
export type RequestHeaders = Record<string, string>;

export async function overRest(app: TestApp, question: AgentCall, headers: RequestHeaders): Promise<ChannelAnswer> {
  const { operation, given } = question;
  const { path, method } = operation.rest;
  // The arguments of a POST are its body.
  const response = await (method === 'GET'
    ? app.ask(addressOf(question), { headers })
    : app.ask(path, { method, headers, body: JSON.stringify(given) }));
  const charge = response.headers.get('x-charge-eur');
  const text = await response.text();
  const isText = response.ok && !operation.formats.includes('json');
  return { body: isText ? text : plain(JSON.parse(text)), charge: charge === null ? undefined : Number(charge) };
}

export async function overMcp({ operation, given }: AgentCall, client: McpClient): Promise<ChannelAnswer> {
  const isJson = operation.formats.includes('json');
  const format = isJson && !operation.own_format ? { format: 'json' } : {};
  const { structuredContent, content, isError, _meta } = await client.call(operation.name, { ...format, ...given });
  const isText = !isError && !isJson;
  return {
    body: isText ? content[0]?.text : plain(structuredContent),
    charge: _meta['charge_eur'] as number | undefined,
  };
}

interface Detail {
  '@type': string;
  value?: Record<string, unknown>;
}
interface A2aAnswer {
  message?: { parts: { text?: string; data?: Record<string, unknown> }[]; metadata: { charge_eur?: number } };
  error?: { details: Detail[] };
}

export async function overA2a(
  app: TestApp,
  { operation, given }: AgentCall,
  headers: RequestHeaders,
): Promise<ChannelAnswer> {
  const data = { skill: operation.name, ...given };
  const body = JSON.stringify({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data }] } });
  const response = await app.ask('/a2a/v1/message:send', { method: 'POST', body, headers });
  const { message, error } = (await response.json()) as A2aAnswer;
  const part = (kind: 'text' | 'data') => message?.parts.find((each) => each[kind] !== undefined)?.[kind];
  const refusal = error?.details.find((each) => each['@type'].endsWith('Struct'))?.value;
  const content =
    refusal ?? (operation.formats.includes('json') ? (part('data') as Record<string, unknown>) : undefined);
  return { body: content ? plain(content) : part('text'), charge: message?.metadata.charge_eur };
}
