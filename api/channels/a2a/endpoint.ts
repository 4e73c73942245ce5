// A2A over HTTP+JSON: SendMessage without tasks (A2A 1.0 section 11; specification section 4, "Agent
// protocols").
import {
  RestExtendedAgentCardNotConfiguredError,
  RestPushNotificationNotSupportedError,
  RestTaskNotFoundError,
  RestUnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import { ApiError, toApiError } from '../../contract/errors.ts';
import { A2A_PATH } from '../../discovery/agent-card.ts';
import { admit, type Call, execute } from '../../gate/execute.ts';
import { compressReply } from '../../http/coding.ts';
import { notFound } from '../../http/not-found.ts';
import { decodePayment, type Http, type HttpRequest, readBody, readRequest } from '../../http/request.ts';
import { responseOf } from '../../http/respond.ts';
import { dataset_guide } from '../../operations/dataset/dataset_guide.ts';
import { cachedToolList, type Tool, type ToolList } from '../../render/tools.ts';
import { cutBody, cutText } from '../mcp/cut.ts';
import { tokensOf } from '../mcp/scope.ts';
import { textFitsIn } from '../mcp/tokens.ts';
import { namedCall } from '../named-call.ts';
import type { App, RestDeps } from '../rest/rest.ts';
import { ADVICE, buildAdvice, matchDataset } from './advice.ts';
import { type CardDeps, mountCard } from './card.ts';
import { checkVersion, type ParsedMessage, readMessage } from './message.ts';
import { A2A_JSON, AGENT_REPLY_CODEC, type AgentReply, a2aError, messageOf, ReplyParts } from './reply.ts';

export type A2aDeps = RestDeps & CardDeps;

/** Mounts the agent and its card. */
export function mountA2a(app: App, deps: A2aDeps): void {
  const tools = cachedToolList(deps.gate.operations);
  mountCard(app, deps, tools);
  const mounted = { ...deps, offer: catalogueOf(deps, tools) };
  app.post(`${A2A_PATH}/message:send`, (c) => respond(deps, c, (request) => send(mounted, c, request)));
  // Methods of the protocol that this agent does not support (sections 3.1 and 9.2), each with its own error.
  const without = (path: string, error: () => Error) => app.all(A2A_PATH + path, (c) => rejectWith(deps, c, error));
  without(
    '/message:stream',
    () => new RestUnsupportedOperationError({ message: 'Streaming is not supported; use message:send.' }),
  );
  without('/extendedAgentCard', () => new RestExtendedAgentCardNotConfiguredError());
  without('/tasks', () => new RestUnsupportedOperationError({ message: 'This agent has no tasks.' }));
  without('/tasks/:id/pushNotificationConfigs', () => new RestPushNotificationNotSupportedError());
  without('/tasks/:id/pushNotificationConfigs/:config', () => new RestPushNotificationNotSupportedError());
  without('/tasks/:id', () => new RestTaskNotFoundError({ message: 'This agent has no tasks.' }));
  without(
    '/message:send',
    () => new ApiError('method_not_allowed', 'Send messages with POST.', { headers: { Allow: 'POST' } }),
  );
  app.all('/a2a/*', async (c) => {
    const { error } = await notFound(deps.gate, c.req.path);
    return rejectWith(deps, c, () => error);
  });
}

/**
 * Runs a handler and turns thrown errors into A2A errors; with the dataset, if the call got as far as that.
 */
async function respond(
  { gate, report }: A2aDeps,
  c: Http,
  answer: (request: HttpRequest) => Promise<Response>,
): Promise<Response> {
  const request = readRequest(gate, c);
  try {
    checkVersion(c.req.header('a2a-version') ?? undefined);
    return await answer(request);
  } catch (thrown) {
    const cause = thrown instanceof CallError ? thrown.cause : thrown;
    const { code } = toApiError(cause);
    if (code === 'internal' && !isProtocol(cause) && !c.req.raw.signal.aborted) report(cause, request.request_id);
    const { headers, request_id } = request;
    const dataset = thrown instanceof CallError ? thrown.dataset : undefined;
    return a2aError(cause, { base_url: gate.base_url, request_id, headers, dataset });
  }
}

/** Errors of the SDK have a member `transport`. */
const isProtocol = (error: unknown) => typeof error === 'object' && error !== null && 'transport' in error;

/** An error of a call whose dataset is known. */
class CallError extends Error {
  readonly dataset: string | undefined;
  constructor(cause: unknown, dataset: string | undefined) {
    super('a call failed', { cause });
    this.dataset = dataset;
  }
}

const rejectWith = (deps: A2aDeps, c: Http, error: () => Error) =>
  respond(deps, c, async (request) => {
    await admit(deps.gate, request.visitor, 'free');
    throw error();
  });

async function send(deps: Mounted, c: Http, request: HttpRequest): Promise<Response> {
  const { gate, offer } = deps;
  let message: ParsedMessage;
  let tokens: number;
  try {
    tokens = tokensOf(request.query['max_tokens']);
    message = readMessage(await readBody(c));
  } catch (error) {
    await admit(gate, request.visitor, 'free');
    throw error;
  }
  const catalogue = await offer();
  const reply = await (message.skill === null
    ? advise(deps, c, request, { ...message, tokens }, catalogue)
    : perform(deps, c, request, { ...message.skill, wants: message.wants, tokens }, catalogue));
  const body = messageOf(reply, message.contextId, request.headers);
  const headers = { ...request.headers, 'Content-Type': A2A_JSON, 'Cache-Control': 'private, no-store' };
  return responseOf(await compressReply({ status: 200, headers, body }, c.req.header('accept-encoding')));
}

/** The current datasets and their tools. */
interface Catalogue {
  packs: Parameters<ToolList>[0];
  tools: Tool[];
}

function catalogueOf({ gate }: A2aDeps, tools: ToolList): () => Promise<Catalogue> {
  return async () => {
    const leases = await gate.lease(null);
    const packs = leases.releases.map(({ pack }) => pack);
    leases.done();
    return { packs, tools: await tools(packs) };
  };
}

interface Mounted extends A2aDeps {
  offer: () => Promise<Catalogue>;
}

/** Runs a skill. */
async function perform(
  { gate }: A2aDeps,
  c: Http,
  request: HttpRequest,
  { name, args, wants, tokens }: { name: string; args: unknown; wants: ParsedMessage['wants']; tokens: number },
  { tools }: Catalogue,
): Promise<AgentReply> {
  const tool = tools.find((each) => each.name === name);
  let call: Call;
  try {
    if (!tool) throw unknownSkill(name, tools);
    const payment = decodePayment(c.req.header('payment-signature'));
    const { operation, dataset } = tool;
    call = namedCall(gate, c, request, { channel: 'a2a', operation, args, dataset, payment });
  } catch (error) {
    await admit(gate, request.visitor, 'free');
    throw error;
  }
  try {
    const parts = new ReplyParts(tool.operation, wants, tokens);
    const { shorter } = parts;
    if (shorter) call.shorter = shorter;
    const outcome = await execute(gate, call, (result, ctx) => parts.present(result, ctx), AGENT_REPLY_CODEC);
    outcome.done();
    if (outcome.kind !== 'answer') throw new Error('an A2A call is neither conditional nor HEAD');
    return outcome.answer;
  } catch (error) {
    const exists = call.headers['X-Dataset-Version'] !== undefined;
    throw new CallError(error, exists ? (call.dataset ?? undefined) : undefined);
  } finally {
    Object.assign(request.headers, call.headers);
  }
}

function unknownSkill(name: string, tools: Tool[]): ApiError {
  const msg = `there is no skill "${name.slice(0, 80)}"; there are ${tools.map((each) => each.name).join(', ')}`;
  return new ApiError('validation_failed', `skill: ${msg}`, {
    detail: [{ loc: ['body', 'skill'], msg, type: 'enum' }],
  });
}

/** Replies to a text part: skills, and the guide of the dataset that matches, read through the gate. */
async function advise(
  deps: A2aDeps,
  c: Http,
  request: HttpRequest,
  { text, wants, tokens }: ParsedMessage & { tokens: number },
  catalogue: Catalogue,
): Promise<AgentReply> {
  const pack = matchDataset(text, catalogue.packs);
  if (pack === null) await admit(deps.gate, request.visitor, 'free');
  const guideCall = {
    name: dataset_guide.name,
    args: { dataset: pack?.id },
    wants: { text: true, data: false },
    tokens,
  };
  const guide = pack && (await perform(deps, c, request, guideCall, catalogue)).text;
  const advice = buildAdvice(catalogue.packs, catalogue.tools, pack && guide ? { pack, guide } : null);
  return {
    text: wants.text ? cutText(advice.text, tokens).text : null,
    data: wants.data
      ? JSON.stringify(
          textFitsIn(JSON.stringify(advice.data), tokens) ? advice.data : cutBody(ADVICE, advice.data, tokens).body,
        )
      : null,
  };
}
