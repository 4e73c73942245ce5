// POST /v1/keys/topup and /subscribe: links to a hosted checkout, for credit or for a plan.
import { z } from 'zod';

import { SUBSCRIPTIONS } from '../../../data/model/subscriptions.ts';
import { operation } from '../../contract/operation.ts';
import type { About } from '../common/about.ts';
import { about, bodyInput, euros, KEY_OPERATION, memberList, microsOf, serviceOf } from '../common/account.ts';
import { ABOUT_OUTPUT, address, euro } from '../common/outputs.ts';

const wholeCents = (value: number) => Math.abs(value * 100 - Math.round(value * 100)) < 1e-6;

/** Bounds of one top-up in EUR (contract section 2). A payment of less than a cent is impossible. */
export const TOPUP = z.object({
  amount_eur: euros(5, 1000)
    .refine(wholeCents, 'must be whole cents')
    .describe('EUR to add, 5 to 1000, in whole cents'),
});

/**
 * Opens a checkout for credit.
 *
 * @example
 * ```
 * POST /v1/keys/topup {"amount_eur": 20} → 201 {"checkout_url": "https://…", "amount_eur": 20}
 * ```
 */
export const keys_topup = operation<z.infer<typeof TOPUP>, { checkout_url: string; amount_eur: number } & About>({
  name: 'keys_topup',
  title: 'Top up a key',
  description: 'Returns a link to a hosted checkout that adds credit to the key.',
  ...KEY_OPERATION,
  rest: { ...KEY_OPERATION.rest, method: 'POST', path: '/v1/keys/topup' },
  charge: { ...KEY_OPERATION.charge, access: 'key' },
  ...bodyInput(TOPUP, { amount_eur: 20 }),
  output: () => z.object({ checkout_url: address('Where to pay'), amount_eur: euro('As requested'), ...ABOUT_OUTPUT }),
  async run({ amount_eur }, ctx) {
    const { accounts, requester } = serviceOf(ctx);
    const checkout_url = await accounts.topup(microsOf(amount_eur), requester);
    return { body: { checkout_url, amount_eur, ...about(ctx) } };
  },
  markdown: (body) => memberList('Top up', body),
});

const Subscribe = z.object({ plan: z.enum(['pro', 'scale']).describe('The plan to buy') });

type Subscribed = { checkout_url: string; plan: string; eur_per_month: number } & About;

export const keys_subscribe = operation<z.infer<typeof Subscribe>, Subscribed>({
  name: 'keys_subscribe',
  title: 'Subscribe to a plan',
  description:
    'Returns a link to a hosted checkout for a monthly plan: more calls per minute, exports and the change feed.',
  ...KEY_OPERATION,
  rest: { ...KEY_OPERATION.rest, method: 'POST', path: '/v1/keys/subscribe' },
  charge: { ...KEY_OPERATION.charge, access: 'key' },
  ...bodyInput(Subscribe, { plan: 'pro' }),
  output: () =>
    z.object({
      checkout_url: address('Where to pay'),
      plan: z.string(),
      eur_per_month: euro('Its price'),
      ...ABOUT_OUTPUT,
    }),
  async run({ plan }, ctx) {
    const { accounts, requester } = serviceOf(ctx);
    const checkout_url = await accounts.subscribe(plan, requester);
    return { body: { checkout_url, plan, eur_per_month: SUBSCRIPTIONS[plan].eur_per_month, ...about(ctx) } };
  },
  markdown: (body) => memberList('Subscribe', body),
});
