// POST /v1/keys/recover: mails a link that replaces a lost key; the answer does not reveal whether the
// address has one.
import { z } from 'zod';

import { KEY_BODY } from '../../contract/errors.ts';
import { operation } from '../../contract/operation.ts';
import type { About } from '../common/about.ts';
import { about, bodyInput, EMAIL, KEY_OPERATION, memberList, serviceOf } from '../common/account.ts';
import { ABOUT_OUTPUT } from '../common/outputs.ts';

const Input = z.object({ email: EMAIL });

export const keys_recover = operation<z.infer<typeof Input>, { status: 'sent' } & About>({
  name: 'keys_recover',
  title: 'Replace a lost key',
  description:
    'Sends a link to a page that replaces the key of an e-mail address with a new one. Credit and plan stay.',
  ...KEY_OPERATION,
  rest: { ...KEY_OPERATION.rest, method: 'POST', path: '/v1/keys/recover' },
  charge: { ...KEY_OPERATION.charge, access: 'free' },
  ...bodyInput(Input, KEY_BODY),
  output: () =>
    z.object({
      status: z.literal('sent').describe('If the address has a key, its mail is handed over, and tried for a day'),
      ...ABOUT_OUTPUT,
    }),
  async run({ email }, ctx) {
    const { accounts, requester } = serviceOf(ctx);
    await accounts.recover(email, requester);
    return { body: { status: 'sent', ...about(ctx) } };
  },
  markdown: (body) => memberList('Recovery', body),
});
