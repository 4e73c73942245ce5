// The last steps of the gate: reserve the price, run the operation, present and store the answer, charge.
import { type Awaitable, whenReady } from '../../data/model/awaitable.ts';
import { ApiError } from '../contract/errors.ts';
import { type Context, isChange } from '../contract/operation.ts';
import {
  checkedKey,
  decryptAnswer,
  encryptAnswer,
  recordsIn,
  replayHeaders,
  requestHash,
  secretKey,
  serializeAnswer,
} from '../payments/idempotency.ts';
import { type AnswerStore, type CallRun, setAnswer } from './call-run.ts';
import { type CallCharge, idempotencyOwner, reserve } from './charge.ts';
import type { AnswerCodec, Call } from './context.ts';

/** Decides how the answer is stored, and claims the Idempotency-Key or answers with its stored answer. */
export function claimIdempotencyKey<T>(run: CallRun<T>): Awaitable<void> {
  const { call, caller, ctx, codec, operation } = run;
  const change = isChange(operation);
  const free = operation.access === 'free' && !ctx.priced && !change;
  if (!codec || call.head || free) return;
  const request = () => requestOf(call, ctx);
  run.store = { codec, request };
  if (call.idempotency_key === undefined) return;
  if (!change && ctx.visibility === 'public') return;
  const key = checkedKey(call.idempotency_key);
  if (change) {
    run.store = { codec: sealedCodec(codec, key), request };
    return claim(run, run.store, ...changeScope(run, request(), key));
  }
  // A caller without an account repeats a call by its payment (payments/x402).
  if (caller.kind !== 'anonymous') return claim(run, run.store, idempotencyOwner(caller), key);
}

/**
 * Owner and stored form of the Idempotency-Key of a change. The key itself is not stored, since it decrypts the answer.
 * Without a credential it belongs to the request; a secret that the change replaces is found by its hash.
 */
function changeScope<T>({ caller, ctx, operation }: CallRun<T>, request: string, key: string): [string, string] {
  if (caller.kind === 'anonymous') return ['anonymous', secretKey(request, key)];
  const owner = operation.ends_secret ? `secret ${ctx.credential_hash}` : idempotencyOwner(caller);
  return [owner, secretKey(owner, key)];
}

/** The codec of answers with a secret: encrypted under the Idempotency-Key. */
const sealedCodec = <T>(codec: AnswerCodec<T>, key: string): AnswerCodec<T> => ({
  encode: async (answer) => encryptAnswer(key, await codec.encode(answer)),
  decode: (text) => codec.decode(decryptAnswer(key, text)),
});

async function claim<T>(run: CallRun<T>, { codec, request }: AnswerStore<T>, owner: string, key: string) {
  const { gate, call, caller, refused } = run;
  const attempt = await (refused
    ? gate.repeats.find(owner, key, request())
    : gate.repeats.begin(owner, key, request()));
  if (attempt === null) throw refused;
  if ('turn' in attempt) {
    run.claim = attempt.turn;
    return;
  }
  Object.assign(call.headers, replayHeaders(attempt.head, caller.kind === 'key' ? caller.balance : undefined));
  setAnswer(run, codec.decode(attempt.text));
}

/** Fingerprint of a call: a payment and an Idempotency-Key belong to one fingerprint. */
function requestOf({ operation, url, format, raw, channel = 'rest' }: Call, { body }: Context): string {
  const sorted = Object.entries(raw).sort(([a], [b]) => (a < b ? -1 : 1));
  const content = JSON.stringify([operation.name, sorted, body ?? null]);
  return requestHash(channel, operation.route.method, url.href, format, content);
}

/** Step 9. Only the commit charges: an error or a client that disconnects costs nothing. */
export function reservePrice<T>(run: CallRun<T>): Awaitable<void> {
  const { gate, call, caller, ctx, input, store } = run;
  const charge = reserve(gate, call, caller, ctx, input, store?.request ?? null);
  return charge instanceof Promise ? charge.then((reserved) => useCharge(run, reserved)) : useCharge(run, charge);
}

function useCharge<T>(run: CallRun<T>, charge: CallCharge): Awaitable<void> {
  if (charge.stored && run.store) return replay(run, charge, run.store);
  run.charge = charge;
  run.reserved = charge;
  run.ctx.previews = charge.previews;
}

/** Sends the answer that was stored for the same payment. */
async function replay<T>(run: CallRun<T>, charge: CallCharge, { codec }: AnswerStore<T>): Promise<void> {
  const { head, text, written } = charge.stored!;
  const storedAnswer = (await run.claim?.toStored(written)) ?? written;
  Object.assign(run.call.headers, await charge.commit(0, storedAnswer), replayHeaders(head, undefined));
  setAnswer(run, codec.decode(text));
}

export function runOperation<T>(run: CallRun<T>): Awaitable<void> {
  const result = run.gate.repeated.run(run.operation, run.input, run.ctx);
  if (result instanceof Promise)
    return result.then((ready) => {
      run.result = ready;
    });
  run.result = result;
}

/** Channels with a length limit replace a result that is too long. */
export function shortenResult<T>(run: CallRun<T>): Awaitable<void> {
  const { call, input, result, ctx } = run;
  return whenReady(call.shorter?.(input, result, ctx), (shorter) => {
    if (shorter !== undefined) run.result = shorter;
  });
}

export function presentResult<T>(run: CallRun<T>): Awaitable<void> {
  const { call, operation, result, ctx, present } = run;
  if (result.release !== undefined) call.headers['X-Dataset-Version'] = result.release;
  const answer = present(result, ctx, operation);
  if (answer instanceof Promise)
    return answer.then((ready) => {
      run.answer = ready;
    });
  run.answer = answer;
}

/** Serialises an answer that is stored with its charge. */
export function serializeResult<T>(run: CallRun<T>): Awaitable<void> {
  const { store, claim, charge } = run;
  if (store && (claim || charge.writes)) return serialize(run, store).then(() => requireClient(run));
  requireClient(run);
}

async function serialize<T>(run: CallRun<T>, { codec }: AnswerStore<T>): Promise<void> {
  const { claim, charge, call, result, answer } = run;
  const head = { micros: charge.micros, release: call.headers['X-Dataset-Version'] ?? null };
  const serialized = serializeAnswer(head, await codec.encode(answer), recordsIn(result.json ?? result.body));
  run.storedAnswer = (await claim?.toStored(serialized)) ?? serialized;
}

/** Throws if the client is gone, before it is charged. A change was made in any case: its answer is for the repeat. */
function requireClient<T>({ call, operation }: CallRun<T>): void {
  if (isChange(operation)) return;
  if (call.gone?.() ?? call.signal.aborted) throw new ApiError('internal', 'The client hung up.');
}

/** Step 10: charges the call, unless its result costs nothing. */
export function commitCharge<T>(run: CallRun<T>): Awaitable<void> {
  const { charge, result, answer } = run;
  if (result.uncharged) return withdraw(run);
  run.reserved = null;
  const headers = charge.commit(result.records ?? 0, run.storedAnswer);
  if (headers instanceof Promise) return headers.then((charged) => setAnswer(run, answer, charged));
  setAnswer(run, answer, headers);
}

/** Ends a call whose result costs nothing. */
async function withdraw<T>(run: CallRun<T>): Promise<void> {
  run.reserved = null;
  await run.charge.release();
  await run.claim?.drop();
  setAnswer(run, run.answer);
}
