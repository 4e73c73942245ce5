// MCP server of one request: the SDK implements the protocol, our handlers read the table of operations.

import { ProtocolError, ProtocolErrorCode, Server, type ServerOptions } from '@modelcontextprotocol/server';
import { derive } from '../../../packs/define/derive.ts';
import { KEY_BODY_TEXT, WELCOME } from '../../contract/errors.ts';
import { isChange } from '../../contract/operation.ts';
import { IDENTITY, MCP_VERSIONS } from '../../discovery/identity.ts';
import type { Tool } from '../../render/tools.ts';
import { callTool, type ToolResult, UnknownTool } from './call.ts';
import { APP, listResources, listTemplates, readResource } from './resources.ts';
import type { Session } from './session.ts';

/** Cache lifetime of lists, in milliseconds: releases change once a night, packs with a restart. */
const KEEP = 300_000;
export const LIST_CACHING = { ttlMs: KEEP, cacheScope: 'public' } as const;
/** Records are not cached: an opt-out must take effect at once. */
const ASKED_AGAIN = { ttlMs: 0, cacheScope: 'public' } as const;

type Handler = Parameters<Server['_wrapHandler']>[1];

/** The SDK's server with errors in words, for parameters that its schemas refuse, and all versions in discovery. */
class RegisterServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const wrapped = super._wrapHandler(method, handler);
    return async (request, context) => {
      const { params } = request;
      // Every list is one page, so that there are no cursors.
      if (/list$/.test(method) && params?.['cursor'] !== undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor: this list has a single page.');
      const empty = method === 'tools/call' && params?.['arguments'] === null;
      try {
        const result = await wrapped(empty ? { ...request, params: { ...params, arguments: {} } } : request, context);
        // The SDK lists the versions without a handshake only.
        return method === 'server/discover' ? { ...result, supportedVersions: MCP_VERSIONS } : result;
      } catch (error) {
        throw inWords(error);
      }
    };
  }
}

/** Names of JSON types in messages, by their names in the SDK's schemas. */
const TYPES: Record<string, string> = {
  string: 'a text',
  record: 'an object',
  object: 'an object',
  number: 'a number',
};

/** An error of the SDK's schemas as a protocol error with one line for each member; any other error as it is. */
function inWords(error: unknown): unknown {
  const [, json] = /(\[\s*\{.*\}\s*\])$/s.exec(error instanceof Error ? error.message : '') ?? [];
  if (json === undefined) return error;
  try {
    const issues = JSON.parse(json) as { path: string[]; message: string; expected?: string }[];
    const lines = issues.map(({ path, message, expected = '' }) => {
      const [, received] = /received (\w+)$/.exec(message) ?? [];
      const problem = received === undefined ? message : `must be ${TYPES[expected] ?? expected} (got ${received})`;
      return `${path.slice(1).join('.') || 'params'}: ${problem}`;
    });
    return new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid parameters: ${lines.join('; ')}`);
  } catch {
    return error;
  }
}

/**
 * Creates a server for one request. This is cheap: the lists are cached. `listens`: the revision of the client has
 * `subscriptions/listen`.
 */
export function serverFor(session: Session, listens: boolean): Server {
  const server = new RegisterServer(identity(session.gate.base_url), {
    supportedProtocolVersions: MCP_VERSIONS,
    capabilities: {
      tools: { listChanged: false },
      resources: { listChanged: false, ...(listens && { subscribe: true }) },
    },
    instructions: instructions(session.gate.base_url),
    cacheHints: {
      'tools/list': LIST_CACHING,
      'resources/list': LIST_CACHING,
      'resources/templates/list': LIST_CACHING,
      'resources/read': ASKED_AGAIN,
      'server/discover': LIST_CACHING,
    },
    jsonSchemaValidator: UNUSED,
  });
  server.setRequestHandler('tools/list', () => ({ tools: listTools(session).tools }) as never);
  server.setRequestHandler('tools/call', async ({ params }) => resultOf(await call(session, params)) as never);
  server.setRequestHandler('resources/list', () => listResources(session));
  server.setRequestHandler('resources/templates/list', () => listTemplates(session));
  server.setRequestHandler('resources/read', ({ params }) => readResource(session, params.uri));
  return server;
}

/** Name of the server, and the version of the interface. */
export function identity(base_url: string) {
  const { name, title, version } = IDENTITY;
  return { name, title, version, websiteUrl: base_url };
}

/** Instructions for the model, sent once before the list of tools. */
const instructions = (base_url: string): string =>
  [
    'Datasets of typed records; every value has its source, the time of the last reading and a confidence.',
    'Order: datasets_list; dataset_guide for one dataset (its filters and fields by exact name); dataset_facets for valid filter values; entity_search with only the fields you need; entity_batch for whole records; cite with attribution.',
    'search finds a record of any dataset by name or code, and fetch reads its public page; both are free.',
    'Records are Markdown tables of core attributes, or of the fields you name; format: "json" returns JSON. Free tools need no key. A paid call without one returns its price and the payment methods; errors are free.',
    `A key, with ${WELCOME} of credit: POST ${base_url}/v1/keys with ${KEY_BODY_TEXT}; add it to the client's settings as the header Authorization: Bearer <API_KEY>.`,
    'A long answer names what it omits and how to get it.',
  ].join('\n');

/** We never elicit, so nothing is validated: this avoids the SDK's default validator for each request. */
const UNUSED: NonNullable<ServerOptions['jsonSchemaValidator']> = {
  getValidator: () => () => ({ valid: false, data: undefined, errorMessage: 'elicitation is not supported' }),
};

async function call(session: Session, params: Parameters<typeof callTool>[1]): Promise<ToolResult> {
  try {
    return await callTool(session, params);
  } catch (error) {
    if (!(error instanceof UnknownTool)) throw error;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${error.message.slice(0, 80)}`);
  }
}

function resultOf({ answer: { json, text }, charge, failed, meta }: ToolResult): Record<string, unknown> {
  return {
    content: [{ type: 'text', text: text === null ? json : text + charge }],
    ...(text === null ? { structuredContent: JSON.parse(json) } : {}),
    ...(failed ? { isError: true } : {}),
    _meta: meta,
  };
}

/** Tools in the protocol's form, and as JSON. */
interface DescribedTools {
  tools: unknown[];
  json: Buffer;
}

/** Tools of an address, described once. */
function listTools({ scope: { toolList } }: Session): DescribedTools {
  return derive(toolList, 'described tools', () => {
    const tools = toolList.map(describeTool);
    return { tools, json: Buffer.from(JSON.stringify(tools)) };
  });
}

/** The tools of an address as a JSON list, the same bytes until the packs change. */
export const toolListJson = (session: Session): Buffer => listTools(session).json;

const NO_LOGIN = { type: 'noauth' };
const LOGIN = { type: 'oauth2', scopes: ['read'] };

function describeTool({ name, title, description, operation, input }: Tool): Record<string, unknown> {
  const isFree = operation.charge.access === 'free' && !operation.charge.price;
  const meta = {
    ...(isFree ? {} : { securitySchemes: [NO_LOGIN, LOGIN] }),
    ...(operation.tool?.view ? { ui: { resourceUri: APP.uri } } : {}),
  };
  return {
    name,
    title,
    description,
    inputSchema: input,
    // Paid tools are read-only too: they spend credits, and their descriptions contain the price.
    annotations: {
      readOnlyHint: !isChange(operation),
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
    ...(Object.keys(meta).length > 0 ? { _meta: meta } : {}),
  };
}
