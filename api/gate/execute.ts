// The gate: every call of every channel passes these steps, in the order of contract section 3.

import { FORMATS, formatParameters } from '../../data/input/formats.ts';
import type { Awaitable } from '../../data/model/awaitable.ts';
import { type Caller, credentialError, mayBulk, operatorKeyInUrl } from '../access/caller.ts';
import { type Bucket, limitHeaders } from '../access/limits.ts';
import { ApiError, FOR_OPERATORS, toApiError } from '../contract/errors.ts';
import type { Context, Operation, Result } from '../contract/operation.ts';
import { isCharged, isSold } from '../contract/pricing.ts';
import {
  checkedKey,
  type RequestClaim,
  recordsIn,
  replayHeaders,
  requestHash,
  type SerializedAnswer,
  serializeAnswer,
} from '../payments/idempotency.ts';
import { formatEurAmount, paymentError } from '../payments/payments.ts';
import {
  type CallCharge,
  checkAffordable,
  createPricedCall,
  idempotencyOwner,
  paysByX402,
  reserve,
  unpaidError,
} from './charge.ts';
import { type AnswerCodec, type Call, CallContext, type CallDeps, type Release, type Visitor } from './context.ts';
import { parseInput } from './parse-input.ts';

export { operatorKeyInUrl } from '../access/caller.ts';
export {
  type AnswerCodec,
  type Call,
  type CallDeps,
  type Leases,
  type Visitor,
  visitorOf,
} from './context.ts';

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
  gate: CallDeps,
  visitor: Visitor,
  bucket: Bucket,
  keysOnly = false,
  calls = 1,
): Promise<Caller> {
  const { credential, address } = visitor;
  const candidate: Caller | null = credential === null ? { kind: 'anonymous' } : await gate.identify(credential);
  const exposed = candidate?.kind === 'admin' && credential?.via === 'api_key';
  const caller = exposed || (keysOnly && candidate?.kind === 'key' && candidate.grant) ? null : candidate;
  if (caller?.kind === 'admin') return caller;
  const who = caller?.kind === 'key' ? `key ${caller.id}` : `ip ${address}`;
  const state = await gate.limits.spend(bucket, who, caller?.kind === 'key' ? caller.plan : undefined, calls);
  if (state === null) return caller ?? { kind: 'anonymous' };
  Object.assign(visitor.headers, limitHeaders(state, gate.now()));
  if (!state.allowed) {
    const message = `More than ${state.limit} ${bucket} calls in a minute; try again in ${state.reset} s.`;
    throw new ApiError('rate_limited', message, { retry_after_seconds: state.reset });
  }
  if (caller === null) throw exposed ? operatorKeyInUrl() : credentialError(credential!);
  return caller;
}

/**
 * Runs one call through the gate. `present` converts the result to the form that the channel sends; it runs
 * before the charge, and nothing is charged when it throws. The caller of `execute` calls `done` after the
 * answer was sent.
 */
export async function execute<T>(
  gate: CallDeps,
  call: Call,
  present: Present<T>,
  codec?: AnswerCodec<T>,
): Promise<Outcome<T>> {
  const label: CallLabel = { began: performance.now(), dataset: '' };
  try {
    const outcome = await runSteps(gate, call, label, present, codec);
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
  gate: CallDeps,
  { operation, channel = 'rest', headers }: Call,
  { began, dataset }: CallLabel,
  outcome: string,
): void {
  const eur = outcome === 'ok' && !headers['Idempotency-Replayed'] ? Number(headers['X-Charge-EUR'] ?? 0) : 0;
  const seconds = (performance.now() - began) / 1000;
  gate.onCall?.({ operation: operation.name, channel, dataset, outcome, seconds, eur });
}

/**
 * The steps of every call, in the order of contract section 3, "Order on every request". Each step throws its
 * errors.
 */
async function runSteps<T>(
  gate: CallDeps,
  call: Call,
  label: CallLabel,
  present: Present<T>,
  codec?: AnswerCodec<T>,
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
    const paying = codec !== undefined && (await paysByX402(gate, call, caller, leases.release));
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
    const input = await gate.repeated.input(call, ctx, () => parse(call, ctx));
    // 8. Check permissions (401, 403) and that unpaid calls name public attributes only (402).
    requirePermission(call, caller);
    ctx.priced = isCharged(operation, input, ctx);
    requirePublicNames(gate, call, caller, ctx, input);
    if (call.head && ctx.priced) {
      await checkAffordable(gate, call, caller, ctx, input);
      return { kind: 'not_run', caller, done: leases.done };
    }
    // 9. Reserve the price (402), 10. run, and commit the charge.
    const answer = await settle(gate, call, caller, ctx, input, present, codec);
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

/**
 * Step 6: operations on accounts need a key, those of operators an operator's key. Throws 401 `key_required`.
 */
function requireCredential({ operation }: Call, caller: Caller): void {
  if (caller.kind !== 'anonymous') return;
  if (operation.access === 'admin')
    throw new ApiError('key_required', `${operation.name} requires an operator's key.`, FOR_OPERATORS);
  if (operation.access === 'key') throw new ApiError('key_required', `${operation.name} requires an API key.`);
}

/**
 * Step 6: an unpaid call of an operation without previews. Throws 402 before the parameters are checked,
 * because indexers of x402 probe without parameters (protocols.md).
 */
function requirePayment(gate: CallDeps, call: Call, caller: Caller, ctx: Context): void {
  const { operation } = call;
  if (ctx.visibility === 'public' && isSold(operation, ctx.release?.pack ?? null) && !operation.previews)
    throw unpaidError(gate, call, caller, ctx);
}

/** Step 7: the input of the operation. Reads the body of a POST. */
function parse(call: Call, ctx: Context): Awaitable<unknown> {
  if (call.misread) throw call.misread;
  if (!call.body) return parseInput(call.operation, call.raw, ctx);
  return call.body().then((body) => {
    ctx.body = body;
    return parseInput(call.operation, call.raw, ctx);
  });
}

/** Step 8: a call that shows public values must not name other attributes. Throws 402 with the price. */
function requirePublicNames(gate: CallDeps, call: Call, caller: Caller, ctx: Context, input: unknown): void {
  const nonPublicName = ctx.visibility === 'public' ? nonPublic(call.operation, input, ctx.release) : undefined;
  if (nonPublicName === undefined) return;
  const charge = createPricedCall(call, ctx, input);
  const message = `${nonPublicName} is not a public attribute: a call that names it costs ${formatEurAmount(charge.micros)}.`;
  throw paymentError('payment_required', message, gate.payments.quote(caller, charge));
}

/** Steps 9 and 10: replays a stored answer, or reserves, runs and commits. */
async function settle<T>(
  gate: CallDeps,
  call: Call,
  caller: Caller,
  ctx: Context,
  input: unknown,
  present: Present<T>,
  codec: AnswerCodec<T> | undefined,
): Promise<T> {
  const free = call.operation.access === 'free' && !ctx.priced;
  if (!codec || call.head || free) return runCharged(gate, call, caller, ctx, input, present);
  const anonymous = caller.kind === 'anonymous';
  const publicOnly = ctx.visibility === 'public';
  const request = () => requestOf(call, ctx);
  const key = publicOnly || call.idempotency_key === undefined ? undefined : checkedKey(call.idempotency_key);
  // A caller without an account repeats a call by its payment (payments/x402).
  if (anonymous || key === undefined)
    return runCharged(gate, call, caller, ctx, input, present, { codec, request, turn: null });
  const attempt = await gate.repeats.begin(idempotencyOwner(caller), key, request());
  if ('text' in attempt) {
    Object.assign(call.headers, replayHeaders(attempt.head, caller.kind === 'key' ? caller.balance : undefined));
    return codec.decode(attempt.text);
  }
  const { turn } = attempt;
  try {
    return await runCharged(gate, call, caller, ctx, input, present, { codec, request, turn });
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
  const content = JSON.stringify([operation.name, sorted, body ?? null]);
  return requestHash(channel, operation.route.method, url.href, format, content);
}

/** How an answer is stored: the codec of the channel, the request, and the turn of its Idempotency-Key. */
interface AnswerStore<T> {
  codec: AnswerCodec<T>;
  request: () => string;
  turn: RequestClaim | null;
}

/**
 * Reserve, run, present, commit. Only the commit charges: an error or a client that disconnects costs
 * nothing.
 */
async function runCharged<T>(
  gate: CallDeps,
  call: Call,
  caller: Caller,
  ctx: Context,
  input: unknown,
  present: Present<T>,
  store?: AnswerStore<T>,
): Promise<T> {
  const charge = await reserve(gate, call, caller, ctx, input, store?.request ?? null);
  if (charge.stored && store) return replay(call, charge, store);
  let result: Result<unknown>;
  let answer: T;
  let storedAnswer: SerializedAnswer | undefined;
  try {
    ctx.previews = charge.previews;
    result = await gate.repeated.run(call.operation, input, ctx);
    const shorter = await call.shorter?.(input, result, ctx);
    if (shorter !== undefined) result = await call.operation.run(shorter, ctx);
    if (result.release !== undefined) call.headers['X-Dataset-Version'] = result.release;
    answer = await present(result, ctx, call.operation);
    if (store && (store.turn || charge.writes)) {
      const head = { micros: charge.micros, release: call.headers['X-Dataset-Version'] ?? null };
      storedAnswer = serializeAnswer(head, await store.codec.encode(answer), recordsIn(result.json ?? result.body));
      storedAnswer = (await store.turn?.toStored(storedAnswer)) ?? storedAnswer;
    }
    if (hasDisconnected(call)) throw new ApiError('internal', 'The client hung up.');
  } catch (error) {
    await charge.release();
    throw error;
  }
  if (result.uncharged) {
    await charge.release();
    await store?.turn?.drop();
    return answer;
  }
  Object.assign(call.headers, await charge.commit(result.records ?? 0, storedAnswer));
  return answer;
}

const hasDisconnected = (call: Call): boolean => call.gone?.() ?? call.signal.aborted;

/** Sends the answer that was stored for the same payment. */
async function replay<T>({ headers }: Call, charge: CallCharge, { codec, turn }: AnswerStore<T>): Promise<T> {
  const { head, text, written } = charge.stored!;
  const storedAnswer = (await turn?.toStored(written)) ?? written;
  Object.assign(headers, await charge.commit(0, storedAnswer), replayHeaders(head, undefined));
  return codec.decode(text);
}

/**
 * Step 8: bulk formats require a key (401), some operations a plan or an operator (403), each its own formats
 * (422).
 */
function requirePermission({ operation, format }: Call, caller: Caller): void {
  const bulk = FORMATS[format].bulk;
  if (caller.kind === 'anonymous' && bulk) throw new ApiError('key_required', `format=${format} requires an API key.`);
  if (!operation.formats.includes(format) && !(format === 'html' && operation.html)) {
    const names = formatParameters(operation.formats).join(', ');
    const issue = { loc: ['query', 'format'], msg: `must be one of ${names}`, type: 'enum' };
    throw new ApiError('validation_failed', `format: ${issue.msg}`, { detail: [issue] });
  }
  if (caller.kind === 'admin') return;
  if (operation.access === 'admin')
    throw new ApiError('admin_required', `${operation.name} requires an operator's key.`);
  if (operation.access === 'plan' && !mayBulk(caller))
    throw new ApiError('plan_required', `${operation.name} is part of the subscription plans.`);
}

/** The first attribute named by the input that is not public. */
function nonPublic(operation: Operation, input: unknown, release: Release | undefined): string | undefined {
  const open = new Set(release?.pack.attributes.filter((each) => each.public).map((each) => each.name));
  return operation.names?.(input).find((name) => !open.has(name));
}
