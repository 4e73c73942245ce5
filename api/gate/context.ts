// What the gate has found out about one call, for the operation that answers it.
import type { Caller } from '../access/caller.ts';
import type { Context } from '../contract/operation.ts';
import type { Call, Gate, Leases } from './gate.ts';

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
