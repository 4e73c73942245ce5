// POST /v1/keys/prepaid: a key with credit for one x402 payment, without an account (contract section 9, "Budgets").
import { z } from 'zod';
import type { RawInput } from '../../../data/plan/plan.ts';
import { eur } from '../../../packs/define/money.ts';
import { ApiError } from '../../contract/errors.ts';
import { type Context, operation } from '../../contract/operation.ts';
import { PREPAID_BODY } from '../../payments/payments.ts';
import type { About } from '../common/about.ts';
import {
  about,
  bodyInput,
  euros,
  isoMilliseconds,
  KEY_OPERATION,
  memberList,
  microsOf,
  serviceOf,
} from '../common/account.ts';
import { ABOUT_OUTPUT, euro, time } from '../common/outputs.ts';

const DAY = 86_400_000;
/** The amount of a call without a readable body, such as one of an indexer. */
const EXAMPLE = PREPAID_BODY;

const Prepay = z.strictObject({
  amount_eur: euros(0.5, 100).describe('Credit to buy, in EUR'),
  expires_days: z.int().min(1).max(365).default(90).describe('Days until the key ends; what is left then is lost'),
});
type Input = z.infer<typeof Prepay>;
/** The same for tools; hosts refuse schemas of bounds that depend on each other. */
const ToolPrepay = z.object({
  amount_eur: z.number(),
  expires_days: z.int().optional(),
  idempotency_key: z.string().describe('32 to 128 random characters; repeat with it to get a lost answer again'),
});

const { parse: parseBody } = bodyInput(Prepay, EXAMPLE);

/** Arguments of a call by name are texts. */
function parse({ format: _, ...raw }: RawInput, ctx: Context): Input {
  if (!ctx.by_name) return parseBody(raw, ctx);
  const body = Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, Number(value)]));
  return parseBody({}, { ...ctx, body });
}

/**
 * @example
 * ```
 * POST /v1/keys/prepaid {"amount_eur": 0.8} → 402 with the payment to sign; with PAYMENT-SIGNATURE and Idempotency-Key:
 * 201 {"id": "…", "key": "dsr_…", "balance_eur": 0.8, "expires_at": "2027-02-25T12:00:00Z"}
 * ```
 */
export const account_prepay = operation<
  Input,
  { id: string; key: string; balance_eur: number; expires_at: string } & About
>({
  name: 'account_prepay',
  title: 'Buy a prepaid key',
  description:
    'Sells an API key with credit for one x402 payment, without an account. The secret is shown to the buyer only, again for the same idempotency key.',
  ...KEY_OPERATION,
  rest: { ...KEY_OPERATION.rest, method: 'POST', path: '/v1/keys/prepaid' },
  charge: {
    access: 'paid',
    amount: (input) => microsOf((input ?? EXAMPLE).amount_eur),
  },
  tool: { account: true },
  docs: { ...KEY_OPERATION.docs, statuses: [201], errors: ['payment_already_used', 'unavailable'] },
  input: (_pack, as) => (as === 'tool' ? ToolPrepay : Prepay),
  parse,
  output: () =>
    z.object({
      id: z.uuid(),
      key: z.string().describe('The secret, shown to the buyer only'),
      balance_eur: euro('Credit'),
      expires_at: time('When the key ends'),
      ...ABOUT_OUTPUT,
    }),
  async run({ amount_eur, expires_days }, ctx) {
    const { accounts, purchase } = serviceOf(ctx);
    if (!purchase) throw new ApiError('unavailable', 'Prepaid keys are paid by x402.');
    const expires_at = ctx.now.getTime() + expires_days * DAY;
    const { id, secret } = accounts.prepare(purchase, expires_at);
    const balance_eur = eur(microsOf(amount_eur));
    const body = { id, key: secret, balance_eur, expires_at: isoMilliseconds(expires_at), ...about(ctx) };
    return { status: 201, body };
  },
  markdown: (body) => memberList('Your prepaid key', body),
});
