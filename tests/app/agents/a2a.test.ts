// A2A with the SDK's own client over a socket, and over plain HTTP for the refusals of the protocol.
import { type AgentCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import { encode as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import { createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { OPERATIONS } from '../../../api/operations/table.ts';
import { callable } from '../../../api/render/tools.ts';
import { type A2aClient, a2aClient } from '../../support/a2a-client.ts';
import { appOfAll, BASE, testApp } from '../../support/app.ts';
import { listenerOfAll } from '../../support/listening.ts';
import { newKey } from '../../support/money-on-stores.ts';
import { verifies } from '../../support/verifies.ts';

verifies('a2a.send', 'a2a.skill', 'a2a.reply', 'table.a2a-part', 'discovery.agent-card');

const app = await appOfAll();
const at = await listenerOfAll(app);
afterAll(async () => {
  expect(app.faults).toEqual([]);
  expect(app.lent()).toBe(0);
});

describe('the client of the SDK', () => {
  let anonymous: A2aClient;
  let paying: A2aClient;
  beforeAll(async () => {
    const { key } = await newKey(app, 10);
    anonymous = await a2aClient(at.base);
    paying = await a2aClient(at.base, { Authorization: `Bearer ${key}` });
  });

  it('finds skills named like the operations, with their prices', () => {
    const { skills, supportedInterfaces, capabilities } = anonymous.card;
    expect(skills.map(({ id }) => id)).toEqual(callable(OPERATIONS).map(({ name }) => name));
    expect(skills.find(({ id }) => id === 'entity_get')?.description).toContain(
      'Costs EUR a call: harbours 0.001, tools 0.004.',
    );
    expect(supportedInterfaces).toMatchObject([
      { url: `${BASE}/a2a/v1`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ]);
    expect(capabilities).toMatchObject({ streaming: false, pushNotifications: false });
  });

  it('runs a skill by a data part, and gets text and data', async () => {
    const { message, text, data } = await paying.send({
      skill: 'entity_get',
      dataset: 'tools',
      entity_id: 'record-1',
      fields: ['kind'],
    });
    expect(message).toMatchObject({
      contextId: 'the conversation',
      metadata: { charge_eur: 0.004, dataset_version: app.releases['tools'] },
    });
    expect(data).toMatchObject({ slug: 'record-1', attributes: { kind: expect.any(String) } });
    expect(text).toContain('Record 1');
  });

  it('runs the skills of one dataset by their names', async () => {
    const { data } = await paying.send({ skill: 'tools_search', has_maker: true, limit: 2 });
    expect(data['items']).toHaveLength(2);
  });

  it('gets only the parts it takes', async () => {
    const asked = { skill: 'dataset_facets', dataset: 'tools', by: 'kind' };
    expect((await anonymous.send(asked, ['application/json'])).message.parts).toHaveLength(1);
    const { text, data } = await anonymous.send(asked, ['text/markdown']);
    expect([text.includes('|'), data]).toEqual([true, {}]);
    const guide = await anonymous.send({ skill: 'dataset_guide', dataset: 'tools' });
    const rest = await (await app.ask('/v1/tools/llms.txt')).text();
    expect([guide.text, guide.data]).toEqual([rest, { attribution: expect.any(String), license: expect.any(String) }]);
    expect(
      (await anonymous.send({ skill: 'dataset_guide', dataset: 'tools' }, ['application/json'])).data['text'],
    ).toBe(rest);
    expect((await paying.send({ skill: 'tools_search', limit: 1, format: 'md' })).message.parts).toHaveLength(1);
  });

  it('gets the datasets and skills for words, whatever they are', async () => {
    const { text, data } = await anonymous.send('Which drills of which makers are cheap to rent?');
    expect(text).toContain('`entity_search`');
    expect(text).toContain('`harbours`');
    expect(data['datasets']).toContainEqual(expect.objectContaining({ id: 'tools' }));
    expect(data['example']).toEqual({ skill: 'dataset_guide', dataset: 'harbours' });
    expect(data['skills']).toHaveLength(callable(OPERATIONS).length);
    const other = await anonymous.send('Quelles données avez-vous ?');
    expect([other.text, other.data]).toEqual([text, data]);
  });

  it('limits replies to 20,000 tokens or the number in the address', async () => {
    const send = async (query: string, part: unknown) => {
      const message = { messageId: 'm', role: 'ROLE_USER', parts: [part] };
      const path = `/a2a/v1/message:send${query}`;
      const { status, body } = await app.json(path, { method: 'POST', body: JSON.stringify({ message }), admin: true });
      const { parts = [] } = (body['message'] ?? {}) as { parts?: { text?: string; data?: Record<string, unknown> }[] };
      return { status, parts };
    };
    const skills = [
      { skill: 'dataset_schema', dataset: 'tools' },
      { skill: 'dataset_profile', dataset: 'tools' },
      { skill: 'dataset_guide', dataset: 'tools' },
      { skill: 'datasets_list' },
      { skill: 'entity_search', dataset: 'tools', limit: 40 },
    ];
    for (const part of [
      ...skills.map((data) => ({ data })),
      { text: 'Which drills of which makers?' },
      { text: 'datasets' },
    ])
      for (const tokens of [2000, 5000]) {
        const { status, parts } = await send(`?max_tokens=${tokens}`, part);
        expect(status, JSON.stringify(part)).toBe(200);
        for (const { text, data } of parts)
          expect(o200k(text ?? JSON.stringify(data)).length, JSON.stringify(part)).toBeLessThanOrEqual(tokens);
      }
    const { parts } = await send('?max_tokens=5000', { data: { skill: 'entity_search', dataset: 'tools', limit: 40 } });
    expect(parts[1]?.data).toMatchObject({ next_cursor: expect.any(String), left_out: { part: 'items', of: 40 } });
    expect((await send('?max_tokens=1', { text: 'datasets' })).status).toBe(400);
  });

  it('gets errors', async () => {
    await expect(
      anonymous.send({ skill: 'entity_get', dataset: 'tools', entity_id: 'record-1' }),
    ).rejects.toMatchObject({
      statusCode: 402,
      message: 'entity_get costs 0.004 EUR and this call was not paid.',
    });
    await expect(anonymous.send({ skill: 'entity_delete' })).rejects.toMatchObject({ statusCode: 400 });
    for (const conditions of [{ filters: { kind: null } }, { kind: null }, { kind: ['saw', null] }, { kind: [] }])
      await expect(
        paying.send({ skill: 'entity_search', dataset: 'tools', ...conditions }),
        JSON.stringify(conditions),
      ).rejects.toMatchObject({ statusCode: 400, message: expect.stringContaining('kind: ') });
    const parts = [{ text: 'Which drills?', data: { skill: 'datasets_list' } }];
    const message = { messageId: 'm', role: 'ROLE_USER', parts };
    const mixed = await app.json('/a2a/v1/message:send', { method: 'POST', body: JSON.stringify({ message }) });
    expect([mixed.status, JSON.stringify(mixed.body)]).toEqual([
      400,
      expect.stringContaining('must have only one of text, data, raw, url'),
    ]);
  });
});

describe('the agent card', () => {
  it('is signed by the key that the key set publishes', async () => {
    const response = await app.ask('/.well-known/agent-card.json');
    expect(response.headers.get('cache-control')).toBe('public, max-age=3600');
    const card = (await response.json()) as AgentCard;
    const [header] = card.signatures.map((each: { protected: string }) =>
      JSON.parse(Buffer.from(each.protected, 'base64url').toString()),
    );
    expect(header).toMatchObject({ alg: 'ES256', typ: 'JOSE', jku: `${BASE}/oauth/jwks.json` });
    const jwks = (await (await app.ask('/oauth/jwks.json')).json()) as JSONWebKeySet;
    const keys = createLocalJWKSet(jwks);
    const verify = verifyAgentCardSignature(async (kid) => keys({ alg: 'ES256', kid }));
    await verify(card);
    // The SDK logs signatures that it could not verify.
    const said = vi.spyOn(console, 'debug').mockImplementation(() => {});
    await expect(verify({ ...card, description: 'another agent' })).rejects.toThrow();
    said.mockRestore();
  });

  it('is in ASCII, so that canonicalisers that escape other characters agree', async () => {
    const { body } = await app.json('/.well-known/agent-card.json');
    expect(JSON.stringify(body)).toMatch(/^[\x20-\x7e]+$/);
    expect(body['description']).toContain('{"skill": ..., ...arguments}');
  });

  it('is 304 when it is unchanged', async () => {
    const tag = (await app.ask('/.well-known/agent-card.json')).headers.get('etag') ?? '';
    const again = await app.ask('/.well-known/agent-card.json', { headers: { 'If-None-Match': tag } });
    expect([again.status, tag]).toEqual([304, expect.stringMatching(/"$/)]);
  });

  it('has what the protocol requires, and no key of older versions', async () => {
    const { body } = await app.json('/.well-known/agent-card.json');
    for (const name of [
      'name',
      'description',
      'version',
      'supportedInterfaces',
      'capabilities',
      'defaultInputModes',
      'defaultOutputModes',
      'skills',
    ])
      expect(body, name).toHaveProperty(name);
    for (const name of [
      'url',
      'preferredTransport',
      'security',
      'protocolVersion',
      'supportsAuthenticatedExtendedCard',
    ])
      expect(body).not.toHaveProperty(name);
    expect(body['securityRequirements']).toContainEqual({ schemes: {} });
  });
});

/** Posts a message with these parts. */
async function post(body: unknown, headers: Record<string, string> = {}, path = '/a2a/v1/message:send') {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await app.ask(path, {
    method: 'POST',
    body: text,
    headers: { 'Content-Type': 'application/a2a+json', ...headers },
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, never> };
}

const parts = (...all: unknown[]) => ({ message: { messageId: 'm', role: 'ROLE_USER', parts: all } });
const data = (given: Record<string, unknown>) => parts({ data: given });

/** HTTP status, canonical name and reason of an error. */
function told({ status, body }: Awaited<ReturnType<typeof post>>) {
  const { error } = body as unknown as { error: { code: number; status: string; details: { reason?: string }[] } };
  expect(error.code).toBe(status);
  return `${status} ${error.status} ${error.details[0]?.reason ?? ''}`.trim();
}

/** The error body of all channels. */
const ours = ({ body }: Awaited<ReturnType<typeof post>>) =>
  (
    body as unknown as { error: { details: { '@type': string; value?: Record<string, unknown> }[] } }
  ).error.details.find((each) => each['@type'] === 'type.googleapis.com/google.protobuf.Struct')?.value;

describe('errors', () => {
  it('are google.rpc.Status with our body among the details', async () => {
    const answer = await post(data({ skill: 'tools_get', entity_id: 'record-1' }));
    expect(told(answer)).toBe('402 FAILED_PRECONDITION PAYMENT_REQUIRED');
    expect(answer.headers.get('content-type')).toBe('application/a2a+json');
    expect(ours(answer)).toMatchObject({
      error: 'payment_required',
      is_retriable: false,
      price_eur: 0.004,
      x402Version: 2,
    });
    const required = JSON.parse(Buffer.from(answer.headers.get('payment-required') ?? '', 'base64').toString());
    expect(required.resource.url).toBe(`${BASE}/v1/tools/entities/record-1`);
  });

  it.each([
    ['no JSON', '{', '400 INVALID_ARGUMENT VALIDATION_FAILED'],
    ['no object', [], '400 INVALID_ARGUMENT VALIDATION_FAILED'],
    ['no message', {}, '400 INVALID_ARGUMENT VALIDATION_FAILED'],
    ['no parts', { message: { parts: [] } }, '400 INVALID_ARGUMENT VALIDATION_FAILED'],
    ['a part without content', parts({ mediaType: 'text/plain' }), '400 INVALID_ARGUMENT VALIDATION_FAILED'],
    ['data without a skill', data({ dataset: 'tools' }), '400 INVALID_ARGUMENT VALIDATION_FAILED'],
    ['an unknown skill', data({ skill: 'constructor' }), '400 INVALID_ARGUMENT VALIDATION_FAILED'],
    ['two skills', parts({ data: { skill: 'a' } }, { data: { skill: 'b' } }), '400 INVALID_ARGUMENT VALIDATION_FAILED'],
    [
      'the role of an agent',
      { message: { role: 'ROLE_AGENT', parts: [{ text: 'a' }] } },
      '400 INVALID_ARGUMENT VALIDATION_FAILED',
    ],
    ['a file', parts({ url: 'https://evil.example/a.csv' }), '400 INVALID_ARGUMENT CONTENT_TYPE_NOT_SUPPORTED'],
    ['a task', { message: { taskId: 't', parts: [{ text: 'a' }] } }, '404 NOT_FOUND TASK_NOT_FOUND'],
    ['too much', parts({ text: 'a'.repeat(70_000) }), '413 INVALID_ARGUMENT PAYLOAD_TOO_LARGE'],
    ['an unknown dataset', data({ skill: 'dataset_status', dataset: 'toolz' }), '404 NOT_FOUND UNKNOWN_DATASET'],
    [
      'an unknown filter',
      data({ skill: 'dataset_facets', dataset: 'tools', by: 'kind', kinds: 'a' }),
      '400 INVALID_ARGUMENT UNKNOWN_FILTER',
    ],
    ['a missing argument', data({ skill: 'dataset_status' }), '400 INVALID_ARGUMENT VALIDATION_FAILED'],
  ])('of %s', async (_, body, expected) => {
    expect(told(await post(body))).toBe(expected);
  });

  it('name the fields that are wrong', async () => {
    const { body } = await post(data({ skill: 'dataset_changelog', dataset: 'tools', days: 0, limit: 0 }));
    const details = (body as unknown as { error: { details: Record<string, unknown>[] } }).error.details;
    expect(details.find((each) => each['@type'] === 'type.googleapis.com/google.rpc.BadRequest')).toMatchObject({
      fieldViolations: [
        { field: 'days', description: expect.stringContaining('must be between 1 and') },
        { field: 'limit', description: expect.stringContaining('must be between 1 and') },
      ],
    });
  });

  it('of unsupported versions; the media type of the JSON does not matter', async () => {
    const asked = data({ skill: 'datasets_list' });
    expect(told(await post(asked, { 'A2A-Version': '0.3' }))).toBe('400 FAILED_PRECONDITION VERSION_NOT_SUPPORTED');
    expect((await post(asked, { 'A2A-Version': '1.0' })).status).toBe(200);
    expect((await post(asked, { 'Content-Type': 'application/json; charset=utf-8' })).status).toBe(200);
    expect((await post(asked, { 'Content-Type': 'text/plain' })).status).toBe(200);
  });

  it('of unsupported methods', async () => {
    const ask = async (method: string, path: string) => {
      const response = await app.ask(`/a2a/v1${path}`, { method });
      return told({
        status: response.status,
        headers: response.headers,
        body: (await response.json()) as Record<string, never>,
      });
    };
    expect(await ask('POST', '/message:stream')).toBe('400 FAILED_PRECONDITION UNSUPPORTED_OPERATION');
    expect(await ask('GET', '/tasks/1')).toBe('404 NOT_FOUND TASK_NOT_FOUND');
    expect(await ask('POST', '/tasks/1:cancel')).toBe('404 NOT_FOUND TASK_NOT_FOUND');
    expect(await ask('GET', '/tasks')).toBe('400 FAILED_PRECONDITION UNSUPPORTED_OPERATION');
    expect(await ask('POST', '/tasks/1/pushNotificationConfigs')).toBe(
      '400 FAILED_PRECONDITION PUSH_NOTIFICATION_NOT_SUPPORTED',
    );
    expect(await ask('GET', '/extendedAgentCard')).toBe('400 FAILED_PRECONDITION EXTENDED_AGENT_CARD_NOT_CONFIGURED');
    expect(await ask('GET', '/message:send')).toBe('405 UNIMPLEMENTED METHOD_NOT_ALLOWED');
    expect(await ask('POST', '/nothing')).toBe('404 NOT_FOUND NOT_FOUND');
  });

  it('of a wrong credential, for any operation', async () => {
    const wrong = { Authorization: 'Bearer dsr_wrong' };
    for (const body of [parts({ text: 'xyzzy' }), parts({ text: 'tools' }), data({ skill: 'datasets_list' }), {}]) {
      const answer = await post(body, wrong);
      expect(told(answer)).toBe('401 UNAUTHENTICATED INVALID_KEY');
      expect(answer.headers.get('www-authenticate')).toContain('resource_metadata=');
    }
  });

  it('of too many calls', async () => {
    const small = await testApp({ records: 12, calls: { free: 1, paid: 1 } });
    const ask = () =>
      small.ask('/a2a/v1/message:send', { method: 'POST', body: JSON.stringify(parts({ text: 'a drill' })) });
    expect((await ask()).status).toBe(200);
    const late = await ask();
    expect([late.status, Number(late.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect(((await late.json()) as { error: { status: string } }).error.status).toBe('RESOURCE_EXHAUSTED');
    await small.close();
  });
});
