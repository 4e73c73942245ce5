// /v1/keys/me/subscriptions: messages about changes to an address of the caller (contract section 9, "Subscriptions").
import { z } from 'zod';
import { type Parameter, parameters } from '../../../data/input/parameters.ts';
import type {
  AddedSubscription,
  ChangeDelivery,
  ChangeSubscription,
} from '../../../data/model/change-subscriptions.ts';
import { DataError, validationError } from '../../../data/model/errors.ts';
import { DIRECTIONS } from '../../../data/plan/plan.ts';
import { type Context, operation } from '../../contract/operation.ts';
import { blocks, table } from '../../render/markdown.ts';
import type { About } from '../common/about.ts';
import { about, bodyInput, isoMilliseconds, KEY_OPERATION, memberList, serviceOf } from '../common/account.ts';
import { inputOf, NO_PARAMETERS } from '../common/inputs.ts';
import { ABOUT_OUTPUT, count, time } from '../common/outputs.ts';

const PATH = '/v1/keys/me/subscriptions';
/** Most characters of the conditions. */
const LONGEST = 4_000;

const subscriptionsIn = (ctx: Context) => {
  const { subscriptions, requester, keepAnswer } = serviceOf(ctx);
  if (!subscriptions) throw new DataError('unavailable', 'There are no subscriptions here.');
  return { subscriptions, requester, keepAnswer };
};

const Condition = z.union([z.string(), z.number(), z.boolean()]);
/** The body of a new subscription. */
export const NEW_SUBSCRIPTION = z
  .strictObject({
    dataset: z.string().min(1).max(100).describe('Dataset whose changes are sent'),
    filters: z
      .record(z.string(), Condition)
      .optional()
      .describe('Filters of the records, as in a search; type and min_change_percent, as in the changelog'),
    filter: z
      .union([z.string(), z.record(z.string(), z.unknown())])
      .optional()
      .describe('CQL2 as text or as JSON'),
    attributes: z.array(z.string()).min(1).max(100).optional().describe('Only changes of these attributes'),
    direction: z.enum(DIRECTIONS).optional().describe('Only changes of this kind, as in the changelog'),
    url: z.url().max(2_000).optional().describe('Where messages are posted: https, a public address'),
    email: z
      .email()
      .max(254)
      .optional()
      .describe('In place of url: mails to the address of the key, one a day at most'),
  })
  .refine(({ url, email }) => (url === undefined) !== (email === undefined), {
    path: ['url'],
    message: 'is required, or email in its place',
  });
type Wanted = z.infer<typeof NEW_SUBSCRIPTION>;

/** The conditions as parameters of the changelog. */
export function queryOf({ filters = {}, filter, attributes, direction }: Wanted): Record<string, string> {
  const query = {
    ...Object.fromEntries(Object.entries(filters).map(([name, value]) => [name, String(value)])),
    ...(filter === undefined ? {} : { filter: typeof filter === 'string' ? filter : JSON.stringify(filter) }),
    ...(typeof filter === 'object' ? { 'filter-lang': 'cql2-json' } : {}),
    ...(attributes === undefined ? {} : { attribute: attributes.join(',') }),
    ...(direction === undefined ? {} : { direction }),
  };
  if (JSON.stringify(query).length > LONGEST)
    throw validationError('filters', `must have at most ${LONGEST} characters`, 'string_too_long');
  return query;
}

type Added = AddedSubscription & { status: 'unverified' } & About;

/**
 * @example
 * ```
 * POST /v1/keys/me/subscriptions {"dataset": "airports", "filters": {"country": "CH"}, "url": "https://example.org/hook"}
 * ```
 */
export const keys_subscriptions_add = operation<Wanted, Added>({
  name: 'keys_subscriptions_add',
  title: 'Subscribe to changes',
  description:
    'Posts new and changed values to your address, signed as Standard Webhooks. The first message has a challenge, which your answer must contain. The secret is shown only once.',
  ...KEY_OPERATION,
  rest: { ...KEY_OPERATION.rest, method: 'POST', path: PATH },
  charge: { ...KEY_OPERATION.charge, access: 'key' },
  docs: {
    ...KEY_OPERATION.docs,
    statuses: [201],
    errors: ['plan_required', 'unknown_dataset', 'unknown_filter', 'invalid_filter'],
  },
  ...bodyInput(NEW_SUBSCRIPTION, { dataset: 'airports', url: 'https://example.org/hook' }),
  output: () =>
    z.object({
      id: z.string(),
      secret: z.string().optional().describe('Checks the signatures of messages; shown only once'),
      status: z.literal('unverified'),
      ...ABOUT_OUTPUT,
    }),
  async run(wanted, ctx) {
    const { subscriptions, requester, keepAnswer } = subscriptionsIn(ctx);
    const answer = (added: AddedSubscription) => ({
      body: { ...added, status: 'unverified' as const, ...about(ctx) },
      status: 201 as const,
    });
    const { dataset, url, email } = wanted;
    const to = url === undefined ? { email: email! } : { url };
    return answer(
      await subscriptions.add({ dataset, to, query: queryOf(wanted) }, requester, async (db, added) =>
        keepAnswer?.(db, answer(added)),
      ),
    );
  },
  markdown: (body) => memberList('Subscription', body),
});

type Row = Omit<ChangeSubscription, 'created_at' | 'retry_at'> & { created_at: string; retry_at: string | null };

const isoOrNull = (ms: number | null) => (ms === null ? null : isoMilliseconds(ms));

export const keys_subscriptions = operation<object, { items: Row[] } & About>({
  name: 'keys_subscriptions',
  title: 'List my subscriptions',
  description: 'Subscriptions of the calling key to changes, oldest first.',
  ...KEY_OPERATION,
  rest: { ...KEY_OPERATION.rest, method: 'GET', path: PATH },
  charge: { ...KEY_OPERATION.charge, access: 'key' },
  ...inputOf(NO_PARAMETERS),
  output: () =>
    z.object({
      items: z.array(
        z.object({
          id: z.string(),
          dataset: z.string(),
          query: z.record(z.string(), z.string()).describe('Parameters of the changelog'),
          url: z.string().nullable().describe('null: mails'),
          status: z.enum(['unverified', 'active', 'disabled']),
          created_at: time('Time of creation'),
          retry_at: time('Next attempt after a failed one').nullable(),
        }),
      ),
      ...ABOUT_OUTPUT,
    }),
  async run(_, ctx) {
    const { subscriptions, requester } = subscriptionsIn(ctx);
    const rows = await subscriptions.list(requester);
    const items = rows.map((row) => ({
      ...row,
      created_at: isoMilliseconds(row.created_at),
      retry_at: isoOrNull(row.retry_at),
    }));
    return { body: { items, ...about(ctx) } };
  },
  markdown: ({ items, attribution, license }) =>
    blocks(
      '# Subscriptions',
      table(
        ['id', 'dataset', 'conditions', 'url', 'status', 'created'],
        items.map(({ id, dataset, query, url, status, created_at }) => {
          return [id, dataset, String(new URLSearchParams(query)), url ?? 'mail', status, created_at];
        }),
      ),
      `${attribution} ${license}`,
    ),
});

/** An id in the path, such as `sub_…`. */
const idParameter = (name: string, prefix: string): Parameter<string> => ({
  schema: () => z.string().describe(`Id, ${prefix}…`),
  parse([id = '']) {
    if (!id.startsWith(prefix)) throw validationError(name, `must begin with ${prefix}`, 'value_error');
    return id;
  },
  path: true,
});
const SUBSCRIPTION = idParameter('subscription', 'sub_');

type Removed = { id: string; removed: true } & About;

export const keys_subscriptions_remove = operation<{ subscription: string }, Removed>({
  name: 'keys_subscriptions_remove',
  title: 'End a subscription',
  description: 'Deletes a subscription of the calling key with its deliveries.',
  ...KEY_OPERATION,
  rest: { ...KEY_OPERATION.rest, method: 'DELETE', path: `${PATH}/:subscription` },
  charge: { ...KEY_OPERATION.charge, access: 'key' },
  ...inputOf(parameters({ subscription: SUBSCRIPTION })),
  output: () => z.object({ id: z.string(), removed: z.literal(true), ...ABOUT_OUTPUT }),
  async run({ subscription: id }, ctx) {
    const { subscriptions, requester } = subscriptionsIn(ctx);
    await subscriptions.remove(id, requester);
    return { body: { id, removed: true, ...about(ctx) } };
  },
  markdown: (body) => memberList('Subscription', body),
});

type DeliveryRow = Omit<ChangeDelivery, 'created_at' | 'delivered_at'> & {
  created_at: string;
  delivered_at: string | null;
};

export const keys_deliveries = operation<{ subscription: string }, { items: DeliveryRow[] } & About>({
  name: 'keys_deliveries',
  title: 'List deliveries of a subscription',
  description: 'The newest 100 messages of a subscription with their attempts.',
  ...KEY_OPERATION,
  rest: { ...KEY_OPERATION.rest, method: 'GET', path: `${PATH}/:subscription/deliveries` },
  charge: { ...KEY_OPERATION.charge, access: 'key' },
  ...inputOf(parameters({ subscription: SUBSCRIPTION })),
  output: () =>
    z.object({
      items: z.array(
        z.object({
          id: z.string(),
          status: z.enum(['waiting', 'delivered', 'failed']),
          changes: count('Changes in the message'),
          attempts: count('Attempts so far'),
          response_status: z.int().nullable().describe('Status of the last answer'),
          problem: z.string().nullable().describe('Why the last attempt failed'),
          created_at: time('Time of creation'),
          delivered_at: time('Time of delivery').nullable(),
        }),
      ),
      ...ABOUT_OUTPUT,
    }),
  async run({ subscription }, ctx) {
    const { subscriptions, requester } = subscriptionsIn(ctx);
    const rows = await subscriptions.deliveries(subscription, requester);
    const items = rows.map((row) => ({
      ...row,
      created_at: isoMilliseconds(row.created_at),
      delivered_at: isoOrNull(row.delivered_at),
    }));
    return { body: { items, ...about(ctx) } };
  },
  markdown: ({ items, attribution, license }) =>
    blocks(
      '# Deliveries',
      table(
        ['id', 'status', 'changes', 'attempts', 'answer', 'problem', 'created'],
        items.map(({ id, status, changes, attempts, response_status, problem, created_at }) => {
          return [id, status, changes, attempts, response_status ?? '', problem ?? '', created_at];
        }),
      ),
      `${attribution} ${license}`,
    ),
});

type Repeated = { id: string; status: 'waiting' } & About;

export const keys_deliveries_repeat = operation<{ subscription: string; delivery: string }, Repeated>({
  name: 'keys_deliveries_repeat',
  title: 'Repeat a delivery',
  description: 'Sends a message of an active subscription again, with the same id.',
  ...KEY_OPERATION,
  rest: { ...KEY_OPERATION.rest, method: 'POST', path: `${PATH}/:subscription/deliveries/:delivery/repeat` },
  charge: { ...KEY_OPERATION.charge, access: 'key' },
  ...inputOf(parameters({ subscription: SUBSCRIPTION, delivery: idParameter('delivery', 'msg_') })),
  output: () => z.object({ id: z.string(), status: z.literal('waiting'), ...ABOUT_OUTPUT }),
  async run({ subscription, delivery: id }, ctx) {
    const { subscriptions, requester } = subscriptionsIn(ctx);
    await subscriptions.repeat(subscription, id, requester);
    return { body: { id, status: 'waiting', ...about(ctx) } };
  },
  markdown: (body) => memberList('Delivery', body),
});
