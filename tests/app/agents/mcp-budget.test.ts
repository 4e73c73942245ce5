// Answers within a token budget: lists get smaller pages, free answers are cut, paid answers are never cut.
import { encode as cl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { encode as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, describe, expect, it } from 'vitest';
import { estimate } from '../../../api/channels/mcp/tokens.ts';
import { appOfAll } from '../../support/app.ts';
import { listenerOfAll } from '../../support/listening.ts';
import { connectMcp } from '../../support/mcp-clients.ts';
import { newKey } from '../../support/money-on-stores.ts';

const TOKENS = 4000;

const app = await appOfAll({ records: 100 });
const at = await listenerOfAll(app);
const { key } = await newKey(app, 50);
const authorization: Record<string, string> = { Authorization: `Bearer ${key}` };
const small = await connectMcp('2026-07-28', `${at.base}/mcp?max_tokens=${TOKENS}`, authorization);
const large = await connectMcp('2026-07-28', `${at.base}/mcp?max_tokens=200000`, authorization);
afterAll(async () => {
  await small.close();
  await large.close();
  expect(app.faults).toEqual([]);
});

interface Page {
  items: ({ slug: string } & Record<string, unknown>)[];
  next_cursor: string | null;
  left_out?: { part: string; shown: number; of: number; more: string };
}
const page = (body: Record<string, unknown>) => body as unknown as Page;

describe('an answer that would be too long', () => {
  it('is a shorter page of a search, whose cursor misses nothing and repeats nothing', async () => {
    const whole = page((await large.call('tools_search', { limit: 40, format: 'json' })).structuredContent).items.map(
      ({ slug }) => slug,
    );
    const seen: string[] = [];
    let cursor: string | null = null;
    while (seen.length < 40) {
      const given: Record<string, unknown> = { limit: 40, format: 'json', ...(cursor === null ? {} : { cursor }) };
      const { structuredContent, content, _meta } = await small.call('tools_search', given);
      const { items, next_cursor, left_out } = page(structuredContent);
      expect(left_out).toMatchObject({
        part: 'items',
        shown: items.length,
        of: 40,
        more: expect.stringContaining('cursor'),
      });
      expect(o200k(content[0]?.text ?? '').length).toBeLessThanOrEqual(TOKENS);
      expect(_meta['charge_eur']).toBe(0.008);
      seen.push(...items.map(({ slug }) => slug));
      cursor = next_cursor;
    }
    expect(seen.slice(0, 40)).toEqual(whole);
  });

  it.each(['json', 'md'])('is the same page when the call is repeated: %s', async (format) => {
    const answers: unknown[] = [];
    for (let i = 0; i < 4; i += 1) {
      const { content, structuredContent } = await small.call('tools_search', { limit: 90, format });
      answers.push({ content, structuredContent });
    }
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(JSON.stringify(answers[0])).toMatch(/of(?:":| )90/);
  });

  it('has as many records as another limit allows, also when calls with both limits are repeated', async () => {
    const tighter = await connectMcp('2026-07-28', `${at.base}/mcp?max_tokens=${TOKENS / 2}`, authorization);
    const shown: unknown[] = [];
    for (const client of [small, small, small, tighter, tighter, small]) {
      const { structuredContent } = await client.call('tools_search', { limit: 55, format: 'json' });
      shown.push(page(structuredContent).left_out?.shown);
    }
    const [first, , , fewer] = shown as number[];
    expect(shown).toEqual([first, first, first, fewer, fewer, first]);
    expect(fewer).toBeLessThan(first!);
    await tighter.close();
  });

  it('fits with fewer fields', async () => {
    const { structuredContent } = await small.call('tools_search', { limit: 20, fields: ['kind'], format: 'json' });
    const { items } = page(structuredContent);
    expect(items.length).toBeGreaterThan(
      page((await small.call('tools_search', { limit: 20, format: 'json' })).structuredContent).items.length,
    );
  });

  it('is refused, uncharged, where it was paid for and has no pages', async () => {
    const before = await app.state.db
      .selectFrom('entries')
      .select((e) => e.fn.countAll<number>().as('n'))
      .executeTakeFirst();
    const ids = Array.from({ length: 30 }, (_, index) => `record-${index + 1}`);
    const given = { dataset: 'tools', ids, format: 'json' };
    const { isError, structuredContent } = await small.call('entity_batch', given);
    expect([isError, structuredContent]).toEqual([
      true,
      expect.objectContaining({
        error: 'too_many_records',
        is_retriable: false,
        detail: { max_tokens: TOKENS },
      }),
    ]);
    expect(structuredContent['message']).toMatch(
      /Request fewer ids or fewer fields\. format: "md" needs far fewer tokens\. Nothing was charged\./,
    );
    const after = await app.state.db
      .selectFrom('entries')
      .select((e) => e.fn.countAll<number>().as('n'))
      .executeTakeFirst();
    expect(after).toEqual(before);
    expect((await large.call('entity_batch', { dataset: 'tools', ids })).isError).toBeFalsy();
  });

  it('loses details, then its end, where it is free', async () => {
    const given = { dataset: 'tools', limit: 60 };
    const { structuredContent, content } = await small.call('dataset_examples', given);
    const all = page((await large.call('dataset_examples', given)).structuredContent);
    const cut = page(structuredContent);
    expect(cut.items.length).toBeGreaterThan(3);
    expect(cut.left_out).toMatchObject({
      part: 'items',
      shown: cut.items.length,
      of: all.items.length,
      without: ['provenance and freshness'],
      more: expect.stringMatching(/^group selects one group; .* format: "md" needs far fewer tokens\.$/),
    });
    const brief = all.items.map(({ provenance: _, freshness: __, ...item }: Record<string, unknown>) => item);
    expect(cut.items).toEqual(brief.slice(0, cut.items.length));
    expect(o200k(content[0]?.text ?? '').length).toBeLessThanOrEqual(TOKENS);
  });

  it('is cut at a line where it is a text', async () => {
    const tiny = await connectMcp('2026-07-28', `${at.base}/mcp?max_tokens=1000`);
    const { content } = await tiny.call('dataset_guide', { dataset: 'tools' });
    const whole = await (await app.ask('/v1/tools/llms.txt')).text();
    const [text = '', note] = (content[0]?.text ?? '').split('\nShown: ');
    expect(whole.startsWith(text) && text.endsWith('\n')).toBe(true);
    const lines = (of: string) => of.split('\n').length - 1;
    expect(note).toContain(`${lines(text)} of ${lines(whole)} lines, to stay within 1000 tokens`);
    await tiny.close();
  });

  it('is three complete records for examples without a limit', async () => {
    // By name and by URL are different calls, also when they are repeated.
    for (let i = 0; i < 3; i += 1) {
      const { structuredContent } = await large.call('dataset_examples', { dataset: 'tools' });
      const { items, further_groups } = page(structuredContent) as Page & { further_groups: unknown[] };
      expect(items).toHaveLength(3);
      expect(items[0]).toMatchObject({ provenance: expect.any(Object) });
      const { body } = await app.json('/v1/tools/examples');
      expect((body as unknown as Page).items.length).toBeGreaterThan(3);
      expect(further_groups.length).toBeGreaterThan(((body['further_groups'] ?? []) as unknown[]).length);
    }
  });

  it('is every attribute of a schema, then as many filters as fit', async () => {
    for (const [tokens, client] of [[TOKENS, small]] as const) {
      const { structuredContent } = await client.call('dataset_schema', { dataset: 'tools' });
      const pack = app.register.packs.get('tools')!;
      const { attributes, left_out } = structuredContent as unknown as Page & { attributes: { name: string }[] };
      expect(attributes.map(({ name }) => name)).toEqual(pack.attributes.map(({ name }) => name));
      expect([tokens, left_out]).toMatchObject([
        TOKENS,
        { part: 'filters', without: expect.arrayContaining(['schema']) },
      ]);
    }
  });

  it('goes on by offset in the changelog', async () => {
    const given = { dataset: 'tools', days: 365, limit: 200 };
    const first = page((await small.call('dataset_changelog', given)).structuredContent);
    const all = page((await large.call('dataset_changelog', given)).structuredContent);
    expect(first.left_out).toMatchObject({ part: 'items', of: all.items.length });
    const next = page(
      (await small.call('dataset_changelog', { ...given, offset: first.items.length })).structuredContent,
    );
    const both = [...first.items, ...next.items];
    expect(both).toEqual(all.items.slice(0, both.length));
  });
});

it.each([
  ['tools_search', { limit: 40 }],
  ['harbours_search', { limit: 40 }],
  ['harbours_search', { limit: 40, fields: ['depth', 'location'] }],
  ['dataset_schema', { dataset: 'tools' }],
  ['dataset_facets', { dataset: 'tools', by: 'mass' }],
  ['dataset_stats', { dataset: 'tools', attribute: 'mass', group_by: 'kind' }],
  ['entity_history', { dataset: 'tools', entity_id: 'record-1' }],
])('counts no fewer tokens than the tokenizers do, and at most half as many again: %s %o', async (name, given) => {
  for (const format of ['json', 'md']) {
    const { content } = await large.call(name, { ...given, format });
    const text = content[0]?.text ?? '';
    for (const encode of [o200k, cl100k]) {
      const share = estimate(text) / encode(text).length;
      expect(share, format).toBeGreaterThanOrEqual(1);
      expect(share, format).toBeLessThanOrEqual(1.5);
    }
  }
});
