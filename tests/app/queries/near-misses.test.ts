// Requests that almost match the interface: the message or hint contains the intended call, in every channel.
import { expect, test } from 'vitest';
import { requester } from '../../near-misses/ask.ts';
import { nearMisses } from '../../near-misses/cases.ts';
import { failure, judge, type MissVerdict, report } from '../../near-misses/judge.ts';
import { readWorld } from '../../near-misses/world.ts';
import { ADMIN, appOfAll } from '../../support/app.ts';
import { listenerOfAll } from '../../support/listening.ts';

/** The minimal share of messages with the right call. */
const FLOOR = 0.95;

const app = await appOfAll({ nights: true });
const at = await listenerOfAll(app);

test('of 500 near misses on the fictional packs, nearly all get the intended call', async () => {
  const ask = requester(at.base, ADMIN);
  const verdicts: MissVerdict[] = [];
  for (const near of nearMisses(await readWorld(ask), 500, 1)) verdicts.push(await judge(ask, near));
  const passed = verdicts.filter((verdict) => verdict.passed);
  const failed = verdicts.filter((verdict) => !verdict.passed).map(failure);
  expect(passed.length / verdicts.length, [...failed, report(verdicts)].join('\n')).toBeGreaterThanOrEqual(FLOOR);
  expect(verdicts.length).toBeGreaterThanOrEqual(400);
  expect(app.faults).toEqual([]);
}, 120_000);

const message = async (path: string, body?: unknown) => {
  const { status, body: answer } = await requester(at.base, ADMIN)(path, body);
  return [status, answer['message'], answer['alternative_action']];
};

const SCHEMA = 'GET https://register.example/v1/tools/schema lists the filters under "filters".';

test.each([
  [
    'entities?page=2',
    '"page" is not a filter or parameter of this operation. Did you mean "cursor"? Write cursor=<next_cursor of the page before>.',
    SCHEMA,
  ],
  [
    'entities?min_price=5',
    '"min_price" is not a filter or parameter of this operation. Did you mean "min_price.list" or "min_price.rental"?',
    SCHEMA,
  ],
  ['entities?mass%3E=5', '"mass>" is not a filter or parameter of this operation. Did you mean "min_mass"?', SCHEMA],
  [
    'status?limit=5',
    '"limit" is not a parameter: this operation has no parameters.',
    'dataset_status takes no parameters.',
  ],
  [
    'entities/batch?ids=a&page=2',
    '"page" is not a parameter of this operation. Its parameters are ids, fields, as_of, format.',
    'entity_batch takes ids, fields, as_of.',
  ],
])('400 %s', async (path, text, action) => expect(await message(`/v1/tools/${path}`)).toEqual([400, text, action]));

test.each([
  ['entities?sort=name,kind', 400, 'sort: must be one key (got "name,kind"). Did you mean "name"?'],
  [
    'entities?fields=slug',
    400,
    'fields: slug is always part of a record; list attributes only, or omit fields to get all.',
  ],
  [
    'entities?near=91,0,10',
    400,
    'near: the latitude must be between -90 and 90 (got 91). Latitude comes first: did you mean near=0,91,10?',
  ],
  [
    'changelog?attribute=price',
    400,
    'attribute: tools has no attribute "price". price is a group: name one of its members, price.list, price.rental.',
  ],
  [
    'facets?by=price',
    400,
    'by: tools has no attribute "price". price is a group, and none of its members can be named here. Known, the nearest first: name, maker, model, kind, status, first_seen, cordless, mass, runtime, materials, tested_on, domain.',
  ],
  ['entities?min_mass=1,000', 422, 'min_mass: must be a number of kg (got "1,000"); did you mean 1000?'],
  ['changelog?days=400', 422, 'days: must be between 1 and 365 (got 400)'],
])('%s: %i', async (path, status, text) =>
  expect((await message(`/v1/tools/${path}`)).slice(0, 2)).toEqual([status, text]),
);

test('filters as JSON text are an object, and anything else is refused, by MCP and A2A', async () => {
  const ask = requester(at.base, ADMIN);
  const call = async (filters: unknown) => {
    const params = { name: 'entity_search', arguments: { dataset: 'tools', filters, format: 'json' } };
    const { body } = await ask('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const [{ text }] = (body['result'] as { content: [{ text: string }] }).content;
    return JSON.parse(text) as { items?: unknown[]; message?: string };
  };
  expect((await call('{"kind":"saw"}')).items).toEqual((await call({ kind: 'saw' })).items);
  const refusal = 'filters: must be an object, such as {"<attribute>": "<value>"}';
  expect((await call('kind=saw')).message).toBe(`${refusal} (got "kind=saw")`);
  expect((await call(['kind'])).message).toBe(refusal);
  expect((await call({ mass: { min: 5 } })).message).toBe(
    '"mass[min]" is not a filter or parameter of this operation. Did you mean "min_mass"?',
  );
  const data = { skill: 'entity_search', dataset: 'tools', filters: '{"kind":"nothing"}' };
  const sent = await ask('/a2a/v1/message:send', { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data }] } });
  expect(JSON.stringify(sent.body)).toContain('No record has kind=nothing');
});

test('hostile names are refused briefly and quickly', async () => {
  for (const name of [
    'x'.repeat(20_000),
    '__proto__',
    'constructor',
    '[[[[',
    '>'.repeat(500),
    '\u202e',
    'a.'.repeat(5_000),
  ]) {
    const began = performance.now();
    const [status, text] = await message(`/v1/tools/entities?${new URLSearchParams([[name, '1']])}`);
    expect([status, String(text).length < 600]).toEqual([400, true]);
    expect(performance.now() - began).toBeLessThan(2_000);
  }
});
