// POST /v1/keys/recover: mails a link that replaces a lost key; the answer does not reveal whether the
// address has one.
import { z } from 'zod';

import { KEY_BODY } from '../../contract/errors.ts';
import { operation } from '../../contract/operation.ts';
import type { About } from '../common/about.ts';
import { about, bodyInput, EMAIL, KEY_OPERATION, memberList, serviceOf } from '../common/account.ts';
import { ABOUT_OUTPUT } from '../common/outputs.ts';

const Input = z.object({ email: EMAIL });

/** PUT /v1/keys/me/email. */
export const keys_email = operation<z.infer<typeof Input>, { status: 'sent' } & About>({
  name: 'keys_email',
  title: 'Attach an address to my key',
  description:
    'Mails a link whose page attaches the address to the calling key, such as a prepaid one: for sign-in, recovery and alerts.',
  ...KEY_OPERATION,
  rest: { ...KEY_OPERATION.rest, method: 'PUT', path: '/v1/keys/me/email' },
  charge: { ...KEY_OPERATION.charge, access: 'key' },
  docs: { ...KEY_OPERATION.docs, errors: ['key_exists'], statuses: [202] },
  ...bodyInput(Input, KEY_BODY),
  output: () =>
    z.object({ status: z.literal('sent').describe('The mail with the link is handed over'), ...ABOUT_OUTPUT }),
  async run({ email }, ctx) {
    const { accounts, requester } = serviceOf(ctx);
    await accounts.attachEmail(email, requester);
    return { status: 202, body: { status: 'sent', ...about(ctx) } };
  },
  markdown: (body) => memberList('Address', body),
});

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
