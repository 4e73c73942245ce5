// POST /v1/keys/recover: mails a link that replaces a lost key; the answer does not reveal whether the
// address has one.
import { z } from 'zod';

import { KEY_BODY } from '../../contract/errors.ts';
import { operation } from '../../contract/operation.ts';
import type { About } from '../common/about.ts';
import { about, accountsOf, bodyInput, EMAIL, KEY_OPERATION, memberList } from '../common/account.ts';
import { ABOUT_OUTPUT } from '../common/outputs.ts';

const Input = z.object({ email: EMAIL });

export const keys_recover = operation<z.infer<typeof Input>, { status: 'sent' } & About>({
  name: 'keys_recover',
  title: 'Replace a lost key',
  description:
    'Sends a link to a page that replaces the key of an e-mail address with a new one. Credit and plan stay.',
  route: { method: 'POST', path: '/v1/keys/recover' },
  ...KEY_OPERATION,
  access: 'free',
  ...bodyInput(Input, KEY_BODY),
  output: () =>
    z.object({
      status: z.literal('sent').describe('If the address has a key, its mail is handed over, and tried for a day'),
      ...ABOUT_OUTPUT,
    }),
  async run({ email }, ctx) {
    const { accounts, requester } = accountsOf(ctx);
    await accounts.recover(email, requester);
    return { body: { status: 'sent', ...about(ctx) } };
  },
  markdown: (body) => memberList('Recovery', body),
});
