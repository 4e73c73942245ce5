// GET /v1/keys/me: the caller's own balance, plan and ledger.

import { z } from 'zod';
import { parameters } from '../../../data/input/parameters.ts';
import { cursorParameter, integerParameter } from '../../../data/input/rows.ts';
import { DataError } from '../../../data/model/errors.ts';
import { eur } from '../../../packs/define/money.ts';
import { operation } from '../../contract/operation.ts';
import { blocks, table } from '../../render/markdown.ts';
import { about, accountMembers, isoMilliseconds, serviceOf } from '../common/account.ts';
import { inputOf } from '../common/inputs.ts';
import { ABOUT_OUTPUT, CURSOR_OUTPUT, euro, time } from '../common/outputs.ts';

const output = () =>
  z.object({
    id: z.uuid(),
    email: z.string().nullable().describe('Null for a prepaid key without an address, and for a child key'),
    plan: z.string(),
    balance_eur: euro('Credit'),
    ledger: z
      .array(
        z.object({
          id: z.int(),
          at: time('When'),
          kind: z.string(),
          amount_eur: euro('Negative: charged'),
          balance_eur: euro('Afterwards; absent for a child key').optional(),
          operation: z.string().optional(),
          dataset: z.string().optional(),
          request_id: z.string().optional(),
        }),
      )
      .describe('Newest first'),
    next_cursor: CURSOR_OUTPUT,
    ...ABOUT_OUTPUT,
  });
type Own = z.infer<ReturnType<typeof output>>;

/** A ledger cursor is the id of the last row shown; rows are never renumbered. */
const writeCursor = (id: number) => Buffer.from(`ledger ${id}`).toString('base64url');

function readCursor(raw: string): number {
  const id = /^ledger (\d{1,15})$/.exec(Buffer.from(raw, 'base64url').toString())?.[1];
  if (id === undefined) throw new DataError('invalid_cursor', 'cursor: this is not a cursor of your ledger.');
  return Number(id);
}

const ledgerParameters = parameters({
  limit: integerParameter('Ledger rows per page', { min: 1, max: 500, fallback: 100 }),
  cursor: cursorParameter(readCursor),
});

export const keys_me = operation<{ limit: number; cursor: number | null }, Own>({
  name: 'keys_me',
  title: 'My key',
  description: 'Balance, plan and ledger of the calling key, newest row first.',
  rest: { method: 'GET', path: '/v1/keys/me', personal: true },
  charge: { access: 'key' },
  docs: { group: 'account' },
  formats: ['json', 'markdown'],
  ...inputOf(ledgerParameters),
  output,
  async run({ limit, cursor: before }, ctx) {
    const { accounts, requester } = serviceOf(ctx);
    const account = await accounts.own(requester);
    const rows = await accounts.movements(requester, limit + 1, before);
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    const next_cursor = last === undefined ? null : writeCursor(last.id);
    const ledger = page.map(({ id, at, kind, amount, balance, operation, dataset, request_id }) => ({
      id,
      at: isoMilliseconds(at),
      kind,
      amount_eur: eur(amount),
      ...(requester.child ? {} : { balance_eur: eur(balance) }),
      ...(operation === null ? {} : { operation }),
      ...(dataset === null ? {} : { dataset }),
      ...(request_id === null ? {} : { request_id }),
    }));
    return { body: { ...accountMembers(account), ledger, next_cursor, ...about(ctx) }, next_cursor };
  },
  markdown: ({ email, plan, balance_eur, ledger, attribution, license }) =>
    blocks(
      `# ${email ?? 'Key'}`,
      `Balance ${balance_eur} EUR, plan ${plan}.`,
      table(
        ['at', 'kind', 'EUR', 'balance', 'operation', 'dataset', 'request'],
        ledger.map((line) => [
          line.at,
          line.kind,
          line.amount_eur,
          line.balance_eur ?? '',
          line.operation ?? '',
          line.dataset ?? '',
          line.request_id ?? '',
        ]),
      ),
      `${attribution} ${license}`,
    ),
});
