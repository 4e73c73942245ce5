// The owner's operations on a key: GET /v1/keys/me/usage, POST /v1/keys/me/rotate, DELETE /v1/keys/me.
import { z } from 'zod';
import { parameters } from '../../../data/input/parameters.ts';
import { integerParameter } from '../../../data/input/rows.ts';
import { eur } from '../../../packs/define/money.ts';
import { operation } from '../../contract/operation.ts';
import { blocks, table } from '../../render/markdown.ts';
import type { About } from '../common/about.ts';
import { about, accountsOf, KEY_OPERATION, memberList } from '../common/account.ts';
import { inputOf, NO_PARAMETERS } from '../common/inputs.ts';
import { ABOUT_OUTPUT, euro } from '../common/outputs.ts';

interface Day {
  date: string;
  dataset: string;
  operation: string;
  calls: number;
  amount_eur: number;
}

export const keys_usage = operation<{ days: number }, { days: Day[] } & About>({
  name: 'keys_usage',
  title: 'Usage of my key',
  description: 'Charged calls of the calling key by day, dataset and operation, oldest day first.',
  route: { method: 'GET', path: '/v1/keys/me/usage' },
  ...KEY_OPERATION,
  access: 'key',
  ...inputOf(parameters({ days: integerParameter('Days until today, in UTC', { min: 1, max: 90, fallback: 30 }) })),
  output: () =>
    z.object({
      days: z.array(
        z.object({
          date: z.iso.date(),
          dataset: z.string(),
          operation: z.string(),
          calls: z.int(),
          amount_eur: euro('Charged'),
        }),
      ),
      ...ABOUT_OUTPUT,
    }),
  async run({ days }, ctx) {
    const { accounts, requester } = accountsOf(ctx);
    const rows = await accounts.usage(requester, days);
    return { body: { days: rows.map(({ amount, ...row }) => ({ ...row, amount_eur: eur(amount) })), ...about(ctx) } };
  },
  markdown: ({ days, attribution, license }) =>
    blocks(
      '# Usage',
      table(
        ['date', 'dataset', 'operation', 'calls', 'EUR'],
        days.map(({ date, dataset, operation: name, calls, amount_eur }) => [date, dataset, name, calls, amount_eur]),
      ),
      `${attribution} ${license}`,
    ),
});

export const keys_rotate = operation<object, { id: string; key: string } & About>({
  name: 'keys_rotate',
  title: 'Replace my key',
  description:
    'Replaces the secret of the calling key. The old one stops working at once; credit, plan and connected applications stay. The new secret is shown only once.',
  route: { method: 'POST', path: '/v1/keys/me/rotate' },
  ...KEY_OPERATION,
  access: 'key',
  ends_secret: true,
  ...inputOf(NO_PARAMETERS),
  output: () =>
    z.object({ id: z.uuid(), key: z.string().describe('The new secret, shown only once'), ...ABOUT_OUTPUT }),
  async run(_, ctx) {
    const { accounts, requester } = accountsOf(ctx);
    const { id } = await accounts.own(requester);
    const answer = (key: string) => ({ body: { id, key, ...about(ctx) } });
    const current = ctx.credential_hash ?? '';
    return answer(await accounts.replace(requester, current, async (db, key) => ctx.keepAnswer?.(db, answer(key))));
  },
  markdown: (body) => memberList('Your new API key, shown only once', body),
});

export const keys_close = operation<object, { id: string; revoked: true } & About>({
  name: 'keys_close',
  title: 'Revoke my key',
  description: 'Revokes the calling key at once and permanently, and cancels its plan. Its credit is lost.',
  route: { method: 'DELETE', path: '/v1/keys/me' },
  ...KEY_OPERATION,
  access: 'key',
  ends_secret: true,
  ...inputOf(NO_PARAMETERS),
  output: () => z.object({ id: z.uuid(), revoked: z.literal(true), ...ABOUT_OUTPUT }),
  async run(_, ctx) {
    const { accounts, requester } = accountsOf(ctx);
    const answer = (id: string) => ({ body: { id, revoked: true as const, ...about(ctx) } });
    return answer(await accounts.close(requester, async (db, id) => ctx.keepAnswer?.(db, answer(id))));
  },
  markdown: (body) => memberList('Revoked', body),
});
