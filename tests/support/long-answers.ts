// Every tool with arguments that give a long answer, at several limits: the same test for fictional and real
// packs.
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { expect } from 'vitest';
import type { Operation } from '../../api/contract/operation.ts';
import type { Tool } from '../../api/render/tools.ts';
import type { Pack } from '../../packs/define/model.ts';
import { NUMERIC } from '../../packs/define/schema.ts';
import { type CallResult, connectMcp } from './mcp-clients.ts';

type Given = Record<string, unknown>;

export const LIMITS = [1000, 2000, 5000, 20_000] as const;

/**
 * Arguments that give a long answer of an operation, or those of its example; `slugs` are records of the
 * dataset.
 */
function longArguments(operation: Operation, pack: Pack, slugs: readonly string[]): Given {
  const attribute = pack.attributes.find(({ type }) => NUMERIC.includes(type))?.name;
  const entity_id = slugs[0];
  const known: Record<string, Given> = {
    search: { query: slugs[0] },
    fetch: { id: `${pack.id}/${entity_id}` },
    sql_query: { sql: "SELECT number, repeat('long ', 20) AS text FROM range(1000) AS numbers(number)" },
    quote: { operation: 'entity_get', dataset: pack.id, arguments: { entity_id } },
    dataset_facets: { by: pack.group_by, limit: 200 },
    dataset_examples: { limit: 60 },
    dataset_changelog: { days: 365, limit: 500 },
    dataset_changes: { since: '2020-01-01T00:00:00Z', limit: 1000 },
    entity_search: { limit: 100, total: true },
    entity_batch: { ids: slugs },
    entity_get: { entity_id },
    entity_similar: { entity_id, limit: 50 },
    entity_history: { entity_id },
    entity_prices: { entity_id },
    entity_audit: { entity_id },
    entity_compare: { ids: slugs.slice(0, 5) },
    dataset_stats: { attribute, group_by: [pack.group_by] },
    // A series has a limit of records.
    dataset_timeseries: { attribute, days: 366, filters: { ids: slugs } },
  };
  return known[operation.name] ?? operation.docs.example?.(pack, slugs) ?? {};
}

/** Slugs of some records, from the search tool. */
export async function someSlugs(base: string, key: string, { id, group_by }: Pack): Promise<string[]> {
  const client = await connectMcp('2026-07-28', `${base}/mcp?max_tokens=200000`, { 'X-API-Key': key });
  const given = { dataset: id, limit: 30, fields: [group_by], format: 'json' };
  const { structuredContent } = await client.call('entity_search', given);
  await client.close();
  return (structuredContent as { items: { slug: string }[] }).items.map(({ slug }) => slug);
}

/** Checks an answer under a token limit: at most so many tokens, or a refusal of a paid call, with advice. */
export async function expectWithin(
  base: string,
  key: string,
  { tokens, tools, pack, slugs }: { tokens: number; tools: readonly Tool[]; pack: Pack; slugs: readonly string[] },
): Promise<void> {
  const client = await connectMcp('2026-07-28', `${base}/mcp?max_tokens=${tokens}`, { 'X-API-Key': key });
  for (const { name, operation, dataset } of tools) {
    if (dataset !== null && dataset !== pack.id) continue;
    // Its amount is paid by x402, which these services do not offer.
    if (operation.charge.amount) continue;
    const shared = dataset === null && operation.rest.path.includes(':ds') ? { dataset: pack.id } : {};
    for (const format of operation.own_format ? [] : ['json', 'md']) {
      const given = {
        ...shared,
        ...longArguments(operation, pack, slugs),
        format,
      };
      expectAnswer(await client.call(name, given), operation, tokens, `${name} ${format} within ${tokens}`);
    }
  }
  await client.close();
}

function expectAnswer(
  result: CallResult,
  { charge: { access }, formats }: Tool['operation'],
  tokens: number,
  about: string,
): void {
  const text = result.content[0]?.text ?? '';
  expect(encode(text).length, `${about}: ${text.slice(0, 200)}`).toBeLessThanOrEqual(tokens);
  if (result.isError) {
    const { error, message } = result.structuredContent;
    expect([error, access === 'free'], `${about}: ${text.slice(0, 300)}`).toEqual(['too_many_records', false]);
    // The advice comes before the note that nothing was charged.
    expect(message, about).toMatch(/the limit here is \d+ tokens\. \w.* Nothing was charged\.$/);
    expect(message, about).not.toMatch(/next_cursor|\{ds\}/);
    return;
  }
  expect(text.trim().length, about).toBeGreaterThan(20);
  const { left_out } = (result.structuredContent ?? {}) as { left_out?: { more: string; shown: number } };
  if (!left_out) return;
  expect(left_out.more, about).not.toMatch(/\{\w+\}|\/v1\//);
  // At a limit that fits a record, an answer contains at least one.
  if (tokens >= 5000 && formats.includes('json')) expect(left_out.shown, about).toBeGreaterThan(0);
}
