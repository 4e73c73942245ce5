// For operators: GET /v1/keys lists keys, DELETE /v1/keys/{key_id} revokes one, POST /v1/keys/grant adds
// credit or sets a plan.

import { z } from 'zod';
import { type Parameter, parameters } from '../../../data/input/parameters.ts';
import { cursorParameter, integerParameter } from '../../../data/input/rows.ts';
import { DataError, validationError } from '../../../data/model/errors.ts';
import { SUBSCRIPTIONS } from '../../../data/model/subscriptions.ts';
import { eur } from '../../../packs/define/money.ts';
import { operation } from '../../contract/operation.ts';
import { blocks, table } from '../../render/markdown.ts';
import type { About } from '../common/about.ts';
import {
  about,
  accountMembers,
  bodyInput,
  euros,
  isoMilliseconds,
  KEY_OPERATION,
  memberList,
  microsOf,
  serviceOf,
} from '../common/account.ts';
import { inputOf } from '../common/inputs.ts';
import { ABOUT_OUTPUT, CURSOR_OUTPUT, euro, time } from '../common/outputs.ts';

type Position = { created_at: number; id: string };
type Row = ReturnType<typeof accountMembers> & { created_at: string; revoked_at: string | null };
type Rows = { keys: Row[]; next_cursor: string | null } & About;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const writeCursor = ({ created_at, id }: Position) => Buffer.from(`keys ${created_at} ${id}`).toString('base64url');

function readCursor(raw: string): Position {
  const [, created_at, id = ''] = /^keys (\d{1,15}) (.+)$/.exec(Buffer.from(raw, 'base64url').toString()) ?? [];
  if (created_at === undefined || !UUID.test(id))
    throw new DataError('invalid_cursor', 'cursor: this is not a cursor of the list of keys.');
  return { created_at: Number(created_at), id };
}

const listParameters = parameters({
  limit: integerParameter('Keys per page', { min: 1, max: 500, fallback: 100 }),
  cursor: cursorParameter(readCursor),
});

export const keys_list = operation<{ limit: number; cursor: Position | null }, Rows>({
  name: 'keys_list',
  title: 'List keys',
  description: 'All keys by time of creation, with plan and balance; for operators.',
  ...KEY_OPERATION,
  rest: { ...KEY_OPERATION.rest, method: 'GET', path: '/v1/keys' },
  charge: { ...KEY_OPERATION.charge, access: 'admin' },
  ...inputOf(listParameters),
  output: () =>
    z.object({
      keys: z.array(
        z.object({
          id: z.uuid(),
          email: z.string().nullable(),
          plan: z.string(),
          balance_eur: euro('Credit'),
          created_at: time('Time of creation'),
          revoked_at: time('Time of revocation').nullable(),
        }),
      ),
      next_cursor: CURSOR_OUTPUT,
      ...ABOUT_OUTPUT,
    }),
  async run({ limit, cursor: after }, ctx) {
    const { accounts, requester } = serviceOf(ctx);
    const rows = await accounts.list(limit + 1, after, requester.now);
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    const next_cursor = last === undefined ? null : writeCursor(last);
    const keys = page.map((key) => ({
      ...accountMembers(key),
      created_at: isoMilliseconds(key.created_at),
      revoked_at: key.revoked_at === null ? null : isoMilliseconds(key.revoked_at),
    }));
    return { body: { keys, next_cursor, ...about(ctx) }, next_cursor };
  },
  markdown: ({ keys, attribution, license }) =>
    blocks(
      '# Keys',
      table(
        ['id', 'email', 'plan', 'balance EUR', 'created', 'revoked'],
        keys.map((key) => [key.id, key.email, key.plan, key.balance_eur, key.created_at, key.revoked_at ?? '']),
      ),
      `${attribution} ${license}`,
    ),
});

const KEY_ID: Parameter<string> = {
  schema: () => z.uuid().describe('Id of the key'),
  parse([id = '']) {
    if (!UUID.test(id)) throw validationError('key_id', 'must be a UUID', 'uuid_parsing');
    return id.toLowerCase();
  },
  path: true,
};

export const keys_revoke = operation<{ key_id: string }, { id: string; revoked: true } & About>({
  name: 'keys_revoke',
  title: 'Revoke a key',
  description: 'Revokes a key immediately and permanently; for operators.',
  ...KEY_OPERATION,
  rest: { ...KEY_OPERATION.rest, method: 'DELETE', path: '/v1/keys/:key_id' },
  charge: { ...KEY_OPERATION.charge, access: 'admin' },
  ...inputOf(parameters({ key_id: KEY_ID })),
  output: () => z.object({ id: z.uuid(), revoked: z.literal(true), ...ABOUT_OUTPUT }),
  async run({ key_id: id }, ctx) {
    const { accounts, requester } = serviceOf(ctx);
    await accounts.revoke(id, requester);
    return { body: { id, revoked: true, ...about(ctx) } };
  },
  markdown: (body) => memberList('Revoked', body),
});

const Grant = z
  .object({
    key_id: z.string().regex(UUID, 'must be a UUID').describe('Id of the key'),
    amount_eur: euros(0, 100_000).describe('EUR to add; 0 to grant only a plan'),
    plan: z
      .string()
      .refine((plan) => Object.hasOwn(SUBSCRIPTIONS, plan), `must be one of ${Object.keys(SUBSCRIPTIONS).join(', ')}`)
      .optional()
      .describe('Plan to set, without an end date'),
    reason: z.string().max(500).default('grant').describe('Stored in the ledger row'),
  })
  .refine(({ amount_eur, plan }) => amount_eur > 0 || plan !== undefined, {
    path: ['amount_eur'],
    message: 'must be above 0 where no plan is granted',
  });

/** Example of a grant of only a plan: the amount is required all the same. */
const GRANT = { key_id: '<id of the key>', amount_eur: 0, plan: 'pro' };

export const keys_grant = operation<z.infer<typeof Grant>, { id: string; balance_eur: number; plan: string } & About>({
  name: 'keys_grant',
  title: 'Grant credit or a plan',
  description: 'Adds credit to a key, or sets its plan; for operators.',
  ...KEY_OPERATION,
  rest: { ...KEY_OPERATION.rest, method: 'POST', path: '/v1/keys/grant' },
  charge: { ...KEY_OPERATION.charge, access: 'admin' },
  ...bodyInput(Grant, GRANT),
  output: () => z.object({ id: z.uuid(), balance_eur: euro('Credit now'), plan: z.string(), ...ABOUT_OUTPUT }),
  async run({ key_id, amount_eur, plan, reason }, ctx) {
    const { accounts, requester } = serviceOf(ctx);
    const grant = { amount: microsOf(amount_eur), plan: plan ?? null, reason };
    const account = await accounts.grant(key_id.toLowerCase(), grant, requester);
    return { body: { id: account.id, balance_eur: eur(account.balance), plan: account.plan, ...about(ctx) } };
  },
  markdown: (body) => memberList('Granted', body),
});
