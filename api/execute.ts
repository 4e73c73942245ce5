// The one gate: every call of every channel passes these steps, in the order of contract section 3.

import type { Recovery } from './access/accounts.ts';
import { clientAddress, countedAddress } from './access/address.ts';
import {
  type Caller,
  type Credential,
  type CredentialSources,
  credentialOf,
  type Identify,
  mayBulk,
  refusal,
} from './access/caller.ts';
import { type Bucket, type Limits, limitHeaders } from './access/limits.ts';
import { checkMaxPrice } from './access/max-price.ts';
import { type Charge, type Payments, paymentError, type Reservation, told } from './access/payments.ts';
import { type Previews, secondsToMidnight } from './access/previews.ts';
import { checkedKey, type Kept, type Repeats, recordsIn, repeatedHeaders, requestHash } from './access/repeats.ts';
import { ApiError } from './errors.ts';
import { type Context, type Format, type Operation, type Result, TABULAR } from './operation.ts';

type Release = NonNullable<Context['release']>;
/** Turns a result into what a channel sends. */
type Present<T> = (result: Result<unknown>, ctx: Context) => Promise<T> | T;

/** Releases lent to one request; `done` gives them back, once. */
export interface Leases {
  release?: Release;
  releases: Release[];
  earlier: Context['earlier'];
  done(): void;
}

/** What the gate works with. */
export interface Gate {
  identify: Identify;
  limits: Limits;
  previews: Previews;
  payments: Payments;
  /** Answers kept for their Idempotency-Key. */
  repeats: Repeats;
  /** What the operations on accounts ask. */
  accounts: NonNullable<Context['accounts']> & Recovery;
  /** Lends the current release of a dataset, or of all of them for null. Throws `unknown_dataset`. */
  lease(dataset: string | null): Promise<Leases>;
  operations: readonly Operation[];
  /** Links to snapshot files; absent where none are served. */
  exports?: NonNullable<Context['exports']>;
  base_url: string;
  eur_usd: number;
  /** Proxies whose X-Forwarded-For entry is believed (TRUST_PROXY). */
  trust_proxy: number;
  /** Fingerprint of the code that renders: a new version of the program makes new tags. */
  code: string;
  now(): Date;
}

/** Who asks from where: enough to identify and to limit. */
export interface Visitor {
  credential: Credential | null;
  /** The address that counts (access/address.ts). */
  address: string;
  /** Headers that every answer gets, errors too: the gate adds as it learns. */
  headers: Record<string, string>;
}

/** What a channel knows of its client: where a credential may stand, and how the connection came. */
export interface ClientFacts extends CredentialSources {
  /** Address at the other end of the connection. */
  socket: string;
  forwarded: string | undefined;
}

/** Reads the credential and the address that counts; `headers` is the answer's own, which the gate adds to. */
export function visitorOf(gate: Gate, facts: ClientFacts, headers: Record<string, string>): Visitor {
  const address = countedAddress(clientAddress(facts.socket, facts.forwarded, gate.trust_proxy));
  return { credential: credentialOf(facts), address, headers };
}

/** One call of an operation, as a channel understood it. */
export interface Call extends Visitor {
  operation: Operation;
  /** Path parameters and query values, without credentials. */
  raw: Parameters<Operation['parse']>[0];
  dataset: string | null;
  entity: string | null;
  format: Format;
  /** HEAD: the headers of the answer, never charged. */
  head: boolean;
  /** Reads the body of a request that may have one; throws `payload_too_large` and `validation_failed`. */
  body?: (() => Promise<unknown>) | undefined;
  /** Idempotency-Key and X-Max-Price-EUR, as sent. */
  idempotency_key?: string | undefined;
  max_price?: string | undefined;
  /**
   * The x402 PaymentPayload as it came: the object in PAYMENT-SIGNATURE, or MCP's `_meta["x402/payment"]`. Anything that is
   * not undefined counts as an attempt to pay. The receipt goes into `headers['PAYMENT-RESPONSE']`, base64 of its JSON.
   */
  payment?: unknown;
  /** Address of the call as a client sees it, without credentials. */
  url: URL;
  request_id: string;
  signal: AbortSignal;
  /** What the channel itself found wrong with the parameters; told when it is validation's turn. */
  misread?: ApiError | undefined;
  /** Whether the caller has this version already (If-None-Match); absent where a channel has no conditional requests. */
  unchanged?: (version: string, ctx: Context) => boolean;
}

/**
 * How a channel writes an answer down, and makes it again for whoever repeats the request with its Idempotency-Key. A channel
 * that takes x402 payments has one: the answer is kept before the payment is settled.
 */
export interface Repeatable<T> {
  keep(answer: T): Promise<string>;
  revive(text: string): T;
}

export type Outcome<T> =
  | { kind: 'unchanged'; version: string; caller: Caller; done(): void }
  | { kind: 'answer'; answer: T; caller: Caller; done(): void };

/**
 * Identify and limit: what every request passes, also one that leads nowhere. A credential that stands for nothing spends
 * the address's bucket and is 401; past the bucket anything is 429. Operators are neither limited nor charged.
 */
export async function admit(gate: Gate, visitor: Visitor, bucket: Bucket): Promise<Caller> {
  const { credential, address } = visitor;
  const caller: Caller | null = credential === null ? { kind: 'anonymous' } : await gate.identify(credential);
  if (caller?.kind === 'admin') return caller;
  const who = caller?.kind === 'key' ? `key ${caller.id}` : `ip ${address}`;
  const standing = await gate.limits.spend(bucket, who, caller?.kind === 'key' ? caller.plan : undefined);
  if (standing === null) return caller ?? { kind: 'anonymous' };
  Object.assign(visitor.headers, limitHeaders(standing, gate.now()));
  if (!standing.allowed) {
    const message = `More than ${standing.limit} ${bucket} calls in a minute; try again in ${standing.reset} s.`;
    throw new ApiError('rate_limited', message, { retry_after_seconds: standing.reset });
  }
  if (caller === null) throw refusal(credential!);
  return caller;
}

/**
 * Runs one call through the gate. `present` turns the result into what the channel sends; it runs before anything is
 * charged, and what it throws is not charged. The caller of `execute` calls `done` when the answer has been sent.
 */
export async function execute<T>(
  gate: Gate,
  call: Call,
  present: Present<T>,
  repeatable?: Repeatable<T>,
): Promise<Outcome<T>> {
  const { operation } = call;
  const caller = await admit(gate, call, operation.access === 'paid' || operation.access === 'plan' ? 'paid' : 'free');
  const leases = await gate.lease(call.dataset);
  try {
    if (leases.release) call.headers['X-Dataset-Version'] = leases.release.manifest.release;
    const ctx = contextOf(gate, call, caller, leases);
    const version = await operation.version?.(call.raw, ctx);
    // Who can tell the version of a record has found it, or has thrown `unknown_entity`.
    if (version === undefined) await exists(call, ctx);
    else if (call.unchanged?.(version, ctx)) return { kind: 'unchanged', version, caller, done: leases.done };
    const answer = await settle(gate, call, caller, ctx, present, repeatable);
    return { kind: 'answer', answer, caller, done: leases.done };
  } catch (error) {
    leases.done();
    throw error;
  }
}

function contextOf(gate: Gate, call: Call, caller: Caller, leases: Leases): Context {
  return {
    ...(leases.release ? { release: leases.release } : {}),
    releases: leases.releases,
    earlier: leases.earlier,
    visibility: caller.kind === 'anonymous' ? 'public' : 'full',
    admin: caller.kind === 'admin',
    previews: null,
    now: gate.now(),
    base_url: gate.base_url,
    eur_usd: gate.eur_usd,
    operations: gate.operations,
    url: call.url,
    signal: call.signal,
    format: call.format,
    ...(gate.exports ? { exports: gate.exports } : {}),
    accounts: gate.accounts,
    asker: {
      key: caller.kind === 'key' ? caller.id : null,
      address: call.address,
      request_id: call.request_id,
      now: gate.now().getTime(),
    },
  };
}

/** The record of an operation on one record is there, before any price is named. */
async function exists({ operation, entity }: Call, { release, signal }: Context): Promise<void> {
  if (!operation.entity || entity === null || !release) return;
  const [ordinal] = await release.engine.resolve([entity], { signal });
  if (ordinal === null || ordinal === undefined)
    throw new ApiError('unknown_entity', 'This dataset has no such record.');
}

/** From the first question of money to the answer: ask payment, parse, permit, reserve, run, commit. */
async function settle<T>(
  gate: Gate,
  call: Call,
  caller: Caller,
  ctx: Context,
  present: Present<T>,
  repeatable: Repeatable<T> | undefined,
): Promise<T> {
  const { operation } = call;
  const anonymous = caller.kind === 'anonymous';
  if (anonymous && (operation.access === 'key' || operation.access === 'admin'))
    throw new ApiError('key_required', `${operation.name} takes an API key.`);
  // Indexers probe without parameters: they are told the price before their parameters are looked at (protocols.md).
  if (anonymous && sold(operation, ctx) && !operation.previews) throw unpaid(gate, call, caller, ctx);
  if (call.misread) throw call.misread;
  if (call.body) ctx.body = await call.body();
  const input = operation.parse(call.raw, ctx);
  permit(call, caller);
  const hidden = anonymous ? nonPublic(operation, input, ctx.release) : undefined;
  if (hidden !== undefined) {
    const message = `${hidden} is not a public attribute: naming it in fields, sort or a filter takes an API key.`;
    throw paymentError('payment_required', message, gate.payments.quote(caller, chargeOf(call, ctx, input)));
  }
  const owner = caller.kind === 'key' ? caller.id : caller.kind;
  const key = repeatable && !anonymous && operation.access !== 'free' && !call.head ? call.idempotency_key : undefined;
  if (key === undefined || !repeatable) return paid(gate, call, caller, ctx, input, present);
  const { method } = operation.route;
  const request = requestHash(method, call.url.href, call.format, JSON.stringify(ctx.body ?? null));
  const begun = await gate.repeats.begin(owner, checkedKey(key), request);
  if ('text' in begun) {
    Object.assign(call.headers, repeatedHeaders(begun.head, caller.kind === 'key' ? caller.balance : undefined));
    return repeatable.revive(begun.text);
  }
  const { turn } = begun;
  const keeping = async (answer: T, result: Result<unknown>, micros: number) => {
    const head = { micros, release: call.headers['X-Dataset-Version'] ?? null };
    return turn.kept(head, await repeatable.keep(answer), recordsIn(result.body));
  };
  try {
    return await paid(gate, call, caller, ctx, input, present, keeping);
  } catch (error) {
    await turn.drop();
    throw error;
  }
}

/** Writes down what an answer was and cost. */
type Keeping<T> = (answer: T, result: Result<unknown>, micros: number) => Promise<Kept>;

/** Reserve, run, present, commit. Until the last nothing is taken: not for an error, not for a client that hung up. */
async function paid<T>(
  gate: Gate,
  call: Call,
  caller: Caller,
  ctx: Context,
  input: unknown,
  present: Present<T>,
  keeping?: Keeping<T>,
): Promise<T> {
  const purse = await reserve(gate, call, caller, ctx, input);
  let result: Result<unknown>;
  let answer: T;
  let kept: Kept | undefined;
  try {
    ctx.previews = purse.previews;
    result = await call.operation.run(input, ctx);
    if (result.release !== undefined) call.headers['X-Dataset-Version'] = result.release;
    answer = await present(result, ctx);
    kept = await keeping?.(answer, result, purse.micros);
    if (call.signal.aborted) throw new ApiError('internal', 'The client hung up.');
  } catch (error) {
    await purse.release();
    throw error;
  }
  Object.assign(call.headers, await purse.commit(result.records ?? 0, kept));
  return answer;
}

/** Whether this dataset takes money for the operation. */
function sold({ access, price }: Operation, { release }: Context): boolean {
  return access === 'paid' && !(release && price?.free?.(release.pack));
}

/** Who may at all: bulk formats and accounts take a key, some operations a plan, some an operator. */
function permit({ operation, format }: Call, caller: Caller): void {
  const bulk = TABULAR.includes(format);
  if (caller.kind === 'anonymous' && bulk) throw new ApiError('key_required', `format=${format} takes an API key.`);
  if (!operation.formats.includes(format)) {
    const names = operation.formats.map((name) => (name === 'markdown' ? 'md' : name)).join(', ');
    const issue = { loc: ['query', 'format'], msg: `must be one of ${names}`, type: 'enum' };
    throw new ApiError('validation_failed', `format: ${issue.msg}`, { detail: [issue] });
  }
  if (caller.kind === 'admin') return;
  if (operation.access === 'admin') throw new ApiError('admin_required', `${operation.name} takes an operator's key.`);
  if (operation.access === 'plan' && !mayBulk(caller))
    throw new ApiError('plan_required', `${operation.name} is part of the subscription plans.`);
}

/** The first attribute that the input names and that is not public. */
function nonPublic(operation: Operation, input: unknown, release: Release | undefined): string | undefined {
  const open = new Set(release?.pack.attributes.filter((each) => each.public).map((each) => each.name));
  return operation.names?.(input).find((name) => !open.has(name));
}

function chargeOf(call: Call, ctx: Context, input: unknown): Charge {
  const { operation, url, request_id, format } = call;
  const free = operation.access === 'paid' && !sold(operation, ctx);
  const price = operation.price && ctx.release && !free ? ctx.release.pack.prices[operation.price.of] : 0;
  const times = input === undefined ? 1 : (operation.price?.times?.(input) ?? 1);
  const mimeType = format === 'markdown' ? 'text/markdown' : 'application/json';
  const resource = { url: url.href, description: operation.title, mimeType };
  return { operation: operation.name, dataset: call.dataset ?? '', micros: price * times, resource, request_id };
}

/** The 402 of a call that was not paid; its price counts what the parameters ask for, where they can be read. */
function unpaid(gate: Gate, call: Call, caller: Caller, ctx: Context): ApiError {
  let input: unknown;
  try {
    input = call.operation.parse(call.raw, ctx);
  } catch {
    input = undefined;
  }
  const charge = chargeOf(call, ctx, input);
  const message = `${call.operation.name} costs ${told(charge.micros)} and this call was not paid.`;
  return paymentError('payment_required', message, gate.payments.quote(caller, charge));
}

/** What was put aside for one call: money, or records of the preview quota. */
interface Purse {
  previews: number | null;
  /** What the call costs. */
  micros: number;
  commit(shown: number, kept?: Kept): Promise<Record<string, string>>;
  release(): Promise<void>;
}

async function reserve(gate: Gate, call: Call, caller: Caller, ctx: Context, input: unknown): Promise<Purse> {
  const { operation, head } = call;
  const dataset = call.dataset ?? '';
  if (sold(operation, ctx) && caller.kind === 'anonymous') {
    const wanted = operation.page?.(input) ?? 1;
    const left = await gate.previews.left(call.address, dataset, ctx.now);
    const got = head ? Math.min(wanted, left) : await gate.previews.take(call.address, dataset, wanted, ctx.now);
    if (got <= 0) {
      const seconds = secondsToMidnight(ctx.now);
      const message = `Today's free previews of ${dataset} are used up; they are back in ${Math.ceil(seconds / 3600)} h.`;
      throw paymentError('quota_exceeded', message, gate.payments.quote(caller, chargeOf(call, ctx, input)));
    }
    const give = (unused: number) => gate.previews.give(call.address, dataset, unused, ctx.now);
    return {
      previews: got,
      micros: 0,
      commit: async (shown) => {
        if (!head) await give(got - shown);
        return {};
      },
      release: async () => {
        if (!head) await give(got);
      },
    };
  }
  const free = head || operation.price === undefined;
  const charge = chargeOf(call, ctx, input);
  if (!free) checkMaxPrice(call.max_price, caller, charge, gate.payments.quote);
  const held: Reservation | null = free ? null : await gate.payments.reserve(caller, charge);
  return {
    previews: null,
    micros: free ? 0 : charge.micros,
    async commit(_shown, kept) {
      if (held) return held.commit(kept);
      if (kept) await gate.repeats.keep(caller.kind === 'key' ? caller.id : caller.kind, kept);
      return {};
    },
    release: async () => held?.release(),
  };
}
