// `register mcp`: an MCP server over stdio that forwards each message to the service's endpoint, with a credential.
import { createInterface } from 'node:readline';
import { secondsOf } from '../transport.ts';

type Id = string | number;

/** A message of JSON-RPC 2.0. */
interface Message {
  jsonrpc: '2.0';
  id?: Id | undefined;
  method?: string;
  params?: Record<string, unknown> & { _meta?: Record<string, unknown> };
  result?: { protocolVersion?: string };
  error?: object;
}

/** Where the credential of the calls comes from. */
export interface Credentials {
  /** The current one; undefined without one. */
  current(): Promise<string | undefined>;
  /** Another one after a 401; undefined if there is none. */
  renew(): Promise<string | undefined>;
}

export interface BridgeOptions {
  /** Address of the MCP endpoint. */
  endpoint: string;
  credentials: Credentials;
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
}

/** The member of a request's `_meta` with its protocol version, in revisions without a handshake. */
const VERSION_META = 'io.modelcontextprotocol/protocolVersion';
/** The argument that names the target of a request, for the header Mcp-Name (SEP-2243). */
const NAMES: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'resources/read': 'uri',
  'prompts/get': 'name',
};
const RETRIES = 2;
/** The longest wait before a retry, in seconds. */
const LONGEST_WAIT = 20;

/**
 * Forwards messages until the input ends and every answer is written.
 *
 * @example
 * ```ts
 * await bridge({ endpoint: 'http://localhost:8787/mcp', credentials, input: process.stdin, output: process.stdout });
 * ```
 */
export async function bridge(options: BridgeOptions): Promise<void> {
  const forwarder = new Forwarder(options);
  const running = new Set<Promise<void>>();
  for await (const line of createInterface({ input: options.input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === '') continue;
    const task = forwarder.receive(line).finally(() => running.delete(task));
    running.add(task);
  }
  await Promise.all(running);
}

class Forwarder {
  readonly #options: BridgeOptions;
  /** Requests without an answer yet, by id, so that they can be cancelled. */
  readonly #pending = new Map<Id, AbortController>();
  /** The version of the handshake; undefined before it. */
  #version: string | undefined;

  constructor(options: BridgeOptions) {
    this.#options = options;
  }

  #write(message: unknown): void {
    this.#options.output.write(`${JSON.stringify(message)}\n`);
  }

  #writeError(id: Id | null, code: number, message: string): void {
    this.#write({ jsonrpc: '2.0', id, error: { code, message } });
  }

  /** Handles one line of the client. Never rejects. */
  async receive(line: string): Promise<void> {
    const value = parsed(line);
    if (value === undefined) return this.#writeError(null, -32_700, 'Parse error: the line is not JSON');
    const mistake = mistakeOf(value);
    const message = value as Message;
    if (mistake !== null)
      return this.#writeError(isId(message?.id) ? message.id : null, -32_600, `Invalid request: ${mistake}`);
    if (message.method === 'notifications/cancelled') {
      // The service has no sessions: ending the request is the cancellation.
      this.#pending.get(message.params?.['requestId'] as Id)?.abort();
      return;
    }
    const { id } = message;
    const controller = new AbortController();
    if (id !== undefined) this.#pending.set(id, controller);
    try {
      await this.#forward(message, controller.signal);
    } catch (error) {
      if (id !== undefined && !controller.signal.aborted)
        this.#writeError(id, -32_000, error instanceof Error ? error.message : String(error));
    } finally {
      if (id !== undefined) this.#pending.delete(id);
    }
  }

  async #forward(message: Message, signal: AbortSignal): Promise<void> {
    const { credentials } = this.#options;
    let response = await this.#post(message, await credentials.current(), signal);
    if (response.status === 401) {
      const renewed = await credentials.renew();
      if (renewed !== undefined) response = await this.#post(message, renewed, signal);
    }
    if (message.id === undefined) return void (await response.body?.cancel());
    if (/^text\/event-stream\b/.test(response.headers.get('content-type') ?? '')) {
      let isAnswered = false;
      for await (const event of eventsOf(response)) {
        isAnswered ||= event.id === message.id;
        this.#deliver(event, message);
      }
      if (!isAnswered) throw new Error('the service ended the stream without an answer');
      return;
    }
    const text = await response.text();
    const answer = parsed(text) as (Message & Record<string, unknown>) | null | undefined;
    // An error about the whole message has no id; the client waits for its own.
    if (answer?.jsonrpc === '2.0') return this.#deliver({ ...answer, id: message.id }, message);
    const { message: reason, alternative_action = '' } = (answer ?? {}) as {
      message?: string;
      alternative_action?: string;
    };
    throw new Error(`${response.status} ${reason ?? text.slice(0, 200)} ${alternative_action}`.trim());
  }

  /** Sends a message; waits and repeats it when the service is busy. */
  async #post(message: Message, credential: string | undefined, signal: AbortSignal): Promise<Response> {
    const { endpoint } = this.#options;
    const headers = headersOf(message, credential, this.#version);
    for (let attempt = 1; ; attempt += 1) {
      let response: Response;
      try {
        response = await fetch(endpoint, {
          method: 'POST',
          headers,
          body: JSON.stringify(message),
          signal,
          redirect: 'manual',
        });
      } catch (cause) {
        if (signal.aborted) throw cause;
        throw new Error(`no connection to ${endpoint}`, { cause });
      }
      const wait = secondsOf(response.headers.get('Retry-After')) ?? 1;
      if (![429, 503].includes(response.status) || attempt > RETRIES || wait > LONGEST_WAIT) return response;
      await response.body?.cancel();
      await new Promise((resolve) => setTimeout(resolve, wait * 1000));
      signal.throwIfAborted();
    }
  }

  #deliver(answer: Message, request: Message): void {
    if (request.method === 'initialize' && answer.id === request.id) this.#version = answer.result?.protocolVersion;
    this.#write(answer);
  }
}

function headersOf(
  message: Message,
  credential: string | undefined,
  version: string | undefined,
): Record<string, string> {
  const { method = '', params } = message;
  const own = params?._meta?.[VERSION_META];
  const target = params?.[NAMES[method] ?? ''];
  return {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...(credential === undefined ? {} : { Authorization: `Bearer ${credential}` }),
    ...(typeof own === 'string'
      ? { 'MCP-Protocol-Version': headerText(own), 'Mcp-Method': headerText(method) }
      : version === undefined
        ? {}
        : { 'MCP-Protocol-Version': version }),
    ...(typeof own === 'string' && typeof target === 'string' ? { 'Mcp-Name': headerText(target) } : {}),
  };
}

/** A text as the value of a header: others than visible ASCII as base64 (SEP-2243). */
const headerText = (text: string): string =>
  /^[\u0021-\u007e]([\u0020-\u007e]*[\u0021-\u007e])?$/.test(text) && !text.startsWith('=?')
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`;

/** A JSON value; undefined for another text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isId = (value: unknown): value is Id => typeof value === 'string' || Number.isInteger(value);

/** What makes a value no message that the service can answer; null for a message. */
function mistakeOf(value: unknown): string | null {
  if (Array.isArray(value)) return 'batches are not part of MCP; send a message a line';
  if (typeof value !== 'object' || value === null) return 'a message is an object';
  if ('id' in value && !isId(value.id)) return 'id must be a text or an integer';
  if ('method' in value ? typeof value.method !== 'string' : !('result' in value || 'error' in value))
    return 'method must be a text';
  return null;
}

/** The messages of a stream of server-sent events, as they arrive. */
async function* eventsOf(response: Response): AsyncGenerator<Message> {
  let lines: string[] = [];
  let partial = '';
  const take = function* (): Generator<Message> {
    const text = lines.flatMap((line) => (line.startsWith('data:') ? line.slice(5).trimStart() : [])).join('\n');
    lines = [];
    const message = parsed(text) as Message | null | undefined;
    if (message) yield message;
  };
  for await (const piece of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const [last = '', ...before] = `${partial}${piece}`.split(/\r\n|\n|\r(?!$)/).reverse();
    partial = last;
    for (const line of before.reverse()) {
      if (line === '') yield* take();
      else lines.push(line);
    }
  }
  lines.push(partial);
  yield* take();
}
