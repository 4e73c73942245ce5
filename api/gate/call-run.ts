// The state of one call on its way through the steps of the gate.
import type { StoredAnswer } from '../../data/state/statements.ts';
import { ANONYMOUS, type Caller } from '../access/caller.ts';
import type { ApiError } from '../contract/errors.ts';
import type { Context, Operation, Result } from '../contract/operation.ts';
import type { RequestClaim } from '../payments/idempotency.ts';
import type { Reservation } from '../payments/payments.ts';
import type { AnswerCodec, Call, CallDeps, Leases } from './context.ts';

/** Converts a result to the form that a channel sends. */
export type Present<T> = (result: Result<unknown>, ctx: Context, operation: Operation) => Promise<T> | T;

export type Outcome<T> =
  | { kind: 'unchanged'; caller: Caller; done(): void }
  /** HEAD of a paid operation: all checks passed, and the operation did not run. */
  | { kind: 'not_run'; caller: Caller; done(): void }
  | { kind: 'answer'; answer: T; caller: Caller; priced: boolean; done(): void };

/** A call on its way through the steps. A class whose members are all set, so that V8 sees one shape. */
export class CallRun<T> {
  readonly gate: CallDeps;
  readonly call: Call;
  readonly operation: Operation;
  readonly present: Present<T>;
  readonly codec: AnswerCodec<T> | undefined;
  readonly began = performance.now();
  caller: Caller = ANONYMOUS;
  /** The error of a secret that is no longer valid, or of a bound, unless the answer of this request is stored. */
  refused: ApiError | null = null;
  leases: Leases | null = null;
  /** Whether an x402 payment comes with the call. */
  paying = false;
  /** Set by `createContext`, before any step reads it. */
  ctx!: Context;
  input: unknown = undefined;
  /** The claim on the Idempotency-Key, if there is one. */
  claim: RequestClaim | null = null;
  /** How the answer is stored; null: it is never stored. */
  storage: AnswerCodec<T> | null = null;
  /** What an error releases; null before it is reserved, and once it is committed. */
  reservation: Reservation | null = null;
  /** Set by `runOperation`. */
  result!: Result<unknown>;
  /** Set by `presentResult`. */
  answer!: T;
  storedAnswer: StoredAnswer | null = null;
  /** The step that sets it is the last one. */
  outcome: Outcome<T> | null = null;

  constructor(gate: CallDeps, call: Call, present: Present<T>, codec: AnswerCodec<T> | undefined) {
    this.gate = gate;
    this.call = call;
    this.operation = call.operation;
    this.present = present;
    this.codec = codec;
  }
}

/** Ends the call with its answer; `headers` are those of its charge. */
export function setAnswer<T>(run: CallRun<T>, answer: T, headers?: Record<string, string>): void {
  const { call, caller, ctx, leases } = run;
  if (headers !== undefined) Object.assign(call.headers, headers);
  run.outcome = { kind: 'answer', answer, caller, priced: ctx.priced === true, done: leases!.done };
}
