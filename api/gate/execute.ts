// The gate: every call of every channel passes these steps, in the order of contract section 3.

import { FORMATS, formatParameters } from '../../data/input/formats.ts';
import { DataError, type ValidationIssue } from '../../data/model/errors.ts';
import { unknownEntity } from '../../data/queries/nearest.ts';
import type { StoredAnswer } from '../../data/state/statements.ts';
import type { Store } from '../../data/state/store.ts';
import { ANONYMOUS, type Caller, mayBulk, spendable } from '../access/caller.ts';
import type { Bucket } from '../access/limits.ts';
import { ApiError, FOR_OPERATORS, toApiError } from '../contract/errors.ts';
import { type Context, isChange, type Operation, type Result } from '../contract/operation.ts';
import { isCharged, isFreeAnswer, isSold } from '../contract/pricing.ts';
import {
  checkedKey,
  decryptAnswer,
  encryptAnswer,
  isKey,
  isSecret,
  parseAnswer,
  recordsIn,
  replayHeaders,
  requestHash,
  secretKey,
  serializeAnswer,
} from '../payments/idempotency.ts';
import { formatEurAmount, paymentError, type Reservation } from '../payments/payments.ts';
import { admit } from './admit.ts';
import { CallRun, type Outcome, type Present, setAnswer } from './call-run.ts';
import {
  checkAffordable,
  idempotencyOwner,
  paysByX402,
  priceOf,
  rejectUnpaid,
  requireWithinBounds,
  reserve,
  unpaidError,
} from './charge.ts';
import { type AnswerCodec, type Call, CallContext, type CallDeps, type Release } from './context.ts';
import { parseInput } from './parse-input.ts';

/** Decides how the answer is stored, and claims the Idempotency-Key or answers with its stored answer. */
function claimIdempotencyKey<T>(run: CallRun<T>): Promise<void> | undefined {
  const { call, caller, ctx, codec, operation } = run;
  const change = isChange(operation);
  const free = operation.charge.access === 'free' && !ctx.priced && !change;
  if (!codec || call.head || free) return;
  run.storage = codec;
  if (call.idempotency_key === undefined) return;
  if (!change && ctx.visibility === 'public') return;
  const key = checkedKey(call.idempotency_key);
  if (change) {
    run.storage = sealedCodec(codec, key);
    const request = requestOf(call, ctx);
    const [owner, storedKey] = changeScope(run, request, key);
    // A claim that is lost after the change, as in a crash, runs it again.
    if (ctx.service) ctx.service.requester.once = `${ctx.now.toISOString().slice(0, 10)} ${storedKey} ${request}`;
    return claim(run, run.storage, owner, storedKey, request);
  }
  // A caller without an account repeats a call by its payment (payments/x402).
  if (caller.kind !== 'anonymous') return claim(run, codec, idempotencyOwner(caller), key, requestOf(call, ctx));
}

/** A key is sold only with an Idempotency-Key that cannot be guessed, since payments are public on the chain. */
function requireSecretKey(key: string): void {
  if (isSecret(key)) return;
  const msg = `is required, with 32 to 128 random characters (got ${key.length}): it alone gets a lost key again`;
  const issue = { loc: ['header', 'Idempotency-Key'], msg, type: 'missing' };
  throw new ApiError('validation_failed', `Idempotency-Key: ${msg}`, { detail: [issue] });
}

/**
 * Owner and stored form of the Idempotency-Key of a change. The key itself is not stored, since it decrypts the answer.
 * Without a credential it belongs to the request; a secret that the change replaces is found by its hash.
 */
function changeScope<T>({ caller, ctx, operation }: CallRun<T>, request: string, key: string): [string, string] {
  if (caller.kind === 'anonymous') return ['anonymous', secretKey(request, key)];
  const owner = operation.charge.ends_secret ? `secret ${ctx.service?.credential_hash}` : idempotencyOwner(caller);
  return [owner, secretKey(owner, key)];
}

/** The codec of answers with a secret: encrypted under the Idempotency-Key. */
const sealedCodec = <T>(codec: AnswerCodec<T>, key: string): AnswerCodec<T> => ({
  encode: async (answer) => encryptAnswer(key, await codec.encode(answer)),
  decode: (text) => codec.decode(decryptAnswer(key, text)),
});

async function claim<T>(run: CallRun<T>, codec: AnswerCodec<T>, owner: string, key: string, request: string) {
  const { gate, call, caller, ctx, refused } = run;
  const attempt = await (refused ? gate.repeats.find(owner, key, request) : gate.repeats.begin(owner, key, request));
  if (attempt === null) throw refused;
  if ('turn' in attempt) {
    run.claim = attempt.turn;
    if (isChange(run.operation) && ctx.service)
      ctx.service.keepAnswer = (db, result) => keepAnswerIn(run, db as Store['db'], result);
    return;
  }
  Object.assign(call.headers, replayHeaders(attempt.head, caller.kind === 'key' ? spendable(caller) : undefined));
  setAnswer(run, codec.decode(attempt.text));
}

/** Stores the answer of a change in the transaction of the change. The end of the call stores it again. */
async function keepAnswerIn<T>(run: CallRun<T>, db: Store['db'], result: Result<unknown>): Promise<void> {
  const answer = await run.present(result, run.ctx, run.operation);
  const serialized = await serialize(run, run.storage!, result, answer, 0);
  await run.gate.repeats.keep(await run.claim!.toStored(serialized), db);
}

/** Fingerprint of a call: a payment and an Idempotency-Key belong to one fingerprint. */
function requestOf({ operation, url, format, raw, channel = 'rest' }: Call, { body }: Context): string {
  const sorted = Object.entries(raw).sort(([a], [b]) => (a < b ? -1 : 1));
  const content = JSON.stringify([operation.name, sorted, body ?? null]);
  return requestHash(channel, operation.rest.method, url.href, format, content);
}

/** Step 9. Only the commit charges: an error or a client that disconnects costs nothing. */
async function reservePrice<T>(run: CallRun<T>): Promise<void> {
  const { gate, call, caller, ctx, input, storage, refused } = run;
  if (refused) throw refused;
  const request = storage === null ? null : () => requestOf(call, ctx);
  const reservation = await reserve(gate, call, caller, ctx, input, request);
  run.reservation = reservation;
  if (reservation.purchase && ctx.service) ctx.service.purchase = reservation.purchase;
  if (reservation.stored && storage) return replay(run, reservation, reservation.stored, storage);
  ctx.previews = reservation.previews ?? null;
}

/** Sends the answer that was stored for the same payment. */
async function replay<T>(
  run: CallRun<T>,
  reservation: Reservation,
  stored: StoredAnswer,
  codec: AnswerCodec<T>,
): Promise<void> {
  const { head, text } = parseAnswer(stored.text);
  const answer = (await run.claim?.toStored(stored)) ?? stored;
  run.reservation = null;
  Object.assign(run.call.headers, await reservation.commit(answer, 0), replayHeaders(head, undefined));
  setAnswer(run, codec.decode(text));
}

async function runOperation<T>(run: CallRun<T>): Promise<void> {
  run.result = await run.gate.repeated.run(run.operation, run.input, run.ctx);
}

/** Channels with a length limit replace a result that is too long. */
async function shortenResult<T>(run: CallRun<T>): Promise<void> {
  const { call, input, result, ctx } = run;
  run.result = (await call.shorter!(input, result, ctx)) ?? result;
}

async function presentResult<T>(run: CallRun<T>): Promise<void> {
  const { call, operation, result, ctx, present } = run;
  if (result.release !== undefined) call.headers['X-Dataset-Version'] = result.release;
  run.answer = await present(result, ctx, operation);
}

/** Serialises an answer that is stored with its charge. */
async function serializeResult<T>(run: CallRun<T>): Promise<void> {
  const { storage, claim, reservation } = run;
  if (storage && (claim || reservation!.writes)) {
    const serialized = await serialize(run, storage, run.result, run.answer, reservation!.micros);
    run.storedAnswer = (await claim?.toStored(serialized)) ?? serialized;
  }
  requireClient(run);
}

async function serialize<T>(
  { call }: CallRun<T>,
  codec: AnswerCodec<T>,
  result: Result<unknown>,
  answer: T,
  micros: number,
): Promise<StoredAnswer> {
  const head = { micros, release: call.headers['X-Dataset-Version'] ?? null };
  return serializeAnswer(head, await codec.encode(answer), recordsIn(result.json ?? result.body));
}

/** Throws if the client is gone, before it is charged. A change was made in any case: its answer is for the repeat. */
function requireClient<T>({ call, operation }: CallRun<T>): void {
  if (isChange(operation)) return;
  if (call.gone?.() ?? call.signal.aborted) throw new ApiError('internal', 'The client hung up.');
}

/** Step 10: charges the call, unless its answer costs nothing. */
async function commitCharge<T>(run: CallRun<T>): Promise<void> {
  const { result, answer, input, ctx } = run;
  const reservation = run.reservation!;
  run.reservation = null;
  if (!(ctx.priced && isFreeAnswer(result, input, ctx))) {
    setAnswer(run, answer, await reservation.commit(run.storedAnswer, result.records ?? 0));
    return;
  }
  await reservation.release();
  await run.claim?.drop();
  setAnswer(run, answer);
}

export { operatorKeyInUrl } from '../access/caller.ts';
export { admit } from './admit.ts';
export type { Outcome } from './call-run.ts';
export {
  type AnswerCodec,
  type Call,
  type CallDeps,
  type Leases,
  type Visitor,
  visitorOf,
} from './context.ts';

/**
 * Runs one call through the gate. `present` converts the result to the form that the channel sends; it runs
 * before the charge, and nothing is charged when it throws. The caller of `execute` calls `done` after the
 * answer was sent.
 *
 * @example
 * ```ts
 * const outcome = await execute(gate, call, present); // admit, price, reserve, run, charge, present
 * ```
 */
export async function execute<T>(
  gate: CallDeps,
  call: Call,
  present: Present<T>,
  codec?: AnswerCodec<T>,
): Promise<Outcome<T>> {
  const run = new CallRun(gate, call, present, codec);
  try {
    for (let at = 0; run.outcome === null; at += 1) {
      const pending = STEPS[at]!(run);
      if (pending !== undefined) await pending;
    }
  } catch (error) {
    return fail(run, error);
  }
  run.claim?.end();
  countCall(run, run.outcome.kind === 'unchanged' ? 'unchanged' : 'ok');
  return run.outcome;
}

/** One step; throws its errors. */
type Step = <T>(run: CallRun<T>) => Promise<void> | undefined | void;

/** The steps of every call, in the order of contract section 3, "Order on every request". */
const STEPS: readonly Step[] = [
  admitCaller, // 1. identify (401), 2. limit (429)
  leaseRelease, // 3. the release of the dataset (404)
  (run) => (run.caller.kind === 'anonymous' ? findPayment(run) : undefined),
  createContext,
  findRecord, // 4. the record (404), 5. a conditional request (304)
  requireInBounds, // 6. a bound of the caller (403)
  checkIdempotencyKey, // headers (422)
  requirePayment, // a credential (401) or a payment (402)
  parseRequest, // 7. the input (400, 413, 422)
  requirePermission, // 8. permissions (401, 403, 422)
  requirePublicNames, // and public attributes only, if the call is unpaid (402)
  (run) => (run.call.head ? answerHead(run) : undefined),
  claimIdempotencyKey,
  reservePrice, // 9. the price (402)
  runOperation, // 10. run
  (run) => (run.call.shorter ? shortenResult(run) : undefined),
  presentResult,
  serializeResult,
  commitCharge, // and commit the charge
];

/** Releases everything that the call holds, and rejects with its error. */
async function fail<T>(run: CallRun<T>, error: unknown): Promise<never> {
  if (run.call.body && error instanceof DataError) locateInBody(error, run.call, run.ctx?.body);
  try {
    await run.reservation?.release();
    await run.claim?.drop();
  } finally {
    run.claim?.end();
    run.leases?.done();
    countCall(run, toApiError(error).code);
  }
  throw error;
}

/** Parsers name parameters; those that a body contains are members of it (`loc` of a 422). */
function locateInBody({ detail }: DataError, { url }: Call, body: Context['body']): void {
  if (!Array.isArray(detail)) return;
  const { filters } = (body ?? {}) as { filters?: object };
  for (const issue of detail as ValidationIssue[]) {
    const [place, name = ''] = issue.loc;
    if (place !== 'query' || url.searchParams.has(String(name))) continue;
    const isFilter = filters !== undefined && filters !== null && Object.hasOwn(filters, name);
    issue.loc.splice(0, 1, ...(isFilter ? ['body', 'filters'] : ['body']));
  }
}

function countCall<T>({ gate, operation, call, leases, began }: CallRun<T>, outcome: string): void {
  const { channel = 'rest', headers } = call;
  // From the leased release, never from the request: a caller could send any number of names.
  const dataset = leases?.release?.pack.id ?? '';
  const eur = outcome === 'ok' && !headers['Idempotency-Replayed'] ? Number(headers['X-Charge-EUR'] ?? 0) : 0;
  const seconds = (performance.now() - began) / 1000;
  gate.onCall?.({ operation: operation.name, channel, dataset, outcome, seconds, eur });
}

/** Steps 1 and 2. */
async function admitCaller<T>(run: CallRun<T>): Promise<void> {
  const { gate, call, operation } = run;
  const { access } = operation.charge;
  const bucket = operation.charge.bucket ?? (access === 'paid' || access === 'plan' ? 'paid' : 'free');
  const caller = operation.charge.ends_secret
    ? await admitEnded(run, bucket)
    : await admit(gate, call, bucket, operation.charge.key_only === true);
  // A sale depends on the payment alone, not on the caller.
  run.caller = operation.charge.amount ? ANONYMOUS : caller;
}

/**
 * Admits a secret that may have been replaced or revoked by the first of two equal requests, for the answer of that
 * request only: `claimIdempotencyKey` returns it, or throws the error of the secret.
 */
async function admitEnded<T>(run: CallRun<T>, bucket: Bucket): Promise<Caller> {
  try {
    return await admit(run.gate, run.call, bucket, true);
  } catch (error) {
    const { code } = toApiError(error);
    if (code !== 'invalid_key' || run.call.credential === null || !isKey(run.call.idempotency_key ?? '')) throw error;
    run.refused = error as ApiError;
    return { kind: 'key', id: '', plan: 'payg' };
  }
}

/** Step 3: holds the release of the dataset until the answer was sent. */
async function leaseRelease<T>(run: CallRun<T>): Promise<void> {
  const leases = await run.gate.lease(run.call.dataset);
  run.leases = leases;
  if (leases.release) run.call.headers['X-Dataset-Version'] = leases.release.manifest.release;
}

async function findPayment<T>(run: CallRun<T>): Promise<void> {
  const { gate, call, caller, leases, codec } = run;
  if (codec !== undefined) run.paying = await paysByX402(gate, call, caller, leases!.release);
}

function createContext<T>(run: CallRun<T>): void {
  const { gate, call, caller, leases, paying } = run;
  run.ctx = new CallContext(gate, call, caller, leases!, caller.kind !== 'anonymous' || paying);
}

/** A call that passed every step before the payment. `done` returns its leases. */
export interface CheckedCall {
  ctx: Context;
  input: unknown;
  done(): void;
}

/** The steps that a call without a charge passes: all between the rate limit and the payment. */
const CHECKS: readonly Step[] = [
  leaseRelease,
  createContext,
  findRecord,
  requirePayment,
  parseRequest,
  requirePermission,
  requirePublicNames,
];

/** Checks a call of an identified caller, as if it were paid. Throws the error that the call would get. */
export async function checkCall(gate: CallDeps, call: Call, caller: Caller): Promise<CheckedCall> {
  const run = new CallRun(gate, call, () => null, undefined);
  Object.assign(run, { caller, paying: true });
  try {
    for (const step of CHECKS) await step(run);
    return { ctx: run.ctx, input: run.input, done: run.leases!.done };
  } catch (error) {
    run.leases?.done();
    throw error;
  }
}

/** Steps 4 and 5: operations with validators look up the record themselves. */
async function findRecord<T>(run: CallRun<T>): Promise<void> {
  const { call, ctx, caller, leases, operation } = run;
  const validators = await operation.rest.validators?.(call.raw, ctx);
  if (validators === undefined) return requireRecord(call, ctx);
  // The client has this version already.
  if (call.unchanged?.(validators, ctx)) run.outcome = { kind: 'unchanged', caller, done: leases!.done };
}

/** Step 4: the record exists, before any price is named. Throws 404 `unknown_entity`. */
async function requireRecord({ operation, entity }: Call, ctx: Context): Promise<void> {
  if (!operation.rest.entity || entity === null || !ctx.release) return;
  const { release } = ctx;
  const [ordinal] = await release.engine.resolve([entity], ctx);
  if (ordinal === null || ordinal === undefined) throw await unknownEntity(release, entity, ctx);
}

/**
 * Step 6: bounds of the caller come before the payment, which cures none of them. The input is parsed for its price; one
 * that cannot be parsed gets its error later.
 */
async function boundsChecked<T>(run: CallRun<T>): Promise<void> {
  const { call, caller, ctx, gate, codec } = run;
  run.input = await gate.repeated.input(call, ctx, parse).catch(() => undefined);
  try {
    requireWithinBounds(call, caller, ctx, run.input);
  } catch (error) {
    // The stored answer of an earlier call costs nothing.
    const repeats = codec && !call.head && caller.kind === 'key' && run.input !== undefined;
    if (!repeats || !isKey(call.idempotency_key ?? '')) throw error;
    run.refused = error as ApiError;
  }
}

function requireInBounds<T>(run: CallRun<T>): Promise<void> | undefined {
  const { call, caller } = run;
  const bounded = caller.kind === 'key' && (caller.bound !== undefined || caller.child !== undefined);
  if (bounded || call.max_price !== undefined) return boundsChecked(run);
}

/** Checks the Idempotency-Key before a payment is requested, so that clients sign no payment for a call that is refused. */
function checkIdempotencyKey<T>({ call, codec, operation }: CallRun<T>): void {
  if (!codec || call.head) return;
  const { amount, access } = operation.charge;
  const key = call.idempotency_key;
  if (key !== undefined && (amount || isChange(operation) || access === 'paid')) checkedKey(key);
  if (amount) requireSecretKey(key ?? '');
}

/**
 * Operations on accounts need a key, those of operators an operator's key: throws 401 `key_required`.
 * An unpaid call of an operation without previews: throws 402 before the parameters are checked, because
 * indexers of x402 probe without parameters (protocols.md).
 */
function requirePayment<T>({ gate, call, operation, caller, ctx }: CallRun<T>): Promise<void> | undefined {
  if (caller.kind === 'anonymous' && operation.charge.access === 'admin')
    throw new ApiError('key_required', `${operation.name} requires an operator's key.`, FOR_OPERATORS);
  if (operation.charge.amount && !gate.payments.waiting)
    throw new ApiError('unavailable', `${operation.name} is paid by x402, which this service does not offer.`);
  if (caller.kind === 'anonymous' && operation.charge.access === 'key')
    throw new ApiError('key_required', `${operation.name} requires an API key.`);
  if (ctx.visibility === 'public' && isSold(operation, ctx.release?.pack ?? null) && !operation.charge.previews)
    return rejectUnpaid(gate, call, caller, ctx);
}

/** Step 7: the input of the operation. Reads the body of a POST. */
async function parseRequest<T>(run: CallRun<T>): Promise<void> {
  const { gate, call, ctx } = run;
  // The check of bounds may have needed it.
  run.input ??= await gate.repeated.input(call, ctx, parse);
}

async function parse(call: Call, ctx: Context): Promise<unknown> {
  if (call.misread) throw call.misread;
  if (call.body) ctx.body = await call.body();
  return parseInput(call.operation, call.raw, ctx);
}

/**
 * Step 8: bulk formats require a key (401), some operations a plan or an operator (403), each its own formats
 * (422).
 */
function requirePermission<T>({ call: { format }, operation, caller }: CallRun<T>): void {
  const bulk = FORMATS[format].bulk;
  if (caller.kind === 'anonymous' && bulk) throw new ApiError('key_required', `format=${format} requires an API key.`);
  if (!operation.formats.includes(format) && !(format === 'html' && operation.rest.html)) {
    const names = formatParameters(operation.formats).join(', ');
    const issue = { loc: ['query', 'format'], msg: `must be one of ${names}`, type: 'enum' };
    throw new ApiError('validation_failed', `format: ${issue.msg}`, { detail: [issue] });
  }
  if (caller.kind === 'admin') return;
  if (operation.charge.access === 'admin')
    throw new ApiError('admin_required', `${operation.name} requires an operator's key.`);
  if (operation.charge.access === 'plan' && !mayBulk(caller))
    throw new ApiError('plan_required', `${operation.name} is part of the subscription plans.`);
}

/** Step 8: an unpaid call must have previews and name public attributes only. Throws 402 with the price. */
function requirePublicNames<T>(run: CallRun<T>): void {
  const { gate, call, operation, caller, ctx, input } = run;
  ctx.priced = isCharged(operation, input, ctx);
  if (
    ctx.visibility === 'public' &&
    isSold(operation, ctx.release?.pack ?? null) &&
    !operation.charge.previews?.(input)
  )
    throw unpaidError(gate, call, caller, ctx, input);
  const nonPublicName = ctx.visibility === 'public' ? nonPublic(operation, input, ctx.release) : undefined;
  if (nonPublicName === undefined) return;
  const price = priceOf(call, ctx, input);
  const message = `${nonPublicName} is not a public attribute: a call that names it costs ${formatEurAmount(price.micros)}.`;
  throw paymentError('payment_required', message, gate.payments.quote(caller, price));
}

/** The first attribute named by the input that is not public. */
function nonPublic(operation: Operation, input: unknown, release: Release | undefined): string | undefined {
  const open = new Set(
    release?.pack.attributes.filter((attribute) => attribute.public).map((attribute) => attribute.name),
  );
  return operation.charge.names?.(input).find((name) => !open.has(name));
}

/** HEAD of a paid operation: the same 402 as for a GET, but the operation does not run. */
async function answerHead<T>(run: CallRun<T>): Promise<void> {
  const { gate, call, caller, ctx, input, leases } = run;
  if (!ctx.priced) return;
  await checkAffordable(gate, call, caller, ctx, input);
  run.outcome = { kind: 'not_run', caller, done: leases!.done };
}
