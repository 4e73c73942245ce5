// Calls of the API by pages, charged to the key of a session (contract section 9, "Keys"). A page makes one for each
// click on a button that shows the price.
import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { keyedDigest } from '../../data/model/keyed.ts';
import type { Caller } from '../access/caller.ts';
import { namedCall } from '../channels/named-call.ts';
import { REST_ANSWER_CODEC, type RestAnswer } from '../channels/rest/stored-answer.ts';
import { ApiError } from '../contract/errors.ts';
import { isChange } from '../contract/operation.ts';
import { type CallDeps, execute } from '../gate/execute.ts';
import { readBody } from '../http/request.ts';
import { responseOf } from '../http/respond.ts';
import type { RouteRequest } from '../http/server.ts';
import { keys_subscriptions_add, NEW_SUBSCRIPTION, queryOf } from '../operations/account/keys_subscriptions.ts';
import { parseBody } from '../operations/common/account.ts';
import { requestHash } from '../payments/idempotency.ts';
import { render } from '../render/render.ts';

/** The header of the token. */
const TOKEN_HEADER = 'x-csrf-token';

const RUN_BODY = z.strictObject({
  operation: z.string(),
  dataset: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  /** The price that the page showed; 0: only the stored answer of an earlier call. */
  max_price_eur: z.number().min(0).max(1_000_000),
});

/** The token that requests of a session must contain; other sites cannot read it. */
export const runToken = (session: string): string => keyedDigest(session, 'calls of pages')('token');

function isRunToken(session: string, sent: string): boolean {
  const [expected, actual] = [Buffer.from(runToken(session)), Buffer.from(sent)];
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

/**
 * Subscribes the owner of a session to the changes of a view by mail. `args`: the body of a new subscription without
 * its address, which is that of the key. Errors: those of `keys_subscriptions_add`.
 */
async function followView(
  { subscriptions }: CallDeps,
  args: Record<string, unknown>,
  { request, key, email }: { request: RouteRequest; key: string; email: string },
): Promise<Response> {
  if (!subscriptions) throw new ApiError('unavailable', 'There are no subscriptions here.');
  if (email === '')
    throw new ApiError('invalid_parameter', 'Your key has no e-mail address: PUT /v1/keys/me/email attaches one.');
  await request.count('free');
  const wanted = parseBody(NEW_SUBSCRIPTION, { ...args, email });
  const added = { dataset: wanted.dataset, to: { email }, query: queryOf(wanted) };
  const { id } = await subscriptions.add(added, request.requester(key));
  return Response.json({ id, status: 'unverified', email }, { headers: { 'Cache-Control': 'no-store' } });
}

/**
 * Runs an operation that reads a dataset, for the owner of a session. The answer is that of REST, with its headers of
 * charge and balance. It is stored for 24 hours: the same call on the same release is not charged again.
 * `keys_subscriptions_add` is the only change: mails to the address of the key, `email`. Errors:
 * `validation_failed`, `key_required` (a wrong token), `not_found`, and those of the gate.
 *
 * @example
 * ```ts
 * // {"operation": "entity_get", "dataset": "airports", "arguments": {"entity_id": "zrh"}, "max_price_eur": 0.004}
 * const response = await runForSession(gate, request, { token, email }, { kind: 'key', id, plan, balance });
 * ```
 */
export async function runForSession(
  gate: CallDeps,
  request: RouteRequest,
  session: { token: string; email: string },
  caller: Caller & { kind: 'key' },
): Promise<Response> {
  if (!isRunToken(session.token, request.header(TOKEN_HEADER) ?? ''))
    throw new ApiError('key_required', 'X-CSRF-Token is not that of this session: GET /account/session returns it.');
  const body = RUN_BODY.safeParse(await readBody(request.http));
  if (!body.success) {
    const detail = body.error.issues.map(({ path, message, code }) => ({
      loc: ['body', ...path.map(String)],
      msg: message,
      type: code,
    }));
    throw new ApiError('validation_failed', `${detail[0]!.loc.join('.')}: ${detail[0]!.msg}`, { detail });
  }
  const { operation: name, dataset, arguments: args, max_price_eur } = body.data;
  if (name === keys_subscriptions_add.name)
    return followView(gate, { ...args, dataset }, { request, key: caller.id, email: session.email });
  const operation = gate.operations.find((candidate) => candidate.name === name);
  const readsDataset = operation && !isChange(operation) && ['paid', 'plan'].includes(operation.charge.access);
  if (!readsDataset) throw new ApiError('not_found', `operation: "${name.slice(0, 100)}" is not a paid operation.`);
  const input = { channel: 'rest', operation, args: { ...args, max_price_eur }, dataset } as const;
  const call = Object.assign(namedCall(gate, request.http, request, input, true), { caller });
  call.idempotency_key = requestHash('page', await releaseOf(gate, dataset), call.format, call.url.href);
  const outcome = await execute<RestAnswer>(
    gate,
    call,
    async (result, ctx) => ({ result, rendered: await render(operation, result, ctx) }),
    REST_ANSWER_CODEC,
  );
  if (outcome.kind !== 'answer') throw new Error('a call of a page is neither conditional nor a HEAD');
  outcome.done();
  const { content_type, body: content } = outcome.answer.rendered;
  // The codec has read streams; both are complete.
  const text = content as string | Uint8Array<ArrayBuffer> | readonly Uint8Array[];
  return responseOf({
    status: 200,
    headers: { 'Content-Type': content_type, 'Cache-Control': 'no-store' },
    body: text,
  });
}

/** The current release of a dataset. Throws `unknown_dataset`. */
async function releaseOf(gate: CallDeps, dataset: string): Promise<string> {
  const leases = await gate.lease(dataset);
  leases.done();
  return leases.release?.manifest.release ?? '';
}
