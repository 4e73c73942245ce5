// Types of the gate: its dependencies, a call, the leases and the context of a call.

import { hashSecret } from '../../data/state/key-format.ts';
import { clientAddress, countedAddress } from '../access/address.ts';
import {
  type Caller,
  type Credential,
  type CredentialSources,
  credentialOf,
  holderOf,
  type Identify,
  spendable,
} from '../access/caller.ts';
import type { EntityTags } from '../access/entity-tags.ts';
import type { Limits } from '../access/limits.ts';
import type { Previews } from '../access/previews.ts';
import type { SqlAccess } from '../access/sql.ts';
import type { ApiError } from '../contract/errors.ts';
import type {
  Context,
  Format,
  LiveService,
  Operation,
  RegisterFacts,
  Result,
  Validators,
} from '../contract/operation.ts';
import type { IdempotencyStore } from '../payments/idempotency.ts';
import type { Payments } from '../payments/payments.ts';
import type { RepeatedCalls } from './repeated-calls.ts';

export type Release = NonNullable<Context['release']>;
/** Releases leased to one request; `done` returns them once. */
export interface Leases {
  release?: Release | undefined;
  releases: Release[];
  leaseEarlier: Context['leaseEarlier'];
  leaseOther?: Context['leaseOther'];
  done(): void;
}

/** Metric of one call of an operation. */
export interface CallMetric {
  operation: string;
  channel: string;
  /** Dataset of the leased release; empty without a lease (no dataset, unknown, rate limited). */
  dataset: string;
  /** `ok`, `unchanged` (304), or the code of the error. */
  outcome: string;
  /** Seconds from the first step of the gate to the answer. */
  seconds: number;
  /** The charge in EUR. */
  eur: number;
}

/** Dependencies of the gate. */
export interface CallDeps {
  identify: Identify;
  limits: Limits;
  previews: Previews;
  payments: Payments;
  /** Answers stored for their Idempotency-Key. */
  repeats: IdempotencyStore;
  /** Dependencies of the operations on accounts. */
  accounts: LiveService['accounts'];
  /** Subscriptions to changes; absent where none are sent. */
  subscriptions?: LiveService['subscriptions'];
  /** Opt-outs and claims; absent without a database. */
  owners?: NonNullable<LiveService['owners']>;
  cursors: NonNullable<Context['cursors']>;
  tags: EntityTags;
  repeated: RepeatedCalls;
  /** Leases the current release of a dataset, or of all for null. Throws `unknown_dataset`. */
  lease(dataset: string | null): Promise<Leases>;
  operations: readonly Operation[];
  /** Runs statements of callers; absent: there is no SQL. */
  sql?: SqlAccess;
  /** Quotes calls for the caller of a call (quote.ts). */
  quotesFor?: (gate: CallDeps, call: Call, caller: Caller) => NonNullable<LiveService['quote']>;
  /** Links to snapshot files; absent where none are served. */
  exports?: NonNullable<LiveService['exports']>;
  base_url: string;
  eur_usd: number;
  /** Number of proxies whose X-Forwarded-For entry is trusted (TRUST_PROXY). */
  trust_proxy: number;
  /** Fingerprint of the rendering code: a new version of the program produces new tags. */
  code: string;
  now(): Date;
  /** Called with the metric of every call. */
  onCall?: (call: CallMetric) => void;
}

/** Client of a request: its credential and its address, enough to identify and to limit. */
export interface Visitor {
  credential: Credential | null;
  /** A caller that the channel has identified, by the session of a page; the credential then does not count. */
  caller?: Caller;
  /** The address that limits count (access/address.ts). */
  address: string;
  /** Headers of the answer, including errors; the steps of the gate add to them. */
  headers: Record<string, string>;
}

/** Facts about the client from the channel: the places of a credential, and the connection. */
export interface ClientFacts extends CredentialSources {
  /** Address of the remote end of the connection. */
  socket: string;
  forwarded: string | undefined;
}

/**
 * Reads the credential and the counted address; `headers` are those of the answer, to which the gate adds.
 */
export function visitorOf(deps: CallDeps, facts: ClientFacts, headers: Record<string, string>): Visitor {
  const address = countedAddress(clientAddress(facts.socket, facts.forwarded, deps.trust_proxy));
  return { credential: credentialOf(facts), address, headers };
}

/** One call of an operation, as the channel parsed it. */
export interface Call extends Visitor {
  operation: Operation;
  /**
   * Channel of the call; REST by default. A stored answer has the form of its channel, and is replayed there
   * only.
   */
  channel?: 'rest' | 'mcp' | 'a2a';
  /** Path parameters and query values, without credentials. */
  raw: Parameters<Operation['parse']>[0];
  /** All parameters besides dataset and record as one text; absent for a call with a body of its own. */
  query?: string | undefined;
  dataset: string | null;
  entity: string | null;
  format: Format;
  /** HEAD: headers only. A paid operation does not run, and nothing is charged. */
  head: boolean;
  /** Reads the body of a request that may have one; throws `payload_too_large` and `validation_failed`. */
  body?: (() => Promise<unknown>) | undefined;
  /** Idempotency-Key and X-Max-Price-EUR, as sent. */
  idempotency_key?: string | undefined;
  max_price?: string | undefined;
  /**
   * The x402 PaymentPayload as received: the object in PAYMENT-SIGNATURE, or MCP's `_meta["x402/payment"]`.
   * Anything but undefined counts as an attempt to pay. The receipt goes into `headers['PAYMENT-RESPONSE']`,
   * base64 of its JSON.
   */
  payment?: unknown;
  /** URL of the call as the client sees it, without credentials. */
  url: URL;
  request_id: string;
  /** Aborts the call when the client disconnects. */
  signal: AbortSignal;
  /** Whether the client has disconnected, for a channel that can check without the signal. */
  gone?: () => boolean;
  /**
   * For channels with a length limit: a shorter result at the same price, instead of one that is too long;
   * undefined when this one fits.
   */
  shorter?: (input: unknown, result: Result<unknown>, ctx: Context) => Promise<Result<unknown> | undefined>;
  /** An error that the channel found in the parameters; thrown at the validation step. */
  misread?: ApiError | undefined;
  /**
   * Whether the client has this version already (RFC 9110 section 13); absent in channels without conditional
   * requests.
   */
  unchanged?: (validators: Validators, ctx: Context) => boolean;
}

/**
 * Serialises an answer of a channel, and restores it when the request is repeated with its Idempotency-Key. A
 * channel that accepts x402 payments has one: the answer is stored before the payment is settled.
 */
export interface AnswerCodec<T> {
  encode(answer: T): Promise<string>;
  decode(text: string): T;
}

/**
 * The context of a call. A class, because rarely used members are computed on access, and the rest is copied
 * for every call.
 */
export class CallContext implements Context {
  declare release?: NonNullable<Context['release']>;
  declare body?: unknown;
  declare record?: NonNullable<Context['record']>;
  declare point?: NonNullable<Context['point']>;
  readonly visibility: Context['visibility'];
  readonly admin: boolean;
  previews: number | null = null;
  readonly now: Date;
  readonly base_url: string;
  readonly format: Context['format'];
  readonly by_name: boolean;
  readonly leaseEarlier: Context['leaseEarlier'];
  readonly leaseOther: Context['leaseOther'];
  readonly cursors: NonNullable<Context['cursors']>;
  readonly register: RegisterFacts;
  readonly #deps: CallDeps;
  readonly #call: Call;
  readonly #caller: Caller;
  #service: LiveService | undefined;

  /** `full`: all attributes are visible to the caller. */
  constructor(deps: CallDeps, call: Call, caller: Caller, leases: Leases, full: boolean) {
    this.#deps = deps;
    this.#call = call;
    this.#caller = caller;
    if (leases.release) this.release = leases.release;
    this.visibility = full ? 'full' : 'public';
    this.admin = caller.kind === 'admin';
    this.now = deps.now();
    this.base_url = deps.base_url;
    this.format = call.format;
    this.by_name = call.channel === 'mcp' || call.channel === 'a2a';
    this.leaseEarlier = leases.leaseEarlier;
    this.leaseOther = leases.leaseOther;
    this.cursors = deps.cursors;
    this.register = { releases: leases.releases, operations: deps.operations, eur_usd: deps.eur_usd };
  }

  /** Few calls need it. */
  get service(): LiveService {
    this.#service ??= new CallService(this.#deps, this.#call, this.#caller, this.now.getTime());
    return this.#service;
  }

  get url(): URL {
    return this.#call.url;
  }

  get holder(): string {
    return holderOf(this.#caller, this.#call.address);
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
}

/** A class too: few calls need the hash. */
class CallService implements LiveService {
  declare owners?: NonNullable<LiveService['owners']>;
  declare exports?: NonNullable<LiveService['exports']>;
  declare purchase?: NonNullable<LiveService['purchase']>;
  declare keepAnswer?: NonNullable<LiveService['keepAnswer']>;
  readonly accounts: LiveService['accounts'];
  readonly subscriptions: LiveService['subscriptions'];
  readonly requester: LiveService['requester'];
  readonly #caller: Caller;
  readonly #deps: CallDeps;
  readonly #call: Call;

  constructor(deps: CallDeps, call: Call, caller: Caller, now: number) {
    if (deps.owners) this.owners = deps.owners;
    if (deps.exports) this.exports = deps.exports;
    this.accounts = deps.accounts;
    this.subscriptions = deps.subscriptions;
    this.#caller = caller;
    this.#deps = deps;
    this.#call = call;
    const key = caller.kind === 'key' ? caller.id : null;
    const operator = caller.kind === 'admin' && caller.id !== undefined ? { operator: caller.id } : {};
    const child = caller.kind === 'key' && caller.child ? { child: { ...caller.child, left: spendable(caller) } } : {};
    this.requester = { key, ...operator, ...child, address: call.address, request_id: call.request_id, now };
  }

  get sql(): LiveService['sql'] {
    const { sql } = this.#deps;
    const { address } = this.requester;
    return sql && ((statement, signal) => sql(statement, this.#caller, address, signal));
  }

  get quote(): LiveService['quote'] {
    return this.#deps.quotesFor?.(this.#deps, this.#call, this.#caller);
  }

  get credential_hash(): string | undefined {
    const { credential } = this.#call;
    return credential === null ? undefined : hashSecret(credential.secret);
  }
}
