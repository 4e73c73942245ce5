// Quotes: what a call would cost and whether its caller could make it now. The call passes the steps of the gate up to
// the payment; the operation does not run.
import { type Format, formatNamed } from '../../data/input/formats.ts';
import { type Caller, paysForCalls } from '../access/caller.ts';
import { toApiError } from '../contract/errors.ts';
import { readArguments } from '../contract/named-arguments.ts';
import type { LiveService, Operation } from '../contract/operation.ts';
import { checkAffordable, priceOf, requireWithinBounds } from './charge.ts';
import type { Call, CallDeps } from './context.ts';
import { type CheckedCall, checkCall } from './execute.ts';

type QuoteCall = NonNullable<LiveService['quote']>;

/** Quotes calls in the name of the caller of `outer`, the call that requests the quote. */
export function quotesFor(gate: CallDeps, outer: Call, caller: Caller): QuoteCall {
  return async (operation, args) => {
    let checked: CheckedCall | null = null;
    let micros = 0;
    try {
      const call = quotedCall(gate, outer, operation, args);
      checked = await checkCall(gate, call, caller);
      const { ctx, input } = checked;
      if (ctx.priced && paysForCalls(caller)) ({ micros } = priceOf(call, ctx, input));
      requireWithinBounds(call, caller, ctx, input);
      if (ctx.priced !== true) return { micros, problem: null };
      // A caller without a credential can pay by x402, where it is offered.
      if (caller.kind !== 'anonymous' || !gate.payments.waiting) await checkAffordable(gate, call, caller, ctx, input);
      return { micros, problem: null };
    } catch (error) {
      const problem = toApiError(error);
      if (problem.code === 'internal') throw error;
      return { micros, problem };
    } finally {
      checked?.done();
    }
  };
}

/** The call that the arguments describe, as a tool call would be. */
function quotedCall(gate: CallDeps, outer: Call, operation: Operation, args: Record<string, unknown>): Call {
  const { format, max_price_eur, ...rest } = args;
  const named = operation.own_format && format !== undefined ? { ...rest, format } : rest;
  const { raw, dataset, entity, misread, address } = readArguments(operation, named);
  const { credential, address: client, request_id, signal } = outer;
  return {
    ...{ credential, address: client, request_id, signal, operation, raw, dataset, entity, misread },
    channel: 'mcp',
    headers: {},
    format: formatOf(operation, format),
    head: false,
    max_price: max_price_eur === undefined ? undefined : String(max_price_eur),
    url: new URL(gate.base_url + address),
  };
}

/** The format of a quoted call; the gate refuses one that the operation lacks. */
const formatOf = ({ formats, own_format }: Operation, format: unknown): Format =>
  (own_format ? undefined : formatNamed(String(format))) ?? formats[0] ?? 'json';
