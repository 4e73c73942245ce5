// The gate: every call of every channel passes these steps, in the order of contract section 3.

import { FORMATS, formatParameters } from '../../data/input/formats.ts';
import { type Caller, mayBulk, operatorKeyInUrl, refusal } from '../access/caller.ts';
import { type Bucket, limitHeaders } from '../access/limits.ts';
import { ApiError, FOR_OPERATORS, toApiError } from '../contract/errors.ts';
import type { Context, Operation, Result } from '../contract/operation.ts';
import { isCharged, isSold } from '../contract/pricing.ts';
import { paymentError, told } from '../payments/payments.ts';
import {
  checkedKey,
  recordsIn,
  repeatedHeaders,
  requestHash,
  type Turn,
  type Written,
  written,
} from '../payments/repeats.ts';
import { type Call, CallContext, type Gate, type Release, type Repeatable, type Visitor } from './gate.ts';
import { parseInput } from './parse-input.ts';
import { affordable, chargeOf, ownerOf, type Purse, paysByX402, reserve, unpaid } from './purse.ts';

export { operatorKeyInUrl } from '../access/caller.ts';
export {
  type Call,
  type Gate,
  type Leases,
  type Repeatable,
  type Visitor,
  visitorOf,
} from './gate.ts';

/** Converts a result to the form that a channel sends. */
type Present<T> = (result: Result<unknown>, ctx: Context, operation: Operation) => Promise<T> | T;

export type Outcome<T> =
  | { kind: 'unchanged'; caller: Caller; done(): void }
  /** HEAD of a paid operation: all checks passed, and the operation did not run. */
  | { kind: 'not_run'; caller: Caller; done(): void }
  | { kind: 'answer'; answer: T; caller: Caller; priced: boolean; done(): void };

/**
 * Identify and limit: every request passes this step, also one for an unknown path. An unknown credential
 * counts against the bucket of the address and is answered with 401; over the limit the answer is 429.
 * Operators are neither limited nor charged. With `keysOnly` an access token is refused: it may spend from a
 * key, but not manage it. A request with several messages counts as `calls` calls. An operator's key in a URL
 * is refused, since URLs end up in browser histories and in logs of third parties.
 */
export async function admit(
  gate: Gate,
  visitor: Visitor,
  bucket: Bucket,
  keysOnly = false,
  calls = 1,
): Promise<Caller> {
  const { credential, address } = visitor;
  const found: Caller | null = credential === null ? { kind: 'anonymous' } : await gate.identify(credential);
  const exposed = found?.kind === 'admin' && credential?.via === 'api_key';
  const caller = exposed || (keysOnly && found?.kind === 'key' && found.grant) ? null : found;
  if (caller?.kind === 'admin') return caller;
  const who = caller?.kind === 'key' ? `key ${caller.id}` : `ip ${address}`;
  const standing = await gate.limits.spend(bucket, who, caller?.kind === 'key' ? caller.plan : undefined, calls);
  if (standing === null) return caller ?? { kind: 'anonymous' };
  Object.assign(visitor.headers, limitHeaders(standing, gate.now()));
  if (!standing.allowed) {
    const message = `More than ${standing.limit} ${bucket} calls in a minute; try again in ${standing.reset} s.`;
    throw new ApiError('rate_limited', message, { retry_after_seconds: standing.reset });
  }
  if (caller === null) throw exposed ? operatorKeyInUrl() : refusal(credential!);
  return caller;
}

/**
 * Runs one call through the gate. `present` converts the result to the form that the channel sends; it runs
 * before the charge, and nothing is charged when it throws. The caller of `execute` calls `done` after the
 * answer was sent.
 */
export async function execute<T>(
  gate: Gate,
  call: Call,
  present: Present<T>,
  repeatable?: Repeatable<T>,
): Promise<Outcome<T>> {
  const label: CallLabel = { began: performance.now(), dataset: '' };
  try {
    const outcome = await pass(gate, call, label, present, repeatable);
    countCall(gate, call, label, outcome.kind === 'unchanged' ? 'unchanged' : 'ok');
    return outcome;
  } catch (error) {
    countCall(gate, call, label, toApiError(error).code);
    throw error;
  }
}

/**
 * `dataset` comes from the leased release, never from the request: a caller could send any number of names.
 */
interface CallLabel {
  began: number;
  dataset: string;
}

function countCall(
  gate: Gate,
  { operation, channel = 'rest', headers }: Call,
  { began, dataset }: CallLabel,
  outcome: string,
): void {
  const eur = outcome === 'ok' && !headers['Idempotency-Replayed'] ? Number(headers['X-Charge-EUR'] ?? 0) : 0;
  const seconds = (performance.now() - began) / 1000;
  gate.seen?.({ operation: operation.name, channel, dataset, outcome, seconds, eur });
}

/** The steps of every call, in the order of contract section 3, "Order on every request". Each step throws its errors. */
async function pass<T>(
  gate: Gate,
  call: Call,
  label: CallLabel,
  present: Present<T>,
  repeatable?: Repeatable<T>,
): Promise<Outcome<T>> {
  const { operation } = call;
  // 1. Identify (401) and 2. limit (429).
  const bucket = operation.access === 'paid' || operation.access === 'plan' ? 'paid' : 'free';
  const caller = await admit(gate, call, bucket, operation.key_only === true);
  // 3. Lease the release of the dataset (404).
  const leases = await gate.lease(call.dataset);
  try {
    label.dataset = leases.release?.pack.id ?? '';
    if (leases.release) call.headers['X-Dataset-Version'] = leases.release.manifest.release;
    const paying = repeatable !== undefined && (await paysByX402(gate, call, caller, leases.release));
    const ctx: Context = new CallContext(gate, call, caller, leases, caller.kind !== 'anonymous' || paying);
    // 4. Find the record (404): operations with validators look it up themselves.
    const validators = await operation.validators?.(call.raw, ctx);
    if (validators === undefined) await requireRecord(call, ctx);
    // 5. Answer a conditional request (304).
    else if (call.unchanged?.(validators, ctx)) return { kind: 'unchanged', caller, done: leases.done };
    // 6. Ask for a credential (401) or a payment (402).
    requireCredential(call, caller);
    requirePayment(gate, call, caller, ctx);
    // 7. Parse the input (400, 413, 422).
    const input = await parse(call, ctx);
    // 8. Check permissions (401, 403) and that unpaid calls name public attributes only (402).
    requirePermission(call, caller);
    ctx.priced = isCharged(operation, input, ctx);
    requirePublicNames(gate, call, caller, ctx, input);
    if (call.head && ctx.priced) {
      await affordable(gate, call, caller, ctx, input);
      return { kind: 'not_run', caller, done: leases.done };
    }
    // 9. Reserve the price (402), 10. run, and commit the charge.
    const answer = await settle(gate, call, caller, ctx, input, present, repeatable);
    return { kind: 'answer', answer, caller, priced: ctx.priced === true, done: leases.done };
  } catch (error) {
    leases.done();
    throw error;
  }
}

/** Step 4: the record exists, before any price is named. Throws 404 `unknown_entity`. */
async function requireRecord({ operation, entity }: Call, ctx: Context): Promise<void> {
  if (!operation.entity || entity === null || !ctx.release) return;
  const [ordinal] = await ctx.release.engine.resolve([entity], ctx);
  if (ordinal === null || ordinal === undefined)
    throw new ApiError('unknown_entity', 'This dataset has no such record.');
}

/** Step 6: operations on accounts need a key, those of operators an operator's key. Throws 401 `key_required`. */
function requireCredential({ operation }: Call, caller: Caller): void {
  if (caller.kind !== 'anonymous') return;
  if (operation.access === 'admin')
    throw new ApiError('key_required', `${operation.name} takes an operator's key.`, FOR_OPERATORS);
  if (operation.access === 'key') throw new ApiError('key_required', `${operation.name} takes an API key.`);
}

/**
 * Step 6: an unpaid call of an operation without previews. Throws 402 before the parameters are checked, because
 * indexers of x402 probe without parameters (protocols.md).
 */
function requirePayment(gate: Gate, call: Call, caller: Caller, ctx: Context): void {
  const { operation } = call;
  if (ctx.visibility === 'public' && isSold(operation, ctx.release?.pack ?? null) && !operation.previews)
    throw unpaid(gate, call, caller, ctx);
}

/** Step 7: the input of the operation. Reads the body of a POST. */
async function parse(call: Call, ctx: Context): Promise<unknown> {
  if (call.misread) throw call.misread;
  if (call.body) ctx.body = await call.body();
  return parseInput(call.operation, call.raw, ctx);
}

/** Step 8: a call that shows public values must not name other attributes. Throws 402 with the price. */
function requirePublicNames(gate: Gate, call: Call, caller: Caller, ctx: Context, input: unknown): void {
  const hidden = ctx.visibility === 'public' ? nonPublic(call.operation, input, ctx.release) : undefined;
  if (hidden === undefined) return;
  const charge = chargeOf(call, ctx, input);
  const message = `${hidden} is not a public attribute: a call that names it costs ${told(charge.micros)}.`;
  throw paymentError('payment_required', message, gate.payments.quote(caller, charge));
}

/** Steps 9 and 10: replays a stored answer, or reserves, runs and commits. */
async function settle<T>(
  gate: Gate,
  call: Call,
  caller: Caller,
  ctx: Context,
  input: unknown,
  present: Present<T>,
  repeatable: Repeatable<T> | undefined,
): Promise<T> {
  const free = call.operation.access === 'free' && !ctx.priced;
  if (!repeatable || call.head || free) return paid(gate, call, caller, ctx, input, present);
  const anonymous = caller.kind === 'anonymous';
  const unseen = ctx.visibility === 'public';
  const request = () => requestOf(call, ctx);
  const key = unseen || call.idempotency_key === undefined ? undefined : checkedKey(call.idempotency_key);
  // A caller without an account repeats a call by its payment (payments/x402).
  if (anonymous || key === undefined)
    return paid(gate, call, caller, ctx, input, present, { repeatable, request, turn: null });
  const begun = await gate.repeats.begin(ownerOf(caller), key, request());
  if ('text' in begun) {
    Object.assign(call.headers, repeatedHeaders(begun.head, caller.kind === 'key' ? caller.balance : undefined));
    return repeatable.revive(begun.text);
  }
  const { turn } = begun;
  try {
    return await paid(gate, call, caller, ctx, input, present, { repeatable, request, turn });
  } catch (error) {
    await turn.drop();
    throw error;
  } finally {
    turn.end();
  }
}

/** Fingerprint of a call: a payment and an Idempotency-Key belong to one fingerprint. */
function requestOf({ operation, url, format, raw, channel = 'rest' }: Call, { body }: Context): string {
  const sorted = Object.entries(raw).sort(([a], [b]) => (a < b ? -1 : 1));
  const asked = JSON.stringify([operation.name, sorted, body ?? null]);
  return requestHash(channel, operation.route.method, url.href, format, asked);
}

/** How an answer is stored: the codec of the channel, the request, and the turn of its Idempotency-Key. */
interface Keeper<T> {
  repeatable: Repeatable<T>;
  request: () => string;
  turn: Turn | null;
}

/**
 * Reserve, run, present, commit. Only the commit charges: an error or a client that disconnects costs
 * nothing.
 */
async function paid<T>(
  gate: Gate,
  call: Call,
  caller: Caller,
  ctx: Context,
  input: unknown,
  present: Present<T>,
  keeper?: Keeper<T>,
): Promise<T> {
  const purse = await reserve(gate, call, caller, ctx, input, keeper?.request ?? null);
  if (purse.stored && keeper) return again(call, purse, keeper);
  let result: Result<unknown>;
  let answer: T;
  let kept: Written | undefined;
  try {
    ctx.previews = purse.previews;
    result = await call.operation.run(input, ctx);
    const shorter = await call.shorter?.(input, result, ctx);
    if (shorter !== undefined) result = await call.operation.run(shorter, ctx);
    if (result.release !== undefined) call.headers['X-Dataset-Version'] = result.release;
    answer = await present(result, ctx, call.operation);
    if (keeper && (keeper.turn || purse.writes)) {
      const head = { micros: purse.micros, release: call.headers['X-Dataset-Version'] ?? null };
      kept = written(head, await keeper.repeatable.keep(answer), recordsIn(result.json ?? result.body));
      kept = (await keeper.turn?.kept(kept)) ?? kept;
    }
    if (hungUp(call)) throw new ApiError('internal', 'The client hung up.');
  } catch (error) {
    await purse.release();
    throw error;
  }
  if (result.uncharged) {
    await purse.release();
    await keeper?.turn?.drop();
    return answer;
  }
  Object.assign(call.headers, await purse.commit(result.records ?? 0, kept));
  return answer;
}

const hungUp = (call: Call): boolean => call.gone?.() ?? call.signal.aborted;

/** Sends the answer that was stored for the same payment. */
async function again<T>({ headers }: Call, purse: Purse, { repeatable, turn }: Keeper<T>): Promise<T> {
  const { head, text, written } = purse.stored!;
  const kept = (await turn?.kept(written)) ?? written;
  Object.assign(headers, await purse.commit(0, kept), repeatedHeaders(head, undefined));
  return repeatable.revive(text);
}

/** Step 8: bulk formats require a key (401), some operations a plan or an operator (403), each its own formats (422). */
function requirePermission({ operation, format }: Call, caller: Caller): void {
  const bulk = FORMATS[format].bulk;
  if (caller.kind === 'anonymous' && bulk) throw new ApiError('key_required', `format=${format} takes an API key.`);
  if (!operation.formats.includes(format) && !(format === 'html' && operation.html)) {
    const names = formatParameters(operation.formats).join(', ');
    const issue = { loc: ['query', 'format'], msg: `must be one of ${names}`, type: 'enum' };
    throw new ApiError('validation_failed', `format: ${issue.msg}`, { detail: [issue] });
  }
  if (caller.kind === 'admin') return;
  if (operation.access === 'admin') throw new ApiError('admin_required', `${operation.name} takes an operator's key.`);
  if (operation.access === 'plan' && !mayBulk(caller))
    throw new ApiError('plan_required', `${operation.name} is part of the subscription plans.`);
}

/** The first attribute named by the input that is not public. */
function nonPublic(operation: Operation, input: unknown, release: Release | undefined): string | undefined {
  const open = new Set(release?.pack.attributes.filter((each) => each.public).map((each) => each.name));
  return operation.names?.(input).find((name) => !open.has(name));
}
