// Words and keys on the real datasets: typed as people and agents do, they lead to the record, or to a true answer that
// there is none, in at most one more call.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LiveServer, startServer } from './serve.ts';

let server: LiveServer;
beforeAll(async () => {
  server = await startServer();
}, 120_000);
afterAll(() => server?.stop());

interface Found {
  items: { name: string; slug: string }[];
  hint?: string;
  suggestion?: { q: string; total: number; changes: { word: string; use?: string }[] };
}

const search = async (dataset: string, q: string): Promise<Found> => {
  const answer = await server.ask(`/v1/${dataset}/entities?q=${encodeURIComponent(q)}&sort=relevance&limit=5`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Found;
};

/** The names that a search finds, at once or by the suggested words. */
async function namesOf(dataset: string, q: string): Promise<{ names: string[]; dropped: string[] }> {
  const first = await search(dataset, q);
  const { suggestion } = first;
  const page = first.items.length > 0 || suggestion === undefined ? first : await search(dataset, suggestion.q);
  const dropped = suggestion?.changes.flatMap(({ word, use }) => (use === undefined ? [word] : [])) ?? [];
  return { names: page.items.map(({ name }) => name), dropped };
}

describe('words', () => {
  test.each([
    ['airports', 'internatonal airport of zurich', /Z(u|ü|ue)rich/i],
    ['airports', 'cincinatti', /Cincinnati/i],
    ['places', 'cincinatti', /Cincinnati/i],
    ['llm-models', 'gpt5', /GPT-?5/i],
    ['llm-models', 'sonnet 4.5 bedrock', /Sonnet 4\.5/i],
  ])('%s: %s', async (dataset, q, name) => {
    const { names } = await namesOf(dataset, q);
    expect(names[0], `${q}: ${names.join(', ')}`).toMatch(name);
  });

  test('an airport that does not exist: the answer names the word that no record has', async () => {
    const { hint, suggestion } = await search('airports', 'airport near the matterhorn');
    expect(hint).toContain('matterhorn');
    if (suggestion) expect(suggestion.changes).toContainEqual({ word: 'matterhorn' });
  });
});

describe('keys', () => {
  test.each([
    ['airports', 'zrh', /Z(u|ü|ue)rich/i],
    ['airports', 'LSZH', /Z(u|ü|ue)rich/i],
    ['llm-models', 'openai/gpt-4o', /GPT-?4o/i],
    ['places', '2657896', /Z(u|ü|ue)rich/i],
  ])('%s: %s', async (dataset, key, name) => {
    const answer = await server.ask(`/v1/${dataset}/entities/${encodeURIComponent(key)}`);
    expect(answer.status).toBe(200);
    expect(((await answer.json()) as { name: string }).name).toMatch(name);
  });

  test('an unknown key names the nearest records', async () => {
    const answer = await server.ask('/v1/airports/entities/cincinatti');
    const { detail } = (await answer.json()) as { detail: { nearest: { name: string }[] } };
    expect([answer.status, detail.nearest[0]?.name]).toEqual([404, expect.stringMatching(/Cincinnati/)]);
  });
});

test('search and fetch across datasets', async () => {
  const found = await server.ask('/v1/search?q=zrh&limit=3');
  const { items } = (await found.json()) as { items: { dataset: string; id: string; name: string }[] };
  expect(items[0]).toMatchObject({ dataset: 'airports', name: expect.stringMatching(/Z(u|ü|ue)rich/i) });
  const page = await server.ask(`/v1/fetch?id=${items[0]!.dataset}/${items[0]!.id}`);
  expect(((await page.json()) as { text: string }).text).toContain('LSZH');
});
