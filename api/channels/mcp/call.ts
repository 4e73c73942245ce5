// tools/call: runs a tool's operation through the gate and returns result or error (protocols.md section
// 1.4).
import { ApiError, ERRORS } from '../../contract/errors.ts';
import { admit, type Call } from '../../gate/execute.ts';
import { challenge } from '../../http/respond.ts';
import { namedCall } from '../named-call.ts';
import type { ToolAnswer } from './budget.ts';
import { refusalOf, runCall, type Session } from './session.ts';

/** A tool's result: its content, whether it is an error, and `_meta`. */
export interface ToolResult {
  answer: ToolAnswer;
  /** The end of a text: the charge, for an operation with a price. */
  charge: string;
  failed: boolean;
  meta: Record<string, unknown>;
}

/** A tool that this address does not offer: a protocol error, not a tool error. */
export class UnknownTool extends Error {}

type Params = { name: string; arguments?: unknown; _meta?: Record<string, unknown> | undefined };

/**
 * Calls a tool; `alone`: the request contains no other call. Errors are returned as a result with the error
 * body; only an unknown tool is thrown.
 */
export async function callTool(
  session: Session,
  { name, arguments: args, _meta: meta }: Params,
  alone = false,
): Promise<ToolResult> {
  const { gate, c, request, scope } = session;
  const tool = scope.tools.get(name);
  if (!tool) return countRefused(session, new UnknownTool(name), null);
  const input = {
    channel: 'mcp' as const,
    operation: tool.operation,
    args,
    dataset: tool.dataset,
    payment: meta?.['x402/payment'],
    idempotency_key: textIn(meta, 'idempotency_key'),
  };
  let call: Call | null = null;
  try {
    call = namedCall(gate, c, request, input, alone);
    requireInScope(session, call.dataset);
  } catch (error) {
    return countRefused(session, error, call);
  }
  try {
    const { answer, headers } = await runCall(session, call);
    const charge = tool.operation.charge.price ? `\nCharged ${headers['X-Charge-EUR'] ?? 0} EUR.\n` : '';
    return { answer, charge, failed: false, meta: metaOf(headers) };
  } catch (error) {
    return failureResult(session, error, call);
  }
}

/** The result of a call with an unknown tool or wrong arguments: it counts against the rate limit too. */
async function countRefused(session: Session, error: unknown, call: Call | null): Promise<ToolResult> {
  try {
    await admit(session.gate, session.request.visitor, 'free');
  } catch (limited) {
    return failureResult(session, limited, call);
  }
  if (error instanceof UnknownTool) throw error;
  return failureResult(session, error, call);
}

/** An error as the result of the tool. */
function failureResult(session: Session, thrown: unknown, call: Call | null): ToolResult {
  const { gate, request, resource } = session;
  const { body, error, headers } = refusalOf(session, thrown, call);
  const json = JSON.stringify(body);
  const { status } = ERRORS[error.code];
  const ask = request.visitor.credential === null && (status === 401 || status === 402);
  const login = ask ? { 'mcp/www_authenticate': [challenge(gate.base_url, resource)] } : {};
  return { answer: { json, text: null }, charge: '', failed: true, meta: { ...metaOf(headers), ...login } };
}

/** A member of `_meta`; a value that is no text becomes the empty text, which the gate refuses. */
const textIn = (meta: Params['_meta'], name: string): string | undefined => {
  const value = meta?.[name];
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : '';
};

/** Treats a dataset outside the address's scope like one that does not exist. */
function requireInScope({ scope: { datasets } }: Session, dataset: string | null): void {
  if (datasets === null || dataset === null || datasets.has(dataset)) return;
  const list = [...datasets].join(', ');
  throw new ApiError('unknown_dataset', `This address offers no dataset "${dataset.slice(0, 80)}", only ${list}.`);
}

/**
 * `_meta` of the result: what REST sends as headers. Absent headers are left out: most calls have only the
 * first two.
 */
function metaOf(headers: Record<string, string>): Record<string, unknown> {
  const meta: Record<string, unknown> = {};
  const put = (name: string, text: string | undefined, read: (text: string) => unknown) => {
    if (text !== undefined) meta[name] = read(text);
  };
  put('request_id', headers['X-Request-Id'], String);
  put('dataset_version', headers['X-Dataset-Version'], String);
  put('charge_eur', headers['X-Charge-EUR'], Number);
  put('balance_eur', headers['X-Balance-EUR'], Number);
  put('replayed', headers['Idempotency-Replayed'], () => true);
  put('x402/payment-response', headers['PAYMENT-RESPONSE'], (text) =>
    JSON.parse(Buffer.from(text, 'base64').toString()),
  );
  return meta;
}
