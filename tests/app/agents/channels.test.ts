// The same calls over REST, MCP and A2A: equal answers, equal charges, equal refusals.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATIONS } from '../../../api/operations/table.ts';
import { callable, ownToolNames } from '../../../api/render/tools.ts';
import { agentCalls } from '../../support/agent-questions.ts';
import { ADMIN, appOfAll } from '../../support/app.ts';
import { overA2a, overMcp, overRest, type RequestHeaders } from '../../support/call-channels.ts';
import { listenerOfAll } from '../../support/listening.ts';
import { connectMcp, type McpClient } from '../../support/mcp-clients.ts';
import { newKey } from '../../support/money-on-stores.ts';
import { verifies } from '../../support/verifies.ts';

verifies('error.402-channels', 'table.one-registry', 'table.no-repeats', 'pack.no-other-change');

const clients: McpClient[] = [];
const app = await appOfAll({ packs: ['app/static/lanterns/input/lanterns'] });
const at = await listenerOfAll(app);
afterAll(async () => {
  for (const client of clients) await client.close();
  expect(app.faults).toEqual([]);
  expect(app.lent()).toBe(0);
});

const all = agentCalls().map((question) => [`${question.operation.name}, ${question.about}`, question] as const);

/** Calls with three callers of the same kind, one on each channel. */
async function callers(make: () => Promise<RequestHeaders>) {
  const [rest, mcp, a2a] = [await make(), await make(), await make()];
  const client = await connectMcp('2025-11-25', `${at.base}/mcp?max_tokens=200000`, mcp);
  clients.push(client);
  return { rest, mcp: client, a2a };
}

describe.each([
  ['a key', async () => (await newKey(app, 50)).headers],
  ['an operator', async () => ({ Authorization: `Bearer ${ADMIN}` })],
  ['no credential', async (): Promise<RequestHeaders> => ({})],
] as const)('%s', (who, make) => {
  let on: Awaited<ReturnType<typeof callers>>;
  beforeAll(async () => {
    on = await callers(make);
  });

  // Anonymous search is the exception: REST shows previews, the others return the price.
  const asked = all.filter(([, { operation }]) => who !== 'no credential' || !operation.charge.previews);

  it.each(asked)('gets the same from every channel: %s', async (_, question) => {
    const rest = await overRest(app, question, on.rest);
    // Callers by tool name get operations without addresses.
    if (rest.body && typeof rest.body === 'object' && 'message' in rest.body)
      rest.body = { ...rest.body, message: String(rest.body['message']).replace(/ \((?:GET|POST) [^)]*\)/g, '') };
    expect(await overMcp(question, on.mcp)).toEqual(rest);
    expect(await overA2a(app, question, on.a2a)).toEqual(rest);
  });
});

it('answers every operation its own question', async () => {
  const operator = { Authorization: `Bearer ${ADMIN}` };
  for (const [name, question] of all.filter(([name]) => name.endsWith('its own question'))) {
    const { body } = await overRest(app, question, operator);
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
  const paid = all.filter(
    ([name, { operation }]) => operation.charge.access === 'paid' && name.endsWith('its own question'),
  );
  for (const [, question] of paid) {
    const { charge } = await overRest(app, question, rest);
    const free = question.operation.name === 'entity_prices' && question.given['dataset'] === 'harbours';
    expect(charge, question.operation.name).toEqual(free ? undefined : expect.any(Number));
    expect((await overMcp(question, mcp)).charge).toBe(charge);
    expect((await overA2a(app, question, a2a)).charge).toBe(charge);
  }
});

it('shows anonymous searches only on REST', async () => {
  const { mcp } = await callers(async () => ({}));
  for (const [, question] of all.filter(([name]) => name.startsWith('entity_search, tools, its own'))) {
    expect((await overRest(app, question, {})).body).toMatchObject({ items: expect.any(Array) });
    const refused = { error: 'payment_required', price_eur: 0.008 };
    expect((await overMcp(question, mcp)).body).toMatchObject(refused);
    expect((await overA2a(app, question, {})).body).toMatchObject(refused);
  }
});

it('has a pack that was put in a folder in every channel', async () => {
  const client = await connectMcp('2026-07-28', `${at.base}/mcp?datasets=lanterns`);
  clients.push(client);
  const names = (await client.tools()).map(({ name }) => name);
  expect(names).toEqual([
    ...callable(OPERATIONS)
      .filter(({ tool }) => !tool?.account)
      .map(({ name }) => name),
    'lanterns_search',
    'lanterns_get',
    'lanterns_prices',
    'lanterns_compare',
  ]);
  const [search] = (await client.tools()).filter(({ name }) => name === 'lanterns_search');
  expect(Object.keys(search?.inputSchema.properties ?? {})).not.toContain('near');
  expect((await client.call('lanterns_search', {})).structuredContent).toMatchObject({ error: 'payment_required' });
  expect((await client.resources()).map(({ uri }) => uri)).toEqual([
    'service://lanterns/llms.txt',
    'ui://dataset-register/record',
  ]);
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
