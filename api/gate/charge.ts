// The charge of one call: from the preview quota, credit or x402. Reserved before the call runs, committed
// when the answer is ready.
import { type Awaitable, whenReady } from '../../data/model/awaitable.ts';
import type { Caller } from '../access/caller.ts';
import { secondsToMidnight } from '../access/previews.ts';
import type { ApiError } from '../contract/errors.ts';
import type { Context } from '../contract/operation.ts';
import { callPrice, isSold, mayCost } from '../contract/pricing.ts';
import { hasClaim, isKey, isSecret, type SerializedAnswer, secretKey } from '../payments/idempotency.ts';
import {
  checkMaxPrice,
  type EarlierAnswer,
  formatEurAmount,
  type PricedCall,
  paymentError,
  type Reservation,
  type X402Attachment,
} from '../payments/payments.ts';
import type { Call, CallDeps, Release } from './context.ts';
import { parseInput } from './parse-input.ts';

/**
 * Scope of Idempotency-Keys and stored answers: the key's id, or the kind of a caller without one, such as
 * `anonymous`.
 */
export const idempotencyOwner = (caller: Caller): string => (caller.kind === 'key' ? caller.id : caller.kind);

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
export function paysByX402(
  gate: CallDeps,
  call: Call,
  caller: Caller,
  release: Release | undefined,
): Awaitable<boolean> {
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
    await previews(gate, call, caller, ctx, input);
    return;
  }
  const charge = createPricedCall(call, ctx, input);
  checkMaxPrice(call.max_price, caller, charge, gate.payments.quote);
  await gate.payments.afford?.(caller, charge);
}

/**
 * The price of this call in micro-euros, with the resource that x402 names. Charges nothing. Undefined
 * `input` (parameters that cannot be parsed): the price of one unit.
 */
export function createPricedCall(call: Call, ctx: Context, input: unknown): PricedCall {
  return new LazyCharge(call, ctx, input);
}

/** A class, so that `resource` is computed on access: few calls need it. */
class LazyCharge implements PricedCall {
  readonly operation: string;
  readonly dataset: string;
  readonly micros: number;
  readonly price: PricedCall['price'];
  readonly request_id: string;
  readonly #call: Call;

  constructor(call: Call, { release }: Context, input: unknown) {
    const { operation } = call;
    const { of, micros, times, total } = callPrice(operation, release?.pack, input);
    this.#call = call;
    this.operation = operation.name;
    this.dataset = call.dataset ?? '';
    this.micros = total;
    this.price = { of, micros, times };
    this.request_id = call.request_id;
  }

  get resource(): PricedCall['resource'] {
    const { url, operation, format } = this.#call;
    const mimeType = format === 'markdown' ? 'text/markdown' : 'application/json';
    return { url: url.href, description: operation.title, mimeType };
  }
}

/**
 * The 402 `payment_required` of an unpaid call, with the payment methods. Its price counts the units of the
 * parameters, if they can be parsed.
 */
export function unpaidError(gate: CallDeps, call: Call, caller: Caller, ctx: Context): ApiError {
  let input: unknown;
  try {
    input = parseInput(call.operation, call.raw, ctx);
  } catch {
    input = undefined;
  }
  const charge = createPricedCall(call, ctx, input);
  const message = `${call.operation.name} costs ${formatEurAmount(charge.micros)} and this call was not paid.`;
  return paymentError('payment_required', message, gate.payments.quote(caller, charge));
}

/** The reservation of one call: money, or records of the preview quota. */
export interface CallCharge {
  /** Records that the answer may show; null: no limit. */
  previews: number | null;
  /** Price of the call in micro-euros; 0 for a free call. */
  micros: number;
  /** The answer stored for the same payment: it is sent, and nothing runs. */
  stored: EarlierAnswer | null;
  /** The answer must be stored before the payment. */
  writes: boolean;
  /**
   * Charges the call when its answer is ready. `shown`: records in the answer; unused previews are returned.
   * Stores `answer` for the Idempotency-Key. Returns response headers, such as `X-Charge-EUR`.
   */
  commit(shown: number, answer?: SerializedAnswer): Awaitable<Record<string, string>>;
  /** Releases the reservation of a failed call. */
  release(): Awaitable<void>;
}

/**
 * Reserves the price of a call, or throws the 402. `request` returns the hash of the call that a payment and
 * an Idempotency-Key are bound to; null: this call cannot be paid with x402.
 */
export function reserve(
  gate: CallDeps,
  call: Call,
  caller: Caller,
  ctx: Context,
  input: unknown,
  request: (() => string) | null,
): Awaitable<CallCharge> {
  const { operation } = call;
  // Only an operation with previews admits a call without a credential unpaid.
  if (ctx.visibility === 'public' && isSold(operation, ctx.release?.pack ?? null))
    return previews(gate, call, caller, ctx, input);
  return ctx.priced === true ? pricedCharge(gate, call, caller, ctx, input, request) : new FreeCharge(gate);
}

/** The charge of a call without a price: stores its answer if its Idempotency-Key requires it. */
class FreeCharge implements CallCharge {
  readonly previews = null;
  readonly micros = 0;
  readonly stored = null;
  readonly writes = false;
  readonly #gate: CallDeps;

  constructor(gate: CallDeps) {
    this.#gate = gate;
  }

  commit(_shown: number, answer?: SerializedAnswer): Awaitable<Record<string, string>> {
    if (!hasClaim(answer)) return NO_HEADERS;
    return this.#gate.repeats.keep(answer).then(() => NO_HEADERS);
  }

  release(): void {}
}

const NO_HEADERS: Record<string, string> = {};

function pricedCharge(
  gate: CallDeps,
  call: Call,
  caller: Caller,
  ctx: Context,
  input: unknown,
  request: (() => string) | null,
): Awaitable<CallCharge> {
  const charge = createPricedCall(call, ctx, input);
  checkMaxPrice(call.max_price, caller, charge, gate.payments.quote);
  const attached = request === null ? null : attachedTo(call, caller, request);
  const reserved = gate.payments.reserve(caller, charge, attached);
  return whenReady(reserved, (reservation) => new ReservedCharge(charge.micros, reservation));
}

/** The charge of a call whose price is reserved. */
class ReservedCharge implements CallCharge {
  readonly previews = null;
  readonly micros: number;
  readonly #reservation: Reservation;

  constructor(micros: number, reservation: Reservation) {
    this.micros = micros;
    this.#reservation = reservation;
  }

  get stored(): EarlierAnswer | null {
    return this.#reservation.stored ?? null;
  }

  get writes(): boolean {
    return this.#reservation.writes ?? false;
  }

  commit(_shown: number, answer?: SerializedAnswer): Awaitable<Record<string, string>> {
    return this.#reservation.commit(answer);
  }

  release(): Awaitable<void> {
    return this.#reservation.release();
  }
}

function attachedTo(call: Call, caller: Caller, request: () => string): X402Attachment | null {
  const { payment, idempotency_key: key } = call;
  const secret = paymentSecret(caller, key);
  if (payment === undefined && secret === null) return null;
  const name = key !== undefined && isKey(key) ? key : null;
  // The signal is read last: a channel creates it on the first access.
  return { payment, secret, name, owner: idempotencyOwner(caller), request: request(), signal: call.signal };
}

/** Reserves records of the daily preview quota of an anonymous caller. */
async function previews(gate: CallDeps, call: Call, caller: Caller, ctx: Context, input: unknown): Promise<CallCharge> {
  const { operation, head, address } = call;
  const dataset = call.dataset ?? '';
  const pageSize = operation.page?.(input) ?? 1;
  const left = await gate.previews.left(address, dataset, ctx.now);
  const granted = head ? Math.min(pageSize, left) : await gate.previews.take(address, dataset, pageSize, ctx.now);
  if (granted <= 0) {
    const seconds = secondsToMidnight(ctx.now);
    const message = `Today's free previews of ${dataset} are used up; they are back in ${Math.ceil(seconds / 3600)} h.`;
    throw paymentError('quota_exceeded', message, gate.payments.quote(caller, createPricedCall(call, ctx, input)));
  }
  const returnUnused = (unused: number) => gate.previews.give(address, dataset, unused, ctx.now);
  return {
    previews: granted,
    micros: 0,
    stored: null,
    writes: false,
    commit: async (shown) => {
      if (!head) await returnUnused(granted - shown);
      return {};
    },
    release: async () => {
      if (!head) await returnUnused(granted);
    },
  };
}
