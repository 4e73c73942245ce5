// What the gate works with and what it is asked: the shapes that channels, operations' callers and money share.

import { clientAddress, countedAddress } from '../access/address.ts';
import { type Caller, type Credential, type CredentialSources, credentialOf, type Identify } from '../access/caller.ts';
import type { EntityTags } from '../access/entity-tags.ts';
import type { Limits } from '../access/limits.ts';
import type { Previews } from '../access/previews.ts';
import type { ApiError } from '../contract/errors.ts';
import type { Context, Format, Operation, Result, Validators } from '../contract/operation.ts';
import type { Payments } from '../payments/payments.ts';
import type { Repeats } from '../payments/repeats.ts';

export type Release = NonNullable<Context['release']>;
/** Releases lent to one request; `done` gives them back, once. */
export interface Leases {
  release?: Release;
  releases: Release[];
  earlier: Context['earlier'];
  done(): void;
}

/** What became of one call of an operation. */
export interface Seen {
  operation: string;
  channel: string;
  /** Id of the leased release's dataset; empty where no release was leased (no dataset, unknown, rate limited). */
  dataset: string;
  /** `ok`, `unchanged` (304), or the code of the error. */
  outcome: string;
  /** From the gate's first step to the answer. */
  seconds: number;
  /** What was taken for it, in EUR. */
  eur: number;
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
  accounts: NonNullable<Context['accounts']>;
  /** Opt-outs and claims; absent where nobody changes anything. */
  owners?: NonNullable<Context['owners']>;
  cursors: NonNullable<Context['cursors']>;
  tags: EntityTags;
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
  /** Told what became of every call. */
  seen?: (call: Seen) => void;
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
  /** What it came by; REST where nothing is said. A kept answer has the form of its channel, and is repeated there alone. */
  channel?: 'rest' | 'mcp' | 'a2a';
  /** Path parameters and query values, without credentials. */
  raw: Parameters<Operation['parse']>[0];
  dataset: string | null;
  entity: string | null;
  format: Format;
  /** HEAD: headers only. A paid operation does not run for it, and nothing is charged. */
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
  /** Gives the call up when its client does. */
  signal: AbortSignal;
  /** Whether the client has gone already, where a channel can tell without the signal. */
  gone?: () => boolean;
  /**
   * Where a channel may send only so much: the input of a shorter answer at the same price, asked in place of one that is
   * too long; undefined when this one fits.
   */
  shorter?: (input: unknown, result: Result<unknown>, ctx: Context) => Promise<unknown>;
  /** What the channel itself found wrong with the parameters; told when it is validation's turn. */
  misread?: ApiError | undefined;
  /** Whether the caller has this version already (RFC 9110 section 13); absent where a channel has no conditional requests. */
  unchanged?: (validators: Validators, ctx: Context) => boolean;
}

/**
 * How a channel writes an answer down, and makes it again for whoever repeats the request with its Idempotency-Key. A channel
 * that takes x402 payments has one: the answer is kept before the payment is settled.
 */
export interface Repeatable<T> {
  keep(answer: T): Promise<string>;
  revive(text: string): T;
}

/** The context of a call. A class, since what few answers ask for is made when it is asked, and the rest is copied for every call. */
export class CallContext implements Context {
  declare release?: NonNullable<Context['release']>;
  declare exports?: NonNullable<Context['exports']>;
  declare body?: unknown;
  declare owners?: NonNullable<Context['owners']>;
  declare fetched?: NonNullable<Context['fetched']>;
  readonly releases: Context['releases'];
  readonly earlier: Context['earlier'];
  readonly cursors: NonNullable<Context['cursors']>;
  readonly visibility: Context['visibility'];
  readonly admin: boolean;
  previews: number | null = null;
  readonly now: Date;
  readonly base_url: string;
  readonly eur_usd: number;
  readonly operations: Context['operations'];
  readonly format: Context['format'];
  readonly by_name: boolean;
  readonly accounts: NonNullable<Context['accounts']>;
  readonly asker: NonNullable<Context['asker']>;
  readonly #call: Call;

  /** `full`: the caller sees everything. */
  constructor(gate: Gate, call: Call, caller: Caller, leases: Leases, full: boolean) {
    this.#call = call;
    if (leases.release) this.release = leases.release;
    if (gate.exports) this.exports = gate.exports;
    this.releases = leases.releases;
    this.earlier = leases.earlier;
    this.cursors = gate.cursors;
    this.visibility = full ? 'full' : 'public';
    this.admin = caller.kind === 'admin';
    this.now = gate.now();
    this.base_url = gate.base_url;
    this.eur_usd = gate.eur_usd;
    this.operations = gate.operations;
    this.format = call.format;
    this.by_name = call.channel === 'mcp' || call.channel === 'a2a';
    this.accounts = gate.accounts;
    if (gate.owners) this.owners = gate.owners;
    const key = caller.kind === 'key' ? caller.id : null;
    const operator = caller.kind === 'admin' && caller.id !== undefined ? { operator: caller.id } : {};
    this.asker = { key, ...operator, address: call.address, request_id: call.request_id, now: this.now.getTime() };
  }

  get url(): URL {
    return this.#call.url;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
}
