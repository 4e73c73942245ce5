// Identifies the caller of a request and counts it against its rate limit.
import { ANONYMOUS, type Caller, credentialError, operatorKeyInUrl } from '../access/caller.ts';
import { type Bucket, type BucketState, limitHeaders } from '../access/limits.ts';
import { ApiError } from '../contract/errors.ts';
import type { CallDeps, Visitor } from './context.ts';

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
  const { credential } = visitor;
  if (visitor.caller) return limit(gate, visitor, bucket, calls, visitor.caller);
  if (credential === null) return limit(gate, visitor, bucket, calls, ANONYMOUS);
  const candidate = await gate.identify(credential);
  const exposed = candidate?.kind === 'admin' && credential.via === 'api_key';
  if (candidate?.kind === 'admin' && !exposed) return candidate;
  const child = keysOnly && candidate?.kind === 'key' && candidate.child !== undefined;
  const refused = exposed || child || (keysOnly && candidate?.kind === 'key' && candidate.grant !== undefined);
  const caller = refused ? null : candidate;
  const admitted = await limit(gate, visitor, bucket, calls, caller);
  if (child)
    throw new ApiError('invalid_key', 'A child key spends, and manages no keys: send the key that created it.');
  if (caller === null) throw exposed ? operatorKeyInUrl() : credentialError(credential);
  return admitted;
}

/** Counts the calls of a caller; null: of an address whose credential was refused. Throws 429 `rate_limited`. */
async function limit(
  gate: CallDeps,
  visitor: Visitor,
  bucket: Bucket,
  calls: number,
  caller: Caller | null,
): Promise<Caller> {
  const who = caller?.kind === 'key' ? `key ${caller.id}` : `ip ${visitor.address}`;
  const plan = caller?.kind === 'key' ? caller.plan : undefined;
  const state = await gate.limits.spend(bucket, who, plan, calls);
  if (state !== null) requireAllowed(gate, visitor, state);
  return caller ?? ANONYMOUS;
}

function requireAllowed({ now }: CallDeps, { headers }: Visitor, state: BucketState): void {
  Object.assign(headers, limitHeaders(state, now()));
  if (state.allowed) return;
  const message = `More than ${state.limit} ${state.bucket} calls in a minute; try again in ${state.reset} s.`;
  throw new ApiError('rate_limited', message, { retry_after_seconds: state.reset });
}
