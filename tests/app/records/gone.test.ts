// Records that no source lists any more: counted, and said to be, in answers and the guide; left out of ready-made
// examples; marked on their pages.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NO_RELATED } from '../../../api/operations/common/related.ts';
import { OPERATIONS } from '../../../api/operations/table.ts';
import { startPage } from '../../../api/owners/pages.ts';
import { recordHtml } from '../../../api/pages/record-html.ts';
import { publicPageRecord, recordPage } from '../../../api/pages/record-markdown.ts';
import { sqlExamples } from '../../../api/pages/sql.ts';
import type { StoredRecord } from '../../../data/model/record.ts';
import { listedFilter } from '../../../data/queries/gone.ts';
import type { Pack } from '../../../packs/define/model.ts';
import { BASE, type TestApp, testApp } from '../../support/app.ts';

let app: TestApp;
let pack: Pack;
let gone: StoredRecord[];
beforeAll(async () => {
  app = await testApp();
  pack = app.register.current('tools')!.pack;
  gone = app.records['tools']!.filter(({ attributes }) => attributes['status'] === 'discontinued');
});
afterAll(() => app.close());

async function body(path: string) {
  const answer = await app.json(`/v1/tools/${path}`, { admin: true });
  expect([path, answer.status]).toEqual([path, 200]);
  return answer.body;
}

const hint = () =>
  `Counted too: records that no source lists any more (status=discontinued, ${gone.length} in the dataset); not_status=discontinued leaves them out.`;

test('facets, statistics and searches that count gone records say so', async () => {
  expect(gone.length).toBeGreaterThan(1);
  const plain = await body('facets?by=kind');
  expect(plain['hint']).toBe(hint());
  expect((await body('stats?attribute=price.list'))['hint']).toBe(hint());
  expect((await body('entities?fields=name&limit=100'))['hint']).toContain(hint());
  const listed = await body('facets?by=kind&not_status=discontinued');
  expect(listed['matched']).toBe((plain['matched'] as number) - gone.length);
  const markdown = await (await app.ask('/v1/tools/facets.md?by=kind', { admin: true })).text();
  expect(markdown).toContain('leaves them out');
});

test('nothing is said where the question or the answer names the status', async () => {
  const paths = [
    'facets?by=status',
    'facets?by=kind&status=listed',
    'stats?attribute=price.list&not_status=discontinued',
    'entities?fields=name,status&limit=100',
    'entities?limit=100',
    `entities?fields=name&ids=${gone[0]!.slug}`,
  ];
  for (const path of paths) expect([path, (await body(path))['hint']]).toEqual([path, undefined]);
});

test('the guide names the filter, and every example of many records has it', async () => {
  const guide = await (await app.ask('/v1/tools/llms.txt')).text();
  expect(guide).toContain('have `status=discontinued` and count everywhere; `not_status=discontinued` leaves them out');
  for (const name of ['entity_search', 'dataset_facets', 'dataset_stats']) {
    const example = OPERATIONS.find((operation) => operation.name === name)!.docs.example!(pack, []);
    expect([name, example]).toEqual([name, expect.objectContaining({ not_status: 'discontinued' })]);
  }
  expect(listedFilter({ ...pack, gone: null })).toEqual({});
  const closed = pack.attributes.map((attribute) => ({ ...attribute, public: false }));
  expect(listedFilter({ ...pack, attributes: closed })).toEqual({});
});

test('the examples of the SQL console count listed records', () => {
  const listed = "status IS DISTINCT FROM 'discontinued'";
  const sql = sqlExamples(pack).map((example) => example.sql);
  expect(sql.filter((text) => text.includes(listed))).toHaveLength(sql.length - 2);
  for (const text of sql) expect(text.match(/WHERE/g)?.length ?? 0).toBeLessThan(2);
  expect(sqlExamples({ ...pack, gone: null }).some((example) => example.sql.includes(listed))).toBe(false);
});

const html = (record: StoredRecord, of: Pack = pack) =>
  recordHtml({
    record: publicPageRecord(record, of, BASE),
    pack: of,
    base_url: BASE,
    related: NO_RELATED,
    paid: false,
    locked: 0,
  });

test('the page of a gone record is marked, in HTML and in Markdown', () => {
  const listed = app.records['tools']!.find(({ attributes }) => attributes['status'] === 'listed')!;
  const note = 'is discontinued: no source lists it any more. Its last values are shown.';
  expect([html(gone[0]!), recordPage(gone[0]!, pack, BASE)]).toEqual(Array(2).fill(expect.stringContaining(note)));
  for (const page of [html(listed), recordPage(listed, pack, BASE)]) expect(page).not.toContain('no source lists it');
});

test('a dataset without owners offers a removal, and no edit', () => {
  const [record] = app.records['tools']!;
  const ownerless = { ...pack, owner: { ...pack.owner, domain: null } };
  expect(html(record!)).toContain('Is this your record? Edit or remove it');
  expect(html(record!, ownerless)).toContain('>Ask to remove this record<');
  const start = startPage(BASE, ownerless, record!, null);
  expect(start.page.title).toBe(`Remove ${record!.name}`);
  expect(String(start.page.body)).not.toContain('edit');
});

test('each address of a list is a link', () => {
  const [record] = app.records['tools']!;
  const list = { ...pack.attributes[0]!, name: 'links', type: 'strings' as const, public: true, unit: null };
  const provenance = { ...record!.provenance, links: Object.values(record!.provenance)[0]! };
  const links = ['https://a.example/x', 'no address', 'https://b.example/'];
  const page = html(
    { ...record!, attributes: { ...record!.attributes, links }, provenance },
    { ...pack, attributes: [...pack.attributes, list] },
  );
  expect(page).toContain(
    '<a href="https://a.example/x" rel="nofollow">https://a.example/x</a>, no address, <a href="https://b.example/" rel="nofollow">',
  );
});
