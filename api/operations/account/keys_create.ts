// POST /v1/keys: creates an API key with its welcome credit; the secret is shown once.
import { z } from 'zod';

import type { CreatedAccount, KeepAnswer } from '../../../data/model/accounts.ts';
import { SUBSCRIPTIONS } from '../../../data/model/subscriptions.ts';
import { KEY_BODY, WELCOME } from '../../contract/errors.ts';
import { operation } from '../../contract/operation.ts';
import type { About } from '../common/about.ts';
import { about, accountMembers, bodyInput, EMAIL, KEY_OPERATION, memberList, serviceOf } from '../common/account.ts';
import { ABOUT_OUTPUT, address, euro } from '../common/outputs.ts';

const Input = z.object({
  email: EMAIL,
  plan: z
    .string()
    .refine((plan) => Object.hasOwn(SUBSCRIPTIONS, plan) && plan !== 'internal', 'must be payg, pro or scale')
    .default('payg')
    .describe('payg, pro or scale; a paid plan starts when its checkout is paid'),
});

const output = () =>
  z.object({
    id: z.uuid(),
    key: z.string().describe('The secret, shown only once'),
    email: z.string(),
    plan: z.string(),
    balance_eur: euro('Credit'),
    notice: z.string().describe('Why the key starts without credit').optional(),
    checkout_url: address('Checkout of a paid plan').optional(),
    ...ABOUT_OUTPUT,
  });
type Created = z.infer<ReturnType<typeof output>>;

/** Why a key starts without credit. */
export const NO_WELCOME: Record<NonNullable<CreatedAccount['no_welcome']>, string> = {
  budget:
    'The welcome credit of today is used up, so this key starts with 0 EUR. Free calls work; paid calls need a top-up or a plan.',
  earlier_key:
    'This address had a key that was revoked, so this key starts with 0 EUR. Free calls work; paid calls need a top-up or a plan.',
};

export const keys_create = operation<z.infer<typeof Input>, Created>({
  name: 'keys_create',
  title: 'Create an API key',
  description: `Creates a key for an e-mail address with a welcome credit of ${WELCOME}. The secret is shown only once.`,
  ...KEY_OPERATION,
  rest: { ...KEY_OPERATION.rest, method: 'POST', path: '/v1/keys' },
  charge: { ...KEY_OPERATION.charge, access: 'free' },
  docs: { ...KEY_OPERATION.docs, errors: ['key_exists'], statuses: [201] },
  ...bodyInput(Input, KEY_BODY),
  output,
  async run({ email, plan }, ctx) {
    const { accounts, requester, keepAnswer } = serviceOf(ctx);
    const bodyOf = ({ secret, account, no_welcome }: CreatedAccount): Omit<Created, keyof About> => {
      const { id, plan: current, balance_eur } = accountMembers(account);
      const notice = no_welcome === null ? {} : { notice: NO_WELCOME[no_welcome] };
      return { id, key: secret, email: account.email, plan: current, balance_eur, ...notice };
    };
    // The answer for a paid plan also has the address of its checkout, which does not exist yet.
    const keep: KeepAnswer<CreatedAccount> = async (db, created) =>
      plan === 'payg' ? keepAnswer?.(db, { status: 201, body: { ...bodyOf(created), ...about(ctx) } }) : undefined;
    const body = bodyOf(await accounts.create(email, requester, keep));
    const { id } = body;
    // The key is created even if the checkout fails, since only this answer has its secret.
    const url = plan === 'payg' ? null : await accounts.subscribe(plan, { ...requester, key: id }).catch(() => null);
    if (url !== null) body.checkout_url = url;
    return { status: 201, body: { ...body, ...about(ctx) } };
  },
  markdown: (body) => memberList('Your API key, shown only once', body),
});
