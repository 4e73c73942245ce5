// The reply: one message of the agent, with a text part and a data part, depending on the accepted output
// modes.
import { A2AError, isRestError, toRestErrorBody } from '@a2a-js/sdk/errors';
import { type ApiError, ERRORS, errorBody, toApiError } from '../../contract/errors.ts';
import type { Context, Operation, Result } from '../../contract/operation.ts';
import type { AnswerCodec, Call } from '../../gate/execute.ts';
import { challenge, type Headers } from '../../http/respond.ts';
import { Budget } from '../mcp/budget.ts';
import type { ParsedMessage } from './message.ts';

/** Result of a skill: Markdown, and JSON as text; null for a part that it does not have. */
export interface AgentReply {
  text: string | null;
  data: string | null;
}

/**
 * Builds the parts of one reply, each within the same token budget: Markdown for models, JSON for programs.
 */
export class ReplyParts {
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

/** The same context in another format. `url` and `signal` are getters, which a spread alone would lose. */
const inFormat = (ctx: Context, format: Context['format']): Context => ({
  ...ctx,
  url: ctx.url,
  signal: ctx.signal,
  format,
});

/** Stores replies for messages repeated with the same Idempotency-Key. */
export const AGENT_REPLY_CODEC: AnswerCodec<AgentReply> = {
  encode: async (reply) => JSON.stringify(reply),
  decode: (text) => JSON.parse(text) as AgentReply,
};

/**
 * Body of the SendMessage response: a Message, never a Task. Its metadata holds what REST sends as headers.
 */
export function messageOf({ text, data }: AgentReply, contextId: string, headers: Headers): string {
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
  /** The dataset, if the call found it. */
  dataset?: string | undefined;
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
export const A2A_JSON = 'application/a2a+json';

/**
 * Converts a thrown value to a response. Protocol errors keep their reason; our errors use their code as the
 * reason, in our own domain.
 */
export function a2aError(thrown: unknown, place: Place): Response {
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
  const { status: known } = ERRORS[error.code];
  const status = known === 422 ? 400 : known;
  const { base_url, request_id, dataset } = place;
  const info = {
    '@type': `${TYPE}/google.rpc.ErrorInfo`,
    reason: error.code.toUpperCase(),
    domain: new URL(base_url).hostname,
    metadata: { request_id },
  };
  const violations = error.code === 'validation_failed' ? [violationsOf(error)] : [];
  const value = errorBody(error, { base_url, request_id, dataset, by_name: true });
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
