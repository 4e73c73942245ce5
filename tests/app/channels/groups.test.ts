// Searches for the best of each group over the real app: every format and channel, access, previews and cursors.
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PublicRecord } from '../../../data/model/record.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { evaluateGroups, type SearchQuery } from '../../support/evaluate.ts';
import { startListener } from '../../support/listening.ts';
import { connectMcp } from '../../support/mcp-clients.ts';
import { balance, newKey } from '../../support/money-on-stores.ts';
import { parseCsv } from '../../support/parse-csv.ts';
import { verifies } from '../../support/verifies.ts';

verifies('search.group-by', 'search.group-limit');

let app: TestApp;
let key: Record<string, string>;
beforeAll(async () => {
  app = await testApp({ records: 130 });
  ({ headers: key } = await newKey(app, 5));
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

const MATERIALS = { group_by: 'materials', group_limit: '3', sort: '-mass' };
const LISTED = new URLSearchParams(MATERIALS).toString();

/** Group and slug of each item, as the evaluator computes them. */
function expected(query: SearchQuery, groups: number): string[][] {
  const records = app.records['tools']!;
  const slugs = new Map(records.map(({ id, slug }) => [id, slug]));
  return evaluateGroups(app.register.packs.get('tools')!, records, query)
    .slice(0, groups)
    .flatMap(({ group, ids }) => ids.map((id) => [String(group), slugs.get(id)!]));
}
const ask = async (query: string, headers = key) => {
  const answer = await app.ask(`/v1/tools/entities?${query}`, { headers });
  expect(answer.status, query).toBe(200);
  return answer;
};
const shown = (items: readonly PublicRecord[]) =>
  items.map(({ slug, group }) => [String(Object.values(group ?? {})[0]), slug]);

describe('group_by', () => {
  test.each(['materials', 'maker', 'cordless', 'first_seen', 'mass', 'runtime'])(
    'pages of groups of %s',
    async (by) => {
      const query = { group_by: by, sort: 'name', group_limit: '2' };
      const rows = expected(query, Number.POSITIVE_INFINITY);
      const items: PublicRecord[] = [];
      const totals = new Set<unknown>();
      for (let cursor = ''; ; ) {
        const answer = await ask(`${new URLSearchParams(query)}&limit=3&fields=name&total=true${cursor}`);
        const page = (await answer.json()) as { items: PublicRecord[]; next_cursor: string | null; total: number };
        items.push(...page.items);
        totals.add(page.total);
        if (page.next_cursor === null) break;
        cursor = `&cursor=${page.next_cursor}`;
      }
      expect(shown(items)).toEqual(rows);
      expect([...totals]).toEqual([new Set(rows.map(([group]) => group)).size]);
      expect(Object.keys(items[0]?.group ?? {})).toEqual([by]);
    },
  );

  test('NDJSON, CSV, Arrow and Markdown', async () => {
    const rows = expected(MATERIALS, 5);
    const lines = (await (await ask(`${LISTED}&limit=5&format=ndjson`)).text()).trim().split('\n');
    expect(shown(lines.map((line) => JSON.parse(line) as PublicRecord))).toEqual(rows);

    const [header = [], ...cells] = parseCsv(await (await ask(`${LISTED}&limit=5&format=csv&fields=name`)).text());
    const column = (row: readonly string[], name: string) => row[header.indexOf(name)]!;
    expect(cells.map((row) => [column(row, 'group.materials').replace(/^'/, ''), column(row, 'slug')])).toEqual(rows);

    const table = tableFromIPC(await (await ask(`${LISTED}&limit=5&format=arrow`)).arrayBuffer());
    expect([...(table.getChild('group.materials') ?? [])]).toEqual(rows.map(([group]) => group));
    const numbers = tableFromIPC(await (await ask('group_by=runtime&format=arrow')).arrayBuffer());
    expect(typeof numbers.getChild('group.runtime')?.get(0)).toBe('bigint');

    const markdown = await (await ask(`${LISTED}&limit=5&format=md&fields=mass&total=true`)).text();
    expect(markdown).toMatch(/^\|materials\|slug\|mass/);
    expect(markdown).toMatch(new RegExp(`${rows.length} records in 5 of \\d+ groups`));
  });

  test('an empty page has the column too, and is a page of groups that says why', async () => {
    expect(await (await ask('group_by=maker&ids=nobody&format=csv')).text()).toContain(',group.maker,url,');
    const { hint } = (await (await ask('group_by=domain&has_domain=false')).json()) as { hint: string };
    expect(hint).toContain('has_domain=true');
  });

  test('tools and skills answer it', async () => {
    const at = await startListener(app);
    const client = await connectMcp('2025-11-25', `${at.base}/mcp`, key);
    const args = { ...MATERIALS, group_limit: 3, limit: 2 };
    const { content } = await client.call('tools_search', { ...args, format: 'json' });
    const items = (JSON.parse(content[0]!.text!) as { items: PublicRecord[] }).items;
    const text = await client.call('tools_search', { ...args, format: 'md' });
    await client.close();
    const brief = await connectMcp('2025-11-25', `${at.base}/mcp?max_tokens=2000`, key);
    const short = await brief.call('tools_search', { ...args, limit: 30, format: 'md' });
    await brief.close();
    await at.stop();
    expect(shown(items)).toEqual(expected(MATERIALS, 2));
    expect(text.content[0]?.text).toMatch(/^\|(group: )?materials\|slug\|/);
    expect(short.content[0]?.text).toMatch(/Shown: \d+ of \d+ items/);
    const data = { skill: 'entity_search', dataset: 'tools', ...args };
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ data }] };
    const init = { method: 'POST', body: JSON.stringify({ message }), headers: key };
    const { body } = await app.json('/a2a/v1/message:send', init);
    expect(JSON.stringify(body)).toContain('"group":{"materials":');
  });

  test.each([
    ['group_limit=2', 'group_limit: counts the records of a group; add group_by='],
    [
      'group_by=maker&group_limit=10',
      'must be at most 100 records, or 1000 in csv, ndjson and arrow (got 20 × 10); use limit=10',
    ],
    [
      'group_by=maker&limit=101&format=csv&group_limit=10',
      'must be at most 1000 records (got 101 × 10); use limit=100 or less.',
    ],
    ['group_by=maker&format=geojson', 'format: geojson has no groups'],
    ['group_by=workshop', 'group_by: workshop (geo) cannot be counted or grouped by'],
    ['group_by=makr', 'group_by: tools has no attribute "makr"'],
  ])('%s: 400', async (query, message) => {
    const { status, body } = await app.json(`/v1/tools/entities?${query}`, { headers: key });
    expect([status, body['error']]).toEqual([400, 'invalid_parameter']);
    expect(body['message']).toContain(message);
  });

  test.each(['as_of=2026-11-19T00:00:00Z', 'filter=mass>1', 'match=any&q=saw'])('with %s', async (query) => {
    const { items } = (await (await ask(`group_by=maker&limit=5&${query}`)).json()) as { items: PublicRecord[] };
    const makers = items.map(({ attributes }) => attributes['maker']);
    expect(items.map(({ group }) => group)).toEqual(makers.map((maker) => ({ maker })));
    expect(new Set(makers).size).toBe(items.length);
  });

  test('a cursor belongs to its groups, and to any size of them', async () => {
    const { next_cursor } = (await (await ask('group_by=maker&limit=1')).json()) as { next_cursor: string };
    for (const query of ['', 'group_by=kind&', 'has_maker=true&'])
      expect((await app.json(`/v1/tools/entities?${query}cursor=${next_cursor}`, { headers: key })).body['error']).toBe(
        'invalid_cursor',
      );
    await ask(`group_by=maker&group_limit=2&limit=3&cursor=${next_cursor}`);
  });
});

describe('access to groups', () => {
  const anonymous = async (query: string, address: string) =>
    app.json(`/v1/tools/entities?${query}`, { address, headers: {} });

  test('an anonymous call that groups by a non-public attribute is 402, with the price of a search', async () => {
    const { status, body } = await anonymous('group_by=runtime', '192.0.2.50');
    expect([status, body['price_eur']]).toEqual([402, 0.008]);
    expect(body['message']).toContain('runtime is not a public attribute');
  });

  test('the quota counts records and shortens the page by whole groups', async () => {
    const address = '192.0.2.51';
    const { body } = await anonymous('group_by=maker&group_limit=7&limit=14&sort=name&total=true', address);
    const items = body['items'] as PublicRecord[];
    const whole = expected({ group_by: 'maker', group_limit: '7', sort: 'name' }, 14);
    const groups = new Set(shown(items).map(([group]) => group));
    expect(shown(items)).toEqual(whole.filter(([group]) => groups.has(group)));
    const next = whole.filter(([group]) => group === whole[items.length]?.[0]).length;
    expect(items.length).toBeLessThanOrEqual(20);
    expect(items.length + next).toBeGreaterThan(20);
    expect(body['next_cursor']).toBeTypeOf('string');
    const left = 20 - items.length;
    for (const method of ['HEAD', 'GET']) {
      const refused = await app.ask(`/v1/tools/entities?group_by=maker&group_limit=10&limit=1`, { address, method });
      expect(refused.status, method).toBe(402);
    }
    const { body: more } = await anonymous(`limit=20`, address);
    expect((more['items'] as unknown[] | undefined)?.length ?? 0).toBe(left);
  });

  test('HEAD costs nothing, a call one search, and its repetition nothing', async () => {
    const { headers } = await newKey(app);
    const path = '/v1/tools/entities?group_by=runtime&group_limit=2&limit=4';
    expect((await app.ask(path, { method: 'HEAD', headers })).status).toBe(200);
    expect(await balance(app, headers)).toBe(0.5);
    const once = { ...headers, 'Idempotency-Key': 'groups-key-00000001' };
    const first = await (await app.ask(path, { headers: once })).text();
    const again = await app.ask(path, { headers: once });
    expect([await again.text(), again.headers.get('idempotency-replayed')]).toEqual([first, 'true']);
    expect(await balance(app, headers)).toBe(0.492);
  });
});
