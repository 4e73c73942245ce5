// Plain requests of tools/call and tools/list: gives the answers of the SDK without running it, for a fraction of the CPU
// time.

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/server';
import { derive } from '../../../packs/define/derive.ts';
import type { HttpContext } from '../../http/request.ts';
import { acceptsJson } from '../../render/negotiate.ts';
import type { ToolAnswer } from './budget.ts';
import { callTool, type ToolResult } from './call.ts';
import { identity, LIST_CACHING, toolListJson } from './server.ts';
import type { Session } from './session.ts';

const MODERN = '2026-07-28';
/** Protocol versions with a handshake and structured results. */
const LEGACY: ReadonlySet<string> = new Set(['2025-11-25', '2025-06-18']);

/** A response body in pieces. */
type ResponseBody = readonly Uint8Array[];

/** A valid request. */
interface PlainRequest {
  id: string | number;
  modern: boolean;
  /** Parameters of tools/call; null for tools/list. */
  call: { name: string; arguments?: unknown; _meta?: Record<string, unknown> } | null;
}

/**
 * Answers a request if each of its headers and members is valid and known; null otherwise. The SDK then handles
 * it, so all validation and all errors are the SDK's.
 */
export async function answerPlain(c: HttpContext, message: unknown, session: Session): Promise<ResponseBody | null> {
  const request = plainRequest(c, message);
  if (request === null) return null;
  const { call } = request;
  if (call === null) return writeList(request, session);
  if (!session.scope.tools.has(call.name)) return null;
  const result = await callTool(session, call, true);
  if (request.modern) Object.assign(result.meta, serverMeta(session));
  return writeResponse(request, result);
}

const serverMeta = ({ gate }: Session) => ({ [SERVER_INFO_META_KEY]: identity(gate.base_url) });

/** Parses a request; null unless it is plain. */
function plainRequest(c: HttpContext, message: unknown): PlainRequest | null {
  if (c.req.method !== 'POST' || !only(message, ENVELOPE)) return null;
  const { jsonrpc, id, method, params = {} } = message;
  if (jsonrpc !== '2.0' || (typeof id !== 'string' && !Number.isInteger(id))) return null;
  const members = PARAMS.get(method);
  if (members === undefined || !only(params, members)) return null;
  const { name, arguments: args = {}, _meta: meta = {} } = params;
  const calls = method === 'tools/call';
  if (calls !== (typeof name === 'string') || !isObject(args) || !isObject(meta)) return null;
  const modern = c.req.header('mcp-protocol-version') === MODERN;
  if (!(modern ? plainModern(c, method as string, name, meta) : plainLegacy(c, meta))) return null;
  return { id: id as string | number, modern, call: calls ? (params as PlainRequest['call']) : null };
}

const ENVELOPE: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);
/** Parameters of the methods. */
const PARAMS: ReadonlyMap<unknown, ReadonlySet<string>> = new Map([
  ['tools/call', new Set(['name', 'arguments', '_meta'])],
  ['tools/list', new Set(['_meta'])],
]);
/** Our own members of `_meta`. */
const OWN: ReadonlySet<string> = new Set(['idempotency_key', 'x402/payment']);
const MODERN_META: ReadonlySet<string> = new Set([
  ...OWN,
  PROTOCOL_VERSION_META_KEY,
  CLIENT_INFO_META_KEY,
  CLIENT_CAPABILITIES_META_KEY,
]);

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function only(value: unknown, names: ReadonlySet<string>): value is Json {
  if (!isObject(value)) return false;
  for (const name in value) if (!names.has(name)) return false;
  return true;
}

/** A request of the versions with a handshake, which is optional here. */
function plainLegacy(c: HttpContext, meta: Json): boolean {
  return (
    LEGACY.has(c.req.header('mcp-protocol-version') ?? '') &&
    acceptsJson(c.req.header('accept')) &&
    c.req.header('content-type') === 'application/json' &&
    c.req.header('mcp-session-id') === undefined &&
    c.req.header('mcp-method') === undefined &&
    only(meta, OWN)
  );
}

/** A request with version and client in its headers and in `_meta`, both equal. */
function plainModern(c: HttpContext, method: string, name: unknown, meta: Json): boolean {
  const { [CLIENT_INFO_META_KEY]: info, [CLIENT_CAPABILITIES_META_KEY]: capabilities } = meta;
  return (
    acceptsJson(c.req.header('accept')) &&
    c.req.header('content-type') === 'application/json' &&
    c.req.header('mcp-method') === method &&
    c.req.header('mcp-name') === name &&
    only(meta, MODERN_META) &&
    meta[PROTOCOL_VERSION_META_KEY] === MODERN &&
    isObject(capabilities) &&
    Object.values(capabilities).every((capability) => isObject(capability) && Object.keys(capability).length === 0) &&
    (info === undefined || plainInfo(info))
  );
}

const INFO: ReadonlySet<string> = new Set(['name', 'version', 'title']);

const plainInfo = (info: unknown): boolean =>
  only(info, INFO) &&
  typeof info['name'] === 'string' &&
  typeof info['version'] === 'string' &&
  (info['title'] === undefined || typeof info['title'] === 'string');

/** The response as JSON. The result's JSON is copied into it, without parsing and writing it again. */
function writeResponse({ id, modern }: PlainRequest, { answer, charge, failed, meta }: ToolResult): ResponseBody {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":`;
  const error = failed ? ',"isError":true' : '';
  const kind = modern ? ',"resultType":"complete"' : '';
  const tail = Buffer.from(`${error},"_meta":${JSON.stringify(meta)}${kind}}}`);
  const { text, parts } = answer;
  if (text !== null)
    return [Buffer.from(head), contentOf(answer, text), Buffer.from(`${JSON.stringify(charge).slice(1)}}]`), tail];
  if (!parts) return [Buffer.from(head), contentOf(answer, answer.json), MIDDLE, Buffer.from(answer.json), tail];
  return [Buffer.from(`${head}"`), ...parts.map(escapeJson), MIDDLE, ...parts, tail];
}

/** A text as it is in a response, without the last quotation mark. */
function contentOf(answer: ToolAnswer, text: string): Buffer {
  answer.content ??= Buffer.from(JSON.stringify(text).slice(0, -1));
  return answer.content;
}

/** The list of tools as JSON, whose bytes are the same for all requests of an address. */
function writeList({ id, modern }: PlainRequest, session: Session): ResponseBody {
  const about = { resultType: 'complete', ...LIST_CACHING, _meta: serverMeta(session) };
  const members = modern ? `,${JSON.stringify(about).slice(1, -1)}` : '';
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"tools":`;
  return [Buffer.from(head), toolListJson(session), Buffer.from(`${members}}}`)];
}

const MIDDLE = Buffer.from('"}],"structuredContent":');

/**
 * Escapes bytes of JSON for a JSON string. Works on latin1 characters, since only ASCII needs escapes and
 * UTF-8 stays as it is: nothing is decoded.
 */
function escapeJson(part: Uint8Array): Buffer {
  return derive(part, 'escaped', () => {
    const { buffer, byteOffset, byteLength } = part;
    const text = JSON.stringify(Buffer.from(buffer, byteOffset, byteLength).toString('latin1')).slice(1, -1);
    return Buffer.from(text, 'latin1');
  });
}
