// match=any, the order of searches by words, and suggestions for searches without a match (contract section 9, "Words").
import { afterAll, describe, expect, test } from 'vitest';
import { appOfAll } from '../../support/app.ts';
import { newKey } from '../../support/money-on-stores.ts';

const app = await appOfAll({ nights: true });
const { headers: key } = await newKey(app, 5);
afterAll(() => expect(app.faults).toEqual([]));

type Body = Record<string, unknown>;
interface Found extends Body {
  items: { name: string; slug: string }[];
  suggestion?: { q: string; total: number; changes: { word: string; use?: string }[] };
}

const search = async (query: string, headers: Record<string, string> = key) => {
  const { status, body } = await app.json(`/v1/tools/entities?${query}`, { headers });
  expect([query, status]).toEqual([query, 200]);
  return body as Found;
};

async function tool(name: string, input: Body): Promise<Body> {
  const { body } = await app.json('/mcp', {
    method: 'POST',
    headers: {
      ...key,
      Host: 'register.example',
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: { ...input, format: 'json' } },
    }),
  });
  return JSON.parse((body['result'] as { content: { text: string }[] }).content[0]!.text) as Body;
}

const ALL = (await search('limit=100')).items;
const [word = ''] = ALL[0]!.name.toLowerCase().match(/[a-z]{5,}/) ?? [];

describe('match=any', () => {
  test('finds records with one of the words, those with more of them first', async () => {
    const one = await search('q=nordwerk&total=true&limit=100');
    const either = await search('q=nordwerk+saw&match=any&total=true&limit=100&sort=relevance');
    const all = await search('q=nordwerk+saw&total=true&limit=100');
    expect(Number(either['total'])).toBeGreaterThan(Number(one['total']));
    expect(new Set(either.items.slice(0, all.items.length).map(({ slug }) => slug))).toEqual(
      new Set(all.items.map(({ slug }) => slug)),
    );
    expect((await search('q=nordwerk+qqqqq&match=any&total=true'))['total']).toBe(one['total']);
    expect((await search('q=nordwerk+saw&match=all&total=true'))['total']).toBe(all['total']);
    const facets = await app.json('/v1/tools/facets?by=kind&q=nordwerk+qqqqq&match=any');
    expect(facets.body['matched']).toBe(one['total']);
  });

  test('needs words, and a known value', async () => {
    expect((await app.json('/v1/tools/entities?match=any', { headers: key })).body['error']).toBe('invalid_parameter');
    expect((await app.json('/v1/tools/entities?q=a&match=some', { headers: key })).status).toBe(422);
  });
});

describe('a search by words', () => {
  test('is ordered by quality over REST, with a hint, and by relevance for agents', async () => {
    const rest = await search('q=nordwerk&fields=name');
    expect(rest['hint']).toContain('Ordered by quality; sort=relevance puts the best match first.');
    expect((await search('q=nordwerk&sort=-quality&fields=name,status'))['hint']).toBeUndefined();
    const best = await search('q=nordwerk&sort=relevance&fields=name');
    const agents = await tool('tools_search', { q: 'nordwerk', fields: ['name'] });
    expect((agents['items'] as Found['items']).map(({ slug }) => slug)).toEqual(best.items.map(({ slug }) => slug));
    expect(String(agents['hint'] ?? '')).not.toContain('Ordered by quality');
  });
});

describe('a search without a match suggests other words', () => {
  test.each([
    ['nordwrk', 'nordwerk', [{ word: 'nordwrk', use: 'nordwerk' }]],
    ['nordwerkk', 'nordwerk', [{ word: 'nordwerkk', use: 'nordwerk' }]],
    ['nordvirk', 'nordwerk', [{ word: 'nordvirk', use: 'nordwerk' }]],
    ['nord werk', 'nordwerk', [{ word: 'nord werk', use: 'nordwerk' }]],
    ['nordwerksaw', 'nordwerk saw', [{ word: 'nordwerksaw', use: 'nordwerk saw' }]],
    ['nordwerk qqqqq', 'nordwerk', [{ word: 'qqqqq' }]],
  ])('%s: %s', async (typed, q, changes) => {
    const { items, suggestion } = await search(`q=${encodeURIComponent(typed)}`);
    expect(items).toEqual([]);
    expect(suggestion).toEqual({ q, total: expect.any(Number), changes });
    expect((await search(`q=${encodeURIComponent(q)}&total=true`))['total']).toBe(suggestion!.total);
  });

  test('under public conditions, and none where they are not public or nothing is near', async () => {
    const { suggestion } = await search('q=nordwrk&kind=saw');
    expect(suggestion?.total).toBe((await search('q=nordwerk&kind=saw&total=true'))['total']);
    expect((await search('q=nordwrk&min_runtime=1')).suggestion).toBeUndefined();
    expect((await search('q=qqqqqqqqq')).suggestion).toBeUndefined();
    expect((await search('kind=sow')).suggestion).toBeUndefined();
    expect((await search(`q=${word}`)).suggestion).toBeUndefined();
  });

  test('for callers without a key and for agents too', async () => {
    const anonymous = await search('q=nordwrk', { 'X-Forwarded-For': '198.51.100.9' });
    const paying = await search('q=nordwrk');
    expect(anonymous.suggestion).toEqual(paying.suggestion);
    expect((await tool('tools_search', { q: 'nordwrk' }))['suggestion']).toEqual(paying.suggestion);
    const markdown = await app.ask('/v1/tools/entities.md?q=nordwrk', { headers: key });
    expect(await markdown.text()).toContain('nordwerk');
  });

  test('the error about an unknown record uses them', async () => {
    const { body } = await app.json('/v1/tools/entities/nordwrk', { headers: key });
    expect((body['detail'] as { nearest: unknown[] }).nearest.length).toBeGreaterThan(0);
  });
});
