// A2A over HTTP+JSON: SendMessage without tasks (A2A 1.0 section 11; specification section 4, "Agent
// protocols").
import {
  A2AError,
  isRestError,
  RestExtendedAgentCardNotConfiguredError,
  RestPushNotificationNotSupportedError,
  RestTaskNotFoundError,
  RestUnsupportedOperationError,
  toRestErrorBody,
} from '@a2a-js/sdk/errors';
import { ApiError, ERRORS, errorBody, toApiError } from '../../contract/errors.ts';
import type { Context, Operation, Result } from '../../contract/operation.ts';
import { A2A_PATH } from '../../discovery/agent-card.ts';
import { type AnswerCodec, admit, type Call, execute } from '../../gate/execute.ts';
import { compressReply } from '../../http/coding.ts';
import { notFound } from '../../http/not-found.ts';
import { decodePayment, type HttpContext, type HttpRequest, readBody } from '../../http/request.ts';
import { challenge, type Headers, responseOf } from '../../http/respond.ts';
import type { RouteRequest, RouteTable } from '../../http/server.ts';
import { cachedToolList, type Tool, type ToolList } from '../../render/tools.ts';
import { Budget } from '../mcp/budget.ts';
import { cutBody, cutText } from '../mcp/cut.ts';
import { tokensOf } from '../mcp/scope.ts';
import { textFitsIn } from '../mcp/tokens.ts';
import { namedCall } from '../named-call.ts';
import type { RestDeps } from '../rest/rest.ts';
import { ADVICE, buildAdvice } from './advice.ts';
import { type CardDeps, cardRoute } from './card.ts';
import { checkVersion, type ParsedMessage, readMessage } from './message.ts';

export type A2aDeps = RestDeps & CardDeps;

/**
 * The routes of the agent and its card.
 *
 * @example
 * ```ts
 * mountTable(app, services, a2aTable({ ...deps, cardKey }));
 * await app.request('/a2a/v1/message:send', { method: 'POST', body: JSON.stringify({ message }) });
 * ```
 */
export function a2aTable(deps: A2aDeps): RouteTable {
  const tools = cachedToolList(deps.gate.operations);
  const mounted = { ...deps, offer: catalogueOf(deps, tools) };
  // A method of the protocol that this agent does not support (sections 3.1 and 9.2).
  const without = (error: Error) => (request: RouteRequest) => {
    checkVersion(request.header('a2a-version'));
    throw error;
  };
  const noPush = without(new RestPushNotificationNotSupportedError());
  return {
    policy: {
      expected: isProtocol,
      failure: (_, { request_id, headers }, thrown) =>
        a2aError(thrown, { base_url: deps.gate.base_url, request_id, headers }),
    },
    routes: {
      'GET /.well-known/agent-card.json': cardRoute(deps, tools),
      // The gate counts the call.
      [`POST ${A2A_PATH}/message:send`]: { bucket: null, answer: (request) => send(mounted, request) },
      [`ALL ${A2A_PATH}/message:stream`]: without(
        new RestUnsupportedOperationError({ message: 'Streaming is not supported; use message:send.' }),
      ),
      [`ALL ${A2A_PATH}/extendedAgentCard`]: without(new RestExtendedAgentCardNotConfiguredError()),
      [`ALL ${A2A_PATH}/tasks`]: without(new RestUnsupportedOperationError({ message: 'This agent has no tasks.' })),
      [`ALL ${A2A_PATH}/tasks/:id/pushNotificationConfigs`]: noPush,
      [`ALL ${A2A_PATH}/tasks/:id/pushNotificationConfigs/:config`]: noPush,
      [`ALL ${A2A_PATH}/tasks/:id`]: without(new RestTaskNotFoundError({ message: 'This agent has no tasks.' })),
      'ALL /a2a/*': async ({ path }) => {
        throw await notFound(deps.gate, path);
      },
    },
  };
}

/** Errors of the SDK have a member `transport`. */
const isProtocol = (error: unknown) => typeof error === 'object' && error !== null && 'transport' in error;

async function send(deps: Mounted, request: RouteRequest): Promise<Response> {
  const { gate, offer } = deps;
  const { http: c } = request;
  let message: ParsedMessage;
  let tokens: number;
  try {
    checkVersion(request.header('a2a-version'));
    tokens = tokensOf(request.query['max_tokens']);
    message = readMessage(await readBody(c));
  } catch (error) {
    await admit(gate, request.visitor, 'free');
    throw error;
  }
  const catalogue = await offer();
  const reply = await (message.skill === null
    ? advise(deps, request, { ...message, tokens }, catalogue)
    : perform(deps, c, request, { ...message.skill, wants: message.wants, tokens }, catalogue));
  const body = messageOf(reply, message.contextId, request.headers);
  const headers = { 'Content-Type': A2A_JSON, 'Cache-Control': 'private, no-store' };
  return responseOf(await compressReply({ status: 200, headers, body }, c.req.header('accept-encoding')));
}

/** The current datasets and their tools. */
interface Catalogue {
  packs: Parameters<ToolList>[0];
  tools: Tool[];
}

function catalogueOf({ gate }: A2aDeps, tools: ToolList): () => Promise<Catalogue> {
  return async () => {
    const leases = await gate.lease(null);
    const packs = leases.releases.map(({ pack }) => pack);
    leases.done();
    return { packs, tools: await tools(packs) };
  };
}

interface Mounted extends A2aDeps {
  offer: () => Promise<Catalogue>;
}

/** Runs a skill. */
async function perform(
  { gate }: A2aDeps,
  c: HttpContext,
  request: HttpRequest,
  { name, args, wants, tokens }: { name: string; args: unknown; wants: ParsedMessage['wants']; tokens: number },
  { tools }: Catalogue,
): Promise<AgentReply> {
  const tool = tools.find((candidate) => candidate.name === name);
  let call: Call;
  try {
    if (!tool) throw unknownSkill(name, tools);
    const payment = decodePayment(c.req.header('payment-signature'));
    const { operation, dataset } = tool;
    call = namedCall(gate, c, request, { channel: 'a2a', operation, args, dataset, payment });
  } catch (error) {
    await admit(gate, request.visitor, 'free');
    throw error;
  }
  try {
    const parts = new ReplyParts(tool.operation, wants, tokens);
    const { shorter } = parts;
    if (shorter) call.shorter = shorter;
    const outcome = await execute(gate, call, (result, ctx) => parts.present(result, ctx), AGENT_REPLY_CODEC);
    outcome.done();
    if (outcome.kind !== 'answer') throw new Error('an A2A call is neither conditional nor HEAD');
    return outcome.answer;
  } catch (error) {
    const { code, message, extras } = toApiError(error);
    // The dataset is set once the call found it.
    if (code === 'internal' || call.headers['X-Dataset-Version'] === undefined) throw error;
    throw new ApiError(code, message, { ...extras, dataset: call.dataset ?? undefined });
  } finally {
    Object.assign(request.headers, call.headers);
  }
}

function unknownSkill(name: string, tools: Tool[]): ApiError {
  const msg = `there is no skill "${name.slice(0, 80)}"; there are ${tools.map((tool) => tool.name).join(', ')}`;
  return new ApiError('validation_failed', `skill: ${msg}`, {
    detail: [{ loc: ['body', 'skill'], msg, type: 'enum' }],
  });
}

/** Replies to a text part: the datasets and skills. */
async function advise(
  { gate }: A2aDeps,
  request: HttpRequest,
  { wants, tokens }: ParsedMessage & { tokens: number },
  { packs, tools }: Catalogue,
): Promise<AgentReply> {
  await admit(gate, request.visitor, 'free');
  const advice = buildAdvice(packs, tools);
  return {
    text: wants.text ? cutText(advice.text, tokens).text : null,
    data: wants.data
      ? JSON.stringify(
          textFitsIn(JSON.stringify(advice.data), tokens) ? advice.data : cutBody(ADVICE, advice.data, tokens).body,
        )
      : null,
  };
}

// The reply: one message of the agent, with a text part and a data part, depending on the accepted output
// modes.

/** Result of a skill: Markdown, and JSON as text; null for a part that it does not have. */
interface AgentReply {
  text: string | null;
  data: string | null;
}

/**
 * Builds the parts of one reply, each within the same token budget: Markdown for models, JSON for programs.
 */
class ReplyParts {
  readonly #operation: Operation;
  readonly #wants: ParsedMessage['wants'];
  readonly #markdown: Budget;
  readonly #json: Budget;

  constructor(operation: Operation, wants: ParsedMessage['wants'], tokens: number) {
    this.#operation = operation;
    this.#wants = wants;
    this.#markdown = new Budget(operation, tokens);
    this.#json = new Budget(operation, tokens);
  }

  /** A shorter result at the same price, for operations that have one (`Call.shorter`). */
  get shorter(): NonNullable<Call['shorter']> | undefined {
    if (!this.#json.shortens) return undefined;
    return async (input, result, ctx) => {
      if (ctx.format !== 'json') return this.#markdown.shorter(input, result, ctx);
      // JSON is the longer part: if it fits, Markdown fits too.
      if (!this.#wants.data) return this.#markdown.shorter(input, result, inFormat(ctx, 'markdown'));
      const shorter = await this.#json.shorter(input, result, ctx);
      this.#markdown.of = this.#json.of;
      return shorter;
    };
  }

  /** Renders the accepted parts of a result. The data part of a text skill holds the other members. */
  async present(result: Result<unknown>, ctx: Context): Promise<AgentReply> {
    const { text: wantsText, data: wantsData } = this.#wants;
    if (ctx.format === 'json')
      return {
        text: wantsText ? (await this.#markdown.present(result, inFormat(ctx, 'markdown'))).text : null,
        data: wantsData ? (await this.#json.present(result, ctx)).json : null,
      };
    const { text, json } = await this.#markdown.present(result, ctx);
    if (this.#operation.formats.includes('json')) return { text, data: null };
    if (!wantsText) return { text: null, data: json };
    const { text: _, ...others } = JSON.parse(json) as Record<string, unknown>;
    return { text, data: wantsData && Object.keys(others).length > 0 ? JSON.stringify(others) : null };
  }
}

/** The same context in another format. Its getters would be lost by a spread alone. */
const inFormat = (ctx: Context, format: Context['format']): Context => ({
  ...ctx,
  url: ctx.url,
  signal: ctx.signal,
  ...(ctx.service && { service: ctx.service }),
  format,
});

/** Stores replies for messages repeated with the same Idempotency-Key. */
const AGENT_REPLY_CODEC: AnswerCodec<AgentReply> = {
  encode: async (reply) => JSON.stringify(reply),
  decode: (text) => JSON.parse(text) as AgentReply,
};

/**
 * Body of the SendMessage response: a Message, never a Task. Its metadata holds what REST sends as headers.
 */
function messageOf({ text, data }: AgentReply, contextId: string, headers: Headers): string {
  const parts = [
    ...(text === null ? [] : [`{"text":${JSON.stringify(text)},"mediaType":"text/markdown"}`]),
    ...(data === null ? [] : [`{"data":${data},"mediaType":"application/json"}`]),
  ];
  const about = { messageId: crypto.randomUUID(), contextId, role: 'ROLE_AGENT', metadata: metadataOf(headers) };
  return `{"message":${JSON.stringify(about).slice(0, -1)},"parts":[${parts.join(',')}]}}`;
}

function metadataOf(headers: Headers): Record<string, unknown> {
  const number = (name: string) => (headers[name] === undefined ? undefined : Number(headers[name]));
  return {
    request_id: headers['X-Request-Id'],
    dataset_version: headers['X-Dataset-Version'],
    charge_eur: number('X-Charge-EUR'),
    balance_eur: number('X-Balance-EUR'),
  };
}

/** Context of an error body. */
interface Place {
  base_url: string;
  request_id: string;
  headers: Headers;
}

/** Canonical names of google.rpc.Code by HTTP status. */
const NAMES: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  409: 'ABORTED',
  412: 'FAILED_PRECONDITION',
  413: 'INVALID_ARGUMENT',
  415: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

const TYPE = 'type.googleapis.com';
const A2A_JSON = 'application/a2a+json';

/**
 * Converts a thrown value to a response. Protocol errors keep their reason; our errors use their code as the
 * reason, in our own domain.
 */
function a2aError(thrown: unknown, place: Place): Response {
  if (thrown instanceof A2AError && isRestError(thrown)) {
    const headers = { ...place.headers, 'Content-Type': A2A_JSON, 'Cache-Control': 'no-store' };
    return new Response(JSON.stringify(toRestErrorBody(thrown, thrown.statusCode)), {
      status: thrown.statusCode,
      headers,
    });
  }
  const error = toApiError(thrown);
  const { status, body } = statusOf(error, place);
  const retry = error.extras.retry_after_seconds;
  const headers: Headers = {
    ...place.headers,
    ...error.extras.headers,
    'Content-Type': A2A_JSON,
    'Cache-Control': 'no-store',
    ...(retry === undefined ? {} : { 'Retry-After': String(retry) }),
    ...(status === 401 ? { 'WWW-Authenticate': challenge(place.base_url, '') } : {}),
  };
  return new Response(JSON.stringify(body), { status, headers });
}

/** 422 of REST is 400 in A2A: an argument that is not valid. */
function statusOf(error: ApiError, place: Place): { status: number; body: unknown } {
  const { status: httpStatus } = ERRORS[error.code];
  const status = httpStatus === 422 ? 400 : httpStatus;
  const { base_url, request_id } = place;
  const info = {
    '@type': `${TYPE}/google.rpc.ErrorInfo`,
    reason: error.code.toUpperCase(),
    domain: new URL(base_url).hostname,
    metadata: { request_id },
  };
  const violations = error.code === 'validation_failed' ? [violationsOf(error)] : [];
  const value = errorBody(error, { base_url, request_id, by_name: true });
  const details = [info, ...violations, { '@type': `${TYPE}/google.protobuf.Struct`, value }];
  return {
    status,
    body: { error: { code: status, status: NAMES[status] ?? 'UNKNOWN', message: error.message, details } },
  };
}

function violationsOf({ extras }: ApiError) {
  const issues = (Array.isArray(extras.detail) ? extras.detail : []) as { loc: unknown[]; msg: string }[];
  return {
    '@type': `${TYPE}/google.rpc.BadRequest`,
    fieldViolations: issues.map(({ loc, msg }) => ({ field: loc.slice(1).join('.'), description: msg })),
  };
}
