// The owner's operations on a key: GET /v1/keys/me/usage, POST /v1/keys/me/rotate, DELETE /v1/keys/me.
import { z } from 'zod';
import { parameters } from '../../../data/input/parameters.ts';
import { integerParameter } from '../../../data/input/rows.ts';
import type { KeepAnswer, ReplacedKey } from '../../../data/model/accounts.ts';
import { eur } from '../../../packs/define/money.ts';
import { operation } from '../../contract/operation.ts';
import { blocks, table } from '../../render/markdown.ts';
import type { About } from '../common/about.ts';
import { about, bodyInput, KEY_OPERATION, memberList, serviceOf } from '../common/account.ts';
import { inputOf, NO_PARAMETERS } from '../common/inputs.ts';
import { ABOUT_OUTPUT, euro } from '../common/outputs.ts';

const usageOutput = () =>
  z.object({
    days: z.array(
      z.object({
        date: z.iso.date(),
        dataset: z.string(),
        operation: z.string(),
        child_id: z.uuid().describe('The child key that was called with; absent: none').optional(),
        calls: z.int(),
        amount_eur: euro('Charged'),
      }),
    ),
    ...ABOUT_OUTPUT,
  });
type Usage = z.infer<ReturnType<typeof usageOutput>>;

export const keys_usage = operation<{ days: number }, Usage>({
  name: 'keys_usage',
  title: 'Usage of my key',
  description: 'Charged calls of the calling key by day, dataset, operation and child key, oldest day first.',
  ...KEY_OPERATION,
  rest: { ...KEY_OPERATION.rest, method: 'GET', path: '/v1/keys/me/usage' },
  charge: { ...KEY_OPERATION.charge, access: 'key' },
  ...inputOf(parameters({ days: integerParameter('Days until today, in UTC', { min: 1, max: 90, fallback: 30 }) })),
  output: usageOutput,
  async run({ days }, ctx) {
    const { accounts, requester } = serviceOf(ctx);
    const rows = await accounts.usage(requester, days);
    const lines = rows.map(({ amount, child_id, ...row }) => ({
      ...row,
      ...(child_id === '' ? {} : { child_id }),
      amount_eur: eur(amount),
    }));
    return { body: { days: lines, ...about(ctx) } };
  },
  markdown: ({ days, attribution, license }) =>
    blocks(
      '# Usage',
      table(
        ['date', 'dataset', 'operation', 'child key', 'calls', 'EUR'],
        days.map(({ date, dataset, operation: name, child_id = '', calls, amount_eur }) => [
          ...[date, dataset, name, child_id],
          ...[calls, amount_eur],
        ]),
      ),
      `${attribution} ${license}`,
    ),
});

const Rotation = z.strictObject({
  keep_children: z.boolean().default(false).describe('Whether child keys stay; absent: they end'),
  keep_apps: z.boolean().default(false).describe('Whether connected applications stay; absent: they end'),
});

export const keys_rotate = operation<
  z.infer<typeof Rotation>,
  { id: string; key: string; ended: { children: number; apps: number } } & About
>({
  name: 'keys_rotate',
  title: 'Replace my key',
  description:
    'Replaces the secret of the calling key. The old one stops working at once, and child keys and connected applications end unless they are kept; credit and plan stay. The new secret is shown only once.',
  ...KEY_OPERATION,
  rest: { ...KEY_OPERATION.rest, method: 'POST', path: '/v1/keys/me/rotate' },
  charge: { ...KEY_OPERATION.charge, access: 'key', ends_secret: true },
  ...bodyInput(Rotation),
  output: () =>
    z.object({
      id: z.uuid(),
      key: z.string().describe('The new secret, shown only once'),
      ended: z
        .object({ children: z.int().describe('Child keys'), apps: z.int().describe('Connected applications') })
        .describe('How many ended with the old secret'),
      ...ABOUT_OUTPUT,
    }),
  async run(choice, ctx) {
    const { accounts, requester, credential_hash = '', keepAnswer } = serviceOf(ctx);
    const { id } = await accounts.own(requester);
    const answer = ({ secret, ended }: ReplacedKey) => ({ body: { id, key: secret, ended, ...about(ctx) } });
    const keep: KeepAnswer<ReplacedKey> = async (db, replaced) => keepAnswer?.(db, answer(replaced));
    return answer(await accounts.replace(requester, credential_hash, choice, keep));
  },
  markdown: ({ ended: { children, apps }, ...body }) =>
    memberList('Your new API key, shown only once', { ...body, ended_children: children, ended_apps: apps }),
});

export const keys_close = operation<object, { id: string; revoked: true } & About>({
  name: 'keys_close',
  title: 'Revoke my key',
  description: 'Revokes the calling key at once and permanently, and cancels its plan. Its credit is lost.',
  ...KEY_OPERATION,
  rest: { ...KEY_OPERATION.rest, method: 'DELETE', path: '/v1/keys/me' },
  charge: { ...KEY_OPERATION.charge, access: 'key', ends_secret: true },
  ...inputOf(NO_PARAMETERS),
  output: () => z.object({ id: z.uuid(), revoked: z.literal(true), ...ABOUT_OUTPUT }),
  async run(_, ctx) {
    const { accounts, requester, keepAnswer } = serviceOf(ctx);
    const answer = (id: string) => ({ body: { id, revoked: true as const, ...about(ctx) } });
    return answer(await accounts.close(requester, async (db, id) => keepAnswer?.(db, answer(id))));
  },
  markdown: (body) => memberList('Revoked', body),
});
