// PUT /v1/keys/me/limits: bounds on the spending of the calling key and its children, and an alert by mail.
import { z } from 'zod';
import { eur } from '../../../packs/define/money.ts';
import { operation } from '../../contract/operation.ts';
import type { About } from '../common/about.ts';
import { about, bodyInput, euros, KEY_OPERATION, memberList, microsOf, serviceOf } from '../common/account.ts';
import { ABOUT_OUTPUT, euro } from '../common/outputs.ts';

const Limits = z.strictObject({
  per_day_eur: euros(0, 1_000_000).optional().describe('Most that the key and its children spend in a day (UTC)'),
  per_month_eur: euros(0, 1_000_000).optional().describe('Most in a month (UTC)'),
  alert_below_eur: euros(0, 1_000_000).optional().describe('A mail is sent when the balance falls below it'),
});
type Body = z.infer<typeof Limits>;

/**
 * Replaces all limits: one that the body leaves out ends.
 *
 * @example
 * ```
 * PUT /v1/keys/me/limits {"per_day_eur": 2} → {"per_day_eur": 2, "spent_today_eur": 0.4, "spent_this_month_eur": 7}
 * ```
 */
export const keys_limits = operation<Body, Body & { spent_today_eur: number; spent_this_month_eur: number } & About>({
  name: 'keys_limits',
  title: 'Set limits of my key',
  description:
    'Bounds what the calling key and its children spend in a day and a month, and mails its owner when the balance falls below a mark. Replaces all earlier limits.',
  ...KEY_OPERATION,
  rest: { ...KEY_OPERATION.rest, method: 'PUT', path: '/v1/keys/me/limits' },
  charge: { ...KEY_OPERATION.charge, access: 'key' },
  ...bodyInput(Limits, { per_day_eur: 2 }),
  output: () =>
    z.object({
      ...Limits.shape,
      spent_today_eur: euro('Spent today, children included'),
      spent_this_month_eur: euro('Spent this month'),
      ...ABOUT_OUTPUT,
    }),
  async run(body, ctx) {
    const { accounts, requester, keepAnswer } = serviceOf(ctx);
    const micros = (amount: number | undefined) => (amount === undefined ? null : microsOf(amount));
    const limits = {
      per_day: micros(body.per_day_eur),
      per_month: micros(body.per_month_eur),
      alert_below: micros(body.alert_below_eur),
    };
    const answer = ({ day_spent, month_spent }: { day_spent: number; month_spent: number }) => ({
      body: { ...body, spent_today_eur: eur(day_spent), spent_this_month_eur: eur(month_spent), ...about(ctx) },
    });
    return answer(await accounts.limit(limits, requester, async (db, spent) => keepAnswer?.(db, answer(spent))));
  },
  markdown: (body) => memberList('Limits', body),
});
