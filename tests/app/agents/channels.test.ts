// The same calls over REST, MCP and A2A: equal answers, equal charges, equal refusals.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATIONS } from '../../../api/operations/table.ts';
import { callable, ownToolNames } from '../../../api/render/tools.ts';
import { type AgentCall, addressOf, agentCalls } from '../../support/agent-questions.ts';
import { ADMIN, type TestApp, testApp } from '../../support/app.ts';
import { type Listener, startListener } from '../../support/listening.ts';
import { connectMcp, type McpClient } from '../../support/mcp-clients.ts';
import { newKey } from '../../support/money-on-stores.ts';
import { verifies } from '../../support/verifies.ts';

verifies('error.402-channels', 'table.one-registry', 'table.no-repeats', 'pack.no-other-change');

let app: TestApp;
let at: Listener;
const clients: McpClient[] = [];
beforeAll(async () => {
  app = await testApp({ packs: ['app/static/lanterns/input/lanterns'] });
  at = await startListener(app);
});
afterAll(async () => {
  for (const client of clients) await client.close();
  await at.stop();
  expect(app.faults).toEqual([]);
  expect(app.lent()).toBe(0);
  await app.close();
});

/** The body without ids of the request, and its price. */
interface Told {
  body: unknown;
  charge: number | undefined;
}

/** The body without next steps, which contain tool names or addresses, and without the channel's sign-in. */
function plain({ request_id: _, alternative_action: __, how_to_pay, ...body }: Record<string, unknown>) {
  const { oauth, ...ways } = (how_to_pay ?? {}) as Record<string, unknown>;
  return how_to_pay === undefined ? body : { ...body, how_to_pay: { ...ways, oauth: oauth !== undefined } };
}
type Headers = Record<string, string>;

async function overRest(question: AgentCall, headers: Headers): Promise<Told> {
  const { operation } = question;
  const response = await app.ask(addressOf(question), { headers });
  const charge = response.headers.get('x-charge-eur');
  const text = await response.text();
  const isText = response.ok && !operation.formats.includes('json');
  return { body: isText ? text : plain(JSON.parse(text)), charge: charge === null ? undefined : Number(charge) };
}

async function overMcp({ operation, given }: AgentCall, client: McpClient): Promise<Told> {
  const { structuredContent, content, isError, _meta } = await client.call(operation.name, given);
  const isText = !isError && !operation.formats.includes('json');
  return {
    body: isText ? content[0]?.text : plain(structuredContent),
    charge: _meta['charge_eur'] as number | undefined,
  };
}

interface Detail {
  '@type': string;
  value?: Record<string, unknown>;
}
interface A2aAnswer {
  message?: { parts: { text?: string; data?: Record<string, unknown> }[]; metadata: { charge_eur?: number } };
  error?: { details: Detail[] };
}

async function overA2a({ operation, given }: AgentCall, headers: Headers): Promise<Told> {
  const data = { skill: operation.name, ...given };
  const body = JSON.stringify({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data }] } });
  const response = await app.ask('/a2a/v1/message:send', { method: 'POST', body, headers });
  const { message, error } = (await response.json()) as A2aAnswer;
  const part = (kind: 'text' | 'data') => message?.parts.find((each) => each[kind] !== undefined)?.[kind];
  const refusal = error?.details.find((each) => each['@type'].endsWith('Struct'))?.value;
  const told = refusal ?? (operation.formats.includes('json') ? (part('data') as Record<string, unknown>) : undefined);
  return { body: told ? plain(told) : part('text'), charge: message?.metadata.charge_eur };
}

const all = agentCalls().map((question) => [`${question.operation.name}, ${question.about}`, question] as const);

/** Calls with three callers of the same kind, one on each channel. */
async function callers(make: () => Promise<Headers>) {
  const [rest, mcp, a2a] = [await make(), await make(), await make()];
  const client = await connectMcp('2025-11-25', `${at.base}/mcp?max_tokens=200000`, mcp);
  clients.push(client);
  return { rest, mcp: client, a2a };
}

describe.each([
  ['a key', async () => (await newKey(app, 50)).headers],
  ['an operator', async () => ({ Authorization: `Bearer ${ADMIN}` })],
  ['nobody', async (): Promise<Headers> => ({})],
] as const)('%s', (who, make) => {
  let on: Awaited<ReturnType<typeof callers>>;
  beforeAll(async () => {
    on = await callers(make);
  });

  // Anonymous search is the exception: REST shows previews, the others return the price.
  const asked = all.filter(([, { operation }]) => who !== 'nobody' || !operation.previews);

  it.each(asked)('gets the same from every channel: %s', async (_, question) => {
    const rest = await overRest(question, on.rest);
    // Callers by tool name get operations without addresses.
    if (rest.body && typeof rest.body === 'object' && 'message' in rest.body)
      rest.body = { ...rest.body, message: String(rest.body['message']).replace(/ \((?:GET|POST) [^)]*\)/g, '') };
    expect(await overMcp(question, on.mcp)).toEqual(rest);
    expect(await overA2a(question, on.a2a)).toEqual(rest);
  });
});

it('answers every operation its own question', async () => {
  const operator = { Authorization: `Bearer ${ADMIN}` };
  for (const [name, question] of all.filter(([name]) => name.endsWith('its own question'))) {
    const { body } = await overRest(question, operator);
    expect(JSON.stringify(body), name).not.toContain('"is_retriable"');
  }
});

it('keeps what is for accounts, owners and files to REST: no tool, no skill, nothing charged', async () => {
  const others = OPERATIONS.filter((each) => !callable(OPERATIONS).includes(each)).map(({ name }) => name);
  expect(others).toEqual(expect.arrayContaining(['keys_create', 'keys_me', 'keys_topup', 'optout', 'claim_request']));
  const { headers } = await newKey(app, 1);
  const client = await connectMcp('2025-11-25', `${at.base}/mcp`, headers);
  clients.push(client);
  const names = (await client.tools()).map(({ name }) => name);
  const { body: card } = await app.json('/.well-known/agent-card.json');
  const skills = (card['skills'] as { id: string }[]).map(({ id }) => id);
  for (const name of others) {
    expect([names.includes(name), skills.includes(name)], name).toEqual([false, false]);
    await expect(client.call(name, { dataset: 'tools', email: 'a@example.org' }), name).rejects.toThrow(/Unknown tool/);
    const body = JSON.stringify({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data: { skill: name } }] } });
    const refused = await app.ask('/a2a/v1/message:send', { method: 'POST', body, headers });
    expect(refused.status, name).toBe(400);
  }
  const { body } = await app.json('/v1/keys/me', { headers });
  expect(body['balance_eur']).toBe(1.5);
});

it('charges a call the same on every channel', async () => {
  const { rest, mcp, a2a } = await callers(async () => (await newKey(app, 50)).headers);
  const paid = all.filter(([name, { operation }]) => operation.access === 'paid' && name.endsWith('its own question'));
  for (const [, question] of paid) {
    const { charge } = await overRest(question, rest);
    const free = question.operation.name === 'entity_prices' && question.given['dataset'] === 'harbours';
    expect(charge, question.operation.name).toEqual(free ? undefined : expect.any(Number));
    expect((await overMcp(question, mcp)).charge).toBe(charge);
    expect((await overA2a(question, a2a)).charge).toBe(charge);
  }
});

it('shows anonymous searches only on REST', async () => {
  const { mcp } = await callers(async () => ({}));
  for (const [, question] of all.filter(([name]) => name.startsWith('entity_search, tools, its own'))) {
    expect((await overRest(question, {})).body).toMatchObject({ items: expect.any(Array) });
    const refused = { error: 'payment_required', price_eur: 0.008 };
    expect((await overMcp(question, mcp)).body).toMatchObject(refused);
    expect((await overA2a(question, {})).body).toMatchObject(refused);
  }
});

it('has a pack that was put in a folder in every channel', async () => {
  const client = await connectMcp('2026-07-28', `${at.base}/mcp?datasets=lanterns`);
  clients.push(client);
  const names = (await client.tools()).map(({ name }) => name);
  expect(names).toEqual([
    ...callable(OPERATIONS).map(({ name }) => name),
    'lanterns_search',
    'lanterns_get',
    'lanterns_prices',
    'lanterns_compare',
  ]);
  const [search] = (await client.tools()).filter(({ name }) => name === 'lanterns_search');
  expect(Object.keys(search?.inputSchema.properties ?? {})).not.toContain('near');
  expect((await client.call('lanterns_search', {})).structuredContent).toMatchObject({ error: 'payment_required' });
  expect((await client.resources()).map(({ uri }) => uri)).toEqual(['service://lanterns/llms.txt']);
  expect((await client.read('service://lanterns/entity/record-1'))[0]?.text).toContain('Record 1');
  const { body } = await app.json('/v1/datasets');
  const listed = (body['datasets'] as { id: string; tools: string[] }[]).find(({ id }) => id === 'lanterns');
  expect(listed?.tools).toEqual(expect.arrayContaining(ownToolNames(OPERATIONS, 'lanterns')));
  const card = await app.json('/.well-known/agent-card.json');
  expect(card.body['description']).toContain('lanterns');
  const sent = JSON.stringify({ message: { parts: [{ data: { skill: 'lanterns_get', entity_id: 'record-1' } }] } });
  const answer = await app.json('/a2a/v1/message:send', { method: 'POST', body: sent, admin: true });
  expect(answer.body).toMatchObject({
    message: {
      parts: expect.arrayContaining([
        { data: expect.objectContaining({ slug: 'record-1' }), mediaType: 'application/json' },
      ]),
    },
  });
});
