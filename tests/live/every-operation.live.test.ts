// One test body for every operation of the table, on every real pack, in JSON and in Markdown: it answers in
// the right shape.
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DATASET_OPERATIONS } from '../../api/operations/table.ts';
import { loadPack } from '../../packs/define/load.ts';
import type { Pack } from '../../packs/define/model.ts';
import { DATASETS } from './release.ts';
import { type LiveServer, startServer } from './serve.ts';

let server: LiveServer;
beforeAll(async () => {
  server = await startServer();
}, 120_000);
afterAll(() => server?.stop());

/** Members of an answer besides `attribution` and `license` (contract section 2). */
const MEMBERS: Record<string, string[]> = {
  datasets_list: ['datasets'],
  search: ['items'],
  fetch: ['id', 'metadata', 'text', 'title', 'url'],
  dataset_schema: ['attributes', 'dataset', 'filters', 'schema'],
  dataset_status: [
    'dataset',
    'facts',
    'last_collection',
    'median_age_hours',
    'next_collection',
    'records',
    'runs',
    'sla_hours',
    'snapshot',
    'within_sla',
  ],
  dataset_samples: ['items'],
  dataset_examples: ['further_groups', 'group_by', 'items'],
  dataset_profile: ['attributes', 'dataset', 'records', 'snapshot'],
  dataset_facets: ['by', 'hint', 'matched', 'missing', 'values'],
  dataset_changelog: ['items', 'limit', 'offset', 'total'],
  dataset_changes: ['items', 'next_since'],
  dataset_export: ['bytes', 'expires_at', 'format', 'sha256', 'snapshot', 'url'],
  entity_search: ['items', 'next_cursor'],
  entity_search_paid: ['items', 'next_cursor'],
  entity_batch: ['items', 'missing'],
  entity_similar: ['items'],
  entity_history: ['entity_id', 'facts'],
  entity_prices: ['entity_id', 'prices'],
  entity_compare: ['columns', 'items', 'missing'],
  dataset_stats: ['attribute', 'group_by', 'hint', 'rows', 'unit'],
  dataset_timeseries: ['attribute', 'days', 'series', 'step', 'unit'],
};

const RECORD = [
  'attributes',
  'attribution',
  'completeness',
  'dataset',
  'freshness',
  'id',
  'license',
  'name',
  'provenance',
  'quality_score',
  'slug',
  'updated_at',
  'url',
  'verified_owner',
];

/** Lists that may be empty only when the pack has no such data. */
const LISTS = ['items', 'facts', 'values', 'rows', 'series', 'filters', 'attributes', 'datasets'];

/** Signs of a formatting bug. */
const BROKEN = /\bundefined\b|\[object Object\]|\bNaN\b|\bat [\w.<>]+ \((?:file:|node:|\/)|\/tmp\/|%7B|\{\{|\{%/;

/** A complete text, or the first megabytes of a longer one, such as the full text of the largest pack. */
async function beginning({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of body ?? []) {
    text += decoder.decode(piece as Uint8Array, { stream: true });
    if (text.length > 8_000_000) break;
  }
  return text;
}

describe.each(DATASETS)('%s', (dataset) => {
  let pack: Pack;
  let slugs: string[] = [];
  beforeAll(async () => {
    pack = await loadPack(resolve('packs', dataset));
    const found = await server.ask(`/v1/${dataset}/entities?limit=3`);
    slugs = ((await found.json()) as { items: { slug: string }[] }).items.map(({ slug }) => slug);
    expect(slugs).toHaveLength(3);
  }, 120_000);

  /** The required parameters of an operation, for this pack. */
  function query(name: string): string {
    const numeric = pack.attributes.find(
      ({ type }) => type === 'price' || type === 'integer' || type === 'number',
    )!.name;
    // A series takes at most 5,000 records: those of one group, filtered by quality.
    const few = `ids=${slugs.join(',')}`;
    if (name === 'search') return `?q=${slugs[0]}`;
    if (name === 'fetch') return `?id=${dataset}/${slugs[0]}`;
    if (name === 'dataset_facets') return `?by=${pack.group_by}`;
    if (name === 'entity_batch' || name === 'entity_compare') return `?ids=${slugs.join(',')},nobody-at-all`;
    if (name === 'dataset_stats') return `?attribute=${numeric}&group_by=${pack.group_by}`;
    if (name === 'dataset_timeseries') return `?attribute=${numeric}&days=30&${few}`;
    if (name === 'dataset_changes') return '?since=2020-01-01&limit=50';
    if (name === 'dataset_changelog') return '?days=365&limit=20';
    return name.startsWith('entity_search') ? '?limit=20' : '';
  }

  const ofRecords = DATASET_OPERATIONS.filter(({ rest }) => rest.method === 'GET' && rest.path.startsWith('/v1/'));

  test.each(ofRecords.map((operation) => [operation.name, operation] as const))(
    '%s',
    async (name, operation) => {
      const path = operation.rest.path.replace(':ds', dataset).replace(':entity_id', slugs[0]!);
      const asked = `${path}${query(name)}`;
      for (const format of operation.formats.filter(
        (each) => each === 'json' || each === 'markdown' || each === 'text',
      )) {
        const twin = format === 'markdown' && !path.endsWith('.md') ? asked.replace(path, `${path}.md`) : asked;
        const answer = await server.ask(twin);
        const text = await beginning(answer);
        expect(answer.status, `${twin}: ${text.slice(0, 300)}`).toBe(200);
        expect(text, twin).not.toMatch(BROKEN);
        if (format !== 'json') {
          expect(answer.headers.get('content-type'), twin).toMatch(/^text\/(markdown|plain); charset=utf-8$/);
          expect(text.trim().length, twin).toBeGreaterThan(40);
          continue;
        }
        const body = JSON.parse(text) as Record<string, unknown>;
        if (name === 'entity_get') expect(Object.keys(body).sort()).toEqual(RECORD);
        else
          expect(Object.keys(body).sort(), twin).toEqual([...(MEMBERS[name] ?? []), 'attribution', 'license'].sort());
        expect([body['attribution'], body['license']].every((each) => String(each).length > 10)).toBe(true);
        // No record may be as similar as the pack requires.
        const mayBeEmpty = name === 'entity_similar' && pack.serving.similar_min_score > 0;
        for (const list of LISTS.filter((each) => Array.isArray(body[each]) && !mayBeEmpty))
          expect(body[list], `${twin}: ${list}`).not.toEqual([]);
        if (/^entity_(search|batch|similar)$|^dataset_examples$/.test(name))
          for (const item of body['items'] as Record<string, Record<string, unknown>>[]) {
            expect(
              Object.keys(item)
                .filter((each) => each !== 'score')
                .sort(),
            ).toEqual(RECORD);
            const keys = Object.keys(item['attributes']!).sort();
            expect([Object.keys(item['provenance']!).sort(), Object.keys(item['freshness']!).sort()]).toEqual([
              keys,
              keys,
            ]);
          }
      }
    },
    120_000,
  );

  test('a thousand records as CSV, NDJSON and Arrow', async () => {
    for (const format of ['csv', 'ndjson', 'arrow']) {
      const answer = await server.ask(`/v1/${dataset}/entities?limit=1000&format=${format}`);
      const { length } = Buffer.from(await answer.arrayBuffer());
      expect([answer.status, length > 100_000], format).toEqual([200, true]);
      expect(answer.headers.get('x-next-cursor')).toMatch(/^[\w-]+$/);
    }
  }, 120_000);

  test('history: as of a day before all data, and as of now', async () => {
    const before = await server.ask(`/v1/${dataset}/entities/batch?ids=${slugs.join(',')}&as_of=2001-01-01`);
    expect(await before.json()).toMatchObject({ items: [], missing: slugs });
    const now = await server.ask(
      `/v1/${dataset}/entities/batch?ids=${slugs.join(',')}&as_of=${new Date().toISOString()}`,
    );
    expect(now.status).toBe(200);
    const { items } = (await now.json()) as { items: { slug: string }[] };
    expect(items.map(({ slug }) => slug)).toEqual(slugs);
  }, 120_000);
});

test('the table is not empty', () => {
  expect(DATASET_OPERATIONS.length).toBeGreaterThanOrEqual(21);
});
