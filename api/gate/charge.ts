// The price of one call, and its reservation: from the preview quota, credit or x402. Reserved before the call runs,
// committed when the answer is ready.
import type { LiveChild } from '../../data/state/keys/lookup.ts';
import { type Caller, paysForCalls } from '../access/caller.ts';
import { secondsToMidnight } from '../access/previews.ts';
import { ApiError } from '../contract/errors.ts';
import type { Context } from '../contract/operation.ts';
import { callPrice, isCharged, isSold, mayCost, type Price } from '../contract/pricing.ts';
import { isKey, isSecret, secretKey } from '../payments/idempotency.ts';
import {
  boundError,
  formatEurAmount,
  freeReservation,
  paymentError,
  type Reservation,
  requireMaxPrice,
  type X402Attachment,
} from '../payments/payments.ts';
import { plural } from '../render/print.ts';
import type { Call, CallDeps, Release } from './context.ts';
import { parseInput } from './parse-input.ts';

/**
 * Scope of Idempotency-Keys and stored answers: the id of the key or child key, or the kind of a caller without one, such as
 * `anonymous`.
 */
export const idempotencyOwner = (caller: Caller): string =>
  caller.kind === 'key' ? (caller.child?.id ?? caller.id) : caller.kind;

/**
 * The secret under which only this caller finds a payment again; null without an Idempotency-Key, and for a
 * key that others could guess when no credential identifies the caller.
 */
function paymentSecret(caller: Caller, key: string | undefined): string | null {
  if (key === undefined || !isKey(key)) return null;
  return caller.kind === 'anonymous' && !isSecret(key) ? null : secretKey(idempotencyOwner(caller), key);
}

/**
 * Whether a caller without a credential pays by x402: a payment is attached, or an earlier payment is stored
 * under the Idempotency-Key. Such a call sees all attributes, since nothing is sent before the payment.
 */
export async function paysByX402(
  gate: CallDeps,
  call: Call,
  caller: Caller,
  release: Release | undefined,
): Promise<boolean> {
  const { waiting } = gate.payments;
  if (waiting === undefined || caller.kind !== 'anonymous' || call.head) return false;
  if (!mayCost(call.operation, release?.pack ?? null)) return false;
  if (call.payment !== undefined) return true;
  const secret = paymentSecret(caller, call.idempotency_key);
  return secret !== null && waiting(secret);
}

/** Throws the 402 that the same call as a GET would get. Nothing is reserved (contract section 3, HEAD). */
export async function checkAffordable(
  gate: CallDeps,
  call: Call,
  caller: Caller,
  ctx: Context,
  input: unknown,
): Promise<void> {
  if (ctx.visibility === 'public' && isSold(call.operation, ctx.release?.pack ?? null)) {
    await reservePreviews(gate, call, caller, ctx, input);
    return;
  }
  await gate.payments.afford?.(caller, priceOf(call, ctx, input));
}

/** The price of a call. Undefined `input` (parameters that cannot be parsed): the price of one unit. */
export function priceOf(call: Call, { release, body = {} }: Context, input: unknown): Price {
  const { operation, entity, format, request_id } = call;
  return {
    operation: operation.name,
    dataset: call.dataset ?? '',
    ...callPrice(operation, release?.pack, input),
    // Computed on access, because most calls do not need it.
    get resource() {
      const mimeType = format === 'markdown' ? 'text/markdown' : 'application/json';
      return { url: call.url.href, description: operation.title, mimeType };
    },
    get request() {
      if (call.channel !== undefined && call.channel !== 'rest') return undefined;
      const { method, path } = operation.rest;
      return {
        method,
        route: path.replace(':ds', call.dataset ?? ''),
        path: entity === null ? {} : { entity_id: entity },
        query: Object.fromEntries(call.url.searchParams),
        body,
      };
    },
    request_id,
  };
}

/**
 * Throws 403 `limit_exceeded` for a call beyond a bound of its caller. Undefined `input` (parameters that cannot be
 * parsed): the price of one unit counts.
 */
export function requireWithinBounds(call: Call, caller: Caller, ctx: Context, input: unknown): void {
  const { charge } = call.operation;
  const priced =
    (input !== undefined || charge.price?.condition === undefined) && isCharged(call.operation, input, ctx);
  if (caller.kind === 'key' && caller.child && (priced || charge.access === 'plan' || charge.bucket === 'sql'))
    requireWithinChild(call, caller.child);
  const preview = ctx.visibility === 'public' && (input === undefined ? charge.previews : charge.previews?.(input));
  if (!priced || preview || !paysForCalls(caller)) return;
  const price = priceOf(call, ctx, input);
  if (call.max_price !== undefined) requireMaxPrice(call.max_price, price);
  if (caller.kind === 'key' && caller.bound && caller.bound.left < price.micros) throw boundError(price, caller.bound);
}

/** A child key pays for its datasets and operations only; free calls, which need no key, are open to it. */
function requireWithinChild({ operation, dataset }: Call, { name, datasets, operations }: LiveChild): void {
  const refuse = (bound: string, names: readonly string[]): never => {
    throw new ApiError('limit_exceeded', `The child key "${name}" is for these ${bound}: ${names.join(', ')}.`, {
      detail: { bound },
      alternative_action: 'The owner of the key that created it can change its bounds.',
    });
  };
  if (operations?.includes(operation.name) === false) refuse('operations', operations);
  if (datasets?.includes(dataset ?? '') === false) refuse('datasets', datasets);
}

/**
 * Throws the 402 of an unpaid call whose parameters are not checked. Its price counts their units, if they can be
 * parsed; a record that `near` names is read for it.
 */
export async function rejectUnpaid(gate: CallDeps, call: Call, caller: Caller, ctx: Context): Promise<never> {
  let input: unknown;
  try {
    // The amount of a sale is in the body.
    if (call.operation.charge.amount) ctx.body = await call.body?.();
    input = await parseInput(call.operation, call.raw, ctx);
  } catch {
    input = undefined;
  }
  throw unpaidError(gate, call, caller, ctx, input);
}

/** The 402 `payment_required` of an unpaid call, with its price and the payment methods. */
export function unpaidError(gate: CallDeps, call: Call, caller: Caller, ctx: Context, input: unknown): ApiError {
  const price = priceOf(call, ctx, input);
  const message = `${call.operation.name} costs ${formatEurAmount(price.micros)} and this call was not paid.`;
  return paymentError('payment_required', message, gate.payments.quote(caller, price));
}

/**
 * Reserves the price of a call, or throws the 402. `request` returns the hash of the call that a payment and
 * an Idempotency-Key are bound to; null: this call cannot be paid with x402.
 */
export async function reserve(
  gate: CallDeps,
  call: Call,
  caller: Caller,
  ctx: Context,
  input: unknown,
  request: (() => string) | null,
): Promise<Reservation> {
  // Only an operation with previews admits a call without a credential unpaid.
  if (ctx.visibility === 'public' && isSold(call.operation, ctx.release?.pack ?? null))
    return reservePreviews(gate, call, caller, ctx, input);
  if (ctx.priced !== true || !paysForCalls(caller)) return freeReservation(gate.repeats);
  const price = priceOf(call, ctx, input);
  return gate.payments.reserve(caller, price, request === null ? null : attachedTo(call, caller, request));
}

function attachedTo(call: Call, caller: Caller, request: () => string): X402Attachment | null {
  const { payment, idempotency_key: key } = call;
  const secret = paymentSecret(caller, key);
  if (payment === undefined && secret === null) return null;
  const name = key !== undefined && isKey(key) ? key : null;
  // The signal is read last: a channel creates it on the first access.
  const sale = call.operation.charge.amount && key !== undefined ? { sale: key } : {};
  const owner = idempotencyOwner(caller);
  return { payment, secret, name, owner, request: request(), signal: call.signal, ...sale };
}

/** Reserves records of the daily preview quota of an anonymous caller. */
async function reservePreviews(
  gate: CallDeps,
  call: Call,
  caller: Caller,
  ctx: Context,
  input: unknown,
): Promise<Reservation> {
  const { operation, head, address } = call;
  const dataset = call.dataset ?? '';
  const pageSize = operation.charge.records?.(input) ?? 1;
  const left = await gate.previews.left(address, dataset, ctx.now);
  const granted = head ? Math.min(pageSize, left) : await gate.previews.take(address, dataset, pageSize, ctx.now);
  const returnUnused = async (unused: number) => {
    if (!head) await gate.previews.give(address, dataset, unused, ctx.now);
  };
  const fewest = operation.charge.fewest?.(input) ?? 1;
  if (granted < fewest) {
    await returnUnused(granted);
    const seconds = secondsToMidnight(ctx.now);
    const problem = granted === 0 ? 'used up' : `fewer than the ${fewest} of this call (${granted} left)`;
    const message = `Today's free previews of ${dataset} are ${problem}; they are back in ${plural(Math.ceil(seconds / 3600), 'hour')}.`;
    throw paymentError('quota_exceeded', message, gate.payments.quote(caller, priceOf(call, ctx, input)));
  }
  return {
    micros: 0,
    previews: granted,
    commit: async (_, shown) => {
      await returnUnused(granted - shown);
      return {};
    },
    release: () => returnUnused(granted),
  };
}
