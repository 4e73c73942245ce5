// Calls of every operation of the table, for tests that compare any answer with its description.

import { randomUUID } from 'node:crypto';
import type { Operation } from '../../api/contract/operation.ts';
import { OPERATIONS } from '../../api/operations/table.ts';
import { inputSchema } from '../../api/render/json-schema.ts';
import { counted } from '../../data/input/selection.ts';
import type { Pack } from '../../packs/define/model.ts';
import type { TestApp } from './app.ts';
import { newKey } from './money-on-stores.ts';

export interface OperationCall {
  operation: Operation;
  dataset: string | null;
  /** `GET /v1/tools/status` */
  name: string;
  path: string;
  init: NonNullable<Parameters<TestApp['ask']>[1]>;
}

/** Further parameters that change the shape of an answer, by operation; `first` and `second` are slugs. */
const MORE: Record<string, (first: string, second: string, pack: Pack) => string[]> = {
  entity_search: () => ['total=true&limit=3', 'q=zzzzzz', 'limit=1&sort=updated'],
  entity_search_paid: () => ['total=true&limit=3'],
  entity_batch: (first, second) => [`ids=${second},${first},nobody`, `ids=${first}&as_of=2026-11-19T00:00:00Z`],
  entity_get: () => ['as_of=2026-11-20T00:00:00Z'],
  dataset_facets: (_first, _second, { attributes }) => attributes.filter(counted).map(({ name }) => `by=${name}`),
  dataset_changelog: () => ['days=365', 'days=1&type=added'],
  dataset_changes: () => ['since=2020-01-01T00:00:00Z&limit=500', 'since=2026-11-20T11:59:59Z'],
  dataset_export: () => ['format=jsonl', 'format=parquet'],
  dataset_examples: (_first, _second, { group_by }) => [`group=${group_by}`],
  entity_compare: (first, second) => [`ids=${first},nobody,${second}`],
  dataset_stats: (_first, _second, pack) => [`${numeric(pack)}&group_by=${pack.group_by}`, `${numeric(pack)}&q=zzzzzz`],
  dataset_timeseries: (_first, _second, pack) => [`${numeric(pack)}&group_by=${pack.group_by}&step=week`],
};

const numeric = ({ attributes }: Pack) =>
  `attribute=${attributes.find(({ type }) => type === 'number' || type === 'integer' || type === 'price')!.name}`;

/** Bodies of operations that need one; `token` is that of a claim of a record of harbours. */
const BODIES: Record<string, (key_id: string, token: string) => unknown> = {
  keys_create: () => ({ email: `reader-${Math.random().toString(36).slice(2)}@example.org` }),
  keys_topup: () => ({ amount_eur: 5 }),
  keys_subscribe: () => ({ plan: 'pro' }),
  keys_subscriptions_add: () => ({ dataset: 'harbours', url: 'https://hook.example.org/' }),
  account_prepay: () => ({ amount_eur: 2 }),
  keys_email: () => ({ email: `reader-${Math.random().toString(36).slice(2)}@example.org` }),
  keys_limits: () => ({ per_day_eur: 100 }),
  keys_child_change: () => ({ name: 'agent' }),
  keys_child_create: () => ({ name: 'agent' }),
  keys_recover: () => ({ email: 'reader@example.org' }),
  keys_grant: (key_id) => ({ key_id, amount_eur: 1 }),
  optout: () => ({ dataset: 'harbours', entity_id: 'harbour-13', contact: 'office@neu.example' }),
  optout_post: () => ({ dataset: 'harbours', entity_id: 'harbour-6', contact: 'office@west.dateline.example' }),
  claim_request: () => ({ dataset: 'harbours', entity_id: 'harbour-3', email: 'office@aether.example' }),
  entity_report: () => ({ message: 'The name is misspelt.' }),
  quote: () => ({ operation: 'entity_search', dataset: 'tools' }),
  sql_query: () => ({ sql: 'SELECT 1 AS answer' }),
  dataset_sql: () => ({ sql: 'SELECT 1 AS answer' }),
  claim_update: (_, token) => ({ token, values: { fuel: true } }),
};

/**
 * Every operation, called in several ways for each dataset; `account` is a key with credit that may be
 * revoked, with the token of a claim; `ending` has the keys of operations after which a key does not work, `parts` the
 * parts of paths by name. Operations with other parts are left out.
 */
export function everyCall(
  packs: readonly Pack[],
  slugs: Record<string, string[]>,
  account: {
    id: string;
    key: string;
    token: string;
    ending?: Readonly<Record<string, string>>;
    parts?: Readonly<Record<string, string>>;
  },
): OperationCall[] {
  const ownOf = (name: string) => ({ Authorization: `Bearer ${account.ending?.[name] ?? account.key}` });
  return OPERATIONS.flatMap((operation) => {
    const { rest, name } = operation;
    if (rest.path.includes(':ds'))
      return packs.flatMap((pack) => {
        const [first = '', second = ''] = slugs[pack.id] ?? [];
        const path = rest.path.replace(':ds', pack.id).replace(':entity_id', first);
        const { entity_id: _, ...example } = operation.docs.example?.(pack, [first, second]) ?? {};
        const needed = (inputSchema(operation, pack)['required'] as string[] | undefined) ?? [];
        const bare = needed.every((parameter) => parameter === 'entity_id') ? [''] : [];
        const shown = `${new URLSearchParams(example as Record<string, string>)}`;
        const body = BODIES[name]?.(account.id, account.token);
        const sent = body === undefined ? { admin: true } : { method: rest.method, body: JSON.stringify(body) };
        if (body !== undefined) bare.push('');
        const queries = [...bare, ...(shown === '' ? [] : [shown]), ...(MORE[name]?.(first, second, pack) ?? [])];
        return queries.map((query): OperationCall => {
          const asked = query === '' ? path : `${path}?${query}`;
          return { operation, dataset: pack.id, name: `${rest.method} ${asked}`, path: asked, init: sent };
        });
      });
    const queries: Record<string, string> = {
      claim_verify: `?token=${account.token}`,
      search: '?q=record',
      fetch: `?id=${Object.entries(slugs).map(([dataset, [slug]]) => `${dataset}/${slug}`)[0]}`,
    };
    const asks = queries[name] ?? '';
    const parts: Record<string, string> = { key_id: account.id, ...account.parts };
    const path = rest.path.replaceAll(/:(\w+)/g, (part, of: string) => parts[of] ?? part) + asks;
    if (path.includes('/:')) return [];
    const body = BODIES[name]?.(account.id, account.token);
    const init = {
      method: rest.method,
      ...(name === 'account_prepay' ? { headers: { 'Idempotency-Key': randomUUID() } } : {}),
      ...(operation.charge.access === 'admin'
        ? { admin: true }
        : operation.charge.access === 'key'
          ? { headers: ownOf(name) }
          : {}),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    return [{ operation, dataset: null, name: `${rest.method} ${path}`, path, init }];
  });
}

/** A key for each operation after which it does not work. */
export async function endingKeys(app: TestApp): Promise<Record<string, string>> {
  const names = ['keys_rotate', 'keys_close'];
  const keys = names.map(async (name) => [name, (await newKey(app)).key] as const);
  return Object.fromEntries(await Promise.all(keys));
}

/** Parts of paths of operations on what a key owns. */
export type PathParts = Record<'subscription' | 'delivery' | 'child_id', string>;

/** A subscription with a delivery, and a child key, of a key. */
export async function ownedParts(app: TestApp, key: string): Promise<PathParts> {
  const made = async (name: string, path: string) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const { body } = await app.json(path, { method: 'POST', headers, body: JSON.stringify(BODIES[name]!('', '')) });
    return String(body['id']);
  };
  const child_id = await made('keys_child_create', '/v1/keys/me/children');
  const subscription = await made('keys_subscriptions_add', '/v1/keys/me/subscriptions');
  const { db } = app.state;
  await db.updateTable('change_subscriptions').set({ status: 'active' }).where('id', '=', subscription).execute();
  const delivery = `msg_${randomUUID()}`;
  await db
    .insertInto('deliveries')
    .values({
      ...{ id: delivery, subscription_id: subscription, since: 0, until: 1, changes: 1, status: 'delivered' },
      ...{ attempts: 1, response_status: 200, problem: null, created_at: 0, delivered_at: 1 },
    })
    .execute();
  return { subscription, delivery, child_id };
}
