// State of one request to the MCP endpoint: caller, scope, and the headers and errors for the HTTP response.
import { type ApiError, ERRORS, errorBody, toApiError } from '../../contract/errors.ts';
import { type Call, type CallDeps, execute, type Outcome } from '../../gate/execute.ts';
import type { HttpContext, HttpRequest } from '../../http/request.ts';
import { Budget, type ToolAnswer } from './budget.ts';
import type { Scope } from './scope.ts';

export interface Session {
  gate: CallDeps;
  c: HttpContext;
  request: HttpRequest;
  scope: Scope;
  /** Path of the protected resource: `/mcp` or `/mcp/account`. */
  resource: string;
  report(error: unknown, request_id: string): void;
  /** A rejected credential: the whole request gets 401 (RFC 6750 section 3.1). */
  refused?: ApiError;
}

/** A successful call. */
export interface CallSuccess {
  answer: ToolAnswer;
  headers: Record<string, string>;
}

/** An error as the body that all channels share. */
export interface CallFailure {
  body: Record<string, unknown>;
  error: ApiError;
  headers: Record<string, string>;
}

/** Runs one call through the gate within the budget. Copies the call's headers to the request's. Errors reject. */
export async function runCall(session: Session, call: Call): Promise<CallSuccess> {
  const { gate, request, scope } = session;
  const budget = new Budget(call.operation, scope.tokens);
  if (budget.shortens) call.shorter = (input, result, ctx) => budget.shorter(input, result, ctx);
  let outcome: Outcome<ToolAnswer>;
  try {
    outcome = await execute(gate, call, (result, ctx) => budget.present(result, ctx), KEPT);
  } finally {
    if (call.headers !== request.headers) Object.assign(request.headers, call.headers);
  }
  outcome.done();
  if (outcome.kind !== 'answer') throw new Error('an MCP call is neither conditional nor HEAD');
  return { answer: outcome.answer, headers: call.headers };
}

const KEPT = {
  encode: async ({ json, text }: ToolAnswer) => JSON.stringify({ json, text }),
  decode: (text: string) => JSON.parse(text) as ToolAnswer,
};

/** Converts a thrown error to the shared error body. Remembers a bad credential for the HTTP status. */
export function refusalOf(session: Session, thrown: unknown, call: Call | null): CallFailure {
  const { gate, request, report } = session;
  const error = toApiError(thrown);
  if (error.code === 'internal' && !call?.signal.aborted) report(thrown, request.request_id);
  if (ERRORS[error.code].status === 401 && request.visitor.credential !== null) session.refused = error;
  const headers = { ...call?.headers, ...error.extras.headers };
  const dataset = call?.headers['X-Dataset-Version'] === undefined ? undefined : (call.dataset ?? undefined);
  const { request_id } = request;
  const place = { base_url: gate.base_url, request_id, dataset, by_name: true, mcp: session.resource };
  return { body: errorBody(error, place), error, headers };
}
