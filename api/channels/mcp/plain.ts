// tools/call in its plainest form, answered without the SDK: the same bytes that it would send, for a fraction of the work.
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/server';
import type { Http } from '../../http/request.ts';
import { callTool, type ToolResult } from './call.ts';
import { identity } from './server.ts';
import type { Session } from './session.ts';

const MODERN = '2026-07-28';
/** Revisions with a handshake that have structured answers. */
const LEGACY: ReadonlySet<string> = new Set(['2025-11-25', '2025-06-18']);

/** A response to send; large ones in pieces. */
type Written = string | readonly Uint8Array[];

/** A call that leaves nothing to be checked. */
interface PlainCall {
  id: string | number;
  modern: boolean;
  params: { name: string; arguments?: unknown; _meta?: Record<string, unknown> };
}

/**
 * Answers a call if it is plain: right in every header and member that the protocol has, and nothing else. Null otherwise, and then
 * the SDK judges it: whatever is wrong, odd or new about a request is its to say.
 */
export async function answerPlain(c: Http, message: unknown, session: Session): Promise<Written | null> {
  const call = plainCall(c, message);
  if (call === null || !session.scope.tools.has(call.params.name)) return null;
  const result = await callTool(session, call.params, true);
  if (call.modern) result.meta[SERVER_INFO_META_KEY] = identity(session.gate.base_url);
  return written(call, result);
}

/** Reads a call; null unless it is plain. */
function plainCall(c: Http, message: unknown): PlainCall | null {
  if (c.req.method !== 'POST' || !only(message, ENVELOPE)) return null;
  const { jsonrpc, id, method, params } = message;
  if (jsonrpc !== '2.0' || method !== 'tools/call' || !only(params, PARAMS)) return null;
  if (typeof id !== 'string' && !Number.isInteger(id)) return null;
  const { name, arguments: given = {}, _meta: meta = {} } = params;
  if (typeof name !== 'string' || !isObject(given) || !isObject(meta)) return null;
  const modern = c.req.header('mcp-protocol-version') === MODERN;
  if (!(modern ? plainModern(c, name, meta) : plainLegacy(c, meta))) return null;
  return { id: id as string | number, modern, params: params as PlainCall['params'] };
}

const ENVELOPE: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);
const PARAMS: ReadonlySet<string> = new Set(['name', 'arguments', '_meta']);
/** Members of `_meta` that are ours. */
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

const BOTH = /^(?=.*\bapplication\/json\b)(?=.*\btext\/event-stream\b)/;

/** A request of the revisions with a handshake, which need none here. */
function plainLegacy(c: Http, meta: Json): boolean {
  return (
    LEGACY.has(c.req.header('mcp-protocol-version') ?? '') &&
    BOTH.test(c.req.header('accept') ?? '') &&
    c.req.header('content-type') === 'application/json' &&
    c.req.header('mcp-session-id') === undefined &&
    c.req.header('mcp-method') === undefined &&
    only(meta, OWN)
  );
}

/** A request that says for itself what it is, in headers and in `_meta` alike. */
function plainModern(c: Http, name: string, meta: Json): boolean {
  const { [CLIENT_INFO_META_KEY]: info, [CLIENT_CAPABILITIES_META_KEY]: capabilities } = meta;
  return (
    BOTH.test(c.req.header('accept') ?? '') &&
    c.req.header('content-type') === 'application/json' &&
    c.req.header('mcp-method') === 'tools/call' &&
    c.req.header('mcp-name') === name &&
    only(meta, MODERN_META) &&
    meta[PROTOCOL_VERSION_META_KEY] === MODERN &&
    isObject(capabilities) &&
    Object.values(capabilities).every((each) => isObject(each) && Object.keys(each).length === 0) &&
    (info === undefined || plainInfo(info))
  );
}

const INFO: ReadonlySet<string> = new Set(['name', 'version', 'title']);

const plainInfo = (info: unknown): boolean =>
  only(info, INFO) &&
  typeof info['name'] === 'string' &&
  typeof info['version'] === 'string' &&
  (info['title'] === undefined || typeof info['title'] === 'string');

/** The response as JSON: the answer's own text stands in it as it is, and is not parsed to be written again. */
function written({ id, modern }: PlainCall, answer: ToolResult): Written {
  const { text, quoted, parts, failed, meta } = answer;
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":`;
  const error = failed ? ',"isError":true' : '';
  const kind = modern ? ',"resultType":"complete"' : '';
  const tail = `${error},"_meta":${JSON.stringify(meta)}${kind}}}`;
  if (!parts || text !== null) {
    // Of an answer that came as bytes, reading this would decode them all.
    const { json } = answer;
    return `${head}${quoted ?? JSON.stringify(text ?? json)}}],"structuredContent":${json}${tail}`;
  }
  return [Buffer.from(`${head}"`), ...parts.map(escaped), MIDDLE, ...parts, Buffer.from(tail)];
}

const MIDDLE = Buffer.from('"}],"structuredContent":');

/** Parts of JSON as they stand in a text of JSON, for as long as somebody keeps the part: a record that is asked for again and again. */
const known = new WeakMap<Uint8Array, Buffer>();
/** Bytes of parts that are records: what is shorter is soon escaped, what is longer was made for one answer. */
const [SHORT, LONG] = [256, 16_384];

/**
 * Bytes of JSON escaped to stand in a text. Every byte is taken for a character and put back as one: what has to be escaped is
 * ASCII, and nothing has to be decoded for it.
 */
function escaped(part: Uint8Array): Buffer {
  const kept = known.get(part);
  if (kept !== undefined) return kept;
  const { buffer, byteOffset, byteLength } = part;
  const text = JSON.stringify(Buffer.from(buffer, byteOffset, byteLength).toString('latin1')).slice(1, -1);
  const made = Buffer.from(text, 'latin1');
  if (byteLength >= SHORT && byteLength <= LONG) known.set(part, made);
  return made;
}
