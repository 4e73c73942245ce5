// Search across datasets and public pages by id: GET /v1/search, GET /v1/fetch, and the tools search and fetch.
import { afterAll, expect, test } from 'vitest';
import { appOfAll, BASE } from '../../support/app.ts';
import { keysOf, recordNamed } from '../../support/evaluate.ts';

const app = await appOfAll();
const { pack } = app.register.current('tools')!;
const records = app.records['tools']!;
afterAll(() => expect(app.faults).toEqual([]));

type Body = Record<string, unknown>;
interface Item {
  dataset: string;
  id: string;
  slug: string;
  name: string;
  url: string;
}

const search = async (query: string) => (await app.json(`/v1/search?${query}`)).body['items'] as Item[];

/** The text and the structured content of a tool's answer. */
async function tool(name: string, input: Body) {
  const { body } = await app.json('/mcp', {
    method: 'POST',
    headers: {
      Host: 'register.example',
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } }),
  });
  const { content, structuredContent } = body['result'] as { content: { text: string }[]; structuredContent: Body };
  return { text: JSON.parse(content[0]!.text) as Body, structuredContent };
}

test('records of all datasets by name, and datasets by theirs', async () => {
  const items = await search('q=record 1&limit=50');
  expect(new Set(items.map(({ dataset }) => dataset))).toEqual(new Set(['harbours', 'tools']));
  expect(items.slice(0, 2).map(({ name }) => name)).toEqual(['Record 1', 'Record 1']);
  const { slug, id } = records.find(({ name }) => name === 'Record 1')!;
  expect(items).toContainEqual({
    ...{ dataset: 'tools', id, slug, name: 'Record 1' },
    url: `${BASE}/datasets/tools/${slug}`,
  });
  expect(await search('q=record 1&datasets=tools&limit=3')).toHaveLength(3);
  expect((await search('q=record 1&datasets=tools')).every(({ dataset }) => dataset === 'tools')).toBe(true);
  expect((await search('q=tools nowhere'))[0]).toEqual({
    ...{ dataset: 'tools', id: 'tools', slug: 'tools', name: pack.title },
    url: `${BASE}/datasets/tools/`,
  });
  expect(await search('q=xyzzy')).toEqual([]);
});

test('a key comes first', async () => {
  const [record, key] = records
    .flatMap((candidate) => keysOf(pack, candidate).map((text) => [candidate, text] as const))
    .find(([candidate, text]) => text.includes('/') && recordNamed(pack, records, text) === candidate)!;
  expect((await search(`q=${encodeURIComponent(key)}`))[0]!.id).toBe(record.id);
});

test('wrong input is an error that names it', async () => {
  for (const [query, status, name] of [
    ['', 422, 'q'],
    ['q=%20', 422, 'q'],
    ['q=a&limit=51', 422, 'limit'],
    ['q=a&datasets=none', 400, 'datasets'],
    ['q=a&sort=name', 400, 'sort'],
  ] as const) {
    const answer = await app.json(`/v1/search?${query}`);
    expect([query, answer.status]).toEqual([query, status]);
    expect(String(answer.body['message'])).toContain(name);
  }
  expect((await app.json('/v1/fetch?id=none/a')).body['error']).toBe('unknown_dataset');
  const unknown = await app.json('/v1/fetch?id=tools/none');
  expect([unknown.status, unknown.body['detail']]).toEqual([404, { nearest: [] }]);
});

test('the tools search and fetch lead from words to the public page', async () => {
  const { text, structuredContent } = await tool('search', { query: 'Record 1' });
  expect(structuredContent).toEqual(text);
  const [first] = text['results'] as { id: string; title: string; url: string }[];
  expect(Object.keys(first!)).toEqual(['id', 'title', 'url']);
  const page = (await tool('fetch', { id: first!.id })).text;
  const [dataset, id] = first!.id.split('/');
  const record = app.records[dataset!]!.find((candidate) => candidate.id === id)!;
  expect(page).toMatchObject({ id: first!.id, title: 'Record 1', url: first!.url });
  expect(page['metadata']).toEqual({
    ...{ dataset, updated_at: record.updated_at },
    ...{ license: page['license'], attribution: page['attribution'] },
  });
  expect(page['text']).toBe(await (await app.ask(`/datasets/${dataset}/${record.slug}.md`)).text());
  expect(page['text']).not.toContain(String(record.attributes['runtime'] ?? 'no such value'));
  const guide = (await tool('fetch', { id: 'tools' })).text;
  expect(guide).toMatchObject({ id: 'tools', title: pack.title });
});

test('Markdown, HEAD and conditional requests', async () => {
  const markdown = await app.ask('/v1/search.md?q=record 1');
  expect(await markdown.text()).toContain('[Record 1](');
  const first = await app.ask('/v1/search?q=record 1');
  const tag = first.headers.get('etag')!;
  expect((await app.ask('/v1/search?q=record 1', { headers: { 'If-None-Match': tag } })).status).toBe(304);
  expect((await app.ask('/v1/search?q=record 1', { method: 'HEAD' })).status).toBe(200);
  expect(await (await app.ask('/v1/fetch.md?id=tools/record-1')).text()).toContain('Record 1');
});
